/** Dates made of numbers, fields of moments as whole numbers, and the distance between two moments. */
import type { Column, Int32Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { writeIntervalWords } from '../../batch/interval.ts';
import { dateOfDays, daysOfDate, daysOfMonth } from '../../batch/timestamp-text.ts';
import type { SqlType } from '../../batch/types.ts';
import { DATE, INT32, INT64, INTERVAL, TIMESTAMP } from '../../batch/types.ts';
import { castColumn } from '../cast.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import type { TimeField } from '../time/time-format.ts';
import { fieldOf } from '../time/write-time.ts';
import { textAt } from '../text-sink.ts';
import {
  Outcome,
  combineValidity,
  makeInt32,
  makeInt64,
  makeInterval,
  strideOf,
} from '../vector.ts';
import { fitsInt64, int64AsNumber, isSafe, writeInt64, writeSafeInt64 } from '../wide.ts';
import { moment, split, unitName } from './calendar.ts';

const numberAt = (column: Column, row: number): number =>
  int64AsNumber((column as Int64Column).words, row * strideOf(column));

const makeDate: Evaluate = (args, rows, errors) => {
  const [years, months, days] = args as readonly [Column, Column, Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  for (let row = 0; row < rows; row++) {
    const [year, month, day] = [numberAt(years, row), numberAt(months, row), numberAt(days, row)];
    const exists =
      Math.abs(year) < 1_000_000 &&
      month >= 1 &&
      month <= 12 &&
      day >= 1 &&
      day <= daysOfMonth(year, month);
    if (exists) result.values[row] = daysOfDate(year, month, day);
    else
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `there is no date ${year}-${month}-${day}`);
  }
  return { ...result, type: DATE, validity: outcome.validity };
};

const lastDay: Evaluate = (args, rows) => {
  const [input] = args as readonly [Int32Column];
  const result = makeInt32(rows);
  for (let row = 0; row < rows; row++) {
    const { year, month } = dateOfDays(input.values[row * strideOf(input)] as number);
    result.values[row] = daysOfDate(year, month, daysOfMonth(year, month));
  }
  return { ...result, type: DATE, validity: combineValidity(args, rows) };
};

const field =
  (name: TimeField): Evaluate =>
  (args, rows) => {
    const [input] = args as readonly [Int64Column];
    const result = makeInt32(rows);
    for (let row = 0; row < rows; row++) {
      split(input.words, row * strideOf(input));
      result.values[row] = fieldOf(name, moment.days, moment.micros) as number;
    }
    return { ...result, validity: combineValidity(args, rows) };
  };

/** Months, days and microseconds from the second moment to the first: whole months first, as Postgres does. */
const age: Evaluate = (args, rows) => {
  const [later, earlier] = args as readonly [Int64Column, Int64Column];
  const result = makeInterval(rows);
  for (let row = 0; row < rows; row++) {
    split(later.words, row * strideOf(later));
    const end = { ...moment };
    split(earlier.words, row * strideOf(earlier));
    const start = { ...moment };
    const turned = end.days < start.days || (end.days === start.days && end.micros < start.micros);
    const [from, to] = turned ? [end, start] : [start, end];
    const sign = turned ? -1 : 1;
    const [a, b] = [dateOfDays(from.days), dateOfDays(to.days)];
    let months = (b.year - a.year) * 12 + b.month - a.month;
    let days = b.day - a.day;
    let micros = to.micros - from.micros;
    if (micros < 0) {
      micros += 86_400_000_000;
      days--;
    }
    if (days < 0) {
      // Days of the month in which the earlier moment lies, as Postgres counts.
      days += daysOfMonth(a.year, a.month);
      months--;
    }
    writeIntervalWords(result.words, 4 * row, {
      months: sign * months,
      days: sign * days,
      micros: BigInt(sign * micros),
    });
  }
  return { ...result, validity: combineValidity(args, rows) };
};

/** Units that lie in a day, by their microseconds. */
const IN_DAY: Readonly<Record<string, number>> = {
  hour: 3_600_000_000,
  minute: 60_000_000,
  second: 1_000_000,
  millisecond: 1000,
  microsecond: 1,
};

/** Which unit of days or longer a day lies in, counted from some one: the difference counts the bounds between two. */
function ordinalOf(unit: string, days: number): number | null {
  const { year, month } = dateOfDays(days);
  switch (unit) {
    case 'millennium':
      return Math.floor((year - 1) / 1000);
    case 'century':
      return Math.floor((year - 1) / 100);
    case 'decade':
      return Math.floor(year / 10);
    case 'year':
      return year;
    case 'quarter':
      return year * 4 + Math.floor((month - 1) / 3);
    case 'month':
      return year * 12 + month;
    case 'week':
      return Math.floor((days + 3) / 7);
    case 'day':
      return days;
    default:
      return null;
  }
}

type Moment = typeof moment;

/** Bounds of a unit from one moment to the other, exact whatever they are; null: there is no such unit. */
function boundsBetween(unit: string, start: Moment, end: Moment): number | bigint | null {
  const size = IN_DAY[unit];
  if (size === undefined) {
    const [from, to] = [ordinalOf(unit, start.days), ordinalOf(unit, end.days)];
    return from === null || to === null ? null : to - from;
  }
  const days = end.days - start.days;
  const rest = Math.floor(end.micros / size) - Math.floor(start.micros / size);
  const each = DAY_MICROS / size;
  const bounds = days * each + rest;
  return isSafe(days * each) && isSafe(bounds)
    ? bounds
    : BigInt(days) * BigInt(each) + BigInt(rest);
}

const DAY_MICROS = 86_400_000_000;

const dateDiff: Evaluate = (args, rows, errors) => {
  const [units, earlier, later] = args as readonly [TextColumn, Int64Column, Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, INT64);
  for (let row = 0; row < rows; row++) {
    if (!outcome.has(row)) continue;
    const unit = unitName(textAt(units, row * strideOf(units)));
    split(later.words, row * strideOf(later));
    const end = { ...moment };
    split(earlier.words, row * strideOf(earlier));
    const bounds = boundsBetween(unit, moment, end);
    if (bounds === null)
      outcome.fail(row, 'INVALID_CAST', () => `date_diff knows no unit '${unit}'`);
    else if (typeof bounds === 'number') writeSafeInt64(result.words, row, bounds);
    else if (fitsInt64(bounds)) writeInt64(result.words, row, bounds);
    else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'a difference of moments out of range');
  }
  return { ...result, validity: outcome.validity };
};

const fn = (
  name: string,
  args: ScalarFunction['args'],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  canFail = false,
): ScalarFunction => ({
  id: `dates:${name}`,
  name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail,
  doc,
  examples: [example],
  evaluate,
});

const FIELDS: readonly (readonly [string, TimeField, string, number])[] = [
  ['year', 'year', 'the year', 2023],
  ['quarter', 'quarter', 'the quarter of the year', 4],
  ['month', 'month', 'the month of the year', 11],
  ['week', 'week', 'the week of ISO 8601', 46],
  ['day', 'day', 'the day of the month', 14],
  ['dayofyear', 'doy', 'the day of the year', 318],
  ['dayofweek', 'dow', 'the day of the week, Sunday = 0', 2],
  ['isodow', 'isodow', 'the day of the week, Monday = 1', 2],
  ['hour', 'hour', 'the hour of the day', 22],
  ['minute', 'minute', 'the minute of the hour', 13],
  ['second', 'second', 'the second of the minute', 20],
];

const MOMENT = '1700000000000000';

export const DATES: readonly ScalarFunction[] = [
  fn(
    'make_date',
    ['int64', 'int64', 'int64'],
    DATE,
    'the date of a year, a month and a day',
    { args: ['2023', '11', '14'], gives: 19675 },
    makeDate,
    true,
  ),
  fn(
    'last_day',
    ['date'],
    DATE,
    'the last day of the month',
    { args: [19675], gives: 19691 },
    lastDay,
  ),
  fn(
    'to_date',
    ['text'],
    DATE,
    'the date an ISO 8601 text means, as CAST reads it',
    { args: ['2023-11-14'], gives: 19675 },
    ([input], _rows, errors) => castColumn(input as Column, DATE, false, errors),
    true,
  ),
  fn(
    'to_local_time',
    ['timestamp'],
    TIMESTAMP,
    'the time without zone',
    { args: [MOMENT], gives: MOMENT },
    ([input]) => input as Column,
  ),
  fn(
    'date_diff',
    ['text', 'timestamp', 'timestamp'],
    INT64,
    'how many bounds of a unit lie between two moments',
    { args: ['day', '0', MOMENT], gives: '19675' },
    dateDiff,
    true,
  ),
  fn(
    'age',
    ['timestamp', 'timestamp'],
    INTERVAL,
    'months, days and time from the second moment to the first',
    { args: [MOMENT, MOMENT], gives: '0' },
    age,
  ),
  ...FIELDS.map(([name, part, doc, gives]) =>
    fn(name, ['timestamp'], INT32, doc, { args: [MOMENT], gives }, field(part)),
  ),
];
