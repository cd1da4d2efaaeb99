/**
 * The complete reader of one JSON value into a column: every form, every refusal.
 *
 * Two kinds of trouble are kept apart. A grammar failure returns −1 and condemns the row as
 * PARSE_ERROR. A value that is sound JSON but does not fit its column is noted in `faults`, and
 * reading goes on behind it, because the rest of the row may still be no JSON at all.
 *
 * What fits: whole numbers also as `1.0` and `1e3`; every number also as a text of it; decimals
 * with surplus fraction digits are rounded half away from zero; doubles are rounded to nearest as
 * `Number(text)` does.
 */
import type { ErrorCode } from '../base/errors.ts';
import { readDecimal } from '../batch/decimal-text.ts';
import { readInt64 } from '../batch/int-text.ts';
import { readTimestamp } from '../batch/timestamp-text.ts';
import { typeName } from '../batch/types.ts';
import { TIMESTAMP_UNITS } from './format.ts';
import type { TimestampFormat } from './format.ts';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipLiteral,
  skipNumber,
  skipSpace,
  skipValue,
} from './json-grammar.ts';
import {
  BOOLEAN_KIND,
  DECIMAL_KIND,
  FLOAT64_KIND,
  INT32_KIND,
  INT64_KIND,
  STRUCT_KIND,
  TEXT_KIND,
  TIMESTAMP_KIND,
} from './json-slots.ts';
import type { Slot, SlotNames } from './json-slots.ts';
import { fail, readString, written } from './json-strings.ts';
import { asciiText, isNumber, isWhole } from './json-number-text.ts';
import { readTyped } from './json-typed.ts';

/** Why a row is rejected. */
export type Fault = {
  code: ErrorCode;
  /** The slot at fault; null for the row as a whole. */
  slot: Slot | null;
  message: string;
};

/** Bytes of a refused value that a message shows. */
const EXCERPT_BYTES = 40;

const excerptDecoder = new TextDecoder();
const nameDecoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Fraction digits that turn a number of each unit into microseconds. */
const UNIT_SCALES: Readonly<Record<string, number>> = {
  unix_seconds: 6,
  unix_millis: 3,
  unix_micros: 0,
};

export class ValueReader {
  /** Faults of the row being read. */
  faults: Fault[] = [];
  readonly #timestampFormat: TimestampFormat | null;
  /** Holds the last string read. */
  scratch: Uint8Array = new Uint8Array(1024);
  readonly #pair = { low: 0, high: 0 };
  readonly #quad = new Int32Array(4);
  /** Bytes of the row being read. */
  rowBytes = 0;
  /** Marks the fields of one struct value, as rows mark columns. */
  #structStamp = 0;

  constructor(timestampFormat: TimestampFormat | null) {
    this.#timestampFormat = timestampFormat;
  }

  /** Called before each row: how long it may be. */
  start(rowBytes: number): void {
    if (this.scratch.length < rowBytes) this.scratch = new Uint8Array(rowBytes * 2);
    this.rowBytes = rowBytes;
  }

  fault(code: ErrorCode, slot: Slot, message: string): void {
    this.faults.push({ code, slot, message });
  }

  /** Reads the value at or after the space at `at` into row `row` of the slot; the position after it, or −1. */
  read(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
    const start = skipSpace(bytes, at);
    if (slot.kind > STRUCT_KIND) return readTyped(this, bytes, start, slot, row);
    const byte = bytes[start] as number;
    if (byte === DOUBLE_QUOTE) return this.#readQuoted(bytes, start, slot, row);
    if (byte === OPEN_BRACE && slot.kind === STRUCT_KIND)
      return this.#readStruct(bytes, start, slot, row);
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const end = skipValue(bytes, start, 0);
      if (end > 0) this.mismatch(bytes, start, end, slot);
      return end;
    }
    if (byte === 45 || (byte >= 48 && byte <= 57)) {
      const end = skipNumber(bytes, start);
      if (end > 0) this.#readNumber(bytes, start, end, slot, row, false);
      return end;
    }
    const end = skipLiteral(bytes, start);
    if (end < 0) return -1;
    if (byte === 110) this.setNull(slot, row);
    else if (slot.kind === BOOLEAN_KIND) slot.words[row] = byte === 116 ? 1 : 0;
    else this.mismatch(bytes, start, end, slot);
    return end;
  }

  /** What a missing key means for the slot. */
  setMissing(slot: Slot, row: number): void {
    if (slot.hasDefault) {
      slot.setDefault(row);
      return;
    }
    // The rejected row is overwritten, but its text offsets must be sound until then.
    slot.setNull(row, slot.capacity);
    if (!slot.nullable)
      this.fault(
        'MISSING_REQUIRED',
        slot,
        `column ${slot.path} is NOT NULL and the row has no such key`,
      );
  }

  setNull(slot: Slot, row: number): void {
    slot.setNull(row, slot.capacity);
    if (!slot.nullable)
      this.fault('NULL_VIOLATION', slot, `column ${slot.path} is NOT NULL and the row says null`);
  }

  #excerpt(bytes: Uint8Array, from: number, to: number): string {
    const text = excerptDecoder.decode(bytes.subarray(from, Math.min(to, from + EXCERPT_BYTES)));
    return to - from > EXCERPT_BYTES ? `${text}…` : text;
  }

  mismatch(bytes: Uint8Array, from: number, to: number, slot: Slot): void {
    this.fault(
      'TYPE_MISMATCH',
      slot,
      `${this.#excerpt(bytes, from, to)} is no ${typeName(slot.type)} (column ${slot.path})`,
    );
  }

  outOfRange(bytes: Uint8Array, from: number, to: number, slot: Slot): void {
    const text = this.#excerpt(bytes, from, to);
    this.fault(
      'NUMERIC_OUT_OF_RANGE',
      slot,
      `${text} does not fit ${typeName(slot.type)} (column ${slot.path})`,
    );
  }

  /** A value in quotes: text, a timestamp, or a number sent as text so that no reader rounds it. */
  #readQuoted(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
    if (slot.kind === TEXT_KIND) {
      const end = readString(bytes, at + 1, slot.heap, slot.offsets[row] as number);
      if (end > 0) slot.offsets[row + 1] = written.end;
      return end;
    }
    const end = readString(bytes, at + 1, this.scratch, 0);
    if (end < 0) return -1;
    const size = written.end;
    if (slot.kind === TIMESTAMP_KIND) this.#readTime(size, slot, row);
    else if (slot.kind === BOOLEAN_KIND || slot.kind === STRUCT_KIND)
      this.mismatch(bytes, at, end, slot);
    else if (!isNumber(this.scratch, size)) this.mismatch(bytes, at, end, slot);
    else this.#readNumber(this.scratch, 0, size, slot, row, true);
    return end;
  }

  /** The text of `size` bytes in the scratch buffer as a timestamp. */
  #readTime(size: number, slot: Slot, row: number): void {
    const scratch = this.scratch;
    const pair = this.#pair;
    if (readTimestamp(scratch, 0, size, pair)) {
      slot.words[row * 2] = pair.low;
      slot.words[row * 2 + 1] = pair.high;
      this.#rememberMinute(size, slot);
    } else if (
      isNumber(scratch, size) &&
      this.#timestampFormat !== null &&
      this.#timestampFormat !== 'rfc3339'
    ) {
      this.#readNumber(scratch, 0, size, slot, row, true);
    } else {
      this.mismatch(scratch, 0, size, slot);
    }
  }

  /** Lets the fast reader recognise the minute of the timestamp in the scratch buffer. */
  #rememberMinute(size: number, slot: Slot): void {
    const pair = this.#pair;
    if (size < 19 || !readTimestamp(this.scratch, 0, 16, pair)) return;
    // The fast reader reckons in doubles, which must stay exact: the years 1685 to 2254.
    if (pair.high < -0x1fff00 || pair.high > 0x1fff00) return;
    slot.minuteText.set(this.scratch.subarray(0, 16));
    slot.minuteSeconds = (pair.high * 4294967296 + (pair.low >>> 0)) / 1e6;
  }

  /** The number text `[from, to)`; `quoted` when the row has it as a text. */
  #readNumber(
    bytes: Uint8Array,
    from: number,
    to: number,
    slot: Slot,
    row: number,
    quoted: boolean,
  ): void {
    switch (slot.kind) {
      case INT32_KIND:
      case INT64_KIND:
        this.#readWhole(bytes, from, to, slot, row);
        return;
      case FLOAT64_KIND: {
        const value = Number(asciiText(bytes, from, to));
        slot.floats[row] = value;
        if (!Number.isFinite(value)) this.outOfRange(bytes, from, to, slot);
        return;
      }
      case DECIMAL_KIND: {
        const quad = this.#quad;
        const result = readDecimal(bytes, from, to, slot.precision, slot.scale, quad);
        if (result === true) slot.words.set(quad, row * 4);
        else this.outOfRange(bytes, from, to, slot);
        return;
      }
      case TIMESTAMP_KIND:
        this.#readUnixTime(bytes, from, to, slot, row, quoted);
        return;
      default:
        this.mismatch(bytes, from, to, slot);
    }
  }

  #readWhole(bytes: Uint8Array, from: number, to: number, slot: Slot, row: number): void {
    const pair = this.#pair;
    let result = readInt64(bytes, from, to, pair);
    if (result === false) result = readWholeForm(bytes, from, to, this.#quad, pair);
    const isInt32 = slot.kind === INT32_KIND;
    if (result === false) this.mismatch(bytes, from, to, slot);
    else if (result === 'range' || (isInt32 && pair.high !== pair.low >> 31))
      this.outOfRange(bytes, from, to, slot);
    else if (isInt32) slot.words[row] = pair.low;
    else {
      slot.words[row * 2] = pair.low;
      slot.words[row * 2 + 1] = pair.high;
    }
  }

  #readUnixTime(
    bytes: Uint8Array,
    from: number,
    to: number,
    slot: Slot,
    row: number,
    quoted: boolean,
  ): void {
    const pair = this.#pair;
    if (!this.readUnit(bytes, from, to, slot, quoted, false, pair)) return;
    slot.words[row * 2] = pair.low;
    slot.words[row * 2 + 1] = pair.high;
  }

  /** A number of the declared unit as micros or nanos in `pair`; false after a fault. */
  readUnit(
    bytes: Uint8Array,
    from: number,
    to: number,
    slot: Slot,
    quoted: boolean,
    nanos: boolean,
    pair: { low: number; high: number },
  ): boolean {
    const format = this.#timestampFormat;
    if (format === null || format === 'rfc3339') {
      const text = this.#excerpt(bytes, from, to);
      if (quoted) this.mismatch(bytes, from, to, slot);
      else {
        const units = TIMESTAMP_UNITS.join(', ');
        this.fault(
          'TIMESTAMP_UNIT_REQUIRED',
          slot,
          `${text} has no unit (column ${slot.path}): declare timestamp_format as one of ${units}`,
        );
      }
      return false;
    }
    // Without need of them nanoseconds are cut to micros; the other units are scaled up.
    const quad = this.#quad;
    const scale = (UNIT_SCALES[format] ?? -3) + (nanos ? 3 : 0);
    if (readDecimal(bytes, from, to, 38, Math.max(0, scale), quad) !== true) {
      this.outOfRange(bytes, from, to, slot);
      return false;
    }
    if (scale < 0) divideByThousand(quad);
    const sign = (quad[1] as number) >> 31;
    if (quad[2] !== sign || quad[3] !== sign) {
      this.outOfRange(bytes, from, to, slot);
      return false;
    }
    pair.low = quad[0] as number;
    pair.high = quad[1] as number;
    return true;
  }

  #readStruct(bytes: Uint8Array, at: number, slot: Slot, row: number): number {
    const names = slot.names as SlotNames;
    const stamp = ++this.#structStamp;
    let position = skipSpace(bytes, at + 1);
    while (bytes[position] !== CLOSE_BRACE) {
      if (bytes[position] !== DOUBLE_QUOTE) return fail(position, 'a key in double quotes is due');
      position = readString(bytes, position + 1, this.scratch, 0);
      if (position < 0) return -1;
      const child = names.find(nameDecoder.decode(this.scratch.subarray(0, written.end)));
      position = skipSpace(bytes, position);
      if (bytes[position] !== COLON) return fail(position, 'a colon is due after a key');
      position++;
      if (child === null) {
        position = skipValue(bytes, skipSpace(bytes, position), 0);
      } else {
        if (child.stamp === stamp) this.forget(child, row);
        child.stamp = stamp;
        position = this.read(bytes, position, child, row);
      }
      if (position < 0) return -1;
      position = skipSpace(bytes, position);
      if (bytes[position] === CLOSE_BRACE) break;
      if (bytes[position] !== COMMA) return fail(position, 'a comma or } is due');
      position = skipSpace(bytes, position + 1);
      if (bytes[position] === CLOSE_BRACE) return fail(position, 'a key in double quotes is due');
    }
    for (const child of slot.children) if (child.stamp !== stamp) this.setMissing(child, row);
    return position + 1;
  }

  /** Takes back what an earlier value of this key in the same row did: the last one wins. */
  forget(slot: Slot, row: number): void {
    slot.clearNull(row);
    if (this.faults.length === 0) return;
    const within = `${slot.path}.`;
    this.faults = this.faults.filter(
      (fault) => fault.slot !== slot && !fault.slot?.path.startsWith(within),
    );
  }
}

/** A whole number written with a point or an exponent: `12.00`, `1.5e3`. */
function readWholeForm(
  bytes: Uint8Array,
  from: number,
  to: number,
  quad: Int32Array,
  pair: { low: number; high: number },
): true | false | 'range' {
  if (!isWhole(asciiText(bytes, from, to))) return false;
  if (readDecimal(bytes, from, to, 38, 0, quad) !== true) return 'range';
  const sign = (quad[1] as number) >> 31;
  if (quad[2] !== sign || quad[3] !== sign) return 'range';
  pair.low = quad[0] as number;
  pair.high = quad[1] as number;
  return true;
}

/** Divides a 128-bit value by 1000, rounding down. */
function divideByThousand(quad: Int32Array): void {
  let rest = 0;
  for (let word = 3; word >= 0; word--) {
    // The top word is signed; below it rest is in [0, 1000).
    const value =
      rest * 4294967296 + (word === 3 ? (quad[3] as number) : (quad[word] as number) >>> 0);
    const quotient = Math.floor(value / 1000);
    rest = value - quotient * 1000;
    quad[word] = quotient | 0;
  }
}
