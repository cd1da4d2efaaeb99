/**
 * Casts to DATE, TIME, TIMESTAMP, TIMESTAMPTZ, TIMESTAMP(9) and INTERVAL, from text and among each other.
 *
 * Text is ISO 8601 with `T` or a space; an offset is shifted to UTC, and UTC is also the zone of a
 * TIMESTAMP that becomes a TIMESTAMPTZ. Digits below the target's precision are rounded by TIMESTAMP(0)
 * and (3), and cut where nanoseconds become microseconds.
 */
import { assert } from '../../base/assert.ts';
import type { Column, Int32Column, Int64Column, IntervalColumn } from '../../batch/column.ts';
import type { Pair } from '../../batch/int-text.ts';
import { intervalAt, writeIntervalWords } from '../../batch/interval.ts';
import { readInterval } from '../../batch/interval-text.ts';
import { roundMicros } from '../../batch/precision.ts';
import { readDate, readTime, readTimestamp, readTimestampNs } from '../../batch/timestamp-text.ts';
import { DATE, INTERVAL, TIME, typeName } from '../../batch/types.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Casting } from '../cast.ts';
import { textAt } from '../text-sink.ts';
import { makeInt32, makeInt64, makeInterval } from '../vector.ts';
import {
  fitsInt64,
  int64AsNumber,
  isSafe,
  readInt64,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import { quoted, range, trimText } from './trimmed.ts';

const DAY = 86_400_000_000;
const DAY_EXACT = 86_400_000_000n;
const pair: Pair = { low: 0, high: 0 };

const HINTS: Readonly<Partial<Record<SqlType['tag'], string>>> = {
  timestamp: 'write it as 2024-01-31 23:59:59.999',
  timestamptz: 'write it as 2024-01-31 23:59:59.999+00:00',
  timestamp_ns: 'write it as 2024-01-31 23:59:59.999999999, between 1677 and 2262',
  date: 'write it as 2024-01-31',
  time: 'write it as 23:59:59.999',
  interval: 'write it as 1 month 2 days 03:04:05',
};

function refuse({ fail, type }: Casting, column: Column & { tag: 'text' }, row: number): void {
  fail(
    row,
    'INVALID_CAST',
    () => `${quoted(column, row)} is no ${typeName(type)}; ${HINTS[type.tag] ?? ''}`,
  );
}

/** Whole days since 1970 of microseconds or nanoseconds, rounded down. */
function daysOf(words: Int32Array, row: number, day: number): number {
  const value = int64AsNumber(words, row);
  if (isSafe(value)) return Math.floor(value / day);
  const exact = readInt64(words, row);
  const unit = BigInt(day);
  return Number((exact - (((exact % unit) + unit) % unit)) / unit);
}

const dayOf = (type: SqlType): number => (type.tag === 'timestamp_ns' ? DAY * 1000 : DAY);

export function toDate(column: Column, casting: Casting): Int32Column {
  const result: Int32Column = { ...makeInt32(column.length), type: DATE };
  for (let row = 0; row < column.length; row++) {
    if (!casting.outcome.has(row)) continue;
    if (column.tag === 'text') {
      trimText(column, row);
      const days = readDate(column.bytes, range.from, range.to);
      if (Number.isNaN(days)) refuse(casting, column, row);
      else result.values[row] = days;
      continue;
    }
    assert(column.tag === 'timestamp' || column.tag === 'int64', 'a moment becomes a date');
    result.values[row] = daysOf(column.words, row, dayOf(column.type));
  }
  result.validity = casting.outcome.validity;
  return result;
}

export function toTime(column: Column, casting: Casting): Int64Column {
  const result = makeInt64(column.length, TIME);
  for (let row = 0; row < column.length; row++) {
    if (!casting.outcome.has(row)) continue;
    if (column.tag === 'text') {
      trimText(column, row);
      const micros = readTime(column.bytes, range.from, range.to);
      if (Number.isNaN(micros)) refuse(casting, column, row);
      else writeSafeInt64(result.words, row, micros);
      continue;
    }
    assert(
      column.tag === 'timestamp' || column.tag === 'int64' || column.tag === 'interval',
      'a moment or an interval becomes a time',
    );
    writeSafeInt64(result.words, row, microsOfDay(column, row));
  }
  result.validity = casting.outcome.validity;
  return result;
}

/** Microseconds since midnight; an interval loses its whole days. */
function microsOfDay(column: Int64Column | IntervalColumn, row: number): number {
  const nanos = column.type.tag === 'timestamp_ns';
  const exact =
    column.tag === 'interval'
      ? intervalAt(column.words, 4 * row).micros
      : readInt64(column.words, row);
  const day = nanos ? DAY_EXACT * 1000n : DAY_EXACT;
  const rest = Number(((exact % day) + day) % day);
  return nanos ? Math.floor(rest / 1000) : rest;
}

/** TIMESTAMP, TIMESTAMPTZ and TIMESTAMP(9). */
export function toMoment(column: Column, casting: Casting): Int64Column {
  const { type, outcome } = casting;
  const nanos = type.tag === 'timestamp_ns';
  const result = makeInt64(column.length, type);
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    if (column.tag === 'text') {
      trimText(column, row);
      const read = nanos ? readTimestampNs : readTimestamp;
      if (read(column.bytes, range.from, range.to, pair)) {
        result.words[2 * row] = pair.low;
        result.words[2 * row + 1] = pair.high;
      } else refuse(casting, column, row);
    } else convertMoment(column, row, result, casting);
    roundMicros(result.words, row, type);
  }
  result.validity = outcome.validity;
  return result;
}

function convertMoment(
  column: Exclude<Column, { tag: 'text' }>,
  row: number,
  result: Int64Column,
  { type, fail }: Casting,
): void {
  const nanos = type.tag === 'timestamp_ns';
  if (column.tag === 'int32') {
    const micros = (column.values[row] as number) * DAY;
    if (!nanos && isSafe(micros)) writeSafeInt64(result.words, row, micros);
    else writeScaled(BigInt(column.values[row] as number) * DAY_EXACT);
    return;
  }
  assert(column.tag === 'timestamp' || column.tag === 'int64', 'a date or moment');
  const fromNanos = column.type.tag === 'timestamp_ns';
  if (fromNanos === nanos) {
    result.words[2 * row] = column.words[2 * row] as number;
    result.words[2 * row + 1] = column.words[2 * row + 1] as number;
  } else if (fromNanos) {
    const exact = readInt64(column.words, row);
    const rest = ((exact % 1000n) + 1000n) % 1000n;
    writeInt64(result.words, row, (exact - rest) / 1000n);
  } else writeScaled(readInt64(column.words, row));

  function writeScaled(micros: bigint): void {
    const value = nanos ? micros * 1000n : micros;
    if (fitsInt64(value)) writeInt64(result.words, row, value);
    else
      fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `${micros} microseconds since 1970 are out of range for ${typeName(type)}`,
      );
  }
}

export function toInterval(column: Column, casting: Casting): IntervalColumn {
  const { outcome, fail } = casting;
  const result = makeInterval(column.length);
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    if (column.tag === 'text') {
      const parts = readInterval(textAt(column, row));
      if (parts === null) refuse(casting, column, row);
      else if (parts === 'range')
        fail(
          row,
          'NUMERIC_OUT_OF_RANGE',
          () => `${quoted(column, row)} is out of range for ${typeName(INTERVAL)}`,
        );
      else writeIntervalWords(result.words, 4 * row, parts);
      continue;
    }
    assert(column.tag === 'int64', 'a time becomes an interval');
    result.words[4 * row + 2] = column.words[2 * row] as number;
    result.words[4 * row + 3] = column.words[2 * row + 1] as number;
  }
  result.validity = outcome.validity;
  return result;
}
