/**
 * One batch folded before it meets state: count, exact sum, least and greatest value of an int64 column for each number
 * that `numberRows` gave, by the kernel `columns`; the twins are the accumulators.
 */
import { bitAt, type Int64Column } from '../../batch/column.ts';
import { columnsKernel, putBytes, putWords } from '../../kernels/columns-kernel.ts';
import { INT64 } from '../../batch/types.ts';
import { INT64_MAX, INT64_MIN, writeInt64 } from '../wide.ts';
import { ExactSumAccumulator } from './exact-sum.ts';
import { WordExtremeAccumulator } from './extreme-fixed.ts';

export type Folded = {
  /** Values that are not NULL. */
  counts: Int32Array;
  /** Two's complement of four words each, low first. */
  sums: Int32Array;
  /** Two words each; the greatest and the least number of 64 bits where there is no value. */
  least: Int32Array;
  greatest: Int32Array;
};

/** Below this the copies cost more than the loop. */
const ROWS_MIN = 64;

export function foldInt64(
  numbers: Int32Array,
  count: number,
  column: Int64Column,
  rows: number,
): Folded {
  const folded: Folded = {
    counts: new Int32Array(count),
    sums: new Int32Array(4 * count),
    least: filled(count, INT64_MAX),
    greatest: filled(count, INT64_MIN),
  };
  const found = rows < ROWS_MIN ? null : columnsKernel();
  if (found === null) foldTwin(numbers, column, rows, folded);
  else {
    const { exports, memory } = found;
    const at = putWords(memory, numbers, rows);
    const values = putWords(memory, column.words, 2 * rows);
    const nulls = column.validity === null ? 0 : putBytes(memory, nullBytes(column, rows), rows);
    const places = {
      counts: putWords(memory, folded.counts, count),
      sums: putWords(memory, folded.sums, 4 * count),
      least: putWords(memory, folded.least, 2 * count),
      greatest: putWords(memory, folded.greatest, 2 * count),
    };
    exports.countRows(at, rows, nulls, places.counts);
    exports.sumInt64(at, values, rows, nulls, places.sums);
    exports.extremeInt64(at, values, rows, nulls, places.least, places.greatest);
    for (const part of ['counts', 'sums', 'least', 'greatest'] as const) {
      const from = places[part] >> 2;
      folded[part].set(memory.words.subarray(from, from + folded[part].length));
    }
  }
  return folded;
}

function filled(count: number, value: bigint): Int32Array {
  const words = new Int32Array(2 * count);
  for (let at = 0; at < count; at++) writeInt64(words, at, value);
  return words;
}

function nullBytes({ validity }: Int64Column, rows: number): Uint8Array {
  const nulls = new Uint8Array(rows);
  for (let row = 0; validity !== null && row < rows; row++)
    if (!bitAt(validity, row)) nulls[row] = 1;
  return nulls;
}

function foldTwin(numbers: Int32Array, column: Int64Column, rows: number, folded: Folded): void {
  const groups = Int32Array.from(folded.counts, (_, group) => group);
  const sum = new ExactSumAccumulator({ label: 'sum', kind: 'sum', input: INT64, result: INT64 });
  const least = new WordExtremeAccumulator(INT64, false);
  const greatest = new WordExtremeAccumulator(INT64, true);
  for (const accumulator of [sum, least, greatest]) {
    accumulator.resize(groups.length);
    accumulator.update(numbers, rows, [column], null);
  }
  const [counts, low, high] = sum.stateColumns(groups) as Int64Column[];
  const parts = [least, greatest].map((each) => (each.results(groups) as Int64Column).words);
  for (const group of groups) {
    folded.counts[group] = counts?.words[2 * group] as number;
    if (folded.counts[group] === 0) continue;
    for (let word = 0; word < 2; word++) {
      folded.sums[4 * group + word] = low?.words[2 * group + word] as number;
      folded.sums[4 * group + 2 + word] = high?.words[2 * group + word] as number;
      folded.least[2 * group + word] = parts[0]?.[2 * group + word] as number;
      folded.greatest[2 * group + word] = parts[1]?.[2 * group + word] as number;
    }
  }
}
