/**
 * JSON values as ranges of UTF-8 bytes: where a value ends, its members, its text. Nothing is parsed that is not asked
 * for; a text that is no JSON shows as -1 when the walk comes to it.
 */
import { decodeBytes } from '../text-sink.ts';
import type { TextSink } from '../text-sink.ts';

/** Nesting a value may have. */
const DEPTH_MAX = 512;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
export const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

export function skipSpace(bytes: Uint8Array, at: number, to: number): number {
  let place = at;
  while (place < to) {
    const byte = bytes[place] as number;
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
    place++;
  }
  return place;
}

/** Behind the string whose quote is at `at`, or -1. */
function skipString(bytes: Uint8Array, at: number, to: number): number {
  for (let place = at + 1; place < to; place++) {
    const byte = bytes[place] as number;
    if (byte === QUOTE) return place + 1;
    if (byte < 32) return -1;
    if (byte !== BACKSLASH) continue;
    const escaped = bytes[++place] as number;
    if (escaped === 117) {
      for (let digit = 1; digit <= 4; digit++)
        if (place + digit >= to || !isHex(bytes[place + digit] as number)) return -1;
      place += 4;
    } else if (place >= to || !ESCAPES.has(escaped)) return -1;
  }
  return -1;
}

/** " \ / b f n r t */
const ESCAPES: ReadonlySet<number> = new Set([34, 92, 47, 98, 102, 110, 114, 116]);
const isHex = (byte: number): boolean =>
  (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 102);

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57;

function skipNumber(bytes: Uint8Array, at: number, to: number): number {
  let place = bytes[at] === 45 ? at + 1 : at;
  const digits = (): boolean => {
    const from = place;
    while (place < to && isDigit(bytes[place])) place++;
    return place > from;
  };
  const first = place;
  if (!digits() || (bytes[first] === 48 && place > first + 1)) return -1;
  if (place < to && bytes[place] === 46) {
    place++;
    if (!digits()) return -1;
  }
  if (place < to && ((bytes[place] as number) | 32) === 101) {
    place++;
    if (bytes[place] === 43 || bytes[place] === 45) place++;
    if (!digits()) return -1;
  }
  return place;
}

function skipWord(bytes: Uint8Array, at: number, to: number, word: string): number {
  if (at + word.length > to) return -1;
  for (let index = 0; index < word.length; index++)
    if (bytes[at + index] !== word.charCodeAt(index)) return -1;
  return at + word.length;
}

/** Behind the value that begins at `at`, or -1. */
export function skipValue(bytes: Uint8Array, at: number, to: number, depth = 0): number {
  if (at >= to) return -1;
  switch (bytes[at]) {
    case QUOTE:
      return skipString(bytes, at, to);
    case OPEN_BRACE:
    case OPEN_BRACKET:
      return eachMember(bytes, at, to, () => true, depth);
    case 116:
      return skipWord(bytes, at, to, 'true');
    case 102:
      return skipWord(bytes, at, to, 'false');
    case 110:
      return skipWord(bytes, at, to, 'null');
    default:
      return skipNumber(bytes, at, to);
  }
}

/** Where a key begins (at its quote) and ends, -1 for elements; where its value begins and ends. */
export type Visit = (
  key: number,
  keyEnd: number,
  value: number,
  end: number,
  index: number,
) => boolean;

/**
 * Calls `visit` with every member of the object or array at `at`, until it gives false.
 *
 * @returns behind the value; -1: it is no JSON; -2: `visit` gave false
 */
export function eachMember(
  bytes: Uint8Array,
  at: number,
  to: number,
  visit: Visit,
  depth = 0,
): number {
  if (depth >= DEPTH_MAX) return -1;
  const isObject = bytes[at] === OPEN_BRACE;
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  let place = skipSpace(bytes, at + 1, to);
  if (bytes[place] === close && place < to) return place + 1;
  for (let index = 0; ; index++) {
    let key = -1;
    let keyEnd = -1;
    if (isObject) {
      key = place;
      if (bytes[key] !== QUOTE || key >= to) return -1;
      keyEnd = skipString(bytes, key, to);
      if (keyEnd < 0) return -1;
      place = skipSpace(bytes, keyEnd, to);
      if (bytes[place] !== COLON || place >= to) return -1;
      place = skipSpace(bytes, place + 1, to);
    }
    const end = skipValue(bytes, place, to, depth + 1);
    if (end < 0) return -1;
    if (!visit(key, keyEnd, place, end, index)) return -2;
    place = skipSpace(bytes, end, to);
    if (place >= to) return -1;
    if (bytes[place] === close) return place + 1;
    if (bytes[place] !== COMMA) return -1;
    place = skipSpace(bytes, place + 1, to);
  }
}

/** The start of the one value that the text is, which is `found` then, or -1 when it is no JSON. */
export function documentStart(bytes: Uint8Array, from: number, to: number): number {
  const start = skipSpace(bytes, from, to);
  const end = skipValue(bytes, start, to);
  found.at = start;
  found.end = end;
  return end >= 0 && skipSpace(bytes, end, to) === to ? start : -1;
}

export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export function kindOf(bytes: Uint8Array, at: number): Kind {
  switch (bytes[at]) {
    case QUOTE:
      return 'string';
    case OPEN_BRACE:
      return 'object';
    case OPEN_BRACKET:
      return 'array';
    case 116:
    case 102:
      return 'boolean';
    case 110:
      return 'null';
    default:
      return 'number';
  }
}

/** Not `indexOf`, which would go on to the end of the column. */
function hasEscape(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** The text of the string at [at, end), quotes included. */
export const stringAt = (bytes: Uint8Array, at: number, end: number): string =>
  hasEscape(bytes, at, end)
    ? (JSON.parse(decodeBytes(bytes, at, end)) as string)
    : decodeBytes(bytes, at + 1, end - 1);

/** Appends the text of a string; a value of another kind as JSON. */
export function appendText(bytes: Uint8Array, at: number, end: number, sink: TextSink): void {
  if (bytes[at] !== QUOTE) sink.append(bytes, at, end);
  else if (hasEscape(bytes, at, end)) sink.appendString(stringAt(bytes, at, end));
  else sink.append(bytes, at + 1, end - 1);
}

/** Whether the key at [at, end), quotes included, is the text [from, to) of other bytes. */
export function isKey(
  bytes: Uint8Array,
  at: number,
  end: number,
  other: Uint8Array,
  from: number,
  to: number,
): boolean {
  if (end - at - 2 === to - from) {
    let same = 0;
    while (from + same < to && bytes[at + 1 + same] === other[from + same]) same++;
    if (from + same === to) return !hasEscape(bytes, at, end);
  }
  return hasEscape(bytes, at, end) && stringAt(bytes, at, end) === decodeBytes(other, from, to);
}

/** Where the last walk ended. */
export const found = { at: -1, end: -1 };

/** Finds the member of an object; false: there is none. */
export function findKey(
  bytes: Uint8Array,
  at: number,
  to: number,
  other: Uint8Array,
  from: number,
  end: number,
): boolean {
  if (bytes[at] !== OPEN_BRACE) return false;
  return (
    eachMember(bytes, at, to, (key, keyEnd, value, valueEnd) => {
      if (!isKey(bytes, key, keyEnd, other, from, end)) return true;
      found.at = value;
      found.end = valueEnd;
      return false;
    }) === -2
  );
}

export function memberCount(bytes: Uint8Array, at: number, to: number): number {
  let count = 0;
  const end = eachMember(bytes, at, to, () => ++count > 0);
  return end < 0 ? -1 : count;
}

/** Finds the element of an array, from 0, or from -1 at the end. */
export function findIndex(bytes: Uint8Array, at: number, to: number, wanted: number): boolean {
  if (bytes[at] !== OPEN_BRACKET) return false;
  const index = wanted < 0 ? memberCount(bytes, at, to) + wanted : wanted;
  return (
    eachMember(bytes, at, to, (_key, _keyEnd, value, valueEnd, place) => {
      if (place !== index) return true;
      found.at = value;
      found.end = valueEnd;
      return false;
    }) === -2
  );
}
