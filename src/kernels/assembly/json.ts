/**
 * Entry file of the kernel `json`: rows of NDJSON to columns. Everything exported here is exported by json.wasm.
 *
 * The scanner reads the common forms of rows and writes a row only when it has proved it whole. At any other row it stops
 * with SLOW: the caller reads that one with the complete decoder in TypeScript and calls again behind it. So nothing here
 * words an error or learns a key: tokens come from the caller as well (src/formats/json-keys.ts says what a token is).
 *
 * Memory: the caller lays out fields, tokens, columns and input (src/formats/json-scanner.ts) and leaves room for a vector
 * before and behind each. Slots of a row that is not accepted are simply written again; `present` is put right by whoever goes on.
 *
 * Invariants: the input ends with LF, so that every loop over a row ends; bytes of the input that lie behind the last LF
 * are not looked at but within a vector.
 */
import { setNull } from './json-values.ts';
import { clearHigh, seenHigh, skipSpace, skipValue } from './json-strings.ts';
import {
  countShaped,
  firstStep,
  flushShape,
  forgetShape as forgetSteps,
  hasShape,
  learnShape,
  leftAt,
  leftStep,
  noteKey,
  readShaped,
  readValue,
  shapedEnd,
  startTrail,
  stepBehind,
  tokenOfStep,
} from './json-shape.ts';
import { firstEnd, forgetLengths, guessNext, noteLength, readTwo, secondEnd, secondLine } from './json-pairs.ts';
import { validUtf8 } from './utf8.ts';
import {
  BYTES,
  COUNT,
  FIELD,
  FIELD_SIZE,
  FIRST,
  LENGTH,
  MASK,
  MISSING,
  NEXT,
  STAMP,
  TOKEN_SIZE,
} from './json-layout.ts';
import { mixStream } from './columns-bytes.ts';
import { packBytes, packWords } from './pack.ts';

export { packBytes, packWords };

/** Descriptors or places of columns have changed, or other rows come. Unknown keys must have been counted. */
export function forgetShape(): void {
  forgetSteps();
  forgetLengths();
}

/** Where memory is free from: below lie the constants of this file. */
export function heapBase(): usize {
  return __heap_base;
}

/** The input is read up to its last LF. */
const DONE: u32 = 0;
/** As many rows were accepted as were wanted. */
const FULL: u32 = 1;
/** The row at `position` is for the complete decoder. */
const SLOW: u32 = 2;

let status: u32 = 0;
let position: usize = 0;

export function statusOfScan(): u32 {
  return status;
}
/** Where the next row starts. */
export function positionOfScan(): usize {
  return position;
}

let fields: usize = 0;
let fieldCount: u32 = 0;
let tokens: usize = 0;
let tokenCount: u32 = 0;
/** The first is what precedes a row's first key. */
let ranges: usize = 0;
/** Grows with every row, so that no stamp is met twice. */
let serial: u32 = 0;

/** Unknown keys that one row may have here. */
const UNKNOWN_MAX: u32 = 64;
const unknown = memory.data(256, 16);

/** Names the descriptors that the next scans use. */
export function open(
  fieldsAt: usize,
  fieldsCount: u32,
  tokensAt: usize,
  tokensCount: u32,
  rangesAt: usize,
): void {
  fields = fieldsAt;
  fieldCount = fieldsCount;
  tokens = tokensAt;
  tokenCount = tokensCount;
  ranges = rangesAt;
}

// @ts-ignore: decorator
@inline
function matches(p: usize, token: usize): bool {
  const mask = load<u32>(token, MASK);
  const equal = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(token, FIRST)));
  if ((<u32>equal & mask) != mask) return false;
  return load<u32>(token, LENGTH) <= 16 || matchesRest(p, token);
}

function matchesRest(p: usize, token: usize): bool {
  const at = load<usize>(token, BYTES);
  const length = load<u32>(token, LENGTH);
  for (let index: u32 = 16; index < length; index++) {
    if (load<u8>(p + index) != load<u8>(at + index)) return false;
  }
  return true;
}

/** The token at `p` that did not follow `previous` last time, or 0. */
function find(p: usize, previous: usize): usize {
  let token = tokens + TOKEN_SIZE;
  const end = tokens + tokenCount * TOKEN_SIZE;
  while (token < end) {
    if (matches(p, token)) {
      store<usize>(previous, token, NEXT);
      return token;
    }
    token += TOKEN_SIZE;
  }
  return 0;
}

/** NULL for every column that the row does not name; false when one needs the complete decoder. */
function fillMissing(row: u32): bool {
  let field = fields;
  const end = fields + fieldCount * FIELD_SIZE;
  while (field < end) {
    if (load<u32>(field, STAMP) != serial) {
      if (load<u32>(field, MISSING) == 0) return false;
      setNull(field, row);
    }
    field += FIELD_SIZE;
  }
  return true;
}

function countUnknown(count: u32): void {
  for (let index: u32 = 0; index < count; index++) {
    const token = load<usize>(unknown + (index << 2));
    store<u32>(token, load<u32>(token, COUNT) + 1, COUNT);
  }
}

/** Of the row that was read last: the end of its object, and its keys that no column has. */
let objectEnd: usize = 0;
let unknownCount: u32 = 0;

/** Notes the keys of the steps before `end` as read; the last of their tokens. */
function resume(end: usize, stamp: u32): usize {
  let previous = tokens;
  for (let step = firstStep(); step < end; step = stepBehind(step)) {
    const token = tokenOfStep(step);
    if (token == 0) continue;
    const field = load<usize>(token, FIELD);
    if (field > 1) {
      store<u32>(field, stamp, STAMP);
      seenCount++;
    } else {
      store<usize>(unknown + (unknownCount << 2), token);
      unknownCount++;
    }
    previous = token;
  }
  return previous;
}

/** Columns that the row has named. */
let seenCount: u32 = 0;

/**
 * Reads the rest of a row by tokens into row `row`, from `from` on, where the steps before `step` are read; the position of
 * its LF, or 0.
 */
function readRow(from: usize, step: usize, row: u32): usize {
  let p = from;
  let behind = from;
  const stamp = ++serial;
  unknownCount = 0;
  seenCount = 0;
  let previous = resume(step, stamp);
  startTrail();
  for (;;) {
    behind = p;
    if (previous != tokens) {
      let next = load<u8>(p);
      if (next != 0x2c && next != 0x7d) {
        p = skipSpace(p);
        next = load<u8>(p);
        if (next != 0x2c && next != 0x7d) return 0;
      }
      if (next == 0x7d) break;
    }
    let token = load<usize>(previous, NEXT);
    if (token == 0 || !matches(p, token)) {
      token = find(p, previous);
      if (token == 0) return 0;
    }
    p += load<u32>(token, LENGTH);
    if (load<u8>(p) <= 32) p = skipSpace(p);
    const field = load<usize>(token, FIELD);
    noteKey(behind, p, token);
    if (field > 1) {
      // Of a key given twice the last value counts: that is for the complete decoder.
      if (load<u32>(field, STAMP) == stamp) return 0;
      store<u32>(field, stamp, STAMP);
      seenCount++;
      p = readValue(p, field, row);
    } else {
      if (field == 1 || unknownCount == UNKNOWN_MAX) return 0;
      store<usize>(unknown + (unknownCount << 2), token);
      unknownCount++;
      p = skipValue(p, 0);
    }
    if (p == 0) return 0;
    previous = token;
  }
  objectEnd = ++p;
  if (load<u8>(p) != 10) {
    p = skipSpace(p);
    if (load<u8>(p) != 10) return 0;
  }
  if (seenCount < fieldCount && !fillMissing(row)) return 0;
  learnShape(step, behind, objectEnd, p, fields, fieldCount);
  return p;
}

/** Reads the line at `start`, whose first byte is `{`, into row `row`; the position of its LF, or 0. */
// @ts-ignore: decorator
@inline
function readLine(start: usize, row: u32): usize {
  let end: usize = 0;
  clearHigh();
  if (hasShape()) {
    end = readShaped(start, row);
    if (end != 0) {
      objectEnd = shapedEnd;
      if (seenHigh() && !validUtf8(start, objectEnd)) return 0;
      countShaped(1);
      return end;
    }
    end = readRow(leftAt, leftStep, row);
  } else end = readRow(start, firstStep(), row);
  if (end == 0 || (seenHigh() && !validUtf8(start, objectEnd))) return 0;
  countUnknown(unknownCount);
  return end;
}

/** No position of an input lies so high: nothing is hashed. */
const NOWHERE: usize = 0xffff0000;
/** Bytes from here on are to be hashed; only blocks that lie before the position are. */
let hashAt: usize = NOWHERE;
/** The eight words of the hash. */
let lower: v128 = i32x4.splat(0);
let upper: v128 = i32x4.splat(0);

/** The next scans hash what they pass, from `from` on, into the eight words at `lanes`, until `closeHash`. */
export function openHash(from: usize, lanes: usize): void {
  hashAt = from;
  lower = v128.load(lanes);
  upper = v128.load(lanes, 16);
}

/** Hashes the whole blocks up to `end`; where the bytes begin that fill no block. */
function hashUpTo(end: usize): usize {
  let low = lower;
  let high = upper;
  let at = hashAt;
  for (; at + 64 <= end; at += 64) {
    low = mixStream(low, v128.load(at), v128.load(at, 32));
    high = mixStream(high, v128.load(at, 16), v128.load(at, 48));
  }
  lower = low;
  upper = high;
  return at;
}

/** The same, for an input that goes on at `to`: the bytes that fill no block are put in front of it. */
export function carryHash(end: usize, to: usize): void {
  const at = hashUpTo(end);
  hashAt = to - (end - at);
  memory.copy(hashAt, at, end - at);
}

/** The same for the last time: writes the words to `lanes`. */
export function closeHash(end: usize, lanes: usize): usize {
  const at = hashUpTo(end);
  v128.store(lanes, lower);
  v128.store(lanes, upper, 16);
  hashAt = NOWHERE;
  return at;
}

// @ts-ignore: decorator
@inline
function noteRange(row: u32, start: usize, end: usize): void {
  store<u32>(ranges + (row << 3), start);
  store<u32>(ranges + (row << 3), end, 4);
}

/**
 * Reads rows of `[from, end)` from row number `row` on until `rowMax` is reached, no whole line is left, or one needs the
 * complete decoder. Ranges of the rows are written as positions less `shift`.
 *
 * @returns the number of the next row
 */
export function scan(from: usize, end: usize, firstRow: u32, rowMax: u32, shift: usize): u32 {
  let limit = end;
  while (limit > from && load<u8>(limit - 1) != 10) limit--;
  let row = firstRow;
  let p = from;
  let hashed = hashAt;
  let low = lower;
  let high = upper;
  status = DONE;
  while (p < limit) {
    if (row == rowMax) {
      status = FULL;
      break;
    }
    const other = row + 2 <= rowMax ? guessNext(p, limit) : 0;
    if (other != 0 && readTwo(p, other, row)) {
      noteLength(<u32>(other - p));
      noteRange(row, p - shift, firstEnd - shift);
      noteRange(row + 1, other - shift, secondEnd - shift);
      countShaped(2);
      row += 2;
      p = secondLine + 1;
    } else {
      let start = p;
      if (load<u8>(p) != 0x7b) {
        start = skipSpace(p);
        if (load<u8>(start) == 10) {
          p = start + 1;
          continue;
        }
      }
      const lineEnd = load<u8>(start) == 0x7b ? readLine(start, row) : 0;
      if (lineEnd == 0) {
        // What was noted as NULL, the complete decoder notes again or takes back.
        status = SLOW;
        break;
      }
      noteLength(<u32>(lineEnd + 1 - p));
      noteRange(row, start - shift, objectEnd - shift);
      row++;
      p = lineEnd + 1;
    }
    // Between rows, where the processor has steps of both at once under way. Two blocks, for a loop that ends like the last.
    for (; hashed + 128 <= p; hashed += 128) {
      low = mixStream(low, v128.load(hashed), v128.load(hashed, 32));
      high = mixStream(high, v128.load(hashed, 16), v128.load(hashed, 48));
      low = mixStream(low, v128.load(hashed, 64), v128.load(hashed, 96));
      high = mixStream(high, v128.load(hashed, 80), v128.load(hashed, 112));
    }
  }
  flushShape();
  hashAt = hashed;
  lower = low;
  upper = high;
  position = p;
  return row;
}
