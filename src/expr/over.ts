/**
 * Calls with OVER: plain data that plans and graphs hold.
 *
 * Everything a call reads is a column by then: the planner computes arguments, partitions and orders beforehand.
 */
import type { SqlType } from '../batch/types.ts';
import type { AggregateCall, Expr } from './expr.ts';

export type SortKey = { expr: Expr; descending: boolean; nullsFirst: boolean };

/** `offset` is the literal text of a number, or microseconds for an order by time. */
export type FrameBound =
  | { tag: 'unbounded_preceding' | 'current_row' | 'unbounded_following' }
  | { tag: 'preceding' | 'following'; offset: string };

/** Rows that a call sees, from the row it is computed for: by count, by distance of the order's value, or by groups of equals. */
export type Frame = { unit: 'rows' | 'range' | 'groups'; start: FrameBound; end: FrameBound };

export type OverFunction =
  | 'row_number'
  | 'rank'
  | 'dense_rank'
  | 'percent_rank'
  | 'cume_dist'
  | 'ntile'
  | 'lag'
  | 'lead'
  | 'first_value'
  | 'last_value'
  | 'nth_value'
  | 'aggregate';

export type OverCall = {
  fn: OverFunction;
  /** lag, lead: the value and, if given, the default; the value of first_value, last_value and nth_value. */
  args: readonly Expr[];
  /** How far (lag, lead), into how many (ntile), or which (nth_value). */
  count: number;
  ignoreNulls: boolean;
  /** Its arguments and filter are columns. */
  aggregate: AggregateCall | null;
  frame: Frame;
  type: SqlType;
  /** How the user wrote it, for messages. */
  label: string;
};

/**
 * When results leave: `closed`, when the watermark passes the event time that all rows of a partition share;
 * `timed`, when it passes the row's own; `updating`, whenever they change.
 */
export type OverForm = 'closed' | 'timed' | 'updating';
