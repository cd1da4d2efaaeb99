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
};
