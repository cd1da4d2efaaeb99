/** Moments as text, by the parts of a pattern (`time-format.ts`). */
import { dateOfDays, daysOfDate } from '../../batch/timestamp-text.ts';
import type { TextSink } from '../text-sink.ts';
import type { TimeField, TimePart } from './time-format.ts';
import { FINENESS } from './time-format.ts';

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Day of the week, Sunday = 0. */
export const weekday = (days: number): number => (((days + 4) % 7) + 7) % 7;

const isoWeekday = (days: number): number => weekday(days) || 7;

/** Year and number of the ISO week: the week of a Thursday belongs to the Thursday's year. */
function isoWeek(days: number): { year: number; week: number } {
  const thursday = days - isoWeekday(days) + 4;
  const { year } = dateOfDays(thursday);
  return { year, week: Math.floor((thursday - daysOfDate(year, 1, 1)) / 7) + 1 };
}

/** Which parts of a pattern tell moments apart, in microseconds: moments with the same quotient look alike. */
export const finenessOf = (parts: readonly TimePart[]): number =>
  parts.reduce(
    (finest, part) => (part.tag === 'text' ? finest : Math.min(finest, FINENESS[part.field])),
    86_400_000_000,
  );

export function fieldOf(field: TimeField, days: number, micros: number): number | string {
  const hour = Math.floor(micros / 3_600_000_000);
  switch (field) {
    case 'year':
      return dateOfDays(days).year;
    case 'year2':
      return ((dateOfDays(days).year % 100) + 100) % 100;
    case 'century':
      return Math.ceil(dateOfDays(days).year / 100);
    case 'isoyear':
      return isoWeek(days).year;
    case 'month':
      return dateOfDays(days).month;
    case 'month-name':
      return MONTHS[dateOfDays(days).month - 1] as string;
    case 'month-short':
      return (MONTHS[dateOfDays(days).month - 1] as string).slice(0, 3);
    case 'day':
      return dateOfDays(days).day;
    case 'doy':
      return days - daysOfDate(dateOfDays(days).year, 1, 1) + 1;
    case 'week':
      return isoWeek(days).week;
    case 'isodow':
      return isoWeekday(days);
    case 'dow':
      return weekday(days);
    case 'day-name':
      return DAYS[weekday(days)] as string;
    case 'day-short':
      return (DAYS[weekday(days)] as string).slice(0, 3);
    case 'quarter':
      return Math.floor((dateOfDays(days).month + 2) / 3);
    case 'hour':
      return hour;
    case 'hour12':
      return hour % 12 || 12;
    case 'minute':
      return Math.floor(micros / 60_000_000) % 60;
    case 'second':
      return Math.floor(micros / 1_000_000) % 60;
    case 'milli':
      return Math.floor(micros / 1000) % 1000;
    case 'micro':
      return micros % 1_000_000;
    case 'nano':
      return (micros % 1_000_000) * 1000;
    case 'seconds-of-day':
      return Math.floor(micros / 1_000_000);
    case 'meridiem':
      return hour < 12 ? 'Am' : 'Pm';
    case 'epoch':
      return days * 86_400 + Math.floor(micros / 1_000_000);
    case 'zone':
      return 'UTC';
  }
}

/** @param micros  of the day */
export function writeTime(
  parts: readonly TimePart[],
  days: number,
  micros: number,
  sink: TextSink,
): void {
  for (const part of parts) {
    if (part.tag === 'text') {
      sink.appendString(part.text);
      continue;
    }
    const value = fieldOf(part.field, days, micros);
    if (typeof value === 'string') {
      const { letters } = part;
      const text =
        letters === 'upper'
          ? value.toUpperCase()
          : letters === 'lower'
            ? value.toLowerCase()
            : value;
      sink.appendString(text.padEnd(part.width));
    } else {
      const digits = String(Math.abs(value)).padStart(part.width, part.fill);
      sink.appendString(value < 0 ? `-${digits}` : digits);
    }
  }
}
