/** Tables of calls and what they give: `[name, arguments, result]`, with the types read off the arguments. */
import { expect } from 'vitest';
import type { SqlType } from '../../src/batch/types.ts';
import { BOOLEAN, FLOAT64, INT64, TEXT } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { resolveFunction } from '../../src/expr/registry.ts';
import { apply } from './support.ts';

/** A value with its type, where it is not that of its JavaScript value. */
export type Typed = { type: SqlType; value: Value };
export type Argument = Value | Typed;
/** The result, or `{ fails: code }`. */
export type Case = readonly [
  name: string,
  args: readonly Argument[],
  gives: Value | { fails: string },
];

const isTyped = (arg: Argument): arg is Typed =>
  typeof arg === 'object' && arg !== null && 'type' in arg && 'value' in arg;

export const typeOf = (arg: Argument): SqlType => {
  if (isTyped(arg)) return arg.type;
  if (typeof arg === 'bigint') return INT64;
  if (typeof arg === 'number') return FLOAT64;
  return typeof arg === 'boolean' ? BOOLEAN : TEXT;
};

/** How a case is named in a list of tests. */
export const titleOf = ([name, args]: Case): string =>
  `${name}(${args.map((arg) => String(isTyped(arg) ? arg.value : arg)).join(', ')})`;

/** Runs the call over columns, beside a NULL in each argument that a strict function must give back as NULL. */
export function check([name, args, gives]: Case, strict = true): void {
  const types = args.map(typeOf);
  const row = args.map((arg) => (isTyped(arg) ? arg.value : arg));
  const withNulls = row.map((_, at) => row.map((value, index) => (index === at ? null : value)));
  const rows = strict ? [row, ...withNulls] : [row];
  const { values, errors } = apply(name, types, rows);
  if (typeof gives === 'object' && gives !== null && 'fails' in gives) {
    expect(errors[0]).toEqual({ row: 0, code: gives.fails });
  } else {
    expect(errors).toEqual([]);
    expect(values[0]).toEqual(gives);
  }
  if (strict) for (const value of values.slice(1)) expect(value).toBeNull();
  expect('error' in resolveFunction(name, types)).toBe(false);
}
