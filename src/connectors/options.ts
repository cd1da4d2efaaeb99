/** Typed reading of option values, whose kinds the planner has checked against the declaration. */
import { assert } from '../base/assert.ts';

type Options = Readonly<Record<string, string | number | boolean>>;

export function numberOption(options: Options, name: string): number | null {
  const value = options[name];
  if (value === undefined) return null;
  assert(typeof value === 'number', `option ${name} is a number`);
  return value;
}

export function integerOption(options: Options, name: string): number | null {
  const value = numberOption(options, name);
  assert(value === null || Number.isSafeInteger(value), `option ${name} is a whole number`);
  return value;
}

export function textOption(options: Options, name: string): string | null {
  const value = options[name];
  if (value === undefined) return null;
  assert(typeof value === 'string', `option ${name} is text`);
  return value;
}

export function requiredText(options: Options, name: string): string {
  const value = textOption(options, name);
  assert(value !== null, `option ${name} is required`);
  return value;
}
