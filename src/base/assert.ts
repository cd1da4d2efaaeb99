/**
 * Assertions for programmer errors: a failed one is a bug in Thalweg, never bad input.
 * The object that meets one is abandoned and its work is recovered from the last checkpoint.
 */

/** Thrown by `assert` and `unreachable`; nothing but the step drivers may catch it. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The value, which a caller knows to be present. */
export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new AssertionError(`missing: ${what}`);
  return value;
}

/** Marks a branch that the types rule out. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable value: ${JSON.stringify(value)}`);
}
