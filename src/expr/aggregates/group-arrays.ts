/** Flat per-group arrays that grow by doubling, and the state columns made of them. */
import type { Column, Int64Column } from '../../batch/column.ts';
import { bitmapBytes, setBit } from '../../batch/column.ts';
import { INT64 } from '../../batch/types.ts';
import { makeInt64 } from '../vector.ts';
import { int64AsNumber, writeSafeInt64 } from '../wide.ts';

/** At least 64 bytes: so many V8 keeps beside its objects, and more is made far slower. */
const capacityFor = (current: number, wanted: number, least: number): number =>
  Math.max(wanted, current * 2, least);

/** `array` or a larger copy with room for `size` elements. */
export function grownInt32(array: Int32Array, size: number): Int32Array {
  if (size <= array.length) return array;
  const grown = new Int32Array(capacityFor(array.length, size, 16));
  grown.set(array);
  return grown;
}

export function grownFloat64(array: Float64Array, size: number): Float64Array {
  if (size <= array.length) return array;
  const grown = new Float64Array(capacityFor(array.length, size, 8));
  grown.set(array);
  return grown;
}

export function grownBytes(array: Uint8Array, size: number): Uint8Array {
  if (size <= array.length) return array;
  const grown = new Uint8Array(capacityFor(array.length, size, 16));
  grown.set(array);
  return grown;
}

/** Counts (whole numbers inside ±2^53) of the given groups as a BIGINT column. */
export function countColumn(counts: Float64Array, groups: Int32Array): Int64Column {
  const column = makeInt64(groups.length, INT64);
  for (let row = 0; row < groups.length; row++)
    writeSafeInt64(column.words, row, counts[groups[row] as number] as number);
  return column;
}

/** Adds a column of counts to the groups' counts, or takes them off. */
export function mergeCounts(
  counts: Float64Array,
  groups: Int32Array,
  rows: number,
  column: Column | undefined,
  sign: 1 | -1 = 1,
): void {
  const { words } = column as Int64Column;
  for (let row = 0; row < rows; row++) {
    const group = groups[row] as number;
    if (group >= 0) counts[group] = (counts[group] as number) + sign * int64AsNumber(words, row);
  }
}

/** Adds counts of other groups to the groups' counts, or takes them off; a negative source skips its row. */
export function mergeCountsOf(
  counts: Float64Array,
  groups: Int32Array,
  rows: number,
  others: Float64Array,
  sources: Int32Array,
  sign: 1 | -1 = 1,
): void {
  for (let row = 0; row < rows; row++) {
    const source = sources[row] as number;
    if (source < 0) continue;
    const group = groups[row] as number;
    counts[group] = (counts[group] as number) + sign * (others[source] as number);
  }
}

/** Which of the given groups hold something; null = all do. */
export function presentGroups(
  groups: Int32Array,
  isEmpty: (group: number) => boolean,
): Uint8Array | null {
  let first = 0;
  while (first < groups.length && !isEmpty(groups[first] as number)) first++;
  if (first === groups.length) return null;
  const validity = new Uint8Array(bitmapBytes(groups.length));
  for (let row = 0; row < groups.length; row++)
    if (row < first || !isEmpty(groups[row] as number)) setBit(validity, row);
  return validity;
}
