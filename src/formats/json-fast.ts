/**
 * The common forms of values, read straight into columns.
 *
 * Each reader accepts only what it has wholly proved and returns the position after the value; on
 * anything else it returns 0 and the complete reader (`json-values.ts`) starts over at the same
 * place. A number counts as proved when `,` or `}` follows it. An LF behind the row ends every loop.
 */
import { BYTE_CLASS, PLAIN } from './json-strings.ts';
import {
  DECIMAL_KIND,
  FLOAT64_KIND,
  INT32_KIND,
  INT64_KIND,
  TEXT_KIND,
  TIMESTAMP_KIND,
} from './json-slots.ts';
import type { Slot } from './json-slots.ts';
import { copyPlainWords, matchesWords } from './json-words.ts';

const QUOTE = 34;
const COMMA = 44;
const CLOSE = 125;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;

/** Powers of ten that doubles hold exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Reads the value at `at` into row `row` of the slot; the position after it, or 0. */
export function readFast(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  switch (slot.kind) {
    case INT64_KIND:
      return readWhole(bytes, at, slot, row);
    case TEXT_KIND:
      return readText(bytes, at, slot, row);
    case TIMESTAMP_KIND:
      return readMinute(bytes, at, slot, row);
    case INT32_KIND:
      return readInt32(bytes, at, slot, row);
    case FLOAT64_KIND:
      return readFloat(bytes, at, slot, row);
    case DECIMAL_KIND:
      return readFixed(bytes, at, slot, row);
    default:
      return 0;
  }
}

/** Up to 15 digits: exact in a double. */
function readWhole(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  const negative = bytes[at] === MINUS;
  const start = negative ? at + 1 : at;
  let position = start;
  let value = 0;
  let digit = (bytes[position] as number) - ZERO;
  // Nine digits stay in int32 arithmetic.
  while (digit >= 0 && digit <= 9 && position - start < 9) {
    value = (value * 10 + digit) | 0;
    digit = (bytes[++position] as number) - ZERO;
  }
  const next = bytes[position] as number;
  if (next === COMMA || next === CLOSE) {
    if (position === start || (bytes[start] === ZERO && position > start + 1)) return 0;
    const signed = negative ? -value | 0 : value;
    slot.words[row * 2] = signed;
    slot.words[row * 2 + 1] = signed >> 31;
    return position;
  }
  return position - start === 9 ? readLong(bytes, position, start, negative, value, slot, row) : 0;
}

function readLong(
  bytes: Uint8Array,
  at: number,
  start: number,
  negative: boolean,
  upper: number,
  slot: Slot,
  row: number,
): number {
  let position = at;
  let value = upper;
  let digit = (bytes[position] as number) - ZERO;
  while (digit >= 0 && digit <= 9) {
    value = value * 10 + digit;
    digit = (bytes[++position] as number) - ZERO;
  }
  const next = bytes[position] as number;
  if ((next !== COMMA && next !== CLOSE) || position - start > 15 || bytes[start] === ZERO)
    return 0;
  const signed = negative ? -value : value;
  slot.words[row * 2] = signed | 0;
  slot.words[row * 2 + 1] = Math.floor(signed / 4294967296);
  return position;
}

function readInt32(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  const negative = bytes[at] === MINUS;
  const start = negative ? at + 1 : at;
  let position = start;
  let value = 0;
  let digit = (bytes[position] as number) - ZERO;
  while (digit >= 0 && digit <= 9 && position - start < 9) {
    value = (value * 10 + digit) | 0;
    digit = (bytes[++position] as number) - ZERO;
  }
  const next = bytes[position] as number;
  if ((next !== COMMA && next !== CLOSE) || position === start) return 0;
  if (bytes[start] === ZERO && position > start + 1) return 0;
  slot.words[row] = negative ? -value : value;
  return position;
}

/** Plain ASCII text. */
function readText(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  if (bytes[at] !== QUOTE) return 0;
  const { heap } = slot;
  let to = slot.offsets[row] as number;
  let position = at + 1;
  const copied = copyPlainWords(bytes, position, slot.heapWords(), to);
  position += copied;
  to += copied;
  let byte = bytes[position] as number;
  while (BYTE_CLASS[byte] === PLAIN) {
    heap[to++] = byte;
    byte = bytes[++position] as number;
  }
  // Bytes that found no room were dropped.
  if (byte !== QUOTE || to > heap.length) return 0;
  slot.offsets[row + 1] = to;
  return position + 1;
}

/** What `readDigits` found. */
let mantissa = 0;
let fractionDigits = 0;

/** Reads `[-]digits[.digits]` of up to 15 digits; the position after it, or 0. The sign is left to the caller. */
function readDigits(bytes: Uint8Array, start: number): number {
  let position = start;
  let value = 0;
  let digit = (bytes[position] as number) - ZERO;
  while (digit >= 0 && digit <= 9) {
    value = value * 10 + digit;
    digit = (bytes[++position] as number) - ZERO;
  }
  let count = position - start;
  if (count === 0 || (bytes[start] === ZERO && count > 1)) return 0;
  fractionDigits = 0;
  if (digit === POINT - ZERO) {
    const fraction = ++position;
    digit = (bytes[position] as number) - ZERO;
    while (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digit = (bytes[++position] as number) - ZERO;
    }
    fractionDigits = position - fraction;
    if (fractionDigits === 0) return 0;
    count += fractionDigits;
  }
  const next = digit + ZERO;
  mantissa = value;
  return count <= 15 && (next === COMMA || next === CLOSE) ? position : 0;
}

/** A mantissa below 2^53 divided by a power of ten up to 10^22 is rounded once, so the result is exact (Clinger 1990). */
function readFloat(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  const negative = bytes[at] === MINUS;
  const end = readDigits(bytes, negative ? at + 1 : at);
  if (end === 0) return 0;
  const value = fractionDigits === 0 ? mantissa : mantissa / (POWERS[fractionDigits] as number);
  slot.floats[row] = negative ? -value : value;
  return end;
}

/** A decimal whose unscaled form a double holds exactly. */
function readFixed(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  const negative = bytes[at] === MINUS;
  const end = readDigits(bytes, negative ? at + 1 : at);
  const missing = slot.scale - fractionDigits;
  if (end === 0 || missing < 0 || missing > 15) return 0;
  const value = mantissa * (POWERS[missing] as number);
  if (
    value > 9007199254740991 ||
    (slot.precision < 16 && value >= (POWERS[slot.precision] as number))
  )
    return 0;
  const signed = negative ? -value : value;
  const high = Math.floor(signed / 4294967296);
  const sign = high >> 31;
  const first = row * 4;
  slot.words[first] = signed | 0;
  slot.words[first + 1] = high;
  slot.words[first + 2] = sign;
  slot.words[first + 3] = sign;
  return end;
}

/** An ISO timestamp within the minute seen last, in UTC: only seconds and fraction are read. */
function readMinute(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
  const { minuteWords, minuteSeconds } = slot;
  if (bytes[at] !== QUOTE || minuteSeconds !== minuteSeconds) return 0;
  if (!matchesWords(bytes, at + 1, minuteWords, 0, 16)) return 0;
  const tens = (bytes[at + 18] as number) - ZERO;
  const ones = (bytes[at + 19] as number) - ZERO;
  if (bytes[at + 17] !== 58 || tens < 0 || tens > 5 || ones < 0 || ones > 9) return 0;
  let position = at + 20;
  let micros = 0;
  if (bytes[position] === POINT) {
    const fraction = ++position;
    let digit = (bytes[position] as number) - ZERO;
    while (digit >= 0 && digit <= 9 && position - fraction < 6) {
      micros = micros * 10 + digit;
      digit = (bytes[++position] as number) - ZERO;
    }
    if (position === fraction) return 0;
    micros *= POWERS[6 - (position - fraction)] as number;
  }
  if (bytes[position] === 90) position++;
  if (bytes[position] !== QUOTE) return 0;
  const total = (minuteSeconds + tens * 10 + ones) * 1e6 + micros;
  slot.words[row * 2] = total | 0;
  slot.words[row * 2 + 1] = Math.floor(total / 4294967296);
  return position + 1;
}
