/**
 * Aggregates work on groups, a column at a time.
 *
 * An accumulator owns flat state for groups 0..n-1. Its state leaves as columns (`stateColumns`) and
 * comes back through `merge`, which serves checkpoint restore, rescale and two-stage aggregation alike.
 */
import { assert } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import type { RowErrors } from './row-errors.ts';

export interface Accumulator {
  readonly stateTypes: readonly SqlType[];
  /** Whether `update` can take rows back (`retract`). */
  readonly invertible: boolean;
  /** Makes room for groups [0, count); new groups are empty, and so is one that was beyond an earlier `count`. */
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
  /**
   * Folds runs of rows in, the rows of `[lo[g], hi[g])` that pass into group g, at a cost that does not depend on how long they
   * are. False: nothing was done, since these values do not allow it. Left out where no values do.
   * @param passes 1 = the row counts; null = all do
   */
  addRuns?(
    runs: { lo: Int32Array; hi: Int32Array },
    rows: number,
    args: readonly Column[],
    passes: Uint8Array | null,
  ): boolean;
  /** Folds partial states in, row r into group `groups[r]`. */
  merge(groups: Int32Array, rows: number, states: readonly Column[]): void;
  /**
   * Takes partial states back that were merged, row r from group `groups[r]`, without a trace. Left out where that
   * cannot be done exactly.
   */
  subtract?(groups: Int32Array, rows: number, states: readonly Column[]): void;
  /**
   * As `merge` of `from.stateColumns(sources)`, without the columns: for states that are flat arrays, and left out
   * elsewhere. One row after the other; a negative source skips the row. `from` is of the same call, and may be this one.
   */
  mergeGroups?(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void;
  /** As `subtract`, in the manner of `mergeGroups`. */
  subtractGroups?(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void;
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

/** Folds states of `from` into those of `to`, an accumulator of the same call: row r into group `groups[r]`, none where `sources[r]` is negative. */
export function mergeGroups(
  to: Accumulator,
  groups: Int32Array,
  rows: number,
  from: Accumulator,
  sources: Int32Array,
): void {
  if (to.mergeGroups !== undefined) {
    to.mergeGroups(groups, rows, from, sources);
    return;
  }
  const some = sources.subarray(0, rows);
  const into = groups.subarray(0, rows).filter((_, row) => (some[row] as number) >= 0);
  if (into.length === 0) return;
  const states = from.stateColumns(some.filter((source) => source >= 0));
  to.merge(into, into.length, states);
}

/** Takes states of `from` back from those of `to`: state `sources[r]`, never negative, from group `groups[r]`; only of accumulators that can. */
export function subtractGroups(
  to: Accumulator,
  groups: Int32Array,
  rows: number,
  from: Accumulator,
  sources: Int32Array,
): void {
  if (to.subtractGroups !== undefined) to.subtractGroups(groups, rows, from, sources);
  else {
    assert(to.subtract !== undefined, 'an aggregate that gives back');
    to.subtract(groups, rows, from.stateColumns(sources.subarray(0, rows)));
  }
}

/** Whether all states are flat arrays: these are copied and emptied at no cost. */
export const areFlat = (accumulators: readonly Accumulator[]): boolean =>
  accumulators.every((each) => each.mergeGroups !== undefined);
