/** replace: every occurrence of a text replaced by another one. */
import type { Column, TextColumn } from '../../batch/column.ts';
import { TEXT } from '../../batch/types.ts';
import type { Evaluate } from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { findBytes } from '../text-sink.ts';
import { Outcome, strideOf } from '../vector.ts';
import type { EachRow } from './text-rows.ts';
import { perGrowingRow, sliceAt } from './text-rows.ts';

const replaceRow: EachRow = (args, row, sink) => {
  const { bytes, from, to } = sliceAt(args[0] as Column, row);
  const old = sliceAt(args[1] as Column, row);
  const fresh = sliceAt(args[2] as Column, row);
  let at = from;
  while (old.to > old.from && !sink.isFull) {
    const found = findBytes(bytes, at, to, old.bytes, old.from, old.to);
    if (found < 0) break;
    sink.append(bytes, at, found);
    sink.append(fresh.bytes, fresh.from, fresh.to);
    at = found + (old.to - old.from);
  }
  sink.append(bytes, at, to);
};

/** The byte of a text of one, -1 for an empty one, NaN for any other. */
function byteOf(column: Column): number {
  const { bytes, from, to } = sliceAt(column, 0);
  return from === to ? -1 : to - from === 1 ? (bytes[from] as number) : NaN;
}

/**
 * One byte replaced by one or none in every row, in a copy that is made four bytes at a time where it is not among them.
 *
 * @param fresh  -1: it is left out
 */
function replaceByte(
  { bytes, offsets }: TextColumn,
  old: number,
  fresh: number,
  rows: number,
  outcome: Outcome,
  errors: RowErrors,
): Column {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = new Uint8Array((offsets[rows] as number) - (offsets[0] as number));
  const to = new DataView(target.buffer);
  const ends = new Int32Array(rows + 1);
  const olds = Math.imul(old, 0x01010101);
  let size = 0;
  for (let row = 0; row < rows; row++) {
    let at = offsets[row] as number;
    const end = outcome.has(row) ? (offsets[row + 1] as number) : at;
    while (at < end) {
      if (at + 4 <= end) {
        const word = view.getInt32(at, true);
        // A byte that is the old one is zero in the difference.
        const rest = word ^ olds;
        if (((rest - 0x01010101) & ~rest & 0x80808080) === 0) {
          to.setInt32(size, word, true);
          size += 4;
          at += 4;
          continue;
        }
      }
      const byte = bytes[at++] as number;
      if (byte !== old) target[size++] = byte;
      else if (fresh >= 0) target[size++] = fresh;
    }
    ends[row + 1] = size;
  }
  errors.spend(size);
  const text = target.subarray(0, size);
  return {
    tag: 'text',
    type: TEXT,
    length: rows,
    validity: outcome.validity,
    offsets: ends,
    bytes: text,
  };
}

const eachRow = perGrowingRow(replaceRow);

export const replace: Evaluate = (args, rows, errors, type) => {
  const [text, old, fresh] = args as readonly [TextColumn, Column, Column];
  if (strideOf(text) === 1 && strideOf(old) === 0 && strideOf(fresh) === 0) {
    const [from, to] = [byteOf(old), byteOf(fresh)];
    if (from >= 0 && to >= -1)
      return replaceByte(text, from, to, rows, new Outcome(args, rows, errors), errors);
  }
  return eachRow(args, rows, errors, type);
};
