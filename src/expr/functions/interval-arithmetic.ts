/**
 * Sums and differences of TIME, TIMESTAMP, TIMESTAMPTZ and INTERVAL, as Postgres makes them.
 *
 * An interval is added months first (a day that the month does not have becomes its last), then days,
 * then microseconds. The difference of two moments is days and a time of day. What does not fit fails
 * its row.
 */
import type { Column, Int64Column, IntervalColumn } from '../../batch/column.ts';
import { dateOfDays, daysOfDate, daysOfMonth } from '../../batch/timestamp-text.ts';
import type { SqlType } from '../../batch/types.ts';
import { INTERVAL, TIME, TIMESTAMP, TIMESTAMPTZ, typeName } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { operator } from './time-operator.ts';
import { Outcome, makeInt64, makeInterval, strideOf } from '../vector.ts';
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
    const day = start + days * DAY;
    const value = day + micros * sign;
    if (isSafe(start) && isSafe(day) && isSafe(micros) && isSafe(value)) {
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
];
