/** INTERVAL times and divided by a number, as Postgres does it. */
import type { Float64Column, IntervalColumn } from '../../batch/column.ts';
import { intervalAt, intervalFits, writeIntervalWords } from '../../batch/interval.ts';
import type { IntervalParts } from '../../batch/interval.ts';
import { INTERVAL } from '../../batch/types.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { Outcome, makeInterval, strideOf } from '../vector.ts';
import { operator } from './time-operator.ts';

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

export const INTERVAL_SCALING: readonly ScalarFunction[] = [
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
