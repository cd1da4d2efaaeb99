/**
 * Sums of runs of rows, each from the sums of the rows before it: one pass over the rows, whatever runs overlap.
 *
 * Place in the walk: stage 6, under the accumulators that OVER asks for frames. Sums are doubles of whole numbers and exact.
 */
import { bitAt, wordsToNumber, type Column } from '../../batch/column.ts';
import { decimalAsNumber, isSafe } from '../wide.ts';

export type RunSums = {
  /** Of each row, and behind the last one: how many values the rows before it have. */
  counts: Int32Array;
  /** The same of their sums. */
  sums: Float64Array;
};

/** @param passes  1 for each row that counts; null: all of them */
export function runCounts(
  validity: Uint8Array | null,
  rows: number,
  passes: Uint8Array | null,
): Int32Array {
  const counts = new Int32Array(rows + 1);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    if ((passes === null || passes[row] === 1) && (validity === null || bitAt(validity, row)))
      count++;
    counts[row + 1] = count;
  }
  return counts;
}

/** Null: there are values or sums that a double does not hold. */
export function runSums(column: Column, rows: number, passes: Uint8Array | null): RunSums | null {
  const counts = runCounts(column.validity, rows, passes);
  const sums = new Float64Array(rows + 1);
  let sum = 0;
  let size = 0;
  for (let row = 0; row < rows; row++) {
    if (counts[row + 1] !== counts[row]) {
      const value = numberAt(column, row);
      sum += value;
      size += Math.abs(value);
    }
    sums[row + 1] = sum;
  }
  return isSafe(size) ? { counts, sums } : null;
}

/** The value, or one that no double holds. */
function numberAt(column: Column, row: number): number {
  switch (column.tag) {
    case 'int32':
      return column.values[row] as number;
    case 'int64': {
      const { words } = column;
      return wordsToNumber(words[row * 2] as number, words[row * 2 + 1] as number);
    }
    case 'decimal':
      return decimalAsNumber(column.words, row);
    default:
      return Infinity;
  }
}
