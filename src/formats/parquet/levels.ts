/**
 * Parquet's RLE/bit-packed hybrid: definition and repetition levels, and indices into a dictionary.
 *
 * Eight or more equal numbers become a run, what lies between runs is packed in groups of eight. A packed group is never
 * split: a run begins only at a multiple of eight numbers behind the last run.
 * Source: github.com/apache/parquet-format/blob/master/Encodings.md.
 */
import type { ByteWriter } from '../byte-writer.ts';
import { putVarint } from './thrift.ts';

const RUN_MIN = 8;

/** Bits that the numbers up to `max` need. */
export const bitsFor = (max: number): number => 32 - Math.clz32(max);

/** How many bytes `count` numbers may take, whatever they are. */
const sizeMax = (count: number, width: number): number =>
  (((count + 7) >> 3) + 1) * (width + 1) + 16;

/** Appends `count` numbers of `width` bits (0 to 24). */
export function putHybrid(
  writer: ByteWriter,
  values: Uint8Array | Int32Array,
  count: number,
  width: number,
): void {
  writer.reserve(sizeMax(count, width));
  let packedFrom = 0;
  let at = 0;
  while (at < count) {
    const value = values[at] as number;
    let end = at + 1;
    while (end < count && values[end] === value) end++;
    // Numbers that fill up the last packed group belong to it.
    const missing = (packedFrom - at) & 7;
    if (end - at - missing < RUN_MIN) {
      at = end;
      continue;
    }
    const start = at + missing;
    putPacked(writer, values, packedFrom, start, width);
    putRun(writer, value, end - start, width);
    packedFrom = end;
    at = end;
  }
  putPacked(writer, values, packedFrom, count, width);
}

function putRun(writer: ByteWriter, value: number, count: number, width: number): void {
  putVarint(writer, count * 2);
  for (let shift = 0; shift < width; shift += 8) writer.putByte((value >>> shift) & 255);
}

/** Groups of eight; the last one of all may be filled up with zeros. */
function putPacked(
  writer: ByteWriter,
  values: Uint8Array | Int32Array,
  from: number,
  to: number,
  width: number,
): void {
  if (from >= to) return;
  const groups = (to - from + 7) >> 3;
  putVarint(writer, groups * 2 + 1);
  writer.reserve(groups * width + 4);
  const { bytes } = writer;
  let at = writer.length;
  const end = at + groups * width;
  let bits = 0;
  let held = 0;
  for (let index = from; index < to; index++) {
    held |= (values[index] as number) << bits;
    bits += width;
    while (bits >= 8) {
      bytes[at++] = held & 255;
      held >>>= 8;
      bits -= 8;
    }
  }
  if (bits > 0) bytes[at++] = held & 255;
  bytes.fill(0, at, end);
  writer.length = end;
}
