/**
 * Aggregates work on groups, a column at a time.
 *
 * An accumulator owns flat state for groups 0..n-1. Its state leaves as columns (`stateColumns`) and
 * comes back through `merge`, which serves checkpoint restore, rescale and two-stage aggregation alike.
 */
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';

export interface Accumulator {
  readonly stateTypes: readonly SqlType[];
  /** Whether `update` can take rows back (`retract`). */
  readonly invertible: boolean;
  /** Makes room for groups [0, count); new groups are empty. */
  resize(count: number): void;
  /**
   * Folds `rows` rows in; row r belongs to group `groups[r]`; a negative group skips the row.
   * @param retract 1 = take the row back; null = all appends. Only for invertible accumulators.
   */
  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void;
  /** Folds partial states in, row r into group `groups[r]`. */
  merge(groups: Int32Array, rows: number, states: readonly Column[]): void;
  /**
   * Takes partial states back that were merged, row r from group `groups[r]`, without a trace. Left out where that
   * cannot be done exactly.
   */
  subtract?(groups: Int32Array, rows: number, states: readonly Column[]): void;
  /** States of the given groups, one row each, in order. */
  stateColumns(groups: Int32Array): Column[];
  /** State in a table of its own beside the groups; `stateColumns` has it too. Left out: there is none. */
  readonly entries?: EntryTable;
  /** Results of the given groups, one row each; a result that does not fit its type fails that row. */
  results(groups: Int32Array, errors: RowErrors): Column;
  /** Bytes held, roughly. */
  bytes(): number;
}

/** Entries of state, named by group and value: what a group has many of, and of which a snapshot tells those that changed. */
export interface EntryTable {
  /** With the group these name an entry. */
  readonly valueTypes: readonly SqlType[];
  readonly countTypes: readonly SqlType[];
  /** Entries that changed since the last call, all of them with `all`; from now on none has. */
  takeEntries(all: boolean): EntryChanges;
  /** Folds in entries as `takeEntries` gave them, row r of group `groups[r]`. */
  mergeEntries(groups: Int32Array, rows: number, columns: readonly Column[]): void;
}

export type EntryChanges = {
  /** These are all entries there are. */
  whole: boolean;
  /** Of each entry: its group, its values and counts. */
  groups: Int32Array;
  columns: readonly Column[];
  /** Entries that are gone, by group and values. */
  removedGroups: Int32Array;
  removed: readonly Column[];
};
