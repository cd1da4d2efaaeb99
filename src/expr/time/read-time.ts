/** Texts as moments, by the parts of a pattern (`time-format.ts`). What a pattern leaves out is that of 1970-01-01 00:00:00. */
import { daysOfDate, daysOfMonth } from '../../batch/timestamp-text.ts';
import type { TimeField, TimePart } from './time-format.ts';
import { DAYS, MONTHS } from './write-time.ts';

/** Digits a number may have; a year may have more than its width. */
const DIGITS_MAX: Readonly<Partial<Record<TimeField, number>>> = {
  year: 6,
  isoyear: 6,
  doy: 3,
  milli: 3,
  micro: 6,
  nano: 9,
  epoch: 15,
  'seconds-of-day': 5,
};

type Found = Partial<Record<TimeField, number>>;

/** A day since 1970 and microseconds of that day. */
export type DayTime = { days: number; micros: number };

/** Null when the text is not of the pattern or no such moment exists. */
export function readTime(parts: readonly TimePart[], text: string): DayTime | null {
  const found: Found = {};
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const next =
      part.tag === 'text'
        ? readText(part.text, text, at)
        : readField(part, parts[index + 1], text, at, found);
    if (next < 0) return null;
    at = next;
  }
  return at === text.length ? momentOf(found) : null;
}

const readText = (wanted: string, text: string, at: number): number =>
  text.startsWith(wanted, at) ? at + wanted.length : -1;

function readField(
  part: TimePart & { tag: 'field' },
  behind: TimePart | undefined,
  text: string,
  at: number,
  found: Found,
): number {
  const { field } = part;
  if (field === 'month-name' || field === 'month-short')
    return readName(MONTHS, field, 'month', 1, text, at, found);
  if (field === 'day-name' || field === 'day-short')
    return readName(DAYS, field, 'dow', 0, text, at, found);
  if (field === 'meridiem') {
    const letters = text.slice(at, at + 2).toLowerCase();
    if (letters !== 'am' && letters !== 'pm') return -1;
    found.meridiem = letters === 'am' ? 0 : 12;
    return at + 2;
  }
  if (field === 'zone') return readText('UTC', text, at);
  // A number right before another one takes exactly its width.
  const tight = behind?.tag === 'field';
  const most = tight ? part.width : (DIGITS_MAX[field] ?? 2);
  const digits = /^[ ]*([+-]?\d+)/.exec(text.slice(at, at + most + 1));
  if (digits === null) return -1;
  const number = (digits[1] as string).slice(
    0,
    /^[+-]/.test(digits[1] as string) ? most + 1 : most,
  );
  const isFraction = field === 'milli' || field === 'micro' || field === 'nano';
  found[field] = Number(isFraction ? number.padEnd(DIGITS_MAX[field] as number, '0') : number);
  return at + (digits[0].length - (digits[1] as string).length) + number.length;
}

function readName(
  names: readonly string[],
  field: TimeField,
  into: TimeField,
  first: number,
  text: string,
  at: number,
  found: Found,
): number {
  const lower = text.slice(at).toLowerCase();
  const short = field.endsWith('short');
  const index = names.findIndex((name) =>
    lower.startsWith((short ? name.slice(0, 3) : name).toLowerCase()),
  );
  if (index < 0) return -1;
  found[into] = index + first;
  return at + (short ? 3 : (names[index] as string).length);
}

const within = (value: number | undefined, low: number, high: number): boolean =>
  value === undefined || (value >= low && value <= high);

function momentOf(found: Found): DayTime | null {
  if (found.epoch !== undefined) {
    const days = Math.floor(found.epoch / 86_400);
    return { days, micros: (found.epoch - days * 86_400) * 1_000_000 };
  }
  const year =
    found.year ??
    (found.year2 === undefined ? 1970 : found.year2 + (found.year2 < 70 ? 2000 : 1900));
  const { month = 1, day = 1, doy } = found;
  const hour =
    found.hour12 === undefined ? (found.hour ?? 0) : (found.hour12 % 12) + (found.meridiem ?? 0);
  const valid =
    within(found.month, 1, 12) &&
    within(found.hour, 0, 23) &&
    within(found.hour12, 1, 12) &&
    within(found.minute, 0, 59) &&
    within(found.second, 0, 59) &&
    day >= 1 &&
    day <= daysOfMonth(year, Math.min(12, Math.max(1, month)));
  if (!valid) return null;
  const days = doy === undefined ? daysOfDate(year, month, day) : daysOfDate(year, 1, 1) + doy - 1;
  const fraction =
    (found.milli ?? 0) * 1000 + (found.micro ?? 0) + Math.floor((found.nano ?? 0) / 1000);
  const seconds = hour * 3600 + (found.minute ?? 0) * 60 + (found.second ?? 0);
  return { days, micros: seconds * 1_000_000 + fraction };
}
