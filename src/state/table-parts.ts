/**
 * Cuts a state table into parts of some megabytes, so that encoding, hashing and storing one is a short piece of work.
 *
 * Invariants: the parts together are the table; what was removed or dropped stands in the first. Failure: none.
 */
import { columnBytes } from '../batch/batch-bytes.ts';
import { sliceColumn } from '../batch/take.ts';
import { hashedPart } from './hashed-later.ts';
import type { StateTable } from './state-table.ts';

/** One part per `bytesMax` bytes of columns, roughly; at least one. Columns are views of the table's. */
export function partsOf(table: StateTable, bytesMax: number): StateTable[] {
  const bytes = table.columns.reduce((sum, column) => sum + columnBytes(column, table.rows), 0);
  const count = Math.ceil(bytes / bytesMax);
  if (count <= 1) return [table];
  const rowsPerPart = Math.ceil(table.rows / count);
  const parts: StateTable[] = [];
  for (let from = 0; from < table.rows; from += rowsPerPart) {
    const to = Math.min(from + rowsPerPart, table.rows);
    const part = {
      table: table.table,
      schema: table.schema,
      rows: to - from,
      columns: table.columns.map((column) => sliceColumn(column, from, to)),
      changes:
        table.changes === null || from === 0
          ? table.changes
          : { ...table.changes, removed: null, droppedBelow: null },
    };
    parts.push(hashedPart(table, part, from, to));
  }
  return parts;
}
