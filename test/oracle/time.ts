/** Moments, days and intervals by the calendar of JavaScript's Date, in UTC. */
import type { IntervalUnit } from '../../src/sql/ast-expression.ts';
import { Day, DAY_MICROS, Interval, Moment } from './value.ts';

/** Months, days and microseconds of one unit. */
const UNITS: Readonly<Record<string, readonly [months: number, days: number, micros: bigint]>> = {
  year: [12, 0, 0n],
  quarter: [3, 0, 0n],
  month: [1, 0, 0n],
  week: [0, 7, 0n],
  day: [0, 1, 0n],
  hour: [0, 0, 3_600_000_000n],
  minute: [0, 0, 60_000_000n],
  second: [0, 0, 1_000_000n],
  millisecond: [0, 0, 1_000n],
  microsecond: [0, 0, 1n],
};

/** Whole numbers of units one after the other, as the queries of these tests write them. */
export function intervalOf(text: string, unit: IntervalUnit | null): Interval {
  let [months, days, micros] = [0, 0, 0n];
  const parts = unit === null ? text : `${text} ${unit}`;
  const read = parts.replace(/(-?\d+)\s+([a-z]+)\s*/gi, (_, count: string, word: string) => {
    const [m, d, u] = UNITS[word.toLowerCase().replace(/s$/, '')] ?? missing(word);
    months += m * Number(count);
    days += d * Number(count);
    micros += u * BigInt(count);
    return '';
  });
  return read === '' ? new Interval(months, days, micros) : missing(text);
}

const missing = (what: string): never => {
  throw new Error(`${what} is not in the evaluator`);
};

export const floorDivide = (dividend: bigint, divisor: bigint): bigint =>
  (dividend - (((dividend % divisor) + divisor) % divisor)) / divisor;

const dateOf = ({ micros }: Moment): Date => new Date(Number(floorDivide(micros, 1000n)));

const microsOf = (ms: number): bigint => BigInt(ms) * 1000n;

export const dayOf = ({ micros }: Moment): Day => new Day(Number(floorDivide(micros, DAY_MICROS)));

/** Months first, to the last day of a month that is too short; then days; then the rest. */
export function addInterval(moment: Moment, { months, days, micros }: Interval): Moment {
  let at = moment.micros;
  if (months !== 0) {
    const date = dateOf(moment);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
    const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const day = Math.min(date.getUTCDate(), last);
    const ofDay = at - floorDivide(at, DAY_MICROS) * DAY_MICROS;
    at = microsOf(Date.UTC(year, month, day)) + ofDay;
  }
  return new Moment(at + BigInt(days) * DAY_MICROS + micros, moment.zoned);
}

export const truncate = (unit: string, moment: Moment): Moment =>
  new Moment(truncated(unit, moment).micros, moment.zoned);

function truncated(unit: string, moment: Moment): Moment {
  const date = dateOf(moment);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const fixed = UNITS[unit];
  switch (unit) {
    case 'year':
      return new Moment(microsOf(Date.UTC(year, 0, 1)));
    case 'quarter':
      return new Moment(microsOf(Date.UTC(year, month - (month % 3), 1)));
    case 'month':
      return new Moment(microsOf(Date.UTC(year, month, 1)));
    case 'week':
      return new Moment(microsOf(Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7))));
    case 'day':
      return new Moment(microsOf(Date.UTC(year, month, day)));
    default: {
      const [, , step] = fixed ?? missing(unit);
      return new Moment(floorDivide(moment.micros, step) * step);
    }
  }
}

/** A field of a moment; fractions of a second count where the unit has them. */
export function part(unit: string, moment: Moment): number {
  const date = dateOf(moment);
  const inMinute = Number(moment.micros - floorDivide(moment.micros, 60_000_000n) * 60_000_000n);
  switch (unit) {
    case 'year':
      return date.getUTCFullYear();
    case 'quarter':
      return Math.floor(date.getUTCMonth() / 3) + 1;
    case 'month':
      return date.getUTCMonth() + 1;
    case 'day':
      return date.getUTCDate();
    case 'hour':
      return date.getUTCHours();
    case 'minute':
      return date.getUTCMinutes();
    case 'second':
      return inMinute / 1e6;
    case 'millisecond':
      return inMinute / 1e3;
    case 'dow':
      return date.getUTCDay();
    case 'isodow':
      return date.getUTCDay() === 0 ? 7 : date.getUTCDay();
    case 'doy':
      return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
    case 'epoch':
      return Number(moment.micros) / 1e6;
    default:
      return missing(unit);
  }
}

/** @returns null for a text that is no moment */
export function momentOf(text: string): Moment | null {
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?)?Z?$/.exec(
      text.trim(),
    );
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second, fraction] = parts.map((each) => each ?? '0');
  const ms = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  const date = new Date(ms);
  if (date.getUTCDate() !== Number(day) || Number(hour) > 23 || Number(minute) > 59) return null;
  return new Moment(microsOf(ms) + BigInt((fraction as string).padEnd(6, '0')));
}

const CLOCKS = new Map<string, Intl.DateTimeFormat>();

/** What clocks of a zone show at a moment, less the moment, by the runtime's calendar. */
function offsetAt(zone: string, micros: bigint): bigint {
  const written = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (written !== null) {
    const minutes = BigInt(Number(written[2]) * 60 + Number(written[3]));
    return (written[1] === '-' ? -minutes : minutes) * 60_000_000n;
  }
  let clock = CLOCKS.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    CLOCKS.set(zone, clock);
  }
  const second = floorDivide(micros, 1_000_000n) * 1_000_000n;
  const parts = clock.formatToParts(Number(second / 1000n));
  const of = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
  return microsOf(shown + of('second') * 1000) - second;
}

/** A moment as clocks of the zone showed it, or the moment at which they showed a time: of two, the later one. */
export function atTimeZone({ micros, zoned }: Moment, zone: string): Moment {
  if (zoned) return new Moment(micros + offsetAt(zone, micros));
  const [before, after] = [
    offsetAt(zone, micros - DAY_MICROS),
    offsetAt(zone, micros + DAY_MICROS),
  ];
  const candidates = [before, after].map((offset) => micros - offset);
  const shown = candidates.filter((each) => each + offsetAt(zone, each) === micros);
  // A time that was jumped over lies as much later as the clocks were before.
  if (shown.length === 0) return new Moment(micros - before, true);
  return new Moment(
    shown.reduce((latest, each) => (each > latest ? each : latest)),
    true,
  );
}

/** `2024-01-31T23:59:59.5`, with `Z` behind it for a moment with a zone. */
export function momentText(moment: Moment): string {
  return `${plainText(moment)}${moment.zoned ? 'Z' : ''}`;
}

function plainText(moment: Moment): string {
  const second = dateOf(moment).toISOString().slice(0, 19);
  const rest = moment.micros - floorDivide(moment.micros, 1_000_000n) * 1_000_000n;
  return rest === 0n ? second : `${second}.${String(rest).padStart(6, '0').replace(/0+$/, '')}`;
}

export const dayText = ({ days }: Day): string =>
  new Date(days * 86_400_000).toISOString().slice(0, 10);
