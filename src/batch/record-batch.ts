/**
 * A batch of rows: what flows between operators, over the wire and into state files.
 *
 * Invariants: every column has `rows` values; `eventTime` (microseconds) has `rows` values without
 * nulls; `retract` has `rows` bytes, 1 = this row takes an earlier, equal row back. A null `retract`
 * means every row is an append. A batch is never modified after it was emitted.
 */
import type { Column, Int64Column } from './column.ts';

export type RecordBatch = {
  rows: number;
  columns: readonly Column[];
  /** The event time of each row; null before a source has set it. */
  eventTime: Int64Column | null;
  retract: Uint8Array | null;
};
