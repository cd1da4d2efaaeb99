/** What rows weigh, for flow control and for cutting things into pieces of a size. */
import { unreachable } from '../base/assert.ts';
import type { Column } from './column.ts';
import type { RecordBatch } from './record-batch.ts';
import { sliceColumn } from './take.ts';

/** Bytes of the columns and event times of a batch. */
export function batchBytes(batch: RecordBatch): number {
  let bytes = batch.eventTime === null ? 0 : batch.rows * 8;
  for (const column of batch.columns) bytes += columnBytes(column, batch.rows);
  return bytes;
}

/** Bytes of each value of a column whose values are all of one size; 0: they are not. A bit counts as a byte. */
export function fixedBytes({ tag }: Column): number {
  switch (tag) {
    case 'boolean':
      return 1;
    case 'int32':
      return 4;
    case 'decimal':
    case 'interval':
      return 16;
    case 'text':
    case 'list':
    case 'struct':
      return 0;
    default:
      return 8;
  }
}

/** Bytes that even a NULL has in the buffers. */
export const nullBytes = (column: Column): number =>
  column.tag === 'struct'
    ? column.children.reduce((sum, child) => sum + nullBytes(child), 0)
    : fixedBytes(column) || 4;

/** Bytes of one value, as `columnBytes` counts them, without a slice of the column. */
export function valueBytes(column: Column, index: number): number {
  switch (column.tag) {
    case 'text':
      return 4 + (column.offsets[index + 1] as number) - (column.offsets[index] as number);
    case 'list': {
      const start = column.offsets[index] as number;
      const end = column.offsets[index + 1] as number;
      const each = fixedBytes(column.child);
      if (each > 0) return 4 + (end - start) * each;
      let bytes = 4;
      for (let at = start; at < end; at++) bytes += valueBytes(column.child, at);
      return bytes;
    }
    case 'struct': {
      let bytes = 0;
      for (const child of column.children) bytes += valueBytes(child, index);
      return bytes;
    }
    default:
      return fixedBytes(column);
  }
}

/** Bytes of the buffers that hold the first `rows` values, without validity. */
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
