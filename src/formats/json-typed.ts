/**
 * JSON values of the less frequent types into columns; `json-values.ts` reads the others and says what
 * kinds of trouble there are.
 *
 * | type | JSON |
 * |---|---|
 * | TINYINT, SMALLINT and unsigned | a whole number, or a text of one |
 * | FLOAT | a number, rounded to 32 bits |
 * | BYTEA | base64 in quotes |
 * | JSON | any value; its text is kept, without the space between tokens |
 * | DATE, TIME, INTERVAL | text in quotes, as CAST reads it; DATE also days since 1970 with a `unix` unit |
 * | TIMESTAMPTZ, TIMESTAMP(0), (3), (9) | as TIMESTAMP, rounded or kept to their precision |
 * | T[] | an array |
 *
 * Elements of a list are rows of the slot behind it, so a row that is read again simply writes over them.
 */
import { readBase64 } from '../batch/bytes-text.ts';
import { readDecimal } from '../batch/decimal-text.ts';
import { writeIntervalWords } from '../batch/interval.ts';
import { readInterval } from '../batch/interval-text.ts';
import { roundMicros } from '../batch/precision.ts';
import { readDate, readTime, readTimestamp, readTimestampNs } from '../batch/timestamp-text.ts';
import { INTEGERS } from '../batch/types.ts';
import type { IntegerTag } from '../batch/types.ts';
import {
  CLOSE_BRACKET,
  COMMA,
  DOUBLE_QUOTE,
  OPEN_BRACKET,
  skipLiteral,
  skipNumber,
  skipSpace,
  skipValue,
} from './json-grammar.ts';
import {
  BYTEA_KIND,
  DATE_KIND,
  FLOAT32_KIND,
  INTERVAL_KIND,
  JSON_KIND,
  LIST_KIND,
  MOMENT_KIND,
  SMALL_INT_KIND,
  TIME_KIND,
  UNSIGNED_KIND,
} from './json-slots.ts';
import type { Slot } from './json-slots.ts';
import { fail, readString, written } from './json-strings.ts';
import { asciiText, isNumber, isWhole } from './json-number-text.ts';
import type { ValueReader } from './json-values.ts';

/** Reads the value at `at` into row `row` of the slot; the position after it, or −1. */
export function readTyped(
  reader: ValueReader,
  bytes: Uint8Array,
  at: number,
  slot: Slot,
  row: number,
): number {
  const byte = bytes[at] as number;
  if (byte === 110) {
    const end = skipLiteral(bytes, at);
    if (end > 0) reader.setNull(slot, row);
    return end;
  }
  if (slot.kind === JSON_KIND) return readJson(reader, bytes, at, slot, row);
  if (byte === OPEN_BRACKET && slot.kind === LIST_KIND)
    return readList(reader, bytes, at, slot, row);
  if (byte === DOUBLE_QUOTE) return readQuoted(reader, bytes, at, slot, row);
  if (byte === 45 || (byte >= 48 && byte <= 57)) {
    const end = skipNumber(bytes, at);
    if (end > 0) readNumber(reader, bytes, at, end, slot, row, false);
    return end;
  }
  const end = skipValue(bytes, at, 0);
  if (end > 0) reader.mismatch(bytes, at, end, slot);
  return end;
}

/** Keeps the text of the value; what lies between tokens is left out. */
function readJson(
  reader: ValueReader,
  bytes: Uint8Array,
  at: number,
  slot: Slot,
  row: number,
): number {
  const end = skipValue(bytes, at, 0);
  if (end < 0) return -1;
  let position = slot.offsets[row] as number;
  if (slot.heap.length - position < end - at) slot.growHeap(row, end - at);
  slot.offsets[row + 1] = position = compactJson(bytes, at, end, slot.heap, position);
  return end;
}

/** Copies sound JSON without the space between tokens; the end position in `target`. */
export function compactJson(
  bytes: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  let position = at;
  let quoted = false;
  for (let index = from; index < to; index++) {
    const byte = bytes[index] as number;
    if (!quoted && (byte === 32 || byte === 9 || byte === 13 || byte === 10)) continue;
    target[position++] = byte;
    if (byte === DOUBLE_QUOTE) quoted = !quoted;
    else if (quoted && byte === 92) target[position++] = bytes[++index] as number;
  }
  return position;
}

function readList(
  reader: ValueReader,
  bytes: Uint8Array,
  at: number,
  slot: Slot,
  row: number,
): number {
  const element = slot.element as Slot;
  let index = slot.offsets[row] as number;
  let position = skipSpace(bytes, at + 1);
  slot.offsets[row + 1] = index;
  if (bytes[position] === CLOSE_BRACKET) return position + 1;
  for (;;) {
    makeRoom(element, index, reader.rowBytes);
    element.clearNull(index);
    position = reader.read(bytes, position, element, index);
    if (position < 0) return -1;
    slot.offsets[row + 1] = ++index;
    position = skipSpace(bytes, position);
    if (bytes[position] === CLOSE_BRACKET) return position + 1;
    if (bytes[position] !== COMMA) return fail(position, 'a comma or ] is due');
    position++;
  }
}

/** Room for one more element, whose texts may be as long as the row. */
function makeRoom(slot: Slot, row: number, rowBytes: number): void {
  if (row >= slot.capacity) slot.grow(Math.max(16, slot.capacity * 2));
  if (slot.layout === 'text' && slot.heap.length - (slot.offsets[row] as number) < rowBytes)
    slot.growHeap(row, rowBytes);
  for (const child of slot.children) makeRoom(child, row, rowBytes);
}

function readQuoted(
  reader: ValueReader,
  bytes: Uint8Array,
  at: number,
  slot: Slot,
  row: number,
): number {
  const { scratch } = reader;
  const end = readString(bytes, at + 1, scratch, 0);
  if (end < 0) return -1;
  const size = written.end;
  switch (slot.kind) {
    case BYTEA_KIND: {
      const start = slot.offsets[row] as number;
      if (slot.heap.length - start < size) slot.growHeap(row, size);
      const stop = readBase64(scratch, 0, size, slot.heap, start);
      if (stop >= 0) slot.offsets[row + 1] = stop;
      else {
        slot.offsets[row + 1] = start;
        reader.mismatch(bytes, at, end, slot);
      }
      return end;
    }
    case DATE_KIND: {
      const days = readDate(scratch, 0, size);
      slot.words[row] = days;
      if (Number.isNaN(days)) reader.mismatch(bytes, at, end, slot);
      return end;
    }
    case TIME_KIND: {
      const micros = readTime(scratch, 0, size);
      slot.words[row * 2] = micros;
      slot.words[row * 2 + 1] = Math.floor(micros / 4294967296);
      if (Number.isNaN(micros)) reader.mismatch(bytes, at, end, slot);
      return end;
    }
    case INTERVAL_KIND: {
      const parts = readInterval(asciiText(scratch, 0, size));
      if (parts === 'range') reader.outOfRange(bytes, at, end, slot);
      else if (parts === null) reader.mismatch(bytes, at, end, slot);
      else writeIntervalWords(slot.words, row * 4, parts);
      return end;
    }
    case MOMENT_KIND:
      if (readMoment(reader, size, slot, row)) return end;
      break;
    default:
      break;
  }
  if (slot.kind !== LIST_KIND && isNumber(scratch, size))
    readNumber(reader, scratch, 0, size, slot, row, true);
  else reader.mismatch(bytes, at, end, slot);
  return end;
}

const pair = { low: 0, high: 0 };
const quad = new Int32Array(4);

function readMoment(reader: ValueReader, size: number, slot: Slot, row: number): boolean {
  const read =
    slot.type.tag === 'timestamp_ns'
      ? readTimestampNs(reader.scratch, 0, size, pair)
      : readTimestamp(reader.scratch, 0, size, pair);
  if (!read) return false;
  slot.words[row * 2] = pair.low;
  slot.words[row * 2 + 1] = pair.high;
  roundMicros(slot.words, row, slot.type);
  return true;
}

/** Micros of a unix unit → the unit of the slot; also days, rounded down. */
function readUnix(
  reader: ValueReader,
  bytes: Uint8Array,
  from: number,
  to: number,
  slot: Slot,
  row: number,
  quoted: boolean,
): void {
  const nanos = slot.type.tag === 'timestamp_ns';
  if (!reader.readUnit(bytes, from, to, slot, quoted, nanos, pair)) return;
  if (slot.kind === DATE_KIND) {
    const micros = (BigInt(pair.high) << 32n) | BigInt(pair.low >>> 0);
    const rest = ((micros % 86_400_000_000n) + 86_400_000_000n) % 86_400_000_000n;
    slot.words[row] = Number((micros - rest) / 86_400_000_000n);
    return;
  }
  slot.words[row * 2] = pair.low;
  slot.words[row * 2 + 1] = pair.high;
  roundMicros(slot.words, row, slot.type);
}

function readNumber(
  reader: ValueReader,
  bytes: Uint8Array,
  from: number,
  to: number,
  slot: Slot,
  row: number,
  quoted: boolean,
): void {
  switch (slot.kind) {
    case SMALL_INT_KIND:
    case UNSIGNED_KIND:
      readInteger(reader, bytes, from, to, slot, row);
      return;
    case FLOAT32_KIND: {
      const value = Math.fround(Number(asciiText(bytes, from, to)));
      slot.floats[row] = value;
      if (!Number.isFinite(value)) reader.outOfRange(bytes, from, to, slot);
      return;
    }
    case MOMENT_KIND:
    case DATE_KIND:
      readUnix(reader, bytes, from, to, slot, row, quoted);
      return;
    default:
      reader.mismatch(bytes, from, to, slot);
  }
}

/** A whole number in any form, by the bounds of its type. */
function readInteger(
  reader: ValueReader,
  bytes: Uint8Array,
  from: number,
  to: number,
  slot: Slot,
  row: number,
): void {
  const text = asciiText(bytes, from, to);
  if (!isWhole(text)) {
    reader.mismatch(bytes, from, to, slot);
    return;
  }
  const bounds = INTEGERS[slot.type.tag as IntegerTag];
  const sound = readDecimal(bytes, from, to, 38, 0, quad) === true;
  const value =
    (BigInt(quad[3] as number) << 96n) |
    (BigInt((quad[2] as number) >>> 0) << 64n) |
    (BigInt((quad[1] as number) >>> 0) << 32n) |
    BigInt((quad[0] as number) >>> 0);
  if (!sound || value < bounds.min || value > bounds.max) {
    reader.outOfRange(bytes, from, to, slot);
    return;
  }
  const width = slot.kind === SMALL_INT_KIND ? 1 : 2;
  slot.words[row * width] = quad[0] as number;
  if (width === 2) slot.words[row * 2 + 1] = quad[1] as number;
}
