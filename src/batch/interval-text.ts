/**
 * Interval text → months, days and microseconds, as Postgres reads it: `1 year 2 months -3 days`,
 * `1 day 04:05:06`, `90s`, `1-2` (years and months), `P1Y2M3DT4H5M6.5S`, `3 hours ago`.
 *
 * Parts of a unit flow into the next smaller one: `1.5 months` is 1 month 15 days, `1.5 days` 1 day
 * 12 hours; what is smaller than a microsecond is cut off.
 */
import { intervalFits } from './interval.ts';
import type { IntervalParts } from './interval.ts';

const DAY = 86_400_000_000n;

/** Units counted in months, in days and in microseconds. */
const MONTHS: Readonly<Record<string, number>> = {
  millennium: 12_000,
  century: 1200,
  decade: 120,
  year: 12,
  quarter: 3,
  month: 1,
};
const DAYS: Readonly<Record<string, number>> = { week: 7, day: 1 };
const MICROS: Readonly<Record<string, bigint>> = {
  hour: 3_600_000_000n,
  minute: 60_000_000n,
  second: 1_000_000n,
  millisecond: 1_000n,
  microsecond: 1n,
};

const SHORT: Readonly<Record<string, string>> = {
  millennia: 'millennium',
  centuries: 'century',
  y: 'year',
  yr: 'year',
  yrs: 'year',
  mon: 'month',
  mons: 'month',
  w: 'week',
  d: 'day',
  h: 'hour',
  hr: 'hour',
  hrs: 'hour',
  m: 'minute',
  min: 'minute',
  mins: 'minute',
  s: 'second',
  sec: 'second',
  secs: 'second',
  ms: 'millisecond',
  msec: 'millisecond',
  msecs: 'millisecond',
  us: 'microsecond',
  usec: 'microsecond',
  usecs: 'microsecond',
};

const unitOf = (word: string): string =>
  SHORT[word] ?? (word.endsWith('s') && !(word in MICROS) ? word.slice(0, -1) : word);

type Sum = { months: number; days: number; micros: bigint };

/** Adds `digits` of a unit; false when there is no such unit. */
function addPart(sum: Sum, negative: boolean, digits: string, unit: string): boolean {
  const sign = negative ? -1 : 1;
  const [whole = '0', fraction = ''] = digits.split('.');
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(`${whole}${fraction}` || '0');
  const months = MONTHS[unit];
  if (months !== undefined) {
    const total = scaled * BigInt(months);
    sum.months += sign * Number(total / scale);
    // A part of a month is days of a month of 30; a part of a year is whole months, rounded.
    const rest = total % scale;
    if (months === 1) addDays(sum, sign, rest * 30n, scale);
    else if (rest * 2n >= scale) sum.months += sign;
    return true;
  }
  const days = DAYS[unit];
  if (days !== undefined) {
    addDays(sum, sign, scaled * BigInt(days), scale);
    return true;
  }
  const micros = MICROS[unit];
  if (micros === undefined) return false;
  sum.micros += BigInt(sign) * ((scaled * micros) / scale);
  return true;
}

function addDays(sum: Sum, sign: number, scaled: bigint, scale: bigint): void {
  sum.days += sign * Number(scaled / scale);
  sum.micros += BigInt(sign) * (((scaled % scale) * DAY) / scale);
}

function addClock(sum: Sum, match: RegExpExecArray): void {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  const negative = sign === '-';
  addPart(sum, negative, hours, 'hour');
  addPart(sum, negative, minutes, 'minute');
  addPart(sum, negative, seconds, 'second');
}

/** ISO 8601: `P1Y2M3W4DT5H6M7.8S`, each number with an optional sign. */
function readIso(text: string): Sum | null {
  const sum: Sum = { months: 0, days: 0, micros: 0n };
  const parts = /^(-?)p([^t]*)(?:t(.+))?$/.exec(text);
  if (parts === null) return null;
  const read = (from: string, units: Readonly<Record<string, string>>): boolean => {
    const pattern = /([+-]?)(\d+(?:\.\d*)?)([a-z])/y;
    let found = 0;
    for (let match = pattern.exec(from); match !== null; match = pattern.exec(from)) {
      const unit = units[match[3] as string];
      const negative = (match[1] === '-') !== (parts[1] === '-');
      if (unit === undefined || !addPart(sum, negative, match[2] as string, unit)) return false;
      found += match[0].length;
    }
    return found === from.length;
  };
  const date = parts[2] ?? '';
  const time = parts[3] ?? '';
  if (date === '' && time === '') return null;
  const sound =
    read(date, { y: 'year', m: 'month', w: 'week', d: 'day' }) &&
    read(time, { h: 'hour', m: 'minute', s: 'second' });
  return sound ? sum : null;
}

const CLOCK = /^([+-]?)(\d+):([0-5]?\d)(?::([0-5]?\d(?:\.\d*)?))?(?=\s|$)\s*/;
const WORDS = /^([+-]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)(?=[\s\d+.-]|$)\s*/;
const YEARS = /^([+-]?)(\d+)-(\d{1,2})(?=\s|$)\s*/;
const BARE = /^([+-]?)(\d+(?:\.\d*)?)\s*/;

function readWords(text: string): Sum | null {
  const sum: Sum = { months: 0, days: 0, micros: 0n };
  let rest = text;
  while (rest !== '') {
    const clock = CLOCK.exec(rest);
    const words = clock === null ? WORDS.exec(rest) : null;
    const years = clock === null && words === null ? YEARS.exec(rest) : null;
    const bare = clock === null && words === null && years === null ? BARE.exec(rest) : null;
    if (clock !== null) addClock(sum, clock);
    else if (words !== null) {
      const unit = unitOf(words[3] as string);
      if (!addPart(sum, words[1] === '-', words[2] as string, unit)) return null;
    } else if (years !== null) {
      if (Number(years[3]) > 11) return null;
      addPart(sum, years[1] === '-', years[2] as string, 'year');
      addPart(sum, years[1] === '-', years[3] as string, 'month');
    } else if (bare !== null) {
      // A bare number is days ahead of a time of day, and seconds at the end.
      const after = rest.slice(bare[0].length);
      const unit = CLOCK.test(after) ? 'day' : 'second';
      if (after !== '' && unit === 'second') return null;
      addPart(sum, bare[1] === '-', bare[2] as string, unit);
    } else return null;
    rest = rest.slice((clock ?? words ?? years ?? bare)?.[0].length ?? rest.length);
  }
  return sum;
}

/**
 * The interval a text means; null when it is none, 'range' when it is too long to be held.
 *
 * @param unit  what a plain number counts (`INTERVAL '5' DAY`); null: the text says it itself
 */
export function readInterval(
  text: string,
  unit: string | null = null,
): IntervalParts | null | 'range' {
  let trimmed = text.trim().toLowerCase();
  if (trimmed.startsWith('@')) trimmed = trimmed.slice(1).trim();
  const ago = trimmed.endsWith(' ago');
  if (ago) trimmed = trimmed.slice(0, -4).trim();
  let sum: Sum | null;
  if (unit !== null && /^[+-]?(\d+\.?\d*|\.\d+)$/.test(trimmed)) {
    sum = { months: 0, days: 0, micros: 0n };
    const digits = trimmed.replace(/^[+-]/, '');
    if (!addPart(sum, trimmed.startsWith('-'), digits, unitOf(unit))) return null;
  } else if (trimmed === '') return null;
  else sum = /^-?p/.test(trimmed) ? readIso(trimmed) : readWords(trimmed);
  if (sum === null) return null;
  const parts = ago
    ? { months: 0 - sum.months, days: 0 - sum.days, micros: -sum.micros }
    : { months: sum.months + 0, days: sum.days + 0, micros: sum.micros };
  return intervalFits(parts) ? parts : 'range';
}
