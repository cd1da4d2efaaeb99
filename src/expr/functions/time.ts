/**
 * Timestamps (microseconds since 1970-01-01, no zone) and intervals (microseconds).
 *
 * A moment is split into a day number and the microseconds of that day, both exact doubles for every
 * int64; BigInt is used only outside ±2^53 microseconds (the years 1684 to 2255).
 */
import type { Column, Float64Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { dateOfDays, daysOfDate } from '../../batch/timestamp-text.ts';
import type { SqlType } from '../../batch/types.ts';
import { FLOAT64, INT64, INTERVAL, TIMESTAMP } from '../../batch/types.ts';
import type { ArgumentPattern, Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { castColumn } from '../cast.ts';
import { textAt } from '../text-sink.ts';
import { Outcome, combineValidity, makeFloat64, makeInt64, strideOf } from '../vector.ts';
import { fitsInt64, int64AsNumber, isSafe, readInt64, writeInt64, writeSafeInt64 } from '../wide.ts';
import { addInt64 } from './arithmetic.ts';

const DAY = 86_400_000_000;

/** The last split moment; kernels read it right after `split`. */
const moment = { days: 0, micros: 0 };

function split(words: Int32Array, index: number): void {
  const value = int64AsNumber(words, index);
  if (isSafe(value)) {
    moment.days = Math.floor(value / DAY);
    moment.micros = value - moment.days * DAY;
    if (moment.micros < 0) {
      moment.days--;
      moment.micros += DAY;
    } else if (moment.micros >= DAY) {
      moment.days++;
      moment.micros -= DAY;
    }
    return;
  }
  const exact = readInt64(words, index);
  const micros = ((exact % BigInt(DAY)) + BigInt(DAY)) % BigInt(DAY);
  moment.micros = Number(micros);
  moment.days = Number((exact - micros) / BigInt(DAY));
}

/** Writes a moment; false when it does not fit. */
function join(words: Int32Array, index: number, days: number, micros: number): boolean {
  const value = days * DAY + micros;
  if (isSafe(value)) {
    writeSafeInt64(words, index, value);
    return true;
  }
  const exact = BigInt(days) * BigInt(DAY) + BigInt(micros);
  if (fitsInt64(exact)) writeInt64(words, index, exact);
  return fitsInt64(exact);
}

const UNITS: Readonly<Record<string, string>> = {
  us: 'microsecond', usec: 'microsecond', ms: 'millisecond', msec: 'millisecond',
  s: 'second', sec: 'second', m: 'minute', min: 'minute', h: 'hour', hr: 'hour', d: 'day', w: 'week',
  mon: 'month', qtr: 'quarter', y: 'year', yr: 'year', millennium: 'millennium', millennia: 'millennium',
  century: 'century', centuries: 'century', decade: 'decade', dow: 'dow', doy: 'doy', isodow: 'isodow', isoyear: 'isoyear', epoch: 'epoch',
};

/** The one name of a unit that may be written in several ways: 'HOURS' is 'hour'. */
export function unitName(written: string): string {
  const lower = written.trim().toLowerCase();
  const singular = lower.endsWith('s') && lower.length > 2 && lower !== 'us' ? lower.slice(0, -1) : lower;
  return UNITS[lower] ?? UNITS[singular] ?? singular;
}

const FIXED: Readonly<Record<string, number>> = {
  microsecond: 1, millisecond: 1e3, second: 1e6, minute: 6e7, hour: 3.6e9, day: DAY,
};

/** Monday of the week of a day; 1970-01-01 was a Thursday. */
const weekStart = (days: number): number => days - ((((days + 3) % 7) + 7) % 7);

/** The start day of a calendar unit, or null for a unit that is none. */
function truncateDay(unit: string, days: number): number | null {
  if (unit === 'week') return weekStart(days);
  const { year, month } = dateOfDays(days);
  switch (unit) {
    case 'month':
      return daysOfDate(year, month, 1);
    case 'quarter':
      return daysOfDate(year, month - ((month - 1) % 3), 1);
    case 'year':
      return daysOfDate(year, 1, 1);
    case 'decade':
      return daysOfDate(Math.floor(year / 10) * 10, 1, 1);
    case 'century':
      return daysOfDate(Math.floor((year - 1) / 100) * 100 + 1, 1, 1);
    case 'millennium':
      return daysOfDate(Math.floor((year - 1) / 1000) * 1000 + 1, 1, 1);
    default:
      return null;
  }
}

/** The unit of each row, normalised; parsed once when constant. */
function unitReader(column: TextColumn): (row: number) => string {
  if (strideOf(column) === 1) return (row) => unitName(textAt(column, row));
  const unit = unitName(textAt(column, 0));
  return () => unit;
}

const dateTrunc: Evaluate = (args, rows, errors) => {
  const [units, input] = args as readonly [TextColumn, Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  const unitAt = unitReader(units);
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const unit = unitAt(row);
    split(input.words, row * stride);
    const fixed = FIXED[unit];
    const days = fixed === undefined ? truncateDay(unit, moment.days) : moment.days;
    if (days === null) {
      outcome.fail(row, 'INVALID_CAST', () => `date_trunc does not know the unit '${unit}'`);
      continue;
    }
    const micros = fixed === undefined ? 0 : moment.micros - (moment.micros % fixed);
    if (!join(result.words, row, days, micros)) outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a truncated timestamp is out of range');
  }
  result.validity = outcome.validity;
  return result;
};

/** ISO week: the week of the year that its Thursday lies in. */
function isoWeek(days: number): { year: number; week: number } {
  const thursday = weekStart(days) + 3;
  const { year } = dateOfDays(thursday);
  return { year, week: Math.floor((thursday - daysOfDate(year, 1, 1)) / 7) + 1 };
}

/** One field of a moment, or null for a name that is no field. */
function fieldOf(unit: string, days: number, micros: number): number | null {
  switch (unit) {
    case 'microsecond':
      return micros % 6e7;
    case 'millisecond':
      return (micros % 6e7) / 1e3;
    case 'second':
      return (micros % 6e7) / 1e6;
    case 'minute':
      return Math.floor(micros / 6e7) % 60;
    case 'hour':
      return Math.floor(micros / 3.6e9);
    case 'dow':
      return (((days + 4) % 7) + 7) % 7;
    case 'isodow':
      return days - weekStart(days) + 1;
    case 'week':
      return isoWeek(days).week;
    case 'isoyear':
      return isoWeek(days).year;
    default:
      return dateField(unit, days);
  }
}

/** The date asked for last: neighbouring rows mostly share their day. */
let recentDays = NaN;
let recentDate = dateOfDays(0);

function recentDateOf(days: number): typeof recentDate {
  if (days !== recentDays) {
    recentDays = days;
    recentDate = dateOfDays(days);
  }
  return recentDate;
}

function dateField(unit: string, days: number): number | null {
  const { year, month, day } = recentDateOf(days);
  switch (unit) {
    case 'day':
      return day;
    case 'doy':
      return days - daysOfDate(year, 1, 1) + 1;
    case 'month':
      return month;
    case 'quarter':
      return Math.floor((month + 2) / 3);
    case 'year':
      return year;
    case 'decade':
      return Math.floor(year / 10);
    case 'century':
      return Math.floor((year - 1) / 100) + 1;
    case 'millennium':
      return Math.floor((year - 1) / 1000) + 1;
    default:
      return null;
  }
}

const datePart: Evaluate = (args, rows, errors) => {
  const [units, input] = args as readonly [TextColumn, Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  const unitAt = unitReader(units);
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const unit = unitAt(row);
    if (unit === 'epoch') {
      result.values[row] = int64AsNumber(input.words, row * stride) / 1e6;
      continue;
    }
    split(input.words, row * stride);
    const value = fieldOf(unit, moment.days, moment.micros);
    if (value === null) outcome.fail(row, 'INVALID_CAST', () => `date_part does not know the field '${unit}'`);
    else result.values[row] = value;
  }
  result.validity = outcome.validity;
  return result;
};

const intervalEpoch: Evaluate = (args, rows, errors) => {
  const [units, input] = args as readonly [TextColumn, Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  const unitAt = unitReader(units);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const unit = unitAt(row);
    const micros = int64AsNumber(input.words, row * strideOf(input));
    if (unit === 'epoch') result.values[row] = micros / 1e6;
    else outcome.fail(row, 'INVALID_CAST', () => `an interval has the field 'epoch' only, not '${unit}'`);
  }
  result.validity = outcome.validity;
  return result;
};

/** Multiplies or divides an int64 by a constant into another 64-bit type. */
const rescaled =
  (factor: number, divisor: number): Evaluate =>
  (args, rows, errors, type) => {
    const [input] = args as readonly [Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(input.words, row * stride);
      const value = Math.floor((x * factor) / divisor);
      if (isSafe(x) && isSafe(x * factor)) {
        writeSafeInt64(result.words, row, value);
        continue;
      }
      const product = readInt64(input.words, row * stride) * BigInt(factor);
      const rest = product % BigInt(divisor);
      const exact = product / BigInt(divisor) - (rest < 0n ? 1n : 0n);
      if (fitsInt64(exact)) writeInt64(result.words, row, exact);
      else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${readInt64(input.words, row * stride)} is out of range for a timestamp`);
    }
    result.validity = outcome.validity;
    return result;
  };

/** Rounds a number of microseconds; fails rows that are no finite int64. */
function writeMicros(outcome: Outcome, words: Int32Array, row: number, micros: number): void {
  const rounded = Math.round(micros);
  if (isSafe(rounded)) writeSafeInt64(words, row, rounded);
  else if (Number.isFinite(rounded) && fitsInt64(BigInt(rounded))) writeInt64(words, row, BigInt(rounded));
  else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${micros} microseconds are out of range`);
}

const fromFloatSeconds: Evaluate = (args, rows, errors) => {
  const [input] = args as readonly [Float64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  for (let row = 0; row < rows; row++) {
    writeMicros(outcome, result.words, row, (input.values[row * strideOf(input)] as number) * 1e6);
  }
  result.validity = outcome.validity;
  return result;
};

const scaleInterval =
  (divide: boolean): Evaluate =>
  (args, rows, errors) => {
    const interval = args.find((column) => column.tag === 'int64') as Int64Column;
    const factor = args.find((column) => column.tag === 'float64') as Float64Column;
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, INTERVAL);
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(interval.words, row * strideOf(interval));
      const y = factor.values[row * strideOf(factor)] as number;
      if (divide && y === 0) outcome.fail(row, 'DIVISION_BY_ZERO', () => 'an interval is divided by zero');
      else writeMicros(outcome, result.words, row, divide ? x / y : x * y);
    }
    result.validity = outcome.validity;
    return result;
  };

/** The start of the bin of a fixed width that holds each timestamp; bins count from `origin`. */
const dateBin: Evaluate = (args, rows, errors) => {
  const [width, input, origin] = args as readonly Int64Column[] as readonly [Int64Column, Int64Column, Int64Column?];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  for (let row = 0; row < rows; row++) {
    const size = readInt64(width.words, row * strideOf(width));
    if (size <= 0n) {
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'the width of date_bin must be positive');
      continue;
    }
    const start = origin === undefined ? 0n : readInt64(origin.words, row * strideOf(origin));
    const offset = readInt64(input.words, row * strideOf(input)) - start;
    const value = start + offset - (((offset % size) + size) % size);
    if (fitsInt64(value)) writeInt64(result.words, row, value);
    else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a bin starts out of range');
  }
  result.validity = outcome.validity;
  return result;
};

const sum =
  (negate: boolean): Evaluate =>
  (args, rows, errors, type) =>
    addInt64(args as readonly Column[] as readonly [Int64Column, Int64Column], rows, negate, new Outcome(args, rows, errors), type);

function fn(id: string, name: string, args: readonly ArgumentPattern[], type: SqlType, doc: string, example: FunctionExample, evaluate: Evaluate, infix?: string): ScalarFunction {
  const base: ScalarFunction = { id, name, args, result: always(type), nullRule: 'strict', canFail: true, doc, examples: [example], evaluate };
  return infix === undefined ? base : { ...base, infix };
}

const operator = (id: string, name: string, args: readonly ArgumentPattern[], type: SqlType, doc: string, example: FunctionExample, evaluate: Evaluate): ScalarFunction =>
  fn(id, name, args, type, doc, example, evaluate, name);

export const TIME: readonly ScalarFunction[] = [
  operator('add:timestamp-interval', '+', ['timestamp', 'interval'], TIMESTAMP, 'the moment so much later', { args: ['1000000', '5'], gives: '1000005' }, sum(false)),
  operator('add:interval-timestamp', '+', ['interval', 'timestamp'], TIMESTAMP, 'the moment so much later', { args: ['5', '1000000'], gives: '1000005' }, sum(false)),
  operator('subtract:timestamp-interval', '-', ['timestamp', 'interval'], TIMESTAMP, 'the moment so much earlier', { args: ['1000000', '5'], gives: '999995' }, sum(true)),
  operator('subtract:timestamp', '-', ['timestamp', 'timestamp'], INTERVAL, 'the time between', { args: ['1000000', '5'], gives: '999995' }, sum(true)),
  operator('add:interval', '+', ['interval', 'interval'], INTERVAL, 'both lengths together', { args: ['3', '5'], gives: '8' }, sum(false)),
  operator('subtract:interval', '-', ['interval', 'interval'], INTERVAL, 'the difference of both lengths', { args: ['3', '5'], gives: '-2' }, sum(true)),
  operator('negate:interval', '-', ['interval'], INTERVAL, 'the length with its sign changed', { args: ['5'], gives: '-5' }, (args, rows, errors) =>
    addInt64([makeInt64(1, INTERVAL), args[0] as Int64Column], rows, true, new Outcome(args, rows, errors), INTERVAL)),
  operator('multiply:interval-float64', '*', ['interval', 'float64'], INTERVAL, 'so many times the length', { args: ['10', 1.5], gives: '15' }, scaleInterval(false)),
  operator('multiply:float64-interval', '*', ['float64', 'interval'], INTERVAL, 'so many times the length', { args: [1.5, '10'], gives: '15' }, scaleInterval(false)),
  operator('divide:interval', '/', ['interval', 'float64'], INTERVAL, 'the length divided', { args: ['10', 4], gives: '3' }, scaleInterval(true)),
  fn('date-trunc', 'date_trunc', ['text', 'timestamp'], TIMESTAMP, 'the start of the microsecond … millennium that holds the moment; weeks start on Monday', { args: ['hour', '7200000001'], gives: '7200000000' }, dateTrunc),
  fn('date-part', 'date_part', ['text', 'timestamp'], FLOAT64, 'a field: year … microsecond, quarter, week, dow (Sunday is 0), isodow, doy, epoch', { args: ['dow', '0'], gives: 4 }, datePart),
  fn('date-part:interval', 'date_part', ['text', 'interval'], FLOAT64, "the field 'epoch': the length in seconds", { args: ['epoch', '1500000'], gives: 1.5 }, intervalEpoch),
  fn('date-bin', 'date_bin', ['interval', 'timestamp'], TIMESTAMP, 'the start of the bin of a width that holds the moment', { args: ['10', '25'], gives: '20' }, dateBin),
  fn('date-bin:origin', 'date_bin', ['interval', 'timestamp', 'timestamp'], TIMESTAMP, 'the same with bins counted from the third argument', { args: ['10', '25', '3'], gives: '23' }, dateBin),
  fn('to-timestamp:int64', 'to_timestamp', ['int64'], TIMESTAMP, 'the moment so many seconds after 1970', { args: ['2'], gives: '2000000' }, rescaled(1e6, 1)),
  fn('to-timestamp:float64', 'to_timestamp', ['float64'], TIMESTAMP, 'the moment so many seconds after 1970, to the nearest microsecond', { args: [0.25], gives: '250000' }, fromFloatSeconds),
  fn('to-timestamp:text', 'to_timestamp', ['text'], TIMESTAMP, 'the moment an ISO 8601 text means, as CAST reads it', { args: ['1970-01-01T00:00:02Z'], gives: '2000000' }, (args, _rows, errors) =>
    castColumn(args[0] as Column, TIMESTAMP, false, errors)),
  fn('to-timestamp-seconds', 'to_timestamp_seconds', ['int64'], TIMESTAMP, 'the moment so many seconds after 1970', { args: ['2'], gives: '2000000' }, rescaled(1e6, 1)),
  fn('to-timestamp-millis', 'to_timestamp_millis', ['int64'], TIMESTAMP, 'the moment so many milliseconds after 1970', { args: ['2'], gives: '2000' }, rescaled(1e3, 1)),
  fn('to-timestamp-micros', 'to_timestamp_micros', ['int64'], TIMESTAMP, 'the moment so many microseconds after 1970', { args: ['2'], gives: '2' }, rescaled(1, 1)),
  fn('to-timestamp-nanos', 'to_timestamp_nanos', ['int64'], TIMESTAMP, 'the moment so many nanoseconds after 1970, rounded down to microseconds', { args: ['2999'], gives: '2' }, rescaled(1, 1e3)),
  fn('from-unixtime', 'from_unixtime', ['int64'], TIMESTAMP, 'the moment so many seconds after 1970', { args: ['2'], gives: '2000000' }, rescaled(1e6, 1)),
  fn('to-unixtime', 'to_unixtime', ['timestamp'], INT64, 'the whole seconds since 1970, rounded down', { args: ['-1'], gives: '-1' }, rescaled(1, 1e6)),
  fn('to-unix-millis', 'to_unix_millis', ['timestamp'], INT64, 'the whole milliseconds since 1970, rounded down', { args: ['2999'], gives: '2' }, rescaled(1, 1e3)),
  fn('to-unix-micros', 'to_unix_micros', ['timestamp'], INT64, 'the microseconds since 1970', { args: ['2999'], gives: '2999' }, rescaled(1, 1)),
];
