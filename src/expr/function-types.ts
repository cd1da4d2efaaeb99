/**
 * What a scalar function is: one overload a record. The registry lists them; the binder resolves a
 * name to one of them; evaluation goes straight to `evaluate` by id.
 */
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import type { LiteralValue } from './expr.ts';
import type { RowErrors } from './row-errors.ts';

/**
 * What an argument must be, after implicit conversion. All 'any' arguments of one call are converted
 * to their common type; 'as-text' takes any scalar and receives its text. All 'same-list' arguments are lists of one
 * element type, and so all 'element' arguments are of that type. 'each' takes a value of any type as it is.
 */
export type ArgumentPattern = SqlType['tag'] | 'any' | 'as-text' | 'same-list' | 'element' | 'each';

/**
 * Computes a whole column.
 *
 * @param args    full columns of `rows` values, or constants (length 1), of the coerced types
 * @param errors  rows that cannot be computed are reported here and are NULL in the result
 * @param type    the result type, as resolved
 * @returns       `rows` values; buffers may be shared with an argument
 */
export type Evaluate = (
  args: readonly Column[],
  rows: number,
  errors: RowErrors,
  type: SqlType,
) => Column;

/** A call and what it gives: documentation that the tests run. Decimals are written with their point. */
export type FunctionExample = { args: readonly LiteralValue[]; gives: LiteralValue };

export type ScalarFunction = {
  /** Unique; stays the same between versions, since plans in checkpoints name it. */
  id: string;
  name: string;
  args: readonly ArgumentPattern[];
  /** The types that 'any' stands for; all scalar types when missing. */
  anyOf?: readonly SqlType['tag'][];
  /** Any number of further arguments of this pattern. */
  rest?: ArgumentPattern;
  /** The result type of coerced argument types; null: they do not fit after all. */
  result: (args: readonly SqlType[]) => SqlType | null;
  /** strict: NULL in, NULL out. */
  nullRule: 'strict' | 'custom';
  /** Whether a row may fail; such a call is only evaluated on rows that need it. */
  canFail: boolean;
  /** Whether one that can fail does so with these constant arguments, undefined as in `check`, and types; absent: it may. */
  canFailWith?: (
    values: readonly (LiteralValue | undefined)[],
    types: readonly SqlType[],
  ) => boolean;
  /** Why constant arguments are wrong, or null; undefined stands for an argument that is not constant. */
  check?: (values: readonly (LiteralValue | undefined)[]) => string | null;
  /** May be NULL although no argument is. */
  mayBeNull?: boolean;
  /** May give another result for equal arguments, so it is never folded. */
  volatile?: boolean;
  /** It takes long, and no time for rows where an argument is NULL: worth hiding rows from that nobody asks for. */
  skipsNulls?: boolean;
  /** How SQL writes it when not as `name(…)`. */
  infix?: string;
  doc: string;
  examples: readonly FunctionExample[];
  evaluate: Evaluate;
};

export const always =
  (type: SqlType): ScalarFunction['result'] =>
  () =>
    type;

/** The type of the first argument. */
export const ofFirst: ScalarFunction['result'] = (args) => args[0] as SqlType;
