/**
 * State as it leaves an operator at a barrier and comes back on restore.
 *
 * A table is a set of rows, each with the routing hash of its key: any subtask count can split the
 * rows again by hash. The order of rows means nothing.
 */
import type { Column } from '../batch/column.ts';
import type { Schema } from '../batch/types.ts';

export type StateTable = {
  table: string;
  schema: Schema;
  rows: number;
  columns: readonly Column[];
  /** Routing hash of each row's key, unsigned 32 bit. */
  hashes: Uint32Array;
  /** Null: the rows are the whole table. Else they are what changed since the operator's snapshot before. */
  changes: StateChanges | null;
};

/**
 * How a table of changes is laid over the table as it was at the snapshot before, in this order:
 * rows below `droppedBelow` go, rows named in `removed` go, and each row of the table replaces the one of its key.
 */
export type StateChanges = {
  /** So many leading columns name a row: no two rows of a table agree in all of them. */
  keyColumns: number;
  removed: {
    rows: number;
    /** The key columns, as many as `keyColumns`. */
    columns: readonly Column[];
    hashes: Uint32Array;
  } | null;
  /** Every row whose first column (a timestamp) lies below this is gone; microseconds since 1970. */
  droppedBelow: number | null;
};

/** What a snapshot is asked for. An operator may answer `changes` with a whole table, never the other way round. */
export type SnapshotKind = 'whole' | 'changes';
