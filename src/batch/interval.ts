/**
 * Intervals: months, days and microseconds, kept apart because a month has no fixed length and a day
 * with a change of clocks is not 24 hours long.
 *
 * Order and equality take 30 days for a month and 24 hours for a day, as Postgres does: `1 month` equals
 * `30 days`. The sums are exact: no interval is too long to be compared.
 */
import { wordsToNumber } from './column.ts';

export type IntervalParts = { months: number; days: number; micros: bigint };

const DAY_MICROS = 86_400_000_000;

/** The span of the last interval looked at: whole days, and microseconds in [0, one day). */
export const span = { days: 0, micros: 0 };

/** Puts the length of the interval at words `[at, at + 4)` into `span`. */
export function measure(words: Int32Array, at: number): void {
  const low = words[at + 2] as number;
  const high = words[at + 3] as number;
  let days = (words[at] as number) * 30 + (words[at + 1] as number);
  let micros = wordsToNumber(low, high);
  if (high < -0x200000 || high >= 0x200000) {
    // Beyond 2^53: the remainder of the upper word is exact, and its quotient is far from a half.
    const upper = high * 4294967296;
    const rest = upper % DAY_MICROS;
    days += Math.round((upper - rest) / DAY_MICROS);
    micros = rest + (low >>> 0);
  }
  const whole = Math.floor(micros / DAY_MICROS);
  span.days = days + whole;
  span.micros = micros - whole * DAY_MICROS;
}

/** The order of two intervals: negative, 0 or positive. */
export function compareIntervals(
  left: Int32Array,
  at: number,
  right: Int32Array,
  other: number,
): number {
  measure(left, at);
  const { days, micros } = span;
  measure(right, other);
  return days - span.days || micros - span.micros;
}

/** The parts of the interval at words `[at, at + 4)`. */
export const intervalAt = (words: Int32Array, at: number): IntervalParts => ({
  months: words[at] as number,
  days: words[at + 1] as number,
  micros: (BigInt(words[at + 3] as number) << 32n) | BigInt((words[at + 2] as number) >>> 0),
});

/** Writes the parts to words `[at, at + 4)`; they must fit. */
export function writeIntervalWords(words: Int32Array, at: number, parts: IntervalParts): void {
  words[at] = parts.months;
  words[at + 1] = parts.days;
  words[at + 2] = Number(BigInt.asIntN(32, parts.micros));
  words[at + 3] = Number(BigInt.asIntN(32, parts.micros >> 32n));
}

/** Whether months and days fit 32 bits and the microseconds 64. */
export const intervalFits = ({ months, days, micros }: IntervalParts): boolean =>
  months === (months | 0) && days === (days | 0) && BigInt.asIntN(64, micros) === micros;

/** The form constants have in plans: microseconds alone, or `months days microseconds`. */
export const intervalLiteral = ({ months, days, micros }: IntervalParts): string =>
  months === 0 && days === 0 ? micros.toString() : `${months} ${days} ${micros}`;

/** Reads what `intervalLiteral` wrote. */
export function intervalOfLiteral(literal: string): IntervalParts {
  const parts = literal.split(' ');
  if (parts.length !== 3) return { months: 0, days: 0, micros: BigInt(literal) };
  return {
    months: Number(parts[0]),
    days: Number(parts[1]),
    micros: BigInt(parts[2] as string),
  };
}

/** The length in microseconds where days are 24 hours, as they are in UTC; null: it has months. */
export const fixedMicros = ({ months, days, micros }: IntervalParts): bigint | null =>
  months === 0 ? BigInt(days) * BigInt(DAY_MICROS) + micros : null;

const two = (value: bigint): string => value.toString().padStart(2, '0');

/** As Postgres writes it: `1 year 2 mons -3 days +04:05:06.789`; zero is `00:00:00`. */
export function intervalText({ months, days, micros }: IntervalParts): string {
  const words: string[] = [];
  let negative = false;
  const add = (count: number, unit: string): void => {
    if (count === 0) return;
    const sign = negative && count > 0 ? '+' : '';
    words.push(`${sign}${count} ${unit}${count === 1 ? '' : 's'}`);
    negative = count < 0;
  };
  add(Math.trunc(months / 12), 'year');
  add(months % 12, 'mon');
  add(days, 'day');
  if (micros !== 0n || words.length === 0) {
    const size = micros < 0n ? -micros : micros;
    const seconds = size / 1000000n;
    const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
    const fraction = (size % 1000000n).toString().padStart(6, '0').replace(/0+$/, '');
    const sign = micros < 0n ? '-' : negative ? '+' : '';
    words.push(`${sign}${clock}${fraction === '' ? '' : `.${fraction}`}`);
  }
  return words.join(' ');
}
