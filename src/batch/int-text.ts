/**
 * 64-bit integers ↔ ASCII digits without BigInt.
 *
 * Writers put bytes into a buffer the caller has made large enough and return the end position.
 */
import { wordsToNumber } from './column.ts';

/** Longest text of an int64: a sign and 19 digits. */
export const INT64_TEXT_BYTES_MAX = 20;

const ZERO = 48;
const MINUS = 45;
/** Two ASCII digits for each of 0…99. */
const PAIRS = new Uint8Array(200);
for (let value = 0; value < 100; value++) {
  PAIRS[value * 2] = ZERO + Math.floor(value / 10);
  PAIRS[value * 2 + 1] = ZERO + (value % 10);
}

/** Writes exactly `digits` digits of a whole number below 2^31. */
export function writePadded(bytes: Uint8Array, at: number, value: number, digits: number): number {
  let rest = value;
  for (let index = at + digits - 1; index >= at; index--) {
    const next = (rest / 10) | 0;
    bytes[index] = ZERO + rest - next * 10;
    rest = next;
  }
  return at + digits;
}

/** Writes a whole number in [0, 2^31). */
function writeSmall(bytes: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let bound = 10; digits < 10 && value >= bound; bound *= 10) digits++;
  let rest = value;
  let index = at + digits;
  while (rest >= 100) {
    const next = (rest / 100) | 0;
    const pair = (rest - next * 100) * 2;
    bytes[--index] = PAIRS[pair + 1] as number;
    bytes[--index] = PAIRS[pair] as number;
    rest = next;
  }
  if (rest >= 10) {
    bytes[--index] = PAIRS[rest * 2 + 1] as number;
    bytes[--index] = PAIRS[rest * 2] as number;
  } else {
    bytes[--index] = ZERO + rest;
  }
  return at + digits;
}

/** Writes a whole number in [0, 2^53]. */
function writeExact(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x7fffffff) return writeSmall(bytes, at, value);
  const upper = Math.floor(value / 1e8);
  const lower = value - upper * 1e8;
  return writePadded(bytes, writeSmall(bytes, at, upper), lower, 8);
}

/** Writes an int32. */
export function writeInt32(bytes: Uint8Array, at: number, value: number): number {
  if (value >= 0) return writeExact(bytes, at, value);
  bytes[at] = MINUS;
  return writeExact(bytes, at + 1, -value);
}

/** Writes an int64 given as words. */
export function writeInt64(bytes: Uint8Array, at: number, low: number, high: number): number {
  // Within ±2^53 the value is an exact double.
  if (high >= -0x200000 && high < 0x200000) {
    const value = wordsToNumber(low, high);
    if (value >= 0) return writeExact(bytes, at, value);
    bytes[at] = MINUS;
    return writeExact(bytes, at + 1, -value);
  }
  let position = at;
  let lower = low >>> 0;
  let upper = high >>> 0;
  if (high < 0) {
    bytes[position++] = MINUS;
    lower = -low >>> 0;
    upper = (~high + (low === 0 ? 1 : 0)) >>> 0;
  }
  return writeWide(bytes, position, lower, upper);
}

/** Writes a 64-bit value without sign, given as words. */
export const writeUint64 = (bytes: Uint8Array, at: number, low: number, high: number): number =>
  high >= 0 ? writeInt64(bytes, at, low, high) : writeWide(bytes, at, low >>> 0, high >>> 0);

/** Writes an unsigned value of at least 2^53, given as unsigned words. */
function writeWide(bytes: Uint8Array, at: number, lower: number, upper: number): number {
  let position = at;
  // Divide the 64-bit value by 10^9 in base 2^16; each partial value is below 2^46.
  let rest = upper % 1e9;
  const quotientUpper = Math.floor(upper / 1e9);
  const middle = rest * 65536 + (lower >>> 16);
  const quotientMiddle = Math.floor(middle / 1e9);
  rest = middle - quotientMiddle * 1e9;
  const last = rest * 65536 + (lower & 65535);
  const quotientLast = Math.floor(last / 1e9);
  rest = last - quotientLast * 1e9;
  // The quotient is at most 1.9e10 and so exact.
  const quotient = quotientUpper * 4294967296 + quotientMiddle * 65536 + quotientLast;
  position = writeExact(bytes, position, quotient);
  return writePadded(bytes, position, rest, 9);
}

/** The words of a parsed int64. */
export type Pair = { low: number; high: number };

/**
 * Reads an optional `-` or `+` and one digit or more that fill bytes `[from, to)`.
 *
 * @returns false and leaves `pair` alone when the text is something else; 'range' beyond int64.
 */
export function readInt64(
  bytes: Uint8Array,
  from: number,
  to: number,
  pair: Pair,
): true | false | 'range' {
  let at = from;
  const negative = bytes[at] === MINUS;
  if (negative || bytes[at] === 43) at++;
  if (at >= to) return false;
  for (let index = at; index < to; index++) {
    const digit = (bytes[index] as number) - ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  while (at + 1 < to && bytes[at] === ZERO) at++;
  if (to - at > 19) return 'range';
  return readDigits(bytes, at, to, negative, pair) ? true : 'range';
}

/**
 * Reads 1…19 digits, which the caller has checked to be digits.
 *
 * @returns false when the value with its sign is beyond int64
 */
export function readDigits(
  bytes: Uint8Array,
  from: number,
  to: number,
  negative: boolean,
  pair: Pair,
): boolean {
  const split = to - from > 15 ? to - 9 : to;
  let upper = 0;
  for (let at = from; at < split; at++) upper = upper * 10 + (bytes[at] as number) - ZERO;
  let low = 0;
  let high = 0;
  if (split === to) {
    low = upper | 0;
    high = (upper / 4294967296) | 0;
  } else {
    let lower = 0;
    for (let at = split; at < to; at++) lower = lower * 10 + (bytes[at] as number) - ZERO;
    // upper × 10^9 + lower with upper < 10^10, by 16-bit limbs of upper: all partial sums stay below 2^53.
    const first = (upper % 65536) * 1e9 + lower;
    const second = Math.floor(upper / 65536) * 1e9 + Math.floor(first / 65536);
    low = ((second % 65536) * 65536 + (first % 65536)) | 0;
    const top = Math.floor(second / 65536);
    if (top > 2147483648 || (top === 2147483648 && !(negative && low === 0))) return false;
    high = top | 0;
  }
  if (negative) {
    pair.low = -low | 0;
    pair.high = (~high + (low === 0 ? 1 : 0)) | 0;
  } else {
    pair.low = low;
    pair.high = high;
  }
  return true;
}
