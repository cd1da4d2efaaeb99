/**
 * SQL values as the code of a function sees them, and back.
 *
 * | SQL | JavaScript, both ways |
 * |---|---|
 * | BOOLEAN | boolean |
 * | TINYINT to INT and INT UNSIGNED, FLOAT, DOUBLE | number |
 * | BIGINT, BIGINT UNSIGNED | bigint |
 * | DECIMAL | its text, `'12.50'` |
 * | TEXT | string |
 * | JSON | what JSON.parse gives |
 * | BYTEA | Uint8Array |
 * | TIMESTAMP of any kind | ISO text with all its digits and Z, `'2026-01-01T00:00:00.123456Z'` |
 * | DATE, TIME | `'2026-01-01'`, `'23:59:59.5'` |
 * | INTERVAL | its text, `'1 day 02:00:00'` |
 * | list, struct | array, object by field name |
 * | NULL | null |
 *
 * Invariants: what goes in and comes back is the same value, to the last digit. What a result's type does not hold is refused,
 * never rounded away: but DECIMAL and TIMESTAMP(p) round to their digits, and FLOAT to 32 bits, as a CAST does.
 * Failure: `accepted` throws; the message is for the user.
 */
import { hexText } from '../batch/bytes-text.ts';
import { type Column, isValid } from '../batch/column.ts';
import { readDecimal } from '../batch/decimal-text.ts';
import { intervalAt, intervalLiteral, intervalText } from '../batch/interval.ts';
import { readInterval } from '../batch/interval-text.ts';
import { stepOf } from '../batch/precision.ts';
import { scalarText } from '../batch/scalar-text.ts';
import { readDate, readTime, readTimestamp, readTimestampNs } from '../batch/timestamp-text.ts';
import { INTEGERS, type SqlType, isIntegerTag, typeName } from '../batch/types.ts';
import { type Value, valueAt } from '../batch/values.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Value `row` as an argument. */
export function given(column: Column, row: number): unknown {
  if (!isValid(column, row)) return null;
  const { type } = column;
  switch (type.tag) {
    case 'text':
    case 'json':
    case 'bytea': {
      if (column.tag !== 'text') break;
      const bytes = column.bytes.subarray(column.offsets[row], column.offsets[row + 1]);
      if (type.tag === 'bytea') return bytes.slice();
      const text = decoder.decode(bytes);
      return type.tag === 'text' ? text : (JSON.parse(text) as unknown);
    }
    case 'uint32':
      return Number(valueAt(column, row));
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
      return isoText(scalarText(column, row));
    case 'date':
    case 'time':
      return scalarText(column, row);
    case 'interval':
      return column.tag === 'interval' ? intervalText(intervalAt(column.words, row * 4)) : null;
    case 'list': {
      if (column.tag !== 'list') break;
      const elements: unknown[] = [];
      const end = column.offsets[row + 1] as number;
      for (let at = column.offsets[row] as number; at < end; at++)
        elements.push(given(column.child, at));
      return elements;
    }
    case 'struct':
      if (column.tag !== 'struct') break;
      return Object.fromEntries(
        type.fields.map(({ name }, at) => [name, given(column.children[at] as Column, row)]),
      );
  }
  return valueAt(column, row);
}

const isoText = (text: string): string => {
  const iso = text.replace(' ', 'T');
  return /Z$|[+-]\d\d(?::?\d\d)?$/.test(iso) ? iso : `${iso}Z`;
};

class Refused extends Error {}

const refuse = (type: SqlType, value: unknown): never => {
  throw new Refused(`it returned ${shown(value)}, which is no ${typeName(type)}`);
};

function shown(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(value.slice(0, 60))}`;
  if (typeof value === 'bigint') return `the bigint ${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean')
    return `the ${typeof value} ${value}`;
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  if (typeof (value as { then?: unknown }).then === 'function')
    return 'a promise (a function that waits is made by CREATE ASYNC FUNCTION)';
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return `an object (${typeof name === 'string' ? name : 'without class'})`;
}

/** A result as columns take it (`Value`); throws where the type does not hold it. */
export function accepted(type: SqlType, value: unknown): Value {
  if (value === null || value === undefined) return null;
  switch (type.tag) {
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse(type, value);
    case 'text':
      return typeof value === 'string' ? value : refuse(type, value);
    case 'json':
      return JSON.stringify(value) ?? refuse(type, value);
    case 'float64':
      return typeof value === 'number' ? value : refuse(type, value);
    case 'float32':
      return typeof value === 'number' ? Math.fround(value) : refuse(type, value);
    case 'bytea': {
      const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
      return bytes instanceof Uint8Array ? hexText(bytes, 0, bytes.length) : refuse(type, value);
    }
    case 'decimal':
      return acceptedDecimal(type, value);
    case 'list':
      return Array.isArray(value)
        ? value.map((element: unknown) => accepted(type.element, element))
        : refuse(type, value);
    case 'struct':
      return acceptedStruct(type, value);
    default:
      return isIntegerTag(type.tag)
        ? acceptedInteger(type, type.tag, value)
        : acceptedTime(type, value);
  }
}

function acceptedInteger(type: SqlType, tag: keyof typeof INTEGERS, value: unknown): Value {
  const { min, max } = INTEGERS[tag];
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value);
  if (!isWhole && typeof value !== 'bigint') return refuse(type, value);
  const whole = BigInt(value);
  if (whole < min || whole > max) return refuse(type, value);
  return tag === 'int64' || tag === 'uint64' || tag === 'uint32' ? whole : Number(whole);
}

function acceptedDecimal(type: SqlType & { tag: 'decimal' }, value: unknown): Value {
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  if (!isNumber && typeof value !== 'bigint' && typeof value !== 'string')
    return refuse(type, value);
  const text = String(value).trim();
  const bytes = encoder.encode(text);
  const read = readDecimal(bytes, 0, bytes.length, type.precision, type.scale, new Int32Array(4));
  return read === true ? text : refuse(type, value);
}

/** Fields by name; one that is not there is NULL, and one too many is a mistake. */
export function acceptedStruct(type: SqlType & { tag: 'struct' }, value: unknown): Value {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(type, value);
  const { fields } = type;
  for (const key of Object.keys(value))
    if (!fields.some(({ name }) => name === key))
      throw new Refused(
        `it returned an object with "${key}"; the fields are ${fields.map(({ name }) => name).join(', ')}`,
      );
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      accepted(field.type, (value as Record<string, unknown>)[field.name]),
    ]),
  );
}

function acceptedTime(type: SqlType, value: unknown): Value {
  const text =
    value instanceof Date && Number.isFinite(value.getTime()) ? value.toISOString() : value;
  if (typeof text !== 'string') return refuse(type, value);
  const bytes = encoder.encode(text);
  const pair = { low: 0, high: 0 };
  const whole = (): bigint => (BigInt(pair.high) << 32n) | BigInt(pair.low >>> 0);
  switch (type.tag) {
    case 'timestamp':
    case 'timestamptz':
      if (!readTimestamp(bytes, 0, bytes.length, pair)) return refuse(type, value);
      return rounded(whole(), BigInt(stepOf(type)));
    case 'timestamp_ns':
      return readTimestampNs(bytes, 0, bytes.length, pair) ? whole() : refuse(type, value);
    case 'date': {
      const days = readDate(bytes, 0, bytes.length);
      return Number.isNaN(days) ? refuse(type, value) : days;
    }
    case 'time': {
      const micros = readTime(bytes, 0, bytes.length);
      return Number.isNaN(micros) ? refuse(type, value) : BigInt(micros);
    }
    case 'interval': {
      const parts = readInterval(text);
      return parts === null || parts === 'range' ? refuse(type, value) : intervalLiteral(parts);
    }
    default:
      return refuse(type, value);
  }
}

/** To a multiple of `step`, halves up. */
function rounded(micros: bigint, step: bigint): bigint {
  if (step === 1n) return micros;
  const shifted = micros + step / 2n;
  return shifted - (((shifted % step) + step) % step);
}
