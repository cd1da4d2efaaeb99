/**
 * Builds a text column row by row from byte ranges and strings, without a string per value where the
 * bytes are already there. Also the code point arithmetic on UTF-8 that the text functions share.
 *
 * Caller duty: exactly one `endRow` per row, and nothing after `finish`.
 */
import type { TextColumn } from '../batch/column.ts';
import { bitmapBytes, clearBit } from '../batch/column.ts';
import { TEXT } from '../batch/types.ts';
import { LIMITS } from '../base/limits.ts';
import type { RowErrors } from './row-errors.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

const NO_BYTES = new Uint8Array(0);

/** What a finished sink wrote into, for the next one: new memory costs more than the copy of what was written. */
let spare: Uint8Array | null = null;
/** Larger buffers are handed on instead. */
const SPARE_MAX = 1 << 20;

export class TextSink {
  #bytes: Uint8Array;
  #size = 0;
  #rows = 0;
  readonly #offsets: Int32Array;
  readonly #errors: RowErrors | null;
  /** The current row is too long: what is appended to it is lost. */
  #isOverfull = false;
  #tooLong: number[] | null = null;

  /** @param errors  where texts that are too long are reported, which are NULL then; without it there is no bound */
  constructor(rows: number, bytesExpected: number, errors: RowErrors | null = null) {
    this.#offsets = new Int32Array(rows + 1);
    if (spare !== null && spare.length >= Math.min(bytesExpected, SPARE_MAX)) {
      this.#bytes = spare;
      spare = null;
    } else this.#bytes = new Uint8Array(Math.max(16, bytesExpected));
    this.#errors = errors;
  }

  /** Appends bytes [from, to) to the current row. */
  append(bytes: Uint8Array, from: number, to: number): void {
    const count = to - from;
    if (count <= 0) return;
    if (!this.#reserve(count)) return;
    if (count < 24) {
      const target = this.#bytes;
      let at = this.#size;
      for (let index = from; index < to; index++) target[at++] = bytes[index] as number;
    } else {
      this.#bytes.set(bytes.subarray(from, to), this.#size);
    }
    this.#size += count;
  }

  /** Appends bytes [from, to) so many times, by copying what is there already. */
  appendTimes(bytes: Uint8Array, from: number, to: number, times: number): void {
    const size = to - from;
    const wanted = size * times;
    if (wanted <= 0 || !this.#reserve(wanted)) return;
    const start = this.#size;
    this.#bytes.set(bytes.subarray(from, to), start);
    for (let done = size; done < wanted; done *= 2)
      this.#bytes.copyWithin(start + done, start, start + Math.min(done, wanted - done));
    this.#size += wanted;
  }

  appendString(text: string): void {
    const ascii = text.length < 64 && isAsciiString(text);
    if (ascii) {
      if (!this.#reserve(text.length)) return;
      for (let index = 0; index < text.length; index++)
        this.#bytes[this.#size++] = text.charCodeAt(index);
      return;
    }
    const bytes = encoder.encode(text);
    this.append(bytes, 0, bytes.length);
  }

  appendByte(byte: number): void {
    if (!this.#reserve(1)) return;
    this.#bytes[this.#size++] = byte;
  }

  /** Bytes appended to the current row so far. */
  get rowBytes(): number {
    return this.#size - (this.#offsets[this.#rows] as number);
  }

  /** Nothing more fits into the row: whoever has much to append may stop. */
  get isFull(): boolean {
    return this.#isOverfull;
  }

  endRow(): void {
    if (this.#errors !== null && (this.#isOverfull || this.rowBytes > LIMITS.valueBytesMax))
      this.#dropRow(this.#errors);
    this.#offsets[++this.#rows] = this.#size;
  }

  /** Ends so many rows, each with bytes [from, to). */
  endRowsOf(bytes: Uint8Array, from: number, to: number, count: number): void {
    const size = to - from;
    if (size * count > LIMITS.valueBytesMax) {
      for (let row = 0; row < count; row++) {
        this.append(bytes, from, to);
        this.endRow();
      }
      return;
    }
    this.appendTimes(bytes, from, to, count);
    let end = this.#offsets[this.#rows] as number;
    for (let row = 0; row < count; row++) this.#offsets[++this.#rows] = end += size;
  }

  #dropRow(errors: RowErrors): void {
    this.#size = this.#offsets[this.#rows] as number;
    this.#isOverfull = false;
    errors.tooLarge(this.#rows, 'text');
    this.#tooLong ??= [];
    this.#tooLong.push(this.#rows);
  }

  finish(given: Uint8Array | null): TextColumn {
    let validity = given;
    if (this.#tooLong !== null) {
      const bytes = bitmapBytes(this.#rows);
      validity = validity === null ? new Uint8Array(bytes).fill(255) : validity.slice(0, bytes);
      for (const row of this.#tooLong) clearBit(validity, row);
    }
    this.#errors?.spend(this.#size);
    return {
      tag: 'text',
      type: TEXT,
      length: this.#rows,
      validity,
      offsets: this.#offsets,
      bytes: this.#handOn(),
    };
  }

  #handOn(): Uint8Array {
    const written = this.#bytes;
    this.#bytes = NO_BYTES;
    if (written.length > SPARE_MAX) return written;
    if (spare === null || spare.length < written.length) spare = written;
    return written.slice(0, this.#size);
  }

  /** False: the row has become too long. */
  #reserve(count: number): boolean {
    if (this.#size + count <= this.#bytes.length) return true;
    if (this.#errors !== null) {
      this.#isOverfull ||= this.rowBytes + count > LIMITS.valueBytesMax;
      if (this.#isOverfull) return false;
      this.#errors.expect(this.#size + count);
    }
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#size + count));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
    return true;
  }
}

function isAsciiString(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}

export const encodeText = (text: string): Uint8Array => encoder.encode(text);
export const decodeBytes = (bytes: Uint8Array, from: number, to: number): string =>
  decoder.decode(bytes.subarray(from, to));

/** The string at a position of a text column. */
export const textAt = (column: TextColumn, index: number): string =>
  decodeBytes(column.bytes, column.offsets[index] as number, column.offsets[index + 1] as number);

/** Bytes of the code point that starts with `byte`. */
export const sequenceBytes = (byte: number): number =>
  byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;

/** Whether bytes [from, to) are ASCII, where each is a code point. */
export function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  if (to - from >= 16) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let highs = 0;
    for (; at + 4 <= to; at += 4) highs |= view.getInt32(at);
    if ((highs & 0x80808080) !== 0) return false;
  }
  for (; at < to; at++) if ((bytes[at] as number) > 127) return false;
  return true;
}

/** Code points in [from, to): bytes that are not continuations. */
export function codePointCount(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++)
    if (((bytes[index] as number) & 0xc0) !== 0x80) count++;
  return count;
}

/** The byte position `count` code points after `from`, at most `to`. */
export function skipCodePoints(bytes: Uint8Array, from: number, to: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < to; left--) at += sequenceBytes(bytes[at] as number);
  return Math.min(at, to);
}

/** Where needle [needleFrom, needleTo) first occurs in [from, to) of `bytes`, or -1. */
export function findBytes(
  bytes: Uint8Array,
  from: number,
  to: number,
  needle: Uint8Array,
  needleFrom: number,
  needleTo: number,
): number {
  const size = needleTo - needleFrom;
  if (size === 0) return from;
  const first = needle[needleFrom] as number;
  const last = to - size;
  for (let at = from; at <= last; at++) {
    if (bytes[at] !== first) continue;
    let matched = 1;
    while (matched < size && bytes[at + matched] === needle[needleFrom + matched]) matched++;
    if (matched === size) return at;
  }
  return -1;
}

/** The byte order of two texts, which for UTF-8 is code point order. */
export function compareBytes(
  left: Uint8Array,
  leftFrom: number,
  leftTo: number,
  right: Uint8Array,
  rightFrom: number,
  rightTo: number,
): number {
  const shared = Math.min(leftTo - leftFrom, rightTo - rightFrom);
  for (let index = 0; index < shared; index++) {
    const difference = (left[leftFrom + index] as number) - (right[rightFrom + index] as number);
    if (difference !== 0) return difference;
  }
  return leftTo - leftFrom - (rightTo - rightFrom);
}
