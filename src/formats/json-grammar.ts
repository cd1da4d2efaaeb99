/**
 * The JSON grammar over bytes: where a value ends, and whether it is one. Nothing is built.
 *
 * As in `json-strings.ts` an LF behind the text is the sentinel; LF is therefore no white space here.
 */
import { fail, skipString } from './json-strings.ts';

/** Nesting a row may have. */
const DEPTH_MAX = 512;

export const SPACE = 32;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const OPEN_BRACKET = 91;
export const CLOSE_BRACKET = 93;
export const DOUBLE_QUOTE = 34;
export const MINUS = 45;
export const LF = 10;

/** The first position at or after `at` that is no space, tab or CR. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let position = at;
  for (;;) {
    const byte = bytes[position] as number;
    if (byte !== SPACE && byte !== 9 && byte !== 13) return position;
    position++;
  }
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57;

function skipDigits(bytes: Uint8Array, at: number): number {
  let position = at;
  while (isDigit(bytes[position])) position++;
  return position;
}

/** The position after the number at `at`, or −1. What follows it is not looked at. */
export function skipNumber(bytes: Uint8Array, at: number): number {
  let position = bytes[at] === MINUS ? at + 1 : at;
  const whole = position;
  position = skipDigits(bytes, position);
  if (position === whole) return fail(at, 'a number needs a digit');
  if (bytes[whole] === 48 && position > whole + 1)
    return fail(whole, 'a number must not start with 0');
  if (bytes[position] === 46) {
    const fraction = position + 1;
    position = skipDigits(bytes, fraction);
    if (position === fraction) return fail(position, 'a number needs a digit after its point');
  }
  if (((bytes[position] as number) | 32) === 101) {
    let exponent = position + 1;
    if (bytes[exponent] === 43 || bytes[exponent] === MINUS) exponent++;
    position = skipDigits(bytes, exponent);
    if (position === exponent) return fail(position, 'a number needs a digit in its exponent');
  }
  return position;
}

const LITERALS: readonly Uint8Array[] = ['true', 'false', 'null'].map((text) =>
  new TextEncoder().encode(text),
);

/** The position after `true`, `false` or `null` at `at`, or −1. */
export function skipLiteral(bytes: Uint8Array, at: number): number {
  for (const literal of LITERALS) {
    let index = 0;
    while (index < literal.length && bytes[at + index] === literal[index]) index++;
    if (index === literal.length) return at + index;
  }
  return fail(
    at,
    bytes[at] === LF ? 'the row ends where a value is due' : 'no JSON value starts like this',
  );
}

/** The position after the key and colon whose quote is at `at` and the space behind them, or −1. */
function skipKey(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== DOUBLE_QUOTE) return fail(at, 'a key in double quotes is due');
  let position = skipString(bytes, at + 1);
  if (position < 0) return -1;
  position = skipSpace(bytes, position);
  if (bytes[position] !== COLON) return fail(position, 'a colon is due after a key');
  return skipSpace(bytes, position + 1);
}

function skipNested(bytes: Uint8Array, at: number, depth: number): number {
  if (depth >= DEPTH_MAX) return fail(at, `values nest deeper than ${DEPTH_MAX}`);
  const isObject = bytes[at] === OPEN_BRACE;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let position = skipSpace(bytes, at + 1);
  if (bytes[position] === close) return position + 1;
  for (;;) {
    if (isObject) {
      position = skipKey(bytes, position);
      if (position < 0) return -1;
    }
    position = skipValue(bytes, position, depth + 1);
    if (position < 0) return -1;
    position = skipSpace(bytes, position);
    const next = bytes[position];
    if (next === close) return position + 1;
    if (next !== COMMA)
      return fail(position, isObject ? 'a comma or } is due' : 'a comma or ] is due');
    position = skipSpace(bytes, position + 1);
  }
}

/** The position after the value that starts exactly at `at`, or −1. */
export function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  const byte = bytes[at] as number;
  if (byte === DOUBLE_QUOTE) return skipString(bytes, at + 1);
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipNested(bytes, at, depth);
  if (byte === MINUS || isDigit(byte)) return skipNumber(bytes, at);
  return skipLiteral(bytes, at);
}
