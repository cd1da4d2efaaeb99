/**
 * Unscaled 128-bit words ↔ decimal text, exact.
 *
 * The rule for surplus fraction digits is that of PostgreSQL: round half away from zero; a value
 * whose rounded form needs more than `precision` digits is out of range.
 */
import { writeInt64, writePadded } from './int-text.ts';

/** Longest text: sign, 39 digits, point, and a zero before the point. */
export const DECIMAL_TEXT_BYTES_MAX = 44;

const ZERO = 48;
const MINUS = 45;
const PLUS = 43;
const POINT = 46;

/** Four words, low first: the shared result of reading, so that no object is made per value. */
export type Quad = Int32Array;

/** Sixteen-bit limbs, low first: room for 128 bits and the carry of one step. */
const limbs = new Uint32Array(9);

function loadMagnitude(words: Int32Array, at: number): boolean {
  const negative = (words[at + 3] as number) < 0;
  let carry = negative ? 1 : 0;
  for (let word = 0; word < 4; word++) {
    const value = words[at + word] as number;
    const bits = negative ? ~value : value;
    const lower = (bits & 65535) + carry;
    limbs[word * 2] = lower & 65535;
    const upper = (bits >>> 16) + (lower >>> 16);
    limbs[word * 2 + 1] = upper & 65535;
    carry = upper >>> 16;
  }
  return negative;
}

/** Divides the limbs by 10^4 and returns the remainder. */
function divideLimbs(): number {
  let rest = 0;
  for (let index = 7; index >= 0; index--) {
    const value = rest * 65536 + (limbs[index] as number);
    const quotient = (value / 10000) | 0;
    limbs[index] = quotient;
    rest = value - quotient * 10000;
  }
  return rest;
}

const scratch = new Uint8Array(64);

/** Writes the value with exactly `scale` fraction digits; returns the end position. */
export function writeDecimal(
  bytes: Uint8Array,
  at: number,
  words: Int32Array,
  word: number,
  scale: number,
): number {
  const low = words[word] as number;
  const sign = low >> 31;
  let start = 44;
  let negative = false;
  if (words[word + 1] === sign && words[word + 2] === sign && words[word + 3] === sign) {
    negative = low < 0;
    const end = writeInt64(scratch, 20, negative ? -low : low, 0);
    scratch.copyWithin(44 - (end - 20), 20, end);
    start = 44 - (end - 20);
  } else {
    negative = loadMagnitude(words, word);
    for (let groups = 0; groups < 10; groups++) {
      start -= 4;
      writePadded(scratch, start, divideLimbs(), 4);
    }
    while (start < 43 && scratch[start] === ZERO) start++;
  }
  while (44 - start <= scale) scratch[--start] = ZERO;
  let position = at;
  if (negative) bytes[position++] = MINUS;
  const point = 44 - scale;
  for (let index = start; index < point; index++) bytes[position++] = scratch[index] as number;
  if (scale > 0) {
    bytes[position++] = POINT;
    for (let index = point; index < 44; index++) bytes[position++] = scratch[index] as number;
  }
  return position;
}

/** The same as a string. */
export function decimalText(words: Int32Array, word: number, scale: number): string {
  const bytes = new Uint8Array(DECIMAL_TEXT_BYTES_MAX);
  const end = writeDecimal(bytes, 0, words, word, scale);
  let text = '';
  for (let at = 0; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

/** Multiplies the limbs by ten and adds a digit. */
function appendDigit(digit: number): void {
  let carry = digit;
  for (let index = 0; index < 8; index++) {
    const value = (limbs[index] as number) * 10 + carry;
    limbs[index] = value & 65535;
    carry = value >>> 16;
  }
}

function storeLimbs(negative: boolean, out: Quad): void {
  let carry = negative ? 1 : 0;
  for (let word = 0; word < 4; word++) {
    const value = (limbs[word * 2] as number) | ((limbs[word * 2 + 1] as number) << 16);
    const bits = (negative ? ~value : value) >>> 0;
    const sum = bits + carry;
    out[word] = sum | 0;
    carry = sum >= 4294967296 ? 1 : 0;
  }
}

/** Where the parts of a number text lie; filled by `scanNumber`. */
const parts = { negative: false, digits: 0, pointAfter: 0, exponent: 0 };
const digitBytes = new Uint8Array(128);

/**
 * Splits `[-+]digits[.digits][e[-+]digits]` into significant digits, position of the point and
 * exponent. Digits beyond 120 significant ones are kept only as "something non-zero follows",
 * which cannot change the rounding.
 */
function scanNumber(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  parts.negative = bytes[at] === MINUS;
  if (parts.negative || bytes[at] === PLUS) at++;
  let digits = 0;
  let pointAfter = 0;
  let seen = 0;
  let inFraction = false;
  for (; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte === POINT && !inFraction) {
      inFraction = true;
      continue;
    }
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) break;
    seen++;
    if (digits === 0 && digit === 0) {
      if (inFraction) pointAfter--;
      continue;
    }
    if (digits < 120) digitBytes[digits++] = digit;
    else if (digit !== 0) digitBytes[119] = (digitBytes[119] as number) | 1;
    if (!inFraction) pointAfter++;
  }
  if (seen === 0) return false;
  let exponent = 0;
  if (at < to) {
    if (((bytes[at] as number) | 32) !== 101) return false;
    at++;
    const negative = bytes[at] === MINUS;
    if (negative || bytes[at] === PLUS) at++;
    if (at >= to) return false;
    for (; at < to; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) return false;
      if (exponent < 1e6) exponent = exponent * 10 + digit;
    }
    if (negative) exponent = -exponent;
  }
  parts.digits = digits;
  parts.pointAfter = pointAfter;
  parts.exponent = exponent;
  return true;
}

/**
 * Reads number text that fills bytes `[from, to)` as DECIMAL(precision, scale) into `out`.
 *
 * @returns true; false when the text is no number; 'range' when it needs more than `precision` digits
 */
export function readDecimal(
  bytes: Uint8Array,
  from: number,
  to: number,
  precision: number,
  scale: number,
  out: Quad,
): true | false | 'range' {
  if (!scanNumber(bytes, from, to)) return false;
  limbs.fill(0);
  // How many digits belong to the unscaled value; may be negative, or more than there are digits.
  const wanted = parts.digits === 0 ? 0 : parts.pointAfter + parts.exponent + scale;
  if (wanted > precision) return 'range';
  let rounded = false;
  if (wanted > 0) {
    for (let index = 0; index < wanted; index++)
      appendDigit(index < parts.digits ? (digitBytes[index] as number) : 0);
  }
  if (wanted >= 0 && wanted < parts.digits && (digitBytes[wanted] as number) >= 5) {
    let carry = 1;
    for (let index = 0; index < 8 && carry > 0; index++) {
      const value = (limbs[index] as number) + carry;
      limbs[index] = value & 65535;
      carry = value >>> 16;
    }
    rounded = true;
  }
  if (rounded && wanted === precision && reachesPowerOfTen(precision)) return 'range';
  storeLimbs(parts.negative, out);
  return true;
}

/** Whether the limbs hold 10^exponent: only rounding up 99…9 leads there. */
function reachesPowerOfTen(exponent: number): boolean {
  let power = POWERS.get(exponent);
  if (power === undefined) {
    const saved = limbs.slice();
    limbs.fill(0);
    limbs[0] = 1;
    for (let index = 0; index < exponent; index++) appendDigit(0);
    power = limbs.slice();
    limbs.set(saved);
    POWERS.set(exponent, power);
  }
  for (let index = 0; index < 8; index++) if (limbs[index] !== power[index]) return false;
  return true;
}

const POWERS = new Map<number, Uint32Array>();
