/**
 * Strings, and values that no column wants. Every function returns the position behind what it read, or 0 when that is for
 * the complete decoder. UTF-8 is not checked here: whether a byte above 127 was met is noted, and the row checked as a whole.
 */
import { DATA, HEAP, SCALE } from './json-layout.ts';
import { nullAt } from './json-values.ts';

/** Nesting that is skipped here; what nests deeper the complete decoder judges. */
const DEPTH_MAX: u32 = 64;

/** All vectors of strings of the row, one over the other. */
let highs: v128 = i8x16.splat(0);

// @ts-ignore: decorator
@inline
export function clearHigh(): void {
  highs = i8x16.splat(0);
}

// @ts-ignore: decorator
@inline
export function seenHigh(): bool {
  return i8x16.bitmask(highs) != 0;
}

export function skipSpace(p: usize): usize {
  let at = p;
  for (;;) {
    const byte = load<u8>(at);
    if (byte != 32 && byte != 9 && byte != 13) return at;
    at++;
  }
  return at;
}

/** A bit for each byte that ends plain text: quote, backslash, control characters. */
// @ts-ignore: decorator
@inline
function stopsOf(block: v128): u32 {
  const special = v128.or(
    i8x16.eq(block, i8x16.splat(34)),
    i8x16.eq(block, i8x16.splat(92)),
  );
  return <u32>i8x16.bitmask(v128.or(special, i8x16.le_u(block, i8x16.splat(31))));
}

/** Constants that the processor loads sooner than it would make them. */
const TWO = memory.data<u64>([0x0202020202020202, 0x0202020202020202], 16);
const THIRTY_THREE = memory.data<u64>([0x2121212121212121, 0x2121212121212121], 16);
const BACKSLASH = memory.data<u64>([0x5c5c5c5c5c5c5c5c, 0x5c5c5c5c5c5c5c5c], 16);

/**
 * The same, and for each byte above 127. A quote and a space change places when the second bit of a byte is turned; so below
 * 33 are, as signed bytes, quotes, control characters and what is not ASCII.
 */
// @ts-ignore: decorator
@inline
function plainStopsOf(block: v128): u32 {
  const below = i8x16.gt_s(v128.load(THIRTY_THREE), v128.xor(block, v128.load(TWO)));
  return <u32>i8x16.bitmask(v128.or(below, i8x16.eq(block, v128.load(BACKSLASH))));
}

/** `plainStopsOf` for 32 bytes. */
// @ts-ignore: decorator
@inline
function plainStopsOfTwo(first: v128, second: v128): u32 {
  return plainStopsOf(first) | (plainStopsOf(second) << 16);
}

/** Reads the text at `p` into row `row` of the field. */
export function readText(p: usize, field: usize, row: u32): usize {
  if (load<u8>(p) != 34) return nullAt(p, field, row);
  return load<u32>(field, SCALE) != 0 ? skipString(p + 1) : copyString(p + 1, field, row);
}

/** The same for one whose first byte after the quote is at `p`. */
// @ts-ignore: decorator
@inline
export function copyString(p: usize, field: usize, row: u32): usize {
  const offsets = load<usize>(field, DATA) + (row << 2);
  const heap = load<usize>(field, HEAP);
  const to = heap + load<u32>(offsets);
  const at = copyPlain(p, to);
  if (load<u8>(at) != 34) return readEscaped(at, to + (at - p), heap, offsets);
  store<u32>(offsets, <u32>(to - heap + (at - p)), 4);
  return at + 1;
}

/** As `copyString`, and 0 also for texts that are not plain. */
// @ts-ignore: decorator
@inline
export function copyPlainString(p: usize, field: usize, row: u32): usize {
  const offsets = load<usize>(field, DATA) + (row << 2);
  const start = load<u32>(offsets);
  const at = copyPlain(p, load<usize>(field, HEAP) + start);
  store<u32>(offsets, start + <u32>(at - p), 4);
  return load<u8>(at) == 34 ? at + 1 : 0;
}

/** `plainEnd`; the bytes before it, and some behind it, are copied to `target`. */
// @ts-ignore: decorator
@inline
function copyPlain(p: usize, target: usize): usize {
  let at = p;
  let to = target;
  // Most texts are ASCII without escapes: nothing else to note. Short ones end in the first two vectors; longer ones take four
  // at once, so that their length is seldom a branch that is guessed wrong.
  const first = v128.load(at);
  const second = v128.load(at, 16);
  v128.store(to, first);
  v128.store(to, second, 16);
  let stops: u64 = plainStopsOfTwo(first, second);
  if (stops == 0) {
    at += 32;
    to += 32;
    for (;;) {
      const first = v128.load(at);
      const second = v128.load(at, 16);
      const third = v128.load(at, 32);
      const last = v128.load(at, 48);
      v128.store(to, first);
      v128.store(to, second, 16);
      v128.store(to, third, 32);
      v128.store(to, last, 48);
      stops = <u64>plainStopsOfTwo(first, second) | (<u64>plainStopsOfTwo(third, last) << 32);
      if (stops != 0) break;
      at += 64;
      to += 64;
    }
  }
  return at + <usize>ctz<u64>(stops);
}

/** Goes on with a text at something that is not plain. */
function readEscaped(p: usize, target: usize, heap: usize, offsets: usize): usize {
  let at = p;
  let to = target;
  for (;;) {
    const byte = load<u8>(at);
    if (byte == 92) {
      at = skipEscape(at);
      if (at == 0) return 0;
      to = writePoint(to, escaped);
    } else if (byte == 34) {
      store<u32>(offsets, <u32>(to - heap), 4);
      return at + 1;
    } else if (byte < 32) {
      return 0;
    } else {
      const block = v128.load(at);
      v128.store(to, block);
      highs = v128.or(highs, block);
      const stops = stopsOf(block);
      const plain = stops == 0 ? 16 : ctz<u32>(stops);
      at += plain;
      to += plain;
    }
  }
  return 0;
}

/** The character of the escape that `skipEscape` passed last. */
let escaped: u32 = 0;

function hexDigit(byte: u32): u32 {
  const digit = byte - 48;
  if (digit < 10) return digit;
  const letter = (byte | 32) - 97;
  return letter < 6 ? letter + 10 : 255;
}

/** The four hex digits at `p`, or a number above 65535. */
function hexUnit(p: usize): u32 {
  const first = hexDigit(load<u8>(p));
  const second = hexDigit(load<u8>(p + 1));
  const third = hexDigit(load<u8>(p + 2));
  const last = hexDigit(load<u8>(p + 3));
  if ((first | second | third | last) > 15) return 0x10000;
  return (first << 12) | (second << 8) | (third << 4) | last;
}

/** The escape whose backslash is at `p`. */
function skipEscape(p: usize): usize {
  const letter = load<u8>(p + 1);
  switch (letter) {
    case 34:
    case 92:
    case 47:
      escaped = letter;
      return p + 2;
    case 98:
      escaped = 8;
      return p + 2;
    case 102:
      escaped = 12;
      return p + 2;
    case 110:
      escaped = 10;
      return p + 2;
    case 114:
      escaped = 13;
      return p + 2;
    case 116:
      escaped = 9;
      return p + 2;
    case 117:
      break;
    default:
      return 0;
  }
  const unit = hexUnit(p + 2);
  if (unit > 0xffff) return 0;
  if (unit < 0xd800 || unit > 0xdfff) {
    escaped = unit;
    return p + 6;
  }
  // A high half needs its low half right behind it.
  if (unit > 0xdbff || load<u16>(p + 6) != 0x755c) return 0;
  const low = hexUnit(p + 8);
  if (low < 0xdc00 || low > 0xdfff) return 0;
  escaped = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  return p + 12;
}

/** Writes a character as UTF-8; the position behind it. */
function writePoint(to: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(to, point);
    return to + 1;
  }
  if (point < 0x800) {
    store<u8>(to, 0xc0 | (point >> 6));
    store<u8>(to, 0x80 | (point & 63), 1);
    return to + 2;
  }
  if (point < 0x10000) {
    store<u8>(to, 0xe0 | (point >> 12));
    store<u8>(to, 0x80 | ((point >> 6) & 63), 1);
    store<u8>(to, 0x80 | (point & 63), 2);
    return to + 3;
  }
  store<u8>(to, 0xf0 | (point >> 18));
  store<u8>(to, 0x80 | ((point >> 12) & 63), 1);
  store<u8>(to, 0x80 | ((point >> 6) & 63), 2);
  store<u8>(to, 0x80 | (point & 63), 3);
  return to + 4;
}

/** Of the string whose first byte after the quote is at `p`: its closing quote, or what is not plain before it. */
// @ts-ignore: decorator
@inline
export function plainEnd(p: usize): usize {
  let at = p;
  let stops: u64 = plainStopsOfTwo(v128.load(at), v128.load(at, 16));
  if (stops == 0) {
    at += 32;
    for (;;) {
      stops =
        <u64>plainStopsOfTwo(v128.load(at), v128.load(at, 16)) |
        (<u64>plainStopsOfTwo(v128.load(at, 32), v128.load(at, 48)) << 32);
      if (stops != 0) break;
      at += 64;
    }
  }
  return at + <usize>ctz<u64>(stops);
}

/** Passes the string whose first byte after the quote is at `p`. */
// @ts-ignore: decorator
@inline
export function skipString(p: usize): usize {
  const at = plainEnd(p);
  return load<u8>(at) == 34 ? at + 1 : skipRest(at);
}

/** Goes on with a string at something that is not plain ASCII. */
function skipRest(p: usize): usize {
  let at = p;
  for (;;) {
    const block = v128.load(at);
    highs = v128.or(highs, block);
    const stops = stopsOf(block);
    if (stops == 0) {
      at += 16;
      continue;
    }
    at += ctz<u32>(stops);
    const byte = load<u8>(at);
    if (byte == 34) return at + 1;
    if (byte != 92) return 0;
    at = skipEscape(at);
    if (at == 0) return 0;
  }
  return 0;
}

// @ts-ignore: decorator
@inline
function isDigit(byte: u32): bool {
  return byte - 48 < 10;
}

/** The number at `p`; what follows it is not looked at. */
export function skipNumber(p: usize): usize {
  let at = load<u8>(p) == 45 ? p + 1 : p;
  const whole = at;
  while (isDigit(load<u8>(at))) at++;
  if (at == whole || (load<u8>(whole) == 48 && at > whole + 1)) return 0;
  if (load<u8>(at) == 46) {
    const fraction = ++at;
    while (isDigit(load<u8>(at))) at++;
    if (at == fraction) return 0;
  }
  if ((load<u8>(at) | 32) == 101) {
    at++;
    const sign = load<u8>(at);
    if (sign == 43 || sign == 45) at++;
    const exponent = at;
    while (isDigit(load<u8>(at))) at++;
    if (at == exponent) return 0;
  }
  return at;
}

/** The same for whole numbers of up to seven digits at one look. */
// @ts-ignore: decorator
@inline
export function skipPlainNumber(p: usize): usize {
  const chunk = load<u64>(p) ^ 0x3030303030303030;
  const others = ((chunk + 0x7676767676767676) | chunk) & 0x8080808080808080;
  // As in `readPlainInt64`.
  if (<u32>(chunk & 255) - 1 > 8 || others == 0) return skipNumber(p);
  const bits = ctz<u64>(others) & ~7;
  // What ends the number is looked at as well: a comma or the end of the object.
  const end: u32 = <u32>(chunk >> bits) & 255;
  return end == (0x2c ^ 48) || end == (0x7d ^ 48) ? p + <usize>(bits >> 3) : skipNumber(p);
}

function skipNested(p: usize, depth: u32): usize {
  if (depth >= DEPTH_MAX) return 0;
  const isObject = load<u8>(p) == 0x7b;
  const close: u32 = isObject ? 0x7d : 0x5d;
  let at = skipSpace(p + 1);
  if (load<u8>(at) == close) return at + 1;
  for (;;) {
    if (isObject) {
      if (load<u8>(at) != 34) return 0;
      at = skipString(at + 1);
      if (at == 0) return 0;
      at = skipSpace(at);
      if (load<u8>(at) != 58) return 0;
      at = skipSpace(at + 1);
    }
    at = skipValue(at, depth + 1);
    if (at == 0) return 0;
    at = skipSpace(at);
    const next: u32 = load<u8>(at);
    if (next == close) return at + 1;
    if (next != 44) return 0;
    at = skipSpace(at + 1);
  }
  return 0;
}

/** The value that starts exactly at `p`. */
export function skipValue(p: usize, depth: u32): usize {
  const byte: u32 = load<u8>(p);
  if (byte == 34) return skipString(p + 1);
  if (byte == 45 || isDigit(byte)) return skipNumber(p);
  if (byte == 0x7b || byte == 0x5b) return skipNested(p, depth);
  const word = load<u32>(p);
  if (word == 0x65757274 || word == 0x6c6c756e) return p + 4;
  if (word == 0x736c6166 && load<u8>(p + 4) == 101) return p + 5;
  return 0;
}
