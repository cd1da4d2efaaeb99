/** What rows weigh, for flow control and for cutting things into pieces of a size. */
import { unreachable } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
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

/** Bytes of texts and lists among the values at `indices`, each as often as it stands there; a negative index has none. */
export function takenBytes(column: Column, indices: Int32Array): number {
  let bytes = 0;
  if (column.tag === 'text') {
    const { offsets } = column;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      if (index >= 0) bytes += (offsets[index + 1] as number) - (offsets[index] as number);
    }
  } else if (fixedBytes(column) === 0) {
    for (let at = 0; at < indices.length; at++)
      if ((indices[at] as number) >= 0) bytes += valueBytes(column, indices[at] as number);
  }
  return bytes;
}

/**
 * Calls `make` for `[from, to)`, or for parts of it one after the other, so that what `bytesOf` tells of each fits one piece of work
 * or it is a single row: a row that is picked again and again weighs each time.
 */
export function inRoom(
  from: number,
  to: number,
  bytesOf: (from: number, to: number) => number,
  make: (from: number, to: number) => void,
): void {
  if (to - from < 2 || bytesOf(from, to) <= LIMITS.unitBytesMax) {
    make(from, to);
    return;
  }
  const middle = (from + to) >> 1;
  inRoom(from, middle, bytesOf, make);
  inRoom(middle, to, bytesOf, make);
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
