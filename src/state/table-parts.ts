/**
 * Cuts a state table into parts of some megabytes, so that encoding, hashing and storing one is a short piece of work.
 *
 * Invariants: the parts together are the table; what was removed or dropped stands in the first. Failure: none.
 */
import { unreachable } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { sliceColumn } from '../batch/take.ts';
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
    parts.push({
      ...table,
      rows: to - from,
      columns: table.columns.map((column) => sliceColumn(column, from, to)),
      hashes: table.hashes.subarray(from, to),
      changes:
        table.changes === null || from === 0
          ? table.changes
          : { ...table.changes, removed: null, droppedBelow: null },
    });
  }
  return parts;
}

/** Bytes of the buffers that hold the first `rows` values. */
export function columnBytes(column: Column, rows: number): number {
  switch (column.tag) {
    case 'boolean':
      return rows >> 3;
    case 'int32':
      return rows * 4;
    case 'int64':
    case 'timestamp':
    case 'float64':
      return rows * 8;
    case 'decimal':
    case 'interval':
      return rows * 16;
    case 'text':
      return rows * 4 + (column.offsets[rows] ?? 0) - (column.offsets[0] ?? 0);
    case 'list': {
      const start = column.offsets[0] ?? 0;
      const end = column.offsets[rows] ?? start;
      return rows * 4 + columnBytes(sliceColumn(column.child, start, end), end - start);
    }
    case 'struct':
      return column.children.reduce((sum, child) => sum + columnBytes(child, rows), 0);
    default:
      return unreachable(column);
  }
}
