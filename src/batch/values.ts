/**
 * Single values and rows as JavaScript values: for tests, API answers and messages, never for hot paths.
 *
 * Whole numbers of 64 bits and INT UNSIGNED are bigints, and so are TIME, TIMESTAMP and TIMESTAMPTZ
 * (microseconds) and TIMESTAMP(9) (nanoseconds); DATE is a number of days; DECIMAL is text with its
 * scale; INTERVAL is text in the form of constants (`LiteralLike`); BYTEA is `\\x0aff`; a list is an
 * array, a struct an object by field name.
 */
import { makeBuilder } from './column-builder.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { bitAt, isValid } from './column.ts';
import type { Column } from './column.ts';
import { decimalText, readDecimal } from './decimal-text.ts';
import { assert, unreachable } from '../base/assert.ts';
import { hexText } from './bytes-text.ts';
import { appendLiteral } from './constant-column.ts';
import { intervalAt, intervalLiteral } from './interval.ts';
import { readTimestamp } from './timestamp-text.ts';
import type { RecordBatch } from './record-batch.ts';
import type { Schema, SqlType } from './types.ts';
import { bigintOfPair, unsignedOfPair } from './words.ts';

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | { readonly [field: string]: Value };

export type Row = { readonly [column: string]: Value };

const encoder = new TextEncoder();
// A BOM is a character of the value like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Value `index` of a column. */
export function valueAt(column: Column, index: number): Value {
  if (!isValid(column, index)) return null;
  switch (column.tag) {
    case 'boolean':
      return bitAt(column.bits, index);
    case 'int32':
    case 'float64':
      return column.values[index] as number;
    case 'int64':
      return column.type.tag === 'uint64'
        ? unsignedOfPair(column.words, index * 2)
        : bigintOfPair(column.words, index * 2);
    case 'timestamp':
      return bigintOfPair(column.words, index * 2);
    case 'decimal':
      return decimalText(column.words, index * 4, column.type.scale);
    case 'interval':
      return intervalLiteral(intervalAt(column.words, index * 4));
    case 'text': {
      const from = column.offsets[index] as number;
      const to = column.offsets[index + 1] as number;
      return column.type.tag === 'bytea'
        ? hexText(column.bytes, from, to)
        : decoder.decode(column.bytes.subarray(from, to));
    }
    case 'list': {
      const elements: Value[] = [];
      const end = column.offsets[index + 1] as number;
      for (let at = column.offsets[index] as number; at < end; at++)
        elements.push(valueAt(column.child, at));
      return elements;
    }
    case 'struct': {
      const fields: [string, Value][] = column.type.fields.map((field, child) => [
        field.name,
        valueAt(column.children[child] as Column, index),
      ]);
      return Object.fromEntries(fields);
    }
    default:
      return unreachable(column);
  }
}

function appendPair(builder: ColumnBuilder & { tag: 'int64' | 'timestamp' }, value: Value): void {
  if (builder.tag === 'timestamp' && typeof value === 'string') {
    const bytes = encoder.encode(value);
    const pair = { low: 0, high: 0 };
    assert(readTimestamp(bytes, 0, bytes.length, pair), `a timestamp: ${value}`);
    builder.append(pair.low, pair.high);
    return;
  }
  const whole = BigInt(value as bigint | number | string);
  builder.append(Number(BigInt.asIntN(32, whole)), Number(BigInt.asIntN(32, whole >> 32n)));
}

/**
 * Appends one value. Besides what `valueAt` gives it takes numbers and digit texts for int64,
 * ISO text for timestamps and numbers for decimals; undefined is NULL.
 */
export function appendValue(builder: ColumnBuilder, value: Value | undefined): void {
  if (value === null || value === undefined) {
    builder.appendNull();
    return;
  }
  switch (builder.tag) {
    case 'boolean':
      builder.append(value === true);
      return;
    case 'int32':
    case 'float64':
      builder.append(Number(value));
      return;
    case 'int64':
    case 'timestamp':
      appendPair(builder, value);
      return;
    case 'decimal': {
      const bytes = encoder.encode(String(value));
      const words = new Int32Array(4);
      const { precision, scale } = builder.type;
      assert(
        readDecimal(bytes, 0, bytes.length, precision, scale, words) === true,
        `a decimal: ${String(value)}`,
      );
      builder.append(
        words[0] as number,
        words[1] as number,
        words[2] as number,
        words[3] as number,
      );
      return;
    }
    case 'interval':
      appendLiteral(builder, String(value as string | bigint));
      return;
    case 'text':
      appendLiteral(builder, value as string);
      return;
    case 'list':
      for (const element of value as readonly Value[]) appendValue(builder.child, element);
      builder.append();
      return;
    case 'struct': {
      const struct = value as { readonly [field: string]: Value };
      builder.type.fields.forEach((field, child) => {
        appendValue(builder.children[child] as ColumnBuilder, struct[field.name]);
      });
      builder.append();
      return;
    }
    default:
      unreachable(builder);
  }
}

/** A column of the given values. */
export function columnFromValues(type: SqlType, values: readonly (Value | undefined)[]): Column {
  const builder = makeBuilder(type, values.length);
  for (const value of values) appendValue(builder, value);
  return builder.finish();
}

/** A batch without event times from row objects; a missing key is NULL. */
export function batchFromRows(schema: Schema, rows: readonly Row[]): RecordBatch {
  return {
    rows: rows.length,
    columns: schema.map((field) =>
      columnFromValues(
        field.type,
        rows.map((row) => row[field.name]),
      ),
    ),
    eventTime: null,
    retract: null,
  };
}

/** All rows as objects by column name. */
export function rowsOf(batch: RecordBatch, schema: Schema): Row[] {
  const rows: Row[] = [];
  for (let index = 0; index < batch.rows; index++) {
    rows.push(
      Object.fromEntries(
        schema.map((field, column): [string, Value] => [
          field.name,
          valueAt(batch.columns[column] as Column, index),
        ]),
      ),
    );
  }
  return rows;
}
