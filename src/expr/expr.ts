/**
 * Typed, resolved expressions: what the binder produces and hosts compile. Plain JSON.
 *
 * `fn` of a call is the id of one overload in the function registry (`registry.ts`), so that
 * evaluation never resolves types again.
 */
import type { LiteralLike } from '../batch/constant-column.ts';
import type { SqlType } from '../batch/types.ts';

/** A constant, in the plain-JSON form that `constant-column.ts` describes for each type. */
export type LiteralValue = LiteralLike;

export type Expr =
  | { tag: 'column'; index: number; type: SqlType }
  | { tag: 'literal'; value: LiteralValue; type: SqlType }
  | { tag: 'call'; fn: string; args: readonly Expr[]; type: SqlType }
  | { tag: 'cast'; input: Expr; orNull: boolean; type: SqlType }
  | {
      tag: 'case';
      branches: readonly { when: Expr; then: Expr }[];
      otherwise: Expr | null;
      type: SqlType;
    }
  | { tag: 'and' | 'or'; args: readonly Expr[]; type: SqlType }
  | { tag: 'field'; input: Expr; index: number; type: SqlType }
  | { tag: 'struct'; args: readonly Expr[]; type: SqlType & { tag: 'struct' } }
  /** The row's event time. */
  | { tag: 'row-time'; type: SqlType };

/** How rows are ordered by one key; NULLs come first or last as such, whatever the direction. */
export type SortOrder = { descending: boolean; nullsFirst: boolean };

/** One aggregate of a GROUP BY; `fn` is an id of the aggregate registry. */
export type AggregateCall = {
  fn: string;
  /** Values, then the keys of `order`. */
  args: readonly Expr[];
  /** Constant arguments: the fraction of a percentile, the separator of string_agg. */
  params?: readonly LiteralValue[];
  /** In which order it takes its rows, by the last `order.length` arguments; missing: any. */
  order?: readonly SortOrder[];
  /** Leaves NULL values out, where the function would count them. */
  ignoreNulls?: true;
  /** Its input takes rows back. */
  retracts?: true;
  distinct: boolean;
  filter: Expr | null;
  type: SqlType;
  /** How the user wrote it, for messages: `sum(v)`. */
  label: string;
};
