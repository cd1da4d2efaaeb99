/**
 * The first value of an order as a double that never contradicts the order: most comparisons end here.
 *
 * Invariant: when approximation a is below b, the value of a sorts before that of b; equal approximations say nothing.
 * Failure: none; a type without approximation gives equal ones.
 */
import { isValid, bitAt, type Column, type TextColumn } from '../batch/column.ts';

export type KeyColumn = { index: number; descending: boolean; nullsFirst: boolean };

/** Sets the first `rows` values to approximations of a column's for an ascending walk in the order of the key. */
export function approximate(
  column: Column,
  rows: number,
  key: KeyColumn,
  values: Float64Array,
): void {
  fill(column, rows, values);
  if (key.descending) for (let row = 0; row < rows; row++) values[row] = -(values[row] as number);
  if (column.validity === null) return;
  const absent = key.nullsFirst ? -Infinity : Infinity;
  for (let row = 0; row < rows; row++) if (!isValid(column, row)) values[row] = absent;
}

function fill(column: Column, rows: number, values: Float64Array): void {
  switch (column.tag) {
    case 'int32':
      for (let row = 0; row < rows; row++) values[row] = column.values[row] as number;
      break;
    case 'float64':
      // NaN sorts after every number.
      for (let row = 0; row < rows; row++) {
        const value = column.values[row] as number;
        values[row] = value === value ? value : Infinity;
      }
      break;
    case 'int64':
    case 'timestamp':
      // The upper half of UBIGINT would come out negative.
      if (column.type.tag === 'uint64') values.fill(0, 0, rows);
      else fillPairs(column.words, 2, 0, rows, values);
      break;
    case 'decimal':
      fillPairs(column.words, 4, 2, rows, values);
      break;
    case 'boolean':
      for (let row = 0; row < rows; row++) values[row] = bitAt(column.bits, row) ? 1 : 0;
      break;
    case 'text':
      fillText(column, rows, values);
      break;
    default:
      values.fill(0, 0, rows);
  }
}

/** Two words of each value, the lower one at `first`. */
function fillPairs(
  words: Int32Array,
  width: number,
  first: number,
  rows: number,
  values: Float64Array,
): void {
  for (let row = 0, at = first; row < rows; row++, at += width)
    values[row] = (words[at + 1] as number) * 4294967296 + ((words[at] as number) >>> 0);
}

/** The first six bytes. */
function fillText({ offsets, bytes }: TextColumn, rows: number, values: Float64Array): void {
  for (let row = 0; row < rows; row++) {
    const start = offsets[row] as number;
    const size = (offsets[row + 1] as number) - start;
    let value = 0;
    for (let at = 0; at < 6; at++)
      value = value * 256 + (at < size ? (bytes[start + at] as number) : 0);
    values[row] = value;
  }
}
