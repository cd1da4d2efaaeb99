/**
 * How JSON functions go through rows: from a text to the value at its path, which is any number of keys (TEXT) and places in
 * arrays (whole numbers from 0, from -1 at the end). A text that is no JSON gives NULL, as does a path to nowhere.
 */
import type { Column, Int32Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { documentStart, findIndex, findKey, found } from '../json/json-bytes.ts';
import { type Outcome, strideOf } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';
import { sliceAt } from './text-rows.ts';

/** Goes to the value at a path; false: the text is no JSON, or there is none. It is `found` then. */
export function locate(args: readonly Column[], row: number): boolean {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  if (documentStart(bytes, from, to) < 0) return false;
  for (let at = 1; at < args.length; at++) {
    const step = args[at] as Column;
    if (step.tag === 'text') {
      const key = sliceAt(step, row);
      if (!findKey(bytes, found.at, found.end, key.bytes, key.from, key.to)) return false;
    } else if (!findIndex(bytes, found.at, found.end, indexAt(step, row))) return false;
  }
  return true;
}

const indexAt = (column: Column, row: number): number => {
  const at = row * strideOf(column);
  return column.tag === 'int32'
    ? ((column as Int32Column).values[at] as number)
    : int64AsNumber((column as Int64Column).words, at);
};

/** Calls `each` with the bytes in which `found` lies; a row it answers with false is NULL. */
export function rowsOf(
  args: readonly Column[],
  rows: number,
  outcome: Outcome,
  each: (bytes: Uint8Array, row: number) => boolean,
  endRow: () => void = () => undefined,
): void {
  const { bytes } = args[0] as TextColumn;
  for (let row = 0; row < rows; row++) {
    if (outcome.has(row) && !(locate(args, row) && each(bytes, row))) outcome.makeNull(row);
    endRow();
  }
}
