/**
 * Readers that check the shape of decoded JSON.
 *
 * A reader takes a value and the place it was found at, and returns it typed, or throws a `ShapeError`, which only
 * `codec.ts` catches. Invariant: a reader accepts nothing that the type does not allow; members it does not know are
 * ignored, so that a newer writer may add some. Failure: `ShapeError` names the place and what was expected.
 */
import type { JsonValue } from './types.ts';

export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

export type Reader<T> = (value: JsonValue | undefined, at: string) => T;

function expected(what: string, at: string): never {
  throw new ShapeError(`expected ${what} at ${at}`);
}

export const anyJson: Reader<JsonValue> = (value, at) =>
  value === undefined ? expected('a value', at) : value;

export const text: Reader<string> = (value, at) =>
  typeof value === 'string' ? value : expected('text', at);

export const flag: Reader<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : expected('true or false', at);

/** A whole number that is not negative. */
export const count: Reader<number> = (value, at) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : expected('a whole number', at);

/** Milliseconds since 1970, possibly with a fraction. */
export const timeMs: Reader<number> = (value, at) =>
  typeof value === 'number' && Number.isFinite(value) ? value : expected('a time', at);

/** A `contentHash`. */
export const hash: Reader<string> = (value, at) =>
  typeof value === 'string' && /^[0-9a-f]{32}$/.test(value) ? value : expected('32 hex digits', at);

export function exactly<const T extends string | number>(...allowed: readonly T[]): Reader<T> {
  return (value, at) =>
    allowed.find((each) => each === value) ?? expected(allowed.join(' or '), at);
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, at) => (value === null ? null : reader(value, at));
}

/** A member that older writers left out reads as null. */
export function optional<T>(reader: Reader<T>): Reader<T | null> {
  return (value, at) => (value === undefined || value === null ? null : reader(value, at));
}

export function listOf<T>(reader: Reader<T>): Reader<T[]> {
  return (value, at) =>
    Array.isArray(value)
      ? value.map((item, index) => reader(item, `${at}[${index}]`))
      : expected('a list', at);
}

/** An object with these members; the result holds these and no others, in this order. */
export function record<T extends object>(members: { [K in keyof T]: Reader<T[K]> }): Reader<T> {
  const readers = Object.entries(members) as [keyof T & string, Reader<T[keyof T & string]>][];
  return (value, at) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return expected('an object', at);
    const result: Partial<T> = {};
    for (const [name, reader] of readers) {
      result[name] = reader(Object.hasOwn(value, name) ? value[name] : undefined, `${at}.${name}`);
    }
    return result as T;
  };
}
