/**
 * JSON strings in bytes: escapes resolved and UTF-8 checked, byte by byte.
 *
 * Every function relies on a control byte (LF) behind the text as a sentinel: it ends each loop, so
 * that no position has to be checked against the end. A failed function returns −1 and says why and
 * where in `failure`.
 */

import { skipPlainWords } from './json-words.ts';

export const PLAIN = 0;
export const QUOTE = 1;
export const ESCAPE = 2;
export const CONTROL = 3;
export const HIGH = 4;

/** What a byte means inside a string. */
export const BYTE_CLASS = new Uint8Array(256);
BYTE_CLASS.fill(CONTROL, 0, 32);
BYTE_CLASS.fill(HIGH, 128, 256);
BYTE_CLASS[34] = QUOTE;
BYTE_CLASS[92] = ESCAPE;

/** The last failure of any function of the scanner. */
export const failure = { at: 0, message: '' };

export function fail(at: number, message: string): -1 {
  failure.at = at;
  failure.message = message;
  return -1;
}

/** Length of the valid UTF-8 sequence of two bytes or more at `at`, or 0. */
export function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  const second = bytes[at + 1] as number;
  if (lead >= 0xc2 && lead <= 0xdf) return (second & 0xc0) === 0x80 ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const lower = lead === 0xe0 ? 0xa0 : 0x80;
    const upper = lead === 0xed ? 0x9f : 0xbf;
    return second >= lower && second <= upper && ((bytes[at + 2] as number) & 0xc0) === 0x80
      ? 3
      : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const lower = lead === 0xf0 ? 0x90 : 0x80;
    const upper = lead === 0xf4 ? 0x8f : 0xbf;
    if (second < lower || second > upper || ((bytes[at + 2] as number) & 0xc0) !== 0x80) return 0;
    return ((bytes[at + 3] as number) & 0xc0) === 0x80 ? 4 : 0;
  }
  return 0;
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** The four hex digits at `at`, or −1. */
function hexUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let index = 0; index < 4; index++) {
    const digit = hexDigit(bytes[at + index] as number);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

const SIMPLE_ESCAPES = new Uint8Array(256);
for (const [letter, byte] of Object.entries({
  '"': 34,
  '\\': 92,
  '/': 47,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
})) {
  SIMPLE_ESCAPES[letter.charCodeAt(0)] = byte;
}

/** The code point of the escape read last. */
let escaped = 0;

/** Reads the escape whose backslash is at `at`; the position after it, or −1. Its code point is left in `escaped`. */
function readEscape(bytes: Uint8Array, at: number): number {
  const letter = bytes[at + 1] as number;
  const simple = SIMPLE_ESCAPES[letter] as number;
  if (simple !== 0) {
    escaped = simple;
    return at + 2;
  }
  if (letter !== 117) return fail(at, 'unknown escape in a string');
  const unit = hexUnit(bytes, at + 2);
  if (unit < 0) return fail(at, 'an escape \\u needs four hex digits');
  if (unit < 0xd800 || unit > 0xdfff) {
    escaped = unit;
    return at + 6;
  }
  const paired = unit < 0xdc00 && bytes[at + 6] === 92 && bytes[at + 7] === 117;
  const low = paired ? hexUnit(bytes, at + 8) : -1;
  if (low < 0xdc00 || low > 0xdfff)
    return fail(at, 'a surrogate without its other half is no character');
  escaped = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  return at + 12;
}

/** Writes the UTF-8 form of a code point; returns the end position. */
function writeCodePoint(target: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    target[at] = point;
    return at + 1;
  }
  if (point < 0x800) {
    target[at] = 0xc0 | (point >> 6);
    target[at + 1] = 0x80 | (point & 63);
    return at + 2;
  }
  if (point < 0x10000) {
    target[at] = 0xe0 | (point >> 12);
    target[at + 1] = 0x80 | ((point >> 6) & 63);
    target[at + 2] = 0x80 | (point & 63);
    return at + 3;
  }
  target[at] = 0xf0 | (point >> 18);
  target[at + 1] = 0x80 | ((point >> 12) & 63);
  target[at + 2] = 0x80 | ((point >> 6) & 63);
  target[at + 3] = 0x80 | (point & 63);
  return at + 4;
}

/** Where the string read last ends in its target. */
export const written = { end: 0 };

/**
 * Reads the string whose first byte after the quote is at `at` into `target` from `targetAt` on,
 * which must have room for as many bytes as the source has.
 *
 * @returns the position after the closing quote, or −1; `written.end` is the end in the target
 */
export function readString(
  bytes: Uint8Array,
  at: number,
  target: Uint8Array,
  targetAt: number,
): number {
  let from = at;
  let to = targetAt;
  for (;;) {
    const byte = bytes[from] as number;
    const kind = BYTE_CLASS[byte] as number;
    if (kind === PLAIN) {
      target[to++] = byte;
      from++;
    } else if (kind === HIGH) {
      const size = sequenceLength(bytes, from);
      if (size === 0) return fail(from, 'invalid UTF-8 in a string');
      for (let index = 0; index < size; index++) target[to++] = bytes[from++] as number;
    } else if (kind === ESCAPE) {
      from = readEscape(bytes, from);
      if (from < 0) return -1;
      to = writeCodePoint(target, to, escaped);
    } else if (kind === QUOTE) {
      written.end = to;
      return from + 1;
    } else {
      return fail(from, byte === 10 ? 'a string without end' : 'a control character in a string');
    }
  }
}

/** Checks the string whose first byte after the quote is at `at`; the position after the closing quote, or −1. */
export function skipString(bytes: Uint8Array, at: number): number {
  let from = at;
  for (;;) {
    from = skipPlainWords(bytes, from);
    let byte = bytes[from] as number;
    while (BYTE_CLASS[byte] === PLAIN) byte = bytes[++from] as number;
    const kind = BYTE_CLASS[byte] as number;
    if (kind === QUOTE) {
      return from + 1;
    } else if (kind === HIGH) {
      const size = sequenceLength(bytes, from);
      if (size === 0) return fail(from, 'invalid UTF-8 in a string');
      from += size;
    } else if (kind === ESCAPE) {
      from = readEscape(bytes, from);
      if (from < 0) return -1;
    } else {
      return fail(from, byte === 10 ? 'a string without end' : 'a control character in a string');
    }
  }
}
