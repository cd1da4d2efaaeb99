/**
 * date_trunc, date_part and date_bin: timestamps by the calendar (proleptic Gregorian, no zone).
 *
 * A moment is split into a day number and the microseconds of that day, both exact doubles for every
 * int64; BigInt is used only outside ±2^53 microseconds (the years 1684 to 2255).
 */
import type { Column, Int64Column, IntervalColumn, TextColumn } from '../../batch/column.ts';
import { intervalAt } from '../../batch/interval.ts';
import type { IntervalParts } from '../../batch/interval.ts';
import { dateOfDays, daysOfDate } from '../../batch/timestamp-text.ts';
import type { SqlType } from '../../batch/types.ts';
import { FLOAT64, TIMESTAMP, TIMESTAMPTZ } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import { textAt } from '../text-sink.ts';
import { Outcome, makeFloat64, makeInt64, strideOf } from '../vector.ts';
import {
  fitsInt64,
  int64AsNumber,
  isSafe,
  readInt64,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';

const DAY = 86_400_000_000;

/** The last split moment; kernels read it right after `split`. */
export const moment = { days: 0, micros: 0 };

export function split(words: Int32Array, index: number): void {
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
export function join(words: Int32Array, index: number, days: number, micros: number): boolean {
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
  us: 'microsecond',
  usec: 'microsecond',
  ms: 'millisecond',
  msec: 'millisecond',
  s: 'second',
  sec: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
  mon: 'month',
  qtr: 'quarter',
  y: 'year',
  yr: 'year',
  millennium: 'millennium',
  millennia: 'millennium',
  century: 'century',
  centuries: 'century',
  decade: 'decade',
  dow: 'dow',
  doy: 'doy',
  isodow: 'isodow',
  isoyear: 'isoyear',
  epoch: 'epoch',
};

/** The one name of a unit that may be written in several ways: 'HOURS' is 'hour'. */
export function unitName(written: string): string {
  const lower = written.trim().toLowerCase();
  const singular =
    lower.endsWith('s') && lower.length > 2 && lower !== 'us' ? lower.slice(0, -1) : lower;
  return UNITS[lower] ?? UNITS[singular] ?? singular;
}

const FIXED: Readonly<Record<string, number>> = {
  microsecond: 1,
  millisecond: 1e3,
  second: 1e6,
  minute: 6e7,
  hour: 3.6e9,
  day: DAY,
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

const dateTrunc: Evaluate = (args, rows, errors, type) => {
  const [units, input] = args as readonly [TextColumn, Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, type);
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
    if (!join(result.words, row, days, micros))
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a truncated timestamp is out of range');
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
    if (value === null)
      outcome.fail(row, 'INVALID_CAST', () => `date_part does not know the field '${unit}'`);
    else result.values[row] = value;
  }
  result.validity = outcome.validity;
  return result;
};

/** Days of a year and of a month as Postgres counts the length of an interval in seconds. */
const YEAR_DAYS = 365.25;

/** One field of an interval, or null for a name that is no field. */
function intervalField(unit: string, { months, days, micros }: IntervalParts): number | null {
  const time = Number(micros);
  const year = Math.trunc(months / 12);
  switch (unit) {
    case 'epoch':
      return (year * YEAR_DAYS + (months % 12) * 30 + days) * 86_400 + time / 1e6;
    case 'microsecond':
      return time % 6e7;
    case 'millisecond':
      return (time % 6e7) / 1e3;
    case 'second':
      return (time % 6e7) / 1e6;
    case 'minute':
      return Math.trunc(time / 6e7) % 60;
    case 'hour':
      return Math.trunc(time / 3.6e9);
    case 'day':
      return days;
    case 'month':
      return months % 12;
    case 'quarter':
      return Math.trunc((months % 12) / 3) + 1;
    case 'year':
      return year;
    case 'decade':
      return Math.trunc(year / 10);
    case 'century':
      return Math.trunc(year / 100);
    case 'millennium':
      return Math.trunc(year / 1000);
    default:
      return null;
  }
}

const intervalPart: Evaluate = (args, rows, errors) => {
  const [units, input] = args as readonly [TextColumn, IntervalColumn];
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  const unitAt = unitReader(units);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const unit = unitAt(row);
    const value = intervalField(unit, intervalAt(input.words, 4 * row * strideOf(input)));
    if (value !== null) result.values[row] = value + 0;
    else outcome.fail(row, 'INVALID_CAST', () => `an interval has no field '${unit}'`);
  }
  result.validity = outcome.validity;
  return result;
};

/** The start of the bin of a fixed width that holds each timestamp; bins count from `origin`. */
const dateBin: Evaluate = (args, rows, errors, type) => {
  const [width, input, origin] = args as readonly Column[] as readonly [
    IntervalColumn,
    Int64Column,
    Int64Column?,
  ];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, type);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const { months, days, micros } = intervalAt(width.words, 4 * row * strideOf(width));
    const size = BigInt(days) * BigInt(DAY) + micros;
    if (months !== 0) {
      outcome.fail(row, 'INVALID_CAST', () => 'months have no fixed length: date_bin takes days');
      continue;
    }
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

/** The record of a function about time; it may fail and is strict. */
export function timeFunction(
  id: string,
  name: string,
  args: readonly ArgumentPattern[],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  infix?: string,
): ScalarFunction {
  const base: ScalarFunction = {
    id,
    name,
    args,
    result: always(type),
    nullRule: 'strict',
    canFail: true,
    doc,
    examples: [example],
    evaluate,
  };
  return infix === undefined ? base : { ...base, infix };
}

export const CALENDAR: readonly ScalarFunction[] = [
  timeFunction(
    'date-trunc:timestamptz',
    'date_trunc',
    ['text', 'timestamptz'],
    TIMESTAMPTZ,
    'the same for a moment with zone, in UTC',
    { args: ['hour', '7200000001'], gives: '7200000000' },
    dateTrunc,
  ),
  timeFunction(
    'date-bin:timestamptz',
    'date_bin',
    ['interval', 'timestamptz'],
    TIMESTAMPTZ,
    'the same for a moment with zone',
    { args: ['10', '25'], gives: '20' },
    dateBin,
  ),
  timeFunction(
    'date-bin:timestamptz-origin',
    'date_bin',
    ['interval', 'timestamptz', 'timestamptz'],
    TIMESTAMPTZ,
    'the same with bins counted from the third argument',
    { args: ['10', '25', '3'], gives: '23' },
    dateBin,
  ),
  timeFunction(
    'date-trunc',
    'date_trunc',
    ['text', 'timestamp'],
    TIMESTAMP,
    'the start of the microsecond … millennium that holds the moment; weeks start on Monday',
    { args: ['hour', '7200000001'], gives: '7200000000' },
    dateTrunc,
  ),
  timeFunction(
    'date-part',
    'date_part',
    ['text', 'timestamp'],
    FLOAT64,
    'a field: year … microsecond, quarter, week, dow (Sunday is 0), isodow, doy, epoch',
    { args: ['dow', '0'], gives: 4 },
    datePart,
  ),
  timeFunction(
    'date-part:interval',
    'date_part',
    ['text', 'interval'],
    FLOAT64,
    'a field: year, month, day, hour … microsecond, or epoch, the length in seconds',
    { args: ['epoch', '1500000'], gives: 1.5 },
    intervalPart,
  ),
  timeFunction(
    'date-bin',
    'date_bin',
    ['interval', 'timestamp'],
    TIMESTAMP,
    'the start of the bin of a width that holds the moment',
    { args: ['10', '25'], gives: '20' },
    dateBin,
  ),
  timeFunction(
    'date-bin:origin',
    'date_bin',
    ['interval', 'timestamp', 'timestamp'],
    TIMESTAMP,
    'the same with bins counted from the third argument',
    { args: ['10', '25', '3'], gives: '23' },
    dateBin,
  ),
];
