/**
 * Columns to NDJSON bytes: one object a row, every column named, NULL written as null.
 *
 * Integers and decimals keep every digit, doubles are the shortest text that reads back as
 * themselves, timestamps are ISO text unless the format declares a unit: without zone, TIMESTAMPTZ
 * with `Z`. Dates, times and intervals are text, BYTEA is base64, JSON is written as the value it is.
 * NaN and the infinities, which JSON does not have, become null and are counted in `nonFinite`.
 *
 * Rows are written by a kernel where there is one (`json-writer.ts`), to the same bytes; changes are written here.
 */
import { unreachable } from '../base/assert.ts';
import { base64Size, writeBase64 } from '../batch/bytes-text.ts';
import { bitAt } from '../batch/column.ts';
import type {
  Column,
  Float64Column,
  Int64Column,
  ListColumn,
  TextColumn,
} from '../batch/column.ts';
import { writeDecimal } from '../batch/decimal-text.ts';
import { float32Digits } from '../batch/float-text.ts';
import { writeInt32, writeInt64, writeUint64 } from '../batch/int-text.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { equalRows } from '../batch/row-equal.ts';
import { SCALAR_TEXT_BYTES_MAX, writeScalar } from '../batch/scalar-text.ts';
import { writeTimestamp } from '../batch/timestamp-text.ts';
import type { Field, Schema, SqlType } from '../batch/types.ts';
import { bigintOfPair } from '../batch/words.ts';
import { ByteWriter } from './byte-writer.ts';
import type { FormatSpec, TimestampFormat } from './format.ts';
import { isWritten, writeRows } from './json-writer.ts';
import type { Rendered } from './json-writer.ts';

/** The longest text of any value but text: a decimal in quotes. */
const VALUE_BYTES_MAX = 48;

/** Rows from which on the kernel is worth its setting up. */
const KERNEL_ROWS_MIN = 32;

const encoder = new TextEncoder();
const ascii = (text: string): Uint8Array => encoder.encode(text);

const NULL = ascii('null');
const TRUE = ascii('true');
const FALSE = ascii('false');
const HEX = ascii('0123456789abcdef');

const CHANGE_START = ascii('{"before":');
const CHANGE_AFTER = ascii(',"after":');
const CHANGE_OPS = { c: ascii(',"op":"c"}\n'), d: ascii(',"op":"d"}\n'), u: ascii(',"op":"u"}\n') };

/** 1 for the bytes that JSON wants escaped in text. */
const NEEDS_ESCAPE = new Uint8Array(256).fill(1, 0, 32);
NEEDS_ESCAPE[34] = 1;
NEEDS_ESCAPE[92] = 1;

/** The letters of short escapes, by control byte. */
const SHORT_ESCAPES = new Uint8Array(32);
for (const [byte, letter] of [
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [12, 'f'],
  [13, 'r'],
] as const) {
  SHORT_ESCAPES[byte] = letter.charCodeAt(0);
}

/** A field with its key as it is written: `{"name":` or `,"name":`. */
type Key = { bytes: Uint8Array; children: readonly Key[] };

function keyOf(field: Field, index: number): Key {
  const { type } = field;
  return {
    bytes: ascii(`${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`),
    children: partsOf(type),
  };
}

/** The keys of a struct; for a list what its elements have. */
function partsOf(type: SqlType): readonly Key[] {
  if (type.tag === 'struct') return type.fields.map(keyOf);
  return type.tag === 'list' ? partsOf(type.element) : [];
}

const UNIT_DIVISORS: Readonly<Record<string, bigint>> = {
  unix_seconds: 1_000_000_000n,
  unix_millis: 1_000_000n,
  unix_micros: 1000n,
};

export class JsonEncoder {
  /** Values so far that JSON cannot express and that were written as null. */
  nonFinite = 0;
  readonly #keys: readonly Key[];
  readonly #quotedDecimals: boolean;
  readonly #unit: TimestampFormat | null;
  #writer = new ByteWriter(0);
  /** Bytes of a row, for the size of the next buffer. */
  #rowBytes = 64;

  readonly #kernelRowsMin: number;

  /** @param kernelRowsMin  rows of a batch from which on the kernel is asked */
  constructor(schema: Schema, spec: FormatSpec, kernelRowsMin = KERNEL_ROWS_MIN) {
    this.#kernelRowsMin = kernelRowsMin;
    this.#keys = schema.map(keyOf);
    this.#quotedDecimals = spec.decimalEncoding === 'string';
    this.#unit = spec.timestampFormat === 'rfc3339' ? null : spec.timestampFormat;
  }

  /** The rows as NDJSON, each with its LF. */
  encode(batch: RecordBatch): Uint8Array {
    if (batch.rows >= this.#kernelRowsMin && this.#keys.length > 0) {
      const { nonFinite } = this;
      const written = this.#writeByKernel(batch);
      if (written !== null) return written;
      this.nonFinite = nonFinite;
    }
    this.#start(batch.rows);
    const { columns } = batch;
    for (let row = 0; row < batch.rows; row++) {
      this.#putObject(this.#keys, columns, row);
      this.#writer.putByte(10);
    }
    return this.#finish(batch.rows);
  }

  #writeByKernel(batch: RecordBatch): Uint8Array | null {
    const columns = this.#keys.map((key, index) => {
      const column = batch.columns[index] as Column;
      const inUnits =
        column.tag === 'timestamp' && this.#unit !== null && this.#unit !== 'unix_micros';
      const rendered = isWritten(column) && !inUnits ? null : this.#render(key, column, batch.rows);
      return { key: key.bytes, column, rendered, quoted: this.#quotedDecimals };
    });
    return writeRows(columns, batch.rows, this.#unit === 'unix_micros');
  }

  /** The values of one column, one after another. */
  #render(key: Key, column: Column, rows: number): Rendered {
    const writer = new ByteWriter(rows * VALUE_BYTES_MAX);
    this.#writer = writer;
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) {
      writer.reserve(VALUE_BYTES_MAX);
      this.#putValue(key, column, row);
      offsets[row + 1] = writer.length;
    }
    return { offsets, bytes: writer.finish() };
  }

  /**
   * The rows as changes: `{"before":…,"after":…,"op":…}`, where an append is `c` and a retraction
   * `d`. With `keyColumns` a retraction directly followed by an append of the same key is one `u`.
   */
  encodeChanges(batch: RecordBatch, keyColumns: readonly number[] = []): Uint8Array {
    this.#start(batch.rows);
    const keys = keyColumns.map((index) => batch.columns[index] as Column);
    const { retract } = batch;
    for (let row = 0; row < batch.rows; row++) {
      if (retract === null || retract[row] === 0) {
        this.#putChange(batch.columns, -1, row, CHANGE_OPS.c);
        continue;
      }
      const replaced =
        keys.length > 0 &&
        row + 1 < batch.rows &&
        retract[row + 1] === 0 &&
        equalRows(keys, row, keys, row + 1);
      this.#putChange(
        batch.columns,
        row,
        replaced ? row + 1 : -1,
        replaced ? CHANGE_OPS.u : CHANGE_OPS.d,
      );
      if (replaced) row++;
    }
    return this.#finish(batch.rows);
  }

  #start(rows: number): void {
    this.#writer = new ByteWriter(Math.ceil(rows * this.#rowBytes * 1.1) + 256);
  }

  #finish(rows: number): Uint8Array {
    const bytes = this.#writer.finish();
    this.#writer = new ByteWriter(0);
    if (rows > 0) this.#rowBytes = bytes.length / rows;
    return bytes;
  }

  #putChange(columns: readonly Column[], before: number, after: number, op: Uint8Array): void {
    this.#writer.put(CHANGE_START);
    if (before < 0) this.#writer.put(NULL);
    else this.#putObject(this.#keys, columns, before);
    this.#writer.put(CHANGE_AFTER);
    if (after < 0) this.#writer.put(NULL);
    else this.#putObject(this.#keys, columns, after);
    this.#writer.put(op);
  }

  #putObject(keys: readonly Key[], columns: readonly Column[], row: number): void {
    const writer = this.#writer;
    if (keys.length === 0) writer.putByte(123);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as Key;
      writer.reserve(key.bytes.length + VALUE_BYTES_MAX);
      const { bytes } = key;
      const target = writer.bytes;
      let at = writer.length;
      for (let from = 0; from < bytes.length; from++) target[at++] = bytes[from] as number;
      writer.length = at;
      this.#putValue(key, columns[index] as Column, row);
    }
    writer.putByte(125);
  }

  /** Writes one value; `VALUE_BYTES_MAX` bytes are reserved. */
  #putValue(key: Key, column: Column, row: number): void {
    const writer = this.#writer;
    if (column.validity !== null && !bitAt(column.validity, row)) {
      writer.put(NULL);
      return;
    }
    switch (column.tag) {
      case 'boolean':
        writer.put(bitAt(column.bits, row) ? TRUE : FALSE);
        return;
      case 'int32':
        if (column.type.tag === 'date') this.#putQuoted(column, row);
        else writer.length = writeInt32(writer.bytes, writer.length, column.values[row] as number);
        return;
      case 'int64':
        this.#putInt64(column, row);
        return;
      case 'timestamp':
        this.#putTimestamp(column, row);
        return;
      case 'float64':
        this.#putFloat(column, row);
        return;
      case 'decimal':
        if (this.#quotedDecimals) writer.bytes[writer.length++] = 34;
        writer.length = writeDecimal(
          writer.bytes,
          writer.length,
          column.words,
          row * 4,
          column.type.scale,
        );
        if (this.#quotedDecimals) writer.bytes[writer.length++] = 34;
        return;
      case 'interval':
        this.#putQuoted(column, row);
        return;
      case 'text':
        if (column.type.tag === 'text') this.#putText(column, row);
        else if (column.type.tag === 'json') this.#putJson(column, row);
        else this.#putBytes(column, row);
        return;
      case 'list':
        this.#putList(key.children, column, row);
        return;
      case 'struct':
        this.#putObject(key.children, column.children, row);
        return;
      default:
        unreachable(column);
    }
  }

  #putInt64(column: Int64Column, row: number): void {
    const writer = this.#writer;
    const low = column.words[row * 2] as number;
    const high = column.words[row * 2 + 1] as number;
    const { tag } = column.type;
    if (tag === 'time') this.#putQuoted(column, row);
    else if (tag === 'timestamp_ns') this.#putTimestamp(column, row);
    else if (tag === 'uint64') writer.length = writeUint64(writer.bytes, writer.length, low, high);
    else writer.length = writeInt64(writer.bytes, writer.length, low, high);
  }

  /** A value as SQL writes it, in quotes. */
  #putQuoted(column: Column, row: number): void {
    const writer = this.#writer;
    writer.reserve(SCALAR_TEXT_BYTES_MAX + 2);
    writer.bytes[writer.length++] = 34;
    writer.length = writeScalar(writer.bytes, writer.length, column, row);
    writer.bytes[writer.length++] = 34;
  }

  #putJson(column: TextColumn, row: number): void {
    const writer = this.#writer;
    const start = column.offsets[row] as number;
    const end = column.offsets[row + 1] as number;
    writer.reserve(end - start);
    writer.bytes.set(column.bytes.subarray(start, end), writer.length);
    writer.length += end - start;
  }

  #putBytes(column: TextColumn, row: number): void {
    const writer = this.#writer;
    const start = column.offsets[row] as number;
    const end = column.offsets[row + 1] as number;
    writer.reserve(base64Size(end - start) + 2);
    writer.bytes[writer.length++] = 34;
    writer.length = writeBase64(writer.bytes, writer.length, column.bytes, start, end);
    writer.bytes[writer.length++] = 34;
  }

  #putList(parts: readonly Key[], column: ListColumn, row: number): void {
    const writer = this.#writer;
    const start = column.offsets[row] as number;
    const end = column.offsets[row + 1] as number;
    const key: Key = { bytes: NULL, children: parts };
    writer.putByte(91);
    for (let at = start; at < end; at++) {
      if (at > start) writer.putByte(44);
      writer.reserve(VALUE_BYTES_MAX);
      this.#putValue(key, column.child, at);
    }
    writer.putByte(93);
  }

  #putTimestamp(column: Int64Column, row: number): void {
    const writer = this.#writer;
    const low = column.words[row * 2] as number;
    const high = column.words[row * 2 + 1] as number;
    const { tag } = column.type;
    if (this.#unit === null && tag !== 'timestamp') {
      this.#putQuoted(column, row);
    } else if (this.#unit === null) {
      writer.bytes[writer.length++] = 34;
      writer.length = writeTimestamp(writer.bytes, writer.length, low, high);
      writer.bytes[writer.length++] = 34;
    } else if (this.#unit === 'unix_micros' && tag !== 'timestamp_ns') {
      writer.length = writeInt64(writer.bytes, writer.length, low, high);
    } else {
      const value = bigintOfPair(column.words, row * 2);
      writer.put(ascii(unitText(tag === 'timestamp_ns' ? value : value * 1000n, this.#unit)));
    }
  }

  #putFloat(column: Float64Column, row: number): void {
    const writer = this.#writer;
    const value = column.values[row] as number;
    if (value === (value | 0) && (value !== 0 || 1 / value > 0)) {
      writer.length = writeInt32(writer.bytes, writer.length, value);
      return;
    }
    if (!Number.isFinite(value)) {
      this.nonFinite++;
      writer.put(NULL);
      return;
    }
    const text =
      value === 0 ? '-0' : column.type.tag === 'float32' ? float32Digits(value) : String(value);
    const target = writer.bytes;
    let at = writer.length;
    for (let index = 0; index < text.length; index++) target[at++] = text.charCodeAt(index);
    writer.length = at;
  }

  #putText(column: TextColumn, row: number): void {
    const start = column.offsets[row] as number;
    const end = column.offsets[row + 1] as number;
    const writer = this.#writer;
    // A control character takes six bytes.
    writer.reserve((end - start) * 6 + 2);
    const source = column.bytes;
    const target = writer.bytes;
    let at = writer.length;
    target[at++] = 34;
    for (let from = start; from < end; from++) {
      const byte = source[from] as number;
      if (NEEDS_ESCAPE[byte] === 1) at = writeEscape(target, at, byte);
      else target[at++] = byte;
    }
    target[at++] = 34;
    writer.length = at;
  }
}

function writeEscape(target: Uint8Array, at: number, byte: number): number {
  target[at] = 92;
  if (byte >= 32) {
    target[at + 1] = byte;
    return at + 2;
  }
  const short = SHORT_ESCAPES[byte] as number;
  if (short !== 0) {
    target[at + 1] = short;
    return at + 2;
  }
  target[at + 1] = 117;
  target[at + 2] = 48;
  target[at + 3] = 48;
  target[at + 4] = HEX[byte >> 4] as number;
  target[at + 5] = HEX[byte & 15] as number;
  return at + 6;
}

/** Nanos in a declared unit; the part below one unit is a fraction, so that nothing is lost. */
function unitText(nanos: bigint, unit: TimestampFormat): string {
  if (unit === 'unix_nanos') return String(nanos);
  const divisor = UNIT_DIVISORS[unit] as bigint;
  const magnitude = nanos < 0n ? -nanos : nanos;
  const fraction = magnitude % divisor;
  const whole = `${nanos < 0n ? '-' : ''}${magnitude / divisor}`;
  if (fraction === 0n) return whole;
  return `${whole}.${String(fraction)
    .padStart(String(divisor).length - 1, '0')
    .replace(/0+$/, '')}`;
}
