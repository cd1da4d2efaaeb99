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
import { readBoolean, readDecimal, readFloat, readInt32, readInt64, readTimestamp, setNull } from './json-values.ts';
import { clearHigh, readText, seenHigh, skipSpace, skipValue } from './json-strings.ts';
import { validUtf8 } from './utf8.ts';
import {
  BYTES,
  COUNT,
  DATA,
  FIELD,
  FIELD_SIZE,
  FIRST,
  HEAP,
  KIND,
  LENGTH,
  MASK,
  MISSING,
  NEXT,
  STAMP,
  TOKEN_SIZE,
} from './json-layout.ts';
import { hashStream } from './columns-bytes.ts';
import { packBytes, packWords } from './pack.ts';

export { hashStream, packBytes, packWords };

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

// @ts-ignore: decorator
@inline
function readValue(p: usize, field: usize, row: u32): usize {
  switch (load<u32>(field, KIND)) {
    case 2:
      return readInt64(p, field, row);
    case 5:
      return readText(p, field, row);
    case 6:
      return readTimestamp(p, field, row);
    case 1:
      return readInt32(p, field, row);
    case 3:
      return readFloat(p, field, row);
    case 4:
      return readDecimal(p, field, row);
    case 0:
      return readBoolean(p, field, row);
    default:
      return 0;
  }
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

/** What the row that `readRow` read last has behind it. */
let objectStart: usize = 0;
let objectEnd: usize = 0;
let unknownCount: u32 = 0;

/** Reads the line at `p`, whose first byte that is no space is `{`, into row `row`; the position of its LF, or 0. */
// @ts-ignore: decorator
@inline
function readRow(start: usize, row: u32): usize {
  let p = start;
  let previous = tokens;
  let seen: u32 = 0;
  let strangers: u32 = 0;
  const stamp = ++serial;
  clearHigh();
  for (;;) {
    let token = load<usize>(previous, NEXT);
    if (token == 0 || !matches(p, token)) {
      token = find(p, previous);
      if (token == 0) return 0;
    }
    p += load<u32>(token, LENGTH);
    if (load<u8>(p) <= 32) p = skipSpace(p);
    const field = load<usize>(token, FIELD);
    if (field > 1) {
      // Of a key given twice the last value counts: that is for the complete decoder.
      if (load<u32>(field, STAMP) == stamp) return 0;
      store<u32>(field, stamp, STAMP);
      seen++;
      p = readValue(p, field, row);
    } else {
      if (field == 1 || strangers == UNKNOWN_MAX) return 0;
      store<usize>(unknown + (strangers << 2), token);
      strangers++;
      p = skipValue(p, 0);
    }
    if (p == 0) return 0;
    let next = load<u8>(p);
    if (next != 0x2c && next != 0x7d) {
      p = skipSpace(p);
      next = load<u8>(p);
      if (next != 0x2c && next != 0x7d) return 0;
    }
    if (next == 0x7d) break;
    previous = token;
  }
  p++;
  objectStart = start;
  objectEnd = p;
  unknownCount = strangers;
  if (load<u8>(p) != 10) {
    p = skipSpace(p);
    if (load<u8>(p) != 10) return 0;
  }
  if (seen < fieldCount && !fillMissing(row)) return 0;
  if (seenHigh() && !validUtf8(start, objectEnd)) return 0;
  return p;
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
  status = DONE;
  while (p < limit) {
    if (row == rowMax) {
      status = FULL;
      break;
    }
    let start = p;
    if (load<u8>(p) != 0x7b) {
      start = skipSpace(p);
      if (load<u8>(start) == 10) {
        p = start + 1;
        continue;
      }
    }
    const lineEnd = load<u8>(start) == 0x7b ? readRow(start, row) : 0;
    if (lineEnd == 0) {
      // What was noted as NULL, the complete decoder notes again or takes back.
      status = SLOW;
      break;
    }
    p = lineEnd + 1;
    countUnknown(unknownCount);
    store<u32>(ranges + (row << 3), objectStart - shift);
    store<u32>(ranges + (row << 3), objectEnd - shift, 4);
    row++;
  }
  position = p;
  return row;
}
