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
