/**
 * Patterns of folders by time, as `strftime` has them: `%Y-%m-%d/%H`.
 *
 * A pattern is parsed once by the planner, to be refused where it is wrong, and once by the sink. Times are those of UTC.
 */
import { dateOfDays, daysOfDate } from '../batch/timestamp-text.ts';

type TimeField = 'Y' | 'y' | 'm' | 'd' | 'j' | 'H' | 'M' | 'S';

export type TimePattern = {
  /** Words as they are, and fields. */
  parts: readonly (string | { field: TimeField })[];
  /** Times of one such step, in microseconds, have one folder. */
  stepMicros: number;
};

const SECOND = 1_000_000;
const STEPS: Readonly<Record<TimeField, number>> = {
  S: SECOND,
  M: 60 * SECOND,
  H: 3600 * SECOND,
  d: 86_400 * SECOND,
  j: 86_400 * SECOND,
  m: 86_400 * SECOND,
  y: 86_400 * SECOND,
  Y: 86_400 * SECOND,
};
const SHORT: Readonly<Record<string, string>> = { F: '%Y-%m-%d', T: '%H:%M:%S', R: '%H:%M' };
const DAY_SECONDS = 86_400;

/** What may follow a percent sign. */
export const TIME_FIELDS = '%Y, %y, %m, %d, %j, %H, %M, %S, %F, %T, %R and %%';

/** Null: there is something else behind a percent sign, or no field at all. */
export function parseTimePattern(text: string): TimePattern | null {
  const parts: (string | { field: TimeField })[] = [];
  const spelled = text
    .replaceAll(/^\/+|\/+$/g, '')
    .replaceAll(/%([%FTR])/g, (pair, letter: string) => SHORT[letter] ?? pair);
  let stepMicros = Number.POSITIVE_INFINITY;
  for (const [piece] of spelled.matchAll(/%.?|[^%]+/gs)) {
    const letter = piece.slice(1);
    if (piece === '%%') parts.push('%');
    else if (!piece.startsWith('%')) parts.push(piece);
    else if (Object.hasOwn(STEPS, letter)) {
      const field = letter as TimeField;
      parts.push({ field });
      stepMicros = Math.min(stepMicros, STEPS[field]);
    } else return null;
  }
  return stepMicros === Number.POSITIVE_INFINITY ? null : { parts, stepMicros };
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

/** The folder of a time, which is given in whole steps of the pattern. */
export function timePath({ parts, stepMicros }: TimePattern, step: number): string {
  const seconds = step * (stepMicros / SECOND);
  const days = Math.floor(seconds / DAY_SECONDS);
  const rest = seconds - days * DAY_SECONDS;
  const { year, month, day } = dateOfDays(days);
  const fieldText = (field: TimeField): string => {
    switch (field) {
      case 'Y':
        return year < 0 ? `-${digits(-year, 4)}` : digits(year, 4);
      case 'y':
        return digits(((year % 100) + 100) % 100, 2);
      case 'm':
        return digits(month, 2);
      case 'd':
        return digits(day, 2);
      case 'j':
        return digits(days - daysOfDate(year, 1, 1) + 1, 3);
      case 'H':
        return digits(Math.floor(rest / 3600), 2);
      case 'M':
        return digits(Math.floor(rest / 60) % 60, 2);
      case 'S':
        return digits(rest % 60, 2);
    }
  };
  return parts.map((part) => (typeof part === 'string' ? part : fieldText(part.field))).join('');
}
