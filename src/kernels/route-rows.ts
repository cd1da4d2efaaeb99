/** Which subtask a row goes to, by the kernel `columns`; the twins are src/batch/row-hash.ts and src/batch/partition.ts. */
import { keyRangeOf } from '../base/hash.ts';
import { bitmapBytes, type Column } from '../batch/column.ts';
import { splitRows, type SplitRows } from '../batch/partition.ts';
import { hashRows, NULL_HASH, TEXT_SEED } from '../batch/row-hash.ts';
import {
  columnsKernel,
  putBytes,
  putWords,
  reserveWords,
  wordsOut,
  type ColumnsKernel,
} from './columns-kernel.ts';

/** Below this the copies cost more than the loop. */
const ROWS_MIN = 64;

/** The routing hashes of rows, as `hashRows` computes them. */
export function routeRows(columns: readonly Column[], rows: number, out: Uint32Array): void {
  const found = rows < ROWS_MIN || columns.length === 0 ? null : columnsKernel();
  if (found === null) {
    hashRows(columns, rows, out);
    return;
  }
  const { exports, memory } = found;
  const hashes = reserveWords(memory, rows);
  const next = reserveWords(memory, rows);
  columns.forEach((column, index) => {
    routeColumn(found, column, rows, index === 0 ? hashes : next);
    if (index > 0) exports.joinHashes(hashes, next, rows);
  });
  out.set(new Uint32Array(memory.words.buffer, hashes, rows));
}

function routeColumn(found: ColumnsKernel, column: Column, rows: number, out: number): void {
  const { exports, memory } = found;
  switch (column.tag) {
    case 'int32':
      exports.routeWords(putWords(memory, column.values, rows), 1, rows, out);
      break;
    case 'int64':
    case 'timestamp':
      exports.routeWords(putWords(memory, column.words, rows * 2), 2, rows, out);
      break;
    case 'decimal':
      exports.routeWords(putWords(memory, column.words, rows * 4), 4, rows, out);
      break;
    case 'float64': {
      const { buffer, byteOffset } = column.values;
      const words = new Int32Array(buffer, byteOffset, rows * 2);
      exports.routeFloats(putWords(memory, words, rows * 2), rows, out);
      break;
    }
    case 'text': {
      const { offsets, bytes } = column;
      const end = offsets[rows] as number;
      const text = putBytes(memory, bytes, end);
      exports.routeText(putWords(memory, offsets, rows + 1), text, rows, TEXT_SEED, out);
      break;
    }
    default: {
      const hashes = new Uint32Array(rows);
      hashRows([column], rows, hashes);
      memory.words.set(new Int32Array(hashes.buffer), out >> 2);
      return;
    }
  }
  if (column.validity === null) return;
  const bits = putBytes(memory, column.validity, bitmapBytes(rows));
  exports.hashNulls(bits, rows, NULL_HASH, out);
}

/** Rows by owner, as `splitRows` sorts them. */
export const splitRowsFast: SplitRows = (hashes, rows, count) => {
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) return splitRows(hashes, rows, count);
  const { exports, memory } = found;
  const at = putWords(memory, new Int32Array(hashes.buffer, hashes.byteOffset, rows), rows);
  const lowers = Int32Array.from({ length: count }, (_, owner) => keyRangeOf(owner, count).lower);
  const ranges = putWords(memory, lowers, count);
  const owners = reserveWords(memory, rows);
  const starts = reserveWords(memory, count + 1);
  const indices = reserveWords(memory, rows);
  exports.partition(at, rows, ranges, count, owners, starts, indices);
  return {
    starts: wordsOut(memory, starts, count + 1),
    indices: wordsOut(memory, indices, rows),
  };
};
