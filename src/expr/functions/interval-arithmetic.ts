/**
 * Arithmetic of DATE, TIME, TIMESTAMP, TIMESTAMPTZ and INTERVAL, as Postgres does it.
 *
 * An interval is added months first (a day that the month does not have becomes its last), then days,
 * then microseconds. The difference of two moments is days and a time of day. What does not fit fails
 * its row.
 */
import type {
  Column,
  Float64Column,
  Int32Column,
  Int64Column,
  IntervalColumn,
} from '../../batch/column.ts';
import { intervalAt, intervalFits, writeIntervalWords } from '../../batch/interval.ts';
import type { IntervalParts } from '../../batch/interval.ts';
import { dateOfDays, daysOfDate, daysOfMonth } from '../../batch/timestamp-text.ts';
import type { SqlType } from '../../batch/types.ts';
import {
  DATE,
  INT32,
  INTERVAL,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  typeName,
} from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';
import { Outcome, makeInt32, makeInt64, makeInterval, strideOf } from '../vector.ts';
import {
  fitsInt64,
  int64AsNumber,
  isSafe,
  readInt64,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';

const DAY = 86_400_000_000;

/** Writes a 64-bit value that may lie beyond ±2^53; false when it does not fit. */
function writeWide(words: Int32Array, row: number, value: bigint): boolean {
  if (!fitsInt64(value)) return false;
  writeInt64(words, row, value);
  return true;
}

/** The day number so many months later, in the last day of a shorter month. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = dateOfDays(days);
  const count = year * 12 + month - 1 + months;
  const toYear = Math.floor(count / 12);
  const toMonth = count - toYear * 12 + 1;
  return daysOfDate(toYear, toMonth, Math.min(day, daysOfMonth(toYear, toMonth)));
}

/** Writes moment ± interval to value `row` of `words`; false when it does not fit. */
function shift(
  words: Int32Array,
  row: number,
  moment: Int32Array,
  at: number,
  interval: Int32Array,
  from: number,
  sign: 1 | -1,
): boolean {
  const months = (interval[4 * from] as number) * sign;
  const days = (interval[4 * from + 1] as number) * sign;
  const micros = wide(interval, from);
  const start = int64AsNumber(moment, at);
  if (months === 0) {
    const value = start + days * DAY + micros * sign;
    if (isSafe(start) && isSafe(micros) && isSafe(value)) {
      writeSafeInt64(words, row, value);
      return true;
    }
    const exact =
      readInt64(moment, at) +
      BigInt(days) * BigInt(DAY) +
      BigInt(sign) * readInt64(interval, 2 * from + 1);
    return writeWide(words, row, exact);
  }
  const exact = readInt64(moment, at);
  const rest = ((exact % BigInt(DAY)) + BigInt(DAY)) % BigInt(DAY);
  const day = addMonths(Number((exact - rest) / BigInt(DAY)), months) + days;
  const value = BigInt(day) * BigInt(DAY) + rest + BigInt(sign) * readInt64(interval, 2 * from + 1);
  return writeWide(words, row, value);
}

/** The microseconds of interval `index` as a double; unsafe beyond ±2^53. */
const wide = (words: Int32Array, index: number): number => int64AsNumber(words, 2 * index + 1);

const shiftMoment =
  (sign: 1 | -1, swapped = false): Evaluate =>
  (args, rows, errors, type) => {
    const moment = args[swapped ? 1 : 0] as Int64Column;
    const interval = args[swapped ? 0 : 1] as IntervalColumn;
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const strideA = strideOf(moment);
    const strideB = strideOf(interval);
    for (let row = 0; row < rows; row++) {
      const fits = shift(
        result.words,
        row,
        moment.words,
        row * strideA,
        interval.words,
        row * strideB,
        sign,
      );
      if (!fits)
        outcome.fail(
          row,
          'NUMERIC_OVERFLOW',
          () => `the sum with an interval does not fit ${typeName(type)}`,
        );
    }
    result.validity = outcome.validity;
    return result;
  };

/** TIME ± INTERVAL goes round the clock; months and days do not count. */
const shiftTime =
  (sign: 1 | -1, swapped = false): Evaluate =>
  (args, rows, errors) => {
    const time = args[swapped ? 1 : 0] as Int64Column;
    const interval = args[swapped ? 0 : 1] as IntervalColumn;
    const result = makeInt64(rows, TIME);
    for (let row = 0; row < rows; row++) {
      const start = int64AsNumber(time.words, row * strideOf(time));
      const exact = readInt64(interval.words, 2 * row * strideOf(interval) + 1) % BigInt(DAY);
      writeSafeInt64(result.words, row, (((start + sign * Number(exact)) % DAY) + DAY) % DAY);
    }
    result.validity = new Outcome(args, rows, errors).validity;
    return result;
  };

/** The difference of two 64-bit counts of microseconds; `wholeDays` puts whole days apart. */
const difference =
  (wholeDays: boolean): Evaluate =>
  (args, rows, errors) => {
    const [left, right] = args as readonly [Int64Column, Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInterval(rows);
    const { words } = result;
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(left.words, row * strideOf(left));
      const y = int64AsNumber(right.words, row * strideOf(right));
      let micros = x - y;
      let days = 0;
      if (isSafe(x) && isSafe(y) && isSafe(micros)) {
        if (wholeDays) days = Math.trunc(micros / DAY);
        micros -= days * DAY;
      } else {
        const exact =
          readInt64(left.words, row * strideOf(left)) -
          readInt64(right.words, row * strideOf(right));
        days = wholeDays ? Number(exact / BigInt(DAY)) : 0;
        micros = Number(exact % BigInt(DAY));
        if (!fitsInt64(exact))
          outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the time between does not fit INTERVAL');
      }
      words[4 * row + 1] = days;
      writeSafeInt64(words, 2 * row + 1, micros);
    }
    result.validity = outcome.validity;
    return result;
  };

const sumIntervals =
  (sign: 1 | -1): Evaluate =>
  (args, rows, errors) => {
    const [left, right] = args as readonly [IntervalColumn, IntervalColumn];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInterval(rows);
    const { words } = result;
    for (let row = 0; row < rows; row++) {
      const a = row * strideOf(left);
      const b = row * strideOf(right);
      const months = (left.words[4 * a] as number) + sign * (right.words[4 * b] as number);
      const days = (left.words[4 * a + 1] as number) + sign * (right.words[4 * b + 1] as number);
      const micros = wide(left.words, a) + sign * wide(right.words, b);
      words[4 * row] = months;
      words[4 * row + 1] = days;
      let fits = months === (months | 0) && days === (days | 0);
      if (isSafe(wide(left.words, a)) && isSafe(wide(right.words, b)) && isSafe(micros))
        writeSafeInt64(words, 2 * row + 1, micros);
      else {
        const exact =
          readInt64(left.words, 2 * a + 1) + BigInt(sign) * readInt64(right.words, 2 * b + 1);
        fits &&= writeWide(words, 2 * row + 1, exact);
      }
      if (!fits) outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the sum does not fit INTERVAL');
    }
    result.validity = outcome.validity;
    return result;
  };

const negate: Evaluate = (args, rows, errors) => {
  const zero: Column = { ...makeInterval(1) };
  return sumIntervals(-1)([zero, args[0] as Column], rows, errors, INTERVAL);
};

/** To whole microseconds of seconds: what a part of a month or day leaves behind. */
const toMicros = (seconds: number): number => Math.round(seconds * 1e6);

/**
 * An interval of parts that need not be whole: what is left of months becomes days of a month of 30, and
 * what is left of days becomes time. Parts that are not finite come out as NaN months.
 */
function spread(months: number, days: number, micros: number): IntervalParts {
  if (!Number.isFinite(months) || !Number.isFinite(days) || !Number.isFinite(micros))
    return { months: Number.NaN, days: 0, micros: 0n };
  const wholeMonths = Math.trunc(months);
  let wholeDays = Math.trunc(days);
  const daysLeft = toMicros((months - wholeMonths) * 30) / 1e6;
  const wholeLeft = Math.trunc(daysLeft);
  let seconds = toMicros((days - wholeDays + daysLeft - wholeLeft) * 86_400) / 1e6;
  const carried = Math.trunc(seconds / 86_400);
  seconds -= carried * 86_400;
  wholeDays += carried + wholeLeft;
  // With + 0 no part is -0.
  return {
    months: wholeMonths + 0,
    days: wholeDays + 0,
    micros: BigInt(Math.round(micros + seconds * 1e6)),
  };
}

export const divideInterval = (
  { months, days, micros }: IntervalParts,
  by: number,
): IntervalParts => spread(months / by, days / by, Number(micros) / by);

const multiplyInterval = ({ months, days, micros }: IntervalParts, by: number): IntervalParts =>
  spread(months * by, days * by, Number(micros) * by);

const scaled =
  (divide: boolean): Evaluate =>
  (args, rows, errors) => {
    const interval = args.find((column) => column.tag === 'interval') as IntervalColumn;
    const factor = args.find((column) => column.tag === 'float64') as Float64Column;
    const outcome = new Outcome(args, rows, errors);
    const result = makeInterval(rows);
    for (let row = 0; row < rows; row++) {
      if (!outcome.has(row)) continue;
      const y = factor.values[row * strideOf(factor)] as number;
      if (divide && y === 0) {
        outcome.fail(row, 'DIVISION_BY_ZERO', () => 'an interval is divided by zero');
        continue;
      }
      const source = intervalAt(interval.words, 4 * row * strideOf(interval));
      const parts = divide ? divideInterval(source, y) : multiplyInterval(source, y);
      if (intervalFits(parts)) writeIntervalWords(result.words, 4 * row, parts);
      else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => 'an interval is out of range');
    }
    result.validity = outcome.validity;
    return result;
  };

const shiftDate =
  (sign: 1 | -1, swapped = false): Evaluate =>
  (args, rows, errors) => {
    const date = args[swapped ? 1 : 0] as Int32Column;
    const days = args[swapped ? 0 : 1] as Int32Column;
    const outcome = new Outcome(args, rows, errors);
    const result: Int32Column = { ...makeInt32(rows), type: DATE };
    for (let row = 0; row < rows; row++) {
      const value =
        (date.values[row * strideOf(date)] as number) +
        sign * (days.values[row * strideOf(days)] as number);
      result.values[row] = value;
      if (value !== (value | 0))
        outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the day does not fit DATE');
    }
    result.validity = outcome.validity;
    return result;
  };

const daysBetween: Evaluate = (args, rows, errors) => {
  const [left, right] = args as readonly [Int32Column, Int32Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  for (let row = 0; row < rows; row++) {
    const value =
      (left.values[row * strideOf(left)] as number) -
      (right.values[row * strideOf(right)] as number);
    result.values[row] = value;
    if (value !== (value | 0))
      outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the days between do not fit INT');
  }
  result.validity = outcome.validity;
  return result;
};

const dateAtTime: Evaluate = (args, rows, errors) => {
  const date = args.find((column) => column.tag === 'int32') as Int32Column;
  const time = args.find((column) => column.tag === 'int64') as Int64Column;
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, TIMESTAMP);
  for (let row = 0; row < rows; row++) {
    const day = date.values[row * strideOf(date)] as number;
    const micros = int64AsNumber(time.words, row * strideOf(time));
    const value = day * DAY + micros;
    if (isSafe(value)) writeSafeInt64(result.words, row, value);
    else if (!writeWide(result.words, row, BigInt(day) * BigInt(DAY) + BigInt(micros)))
      outcome.fail(row, 'NUMERIC_OVERFLOW', () => 'the moment does not fit TIMESTAMP');
  }
  result.validity = outcome.validity;
  return result;
};

const operator = (
  id: string,
  name: string,
  args: readonly ArgumentPattern[],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id,
  name,
  infix: name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail: true,
  doc,
  examples: [example],
  evaluate,
});

/** moment ± interval and the difference, for a type of moments. */
function momentOperators(type: SqlType): readonly ScalarFunction[] {
  const { tag } = type;
  return [
    operator(
      `add:${tag}-interval`,
      '+',
      [tag, 'interval'],
      type,
      'the moment so much later',
      { args: ['1000000', '5'], gives: '1000005' },
      shiftMoment(1),
    ),
    operator(
      `add:interval-${tag}`,
      '+',
      ['interval', tag],
      type,
      'the moment so much later',
      { args: ['5', '1000000'], gives: '1000005' },
      shiftMoment(1, true),
    ),
    operator(
      `subtract:${tag}-interval`,
      '-',
      [tag, 'interval'],
      type,
      'the moment so much earlier',
      { args: ['1000000', '1 0 0'], gives: '-2678399000000' },
      shiftMoment(-1),
    ),
    operator(
      `subtract:${tag}`,
      '-',
      [tag, tag],
      INTERVAL,
      'the time between, in days and a time of day',
      { args: ['172800000001', '0'], gives: '0 2 1' },
      difference(true),
    ),
  ];
}

export const INTERVAL_ARITHMETIC: readonly ScalarFunction[] = [
  ...momentOperators(TIMESTAMP),
  ...momentOperators(TIMESTAMPTZ),
  operator(
    'add:date-int32',
    '+',
    ['date', 'int32'],
    DATE,
    'the date so many days later',
    { args: [10, 5], gives: 15 },
    shiftDate(1),
  ),
  operator(
    'add:int32-date',
    '+',
    ['int32', 'date'],
    DATE,
    'the date so many days later',
    { args: [5, 10], gives: 15 },
    shiftDate(1, true),
  ),
  operator(
    'subtract:date-int32',
    '-',
    ['date', 'int32'],
    DATE,
    'the date so many days earlier',
    { args: [10, 5], gives: 5 },
    shiftDate(-1),
  ),
  operator(
    'subtract:date',
    '-',
    ['date', 'date'],
    INT32,
    'the days between',
    { args: [10, 5], gives: 5 },
    daysBetween,
  ),
  operator(
    'add:date-time',
    '+',
    ['date', 'time'],
    TIMESTAMP,
    'the moment of that time on that day',
    { args: [1, '5'], gives: '86400000005' },
    dateAtTime,
  ),
  operator(
    'add:time-date',
    '+',
    ['time', 'date'],
    TIMESTAMP,
    'the moment of that time on that day',
    { args: ['5', 1], gives: '86400000005' },
    dateAtTime,
  ),
  operator(
    'add:time-interval',
    '+',
    ['time', 'interval'],
    TIME,
    'the time of day so much later, round the clock',
    { args: ['86399000000', '2000000'], gives: '1000000' },
    shiftTime(1),
  ),
  operator(
    'add:interval-time',
    '+',
    ['interval', 'time'],
    TIME,
    'the time of day so much later, round the clock',
    { args: ['2000000', '86399000000'], gives: '1000000' },
    shiftTime(1, true),
  ),
  operator(
    'subtract:time-interval',
    '-',
    ['time', 'interval'],
    TIME,
    'the time of day so much earlier, round the clock',
    { args: ['1000000', '2000000'], gives: '86399000000' },
    shiftTime(-1),
  ),
  operator(
    'subtract:time',
    '-',
    ['time', 'time'],
    INTERVAL,
    'the time between',
    { args: ['1000000', '3000000'], gives: '-2000000' },
    difference(false),
  ),
  operator(
    'add:interval',
    '+',
    ['interval', 'interval'],
    INTERVAL,
    'both lengths together, part by part',
    { args: ['3', '1 2 5'], gives: '1 2 8' },
    sumIntervals(1),
  ),
  operator(
    'subtract:interval',
    '-',
    ['interval', 'interval'],
    INTERVAL,
    'the difference of both lengths, part by part',
    { args: ['3', '5'], gives: '-2' },
    sumIntervals(-1),
  ),
  operator(
    'negate:interval',
    '-',
    ['interval'],
    INTERVAL,
    'the length with its sign changed',
    { args: ['5'], gives: '-5' },
    negate,
  ),
  operator(
    'multiply:interval-float64',
    '*',
    ['interval', 'float64'],
    INTERVAL,
    'so many times the length; parts of a month flow into days, parts of a day into time',
    { args: ['1 0 0', 1.5], gives: '1 15 0' },
    scaled(false),
  ),
  operator(
    'multiply:float64-interval',
    '*',
    ['float64', 'interval'],
    INTERVAL,
    'so many times the length',
    { args: [1.5, '10'], gives: '15' },
    scaled(false),
  ),
  operator(
    'divide:interval',
    '/',
    ['interval', 'float64'],
    INTERVAL,
    'the length divided',
    { args: ['10', 4], gives: '3' },
    scaled(true),
  ),
];
