/** MATCH_RECOGNIZE as plans and graphs hold it: plain data. Every column it reads is one of its input's. */
import type { SqlType } from '../batch/types.ts';
import type { AggregateCall, Expr } from './expr.ts';
import type { SortKey } from './over.ts';

/**
 * A value of one row of a match: `offset` rows of the variable behind its first or before its last row (of any variable:
 * null), then `back` rows before that one in its partition, whatever they were matched to. Without such a row: NULL.
 */
export type Navigation = {
  from: 'first' | 'last';
  variable: number | null;
  offset: number;
  back: number;
  read: NavigationRead;
  type: SqlType;
};

export type NavigationRead =
  | { tag: 'column'; index: number }
  /** The row's event time; whether there is such a row; its variable; the number of the match in its partition. */
  | { tag: 'time' | 'present' | 'classifier' | 'match_number' };

/** Over the rows of one variable, or (null) over all rows of the match so far. */
export type MatchAggregate = { variable: number | null; call: AggregateCall };

/** An expression over columns of its own: first the navigations', then the aggregates'. */
export type MatchExpr = {
  navigations: readonly Navigation[];
  aggregates: readonly MatchAggregate[];
  expr: Expr;
};

/** The pattern as a program. After `match` the next instruction follows. */
export type MatchInstruction =
  | { tag: 'match'; variable: number }
  /** Goes on at each of these, the preferred first. */
  | { tag: 'split'; targets: readonly number[] }
  | { tag: 'accept' };

/** Where the next match may begin. */
export type MatchSkip =
  | { tag: 'past_last' | 'next_row' }
  | { tag: 'to_first' | 'to_last'; variable: number };

export type MatchShape = {
  /** Columns of the input. */
  partitionBy: readonly Expr[];
  /** Columns of the input that tell rows of one event time apart. */
  orderBy: readonly SortKey[];
  /** As CLASSIFIER() gives them. */
  variables: readonly string[];
  program: readonly MatchInstruction[];
  /** Of each variable: what a row must be; null: any row. */
  conditions: readonly (MatchExpr | null)[];
  measures: readonly MatchExpr[];
  skip: MatchSkip;
  /** The last row of a match is no later than so long after its first; null: every match has the same number of rows. */
  withinMicros: number | null;
};

/** Whether a navigation of the condition of `own` reads the row in hand, or one a fixed number of rows before it. */
export const readsNearby = ({ from, variable, offset }: Navigation): boolean =>
  from === 'last' && variable === null && offset === 0;

/** How many rows before a match its conditions and measures look. */
export function lookBack({ conditions, measures }: MatchShape): number {
  let most = 0;
  for (const part of [...conditions, ...measures])
    for (const { back } of part?.navigations ?? []) most = Math.max(most, back);
  return most;
}
