/**
 * Interval text → months and microseconds.
 *
 * Months have no fixed length, so they are kept apart: who needs a length of time refuses them.
 */
import type { IntervalUnit } from '../sql/ast-expression.ts';

export type Interval = { months: number; micros: bigint };

const MICROS: Readonly<Record<string, bigint>> = {
  week: 604_800_000_000n,
  day: 86_400_000_000n,
  hour: 3_600_000_000n,
  minute: 60_000_000n,
  second: 1_000_000n,
  millisecond: 1_000n,
  microsecond: 1n,
};

const MONTHS: Readonly<Record<string, number>> = { year: 12, quarter: 3, month: 1 };

const SHORT: Readonly<Record<string, string>> = {
  w: 'week',
  d: 'day',
  h: 'hour',
  hr: 'hour',
  m: 'minute',
  min: 'minute',
  s: 'second',
  sec: 'second',
  ms: 'millisecond',
  msec: 'millisecond',
  us: 'microsecond',
  usec: 'microsecond',
  mon: 'month',
  y: 'year',
  yr: 'year',
};

/** The interval a text such as `1 hour 30 minutes`, `00:01:30`, `90s` or (with a unit) `5` means; null: not one. */
export function parseInterval(text: string, unit: IntervalUnit | null): Interval | null {
  const trimmed = text.trim().toLowerCase();
  if (unit !== null) {
    const match = /^([+-]?)(\d+(?:\.\d+)?)$/.exec(trimmed);
    return match === null ? null : part(match[1] === '-', match[2] as string, unit);
  }
  let rest = trimmed;
  let months = 0;
  let micros = 0n;
  let parts = 0;
  while (rest !== '') {
    const clock = /^([+-]?)(\d+):([0-5]?\d)(?::([0-5]?\d(?:\.\d{1,6})?))?(?=\s|$)\s*/.exec(rest);
    const words = /^([+-]?)\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*/.exec(rest);
    const found =
      clock !== null
        ? clockPart(clock)
        : words === null
          ? null
          : part(words[1] === '-', words[2] as string, unitOf(words[3] as string));
    if (found === null) return null;
    months += found.months;
    micros += found.micros;
    parts++;
    rest = rest.slice((clock ?? words)?.[0].length ?? rest.length);
  }
  return parts === 0 ? null : { months, micros };
}

/** `1 hour 30 minutes` for a length in microseconds. */
export function formatInterval(micros: number | bigint): string {
  let rest = BigInt(micros);
  if (rest === 0n) return '0 seconds';
  if (rest < 0n) return `-${formatInterval(-rest)}`;
  const words: string[] = [];
  for (const unit of ['day', 'hour', 'minute', 'second', 'millisecond', 'microsecond']) {
    const size = MICROS[unit] as bigint;
    const count = rest / size;
    rest %= size;
    if (count > 0n) words.push(`${count} ${unit}${count === 1n ? '' : 's'}`);
  }
  return words.join(' ');
}

function unitOf(word: string): string {
  return SHORT[word] ?? (word.endsWith('s') ? word.slice(0, -1) : word);
}

function part(negative: boolean, digits: string, unit: string): Interval | null {
  const sign = negative ? -1 : 1;
  const months = MONTHS[unit];
  if (months !== undefined) {
    const count = Number(digits) * months;
    return Number.isSafeInteger(count) ? { months: sign * count, micros: 0n } : null;
  }
  const size = MICROS[unit];
  if (size === undefined) return null;
  const [whole, fraction = ''] = digits.split('.');
  const scaled = BigInt(fraction === '' ? '0' : fraction) * size;
  // What is smaller than a microsecond is cut off, as Postgres' clock has no finer tick either.
  const micros = BigInt(whole as string) * size + scaled / 10n ** BigInt(fraction.length);
  return { months: 0, micros: negative ? -micros : micros };
}

function clockPart(match: RegExpExecArray): Interval {
  const [, sign, hours, minutes, seconds = '0'] = match;
  const [whole, fraction = ''] = seconds.split('.');
  const micros =
    BigInt(hours as string) * (MICROS['hour'] as bigint) +
    BigInt(minutes as string) * (MICROS['minute'] as bigint) +
    BigInt(whole as string) * (MICROS['second'] as bigint) +
    BigInt(fraction.padEnd(6, '0'));
  return { months: 0, micros: sign === '-' ? -micros : micros };
}
