/** Text as a cast reads it: without white space around it. */
import type { TextColumn } from '../../batch/column.ts';
import { decodeBytes } from '../text-sink.ts';

/** The last trimmed range; readers use it right after `trimText`. */
export const range = { from: 0, to: 0 };

const isSpace = (byte: number | undefined): boolean =>
  byte === 32 || (byte !== undefined && byte >= 9 && byte <= 13);

/** Puts the range of value `row` without surrounding ASCII white space into `range`. */
export function trimText(column: TextColumn, row: number): void {
  let from = column.offsets[row] as number;
  let to = column.offsets[row + 1] as number;
  while (from < to && isSpace(column.bytes[from])) from++;
  while (to > from && isSpace(column.bytes[to - 1])) to--;
  range.from = from;
  range.to = to;
}

/** The value in quotes for a message, cut to a bearable length. */
export function quoted(column: TextColumn, row: number): string {
  const text = decodeBytes(
    column.bytes,
    column.offsets[row] as number,
    column.offsets[row + 1] as number,
  );
  const points = [...text];
  return points.length > 60 ? `'${points.slice(0, 60).join('')}…'` : `'${text}'`;
}
