/**
 * Snappy, the raw format without frames: what Parquet's pages are compressed with.
 *
 * The compressor finds repetitions of four bytes and more by a table of where each hash was seen last, and looks less
 * often the longer it finds nothing. It works in blocks of 64 KiB, so that every distance fits 16 bits.
 * Compressing is done by the kernel `parquet` where there is one (src/kernels/assembly/parquet.ts); its twin here gives the same
 * bytes.
 * Source: github.com/google/snappy/blob/main/format_description.txt.
 */
import { kernel } from '../../kernels/kernels.ts';
import { brokenParquet } from './thrift.ts';

const BLOCK_BYTES = 65_536;
const HASH_BITS = 14;
/** Behind this no repetition is begun: its four bytes are then read without looking for the end. */
const TAIL_BYTES = 15;
const COPY_MAX = 64;

const table = new Uint16Array(1 << HASH_BITS);

/** Bytes that compressing may take at most. */
const sizeMax = (size: number): number => 32 + size + Math.floor(size / 6);

type Exports = {
  /** Where the compressed bytes end that begin at `target`. */
  compress(source: number, size: number, table: number, target: number): number;
};

/** Below this the way into the kernel's memory and back costs more than it saves. */
const KERNEL_BYTES_MIN = 512;

let scratch = new Uint8Array(0);

/** The compressed bytes: a view that is valid until the next call. */
export function compressSnappy(source: Uint8Array): Uint8Array {
  const found = source.length < KERNEL_BYTES_MIN ? null : kernel<Exports>('parquet');
  if (found === null) return compressTwin(source);
  const { memory, exports } = found;
  found.owner = null;
  memory.reset();
  const from = memory.reserve(source.length);
  const slots = memory.reserve(table.byteLength);
  const target = memory.reserve(sizeMax(source.length));
  memory.bytesAt(from, source.length).set(source);
  const end = exports.compress(from, source.length, slots, target);
  return memory.bytesAt(target, end - target);
}

/** The same in TypeScript. */
export function compressTwin(source: Uint8Array): Uint8Array {
  const need = sizeMax(source.length);
  if (scratch.length < need) scratch = new Uint8Array(need);
  const target = scratch;
  let at = 0;
  let size = source.length;
  for (; size > 127; size = Math.floor(size / 128)) target[at++] = (size & 127) | 128;
  target[at++] = size;
  for (let from = 0; from < source.length; from += BLOCK_BYTES)
    at = compressBlock(source, from, Math.min(source.length, from + BLOCK_BYTES), target, at);
  return target.subarray(0, at);
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24);

function compressBlock(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  start: number,
): number {
  let at = start;
  let literal = from;
  const last = to - TAIL_BYTES;
  if (from < last) {
    table.fill(0);
    let position = from + 1;
    let tries = 32;
    while (position < last) {
      const word = wordAt(source, position);
      const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);
      const candidate = from + (table[slot] as number);
      table[slot] = position - from;
      if (wordAt(source, candidate) !== word || candidate >= position) {
        position += tries++ >> 5;
        continue;
      }
      let end = position + 4;
      let other = candidate + 4;
      while (end < to && source[end] === source[other]) {
        end++;
        other++;
      }
      if (literal < position) at = putLiteral(source, literal, position, target, at);
      at = putCopy(position - candidate, end - position, target, at);
      literal = end;
      // Where one repetition ends the next often begins.
      const before = end - 1;
      if (before < last)
        table[Math.imul(wordAt(source, before), 0x1e35a7bd) >>> (32 - HASH_BITS)] = before - from;
      position = end;
      tries = 32;
    }
  }
  return literal < to ? putLiteral(source, literal, to, target, at) : at;
}

function putLiteral(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  start: number,
): number {
  let at = start;
  const size = to - from - 1;
  if (size < 60) target[at++] = size << 2;
  else if (size < 256) {
    target[at++] = 60 << 2;
    target[at++] = size;
  } else {
    target[at++] = 61 << 2;
    target[at++] = size & 255;
    target[at++] = size >> 8;
  }
  if (size < 48) for (let index = from; index < to; index++) target[at++] = source[index] as number;
  else {
    target.set(source.subarray(from, to), at);
    at += to - from;
  }
  return at;
}

function putCopy(distance: number, length: number, target: Uint8Array, start: number): number {
  let at = start;
  let rest = length;
  while (rest > 0) {
    // At least four bytes are left for the last one.
    const size = rest <= COPY_MAX ? rest : rest < COPY_MAX + 4 ? COPY_MAX - 4 : COPY_MAX;
    if (size >= 4 && size < 12 && distance < 2048) {
      target[at++] = 1 | ((size - 4) << 2) | ((distance >> 8) << 5);
      target[at++] = distance & 255;
    } else {
      target[at++] = 2 | ((size - 1) << 2);
      target[at++] = distance & 255;
      target[at++] = distance >> 8;
    }
    rest -= size;
  }
  return at;
}

/** @throws BROKEN_PARQUET when the bytes are not `size` bytes compressed */
export function decompressSnappy(source: Uint8Array, size: number): Uint8Array {
  let at = 0;
  let announced = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = source[at++];
    if (byte === undefined || scale > 2 ** 28) throw brokenParquet('a page is cut off');
    announced += (byte & 127) * scale;
    if (byte < 128) break;
  }
  if (announced !== size) throw brokenParquet('a page has another size than its header says');
  const target = new Uint8Array(size);
  let end = 0;
  while (at < source.length) {
    const head = source[at++] as number;
    const kind = head & 3;
    if (kind === 0) {
      let length = head >> 2;
      if (length >= 60) {
        const bytes = length - 59;
        length = 0;
        for (let index = 0; index < bytes; index++)
          length += ((source[at + index] ?? 0) as number) * 256 ** index;
        at += bytes;
      }
      length++;
      if (at + length > source.length || end + length > size)
        throw brokenParquet('a page is cut off');
      target.set(source.subarray(at, at + length), end);
      at += length;
      end += length;
      continue;
    }
    const wide = kind === 1 ? 1 : kind === 2 ? 2 : 4;
    const length = kind === 1 ? ((head >> 2) & 7) + 4 : (head >> 2) + 1;
    let distance = kind === 1 ? (head >> 5) << 8 : 0;
    for (let index = 0; index < wide; index++)
      distance += ((source[at + index] ?? 0) as number) * 256 ** index;
    at += wide;
    if (distance === 0 || distance > end || end + length > size)
      throw brokenParquet('a page repeats what is not there');
    for (let index = 0; index < length; index++, end++)
      target[end] = target[end - distance] as number;
  }
  if (end !== size) throw brokenParquet('a page has another size than its header says');
  return target;
}
