/**
 * Dates, times of day and moments ↔ ISO text, in the proleptic Gregorian calendar: microseconds or
 * nanoseconds since 1970-01-01, days since then, microseconds since midnight.
 *
 * Printed form: `2024-01-01T10:00:00`, with a fraction only when it is not zero and without zone; who
 * prints a TIMESTAMPTZ puts a `Z` behind it. Years outside 0…9999 carry a sign and at least six digits
 * (`+012024-…`), as ISO 8601 does.
 */
import { wordsToNumber } from './column.ts';
import { writePadded } from './int-text.ts';
import type { Pair } from './int-text.ts';

export const TIMESTAMP_TEXT_BYTES_MAX = 32;

const MINUS = 45;
const PLUS = 43;
const COLON = 58;
const ZERO = 48;
const POINT = 46;

/** Days since 1970-01-01 of a date; month 1…12. */
export function daysOfDate(year: number, month: number, day: number): number {
  // The year starts in March, so that the leap day comes last.
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

export type CalendarDate = { year: number; month: number; day: number };

/** The date of a day number. */
export function dateOfDays(days: number): CalendarDate {
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36524) -
      Math.floor(dayOfEra / 146096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const isLeapYear = (year: number): boolean =>
  (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

/** Days of a month 1…12. */
export const daysOfMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] as number);

/** The day printed last: nearly ordered streams ask for the same one again and again. */
let cachedDay = Number.NaN;
const cachedText = new Uint8Array(16);
let cachedLength = 0;

function cacheDay(days: number): void {
  const { year, month, day } = dateOfDays(days);
  let at = 0;
  if (year >= 0 && year <= 9999) {
    at = writePadded(cachedText, 0, year, 4);
  } else {
    cachedText[at++] = year < 0 ? MINUS : PLUS;
    at = writePadded(cachedText, at, Math.abs(year), Math.abs(year) > 999_999 ? 7 : 6);
  }
  cachedText[at++] = MINUS;
  at = writePadded(cachedText, at, month, 2);
  cachedText[at++] = MINUS;
  cachedLength = writePadded(cachedText, at, day, 2);
  cachedDay = days;
}

/**
 * Divides a 64-bit value by 10^6 or 10^9, rounding down: whole seconds, and what is left below one
 * in `remainder`.
 */
let remainder = 0;
function secondsOf(low: number, high: number, unit: number): number {
  if (high >= -0x200000 && high < 0x200000) {
    const value = wordsToNumber(low, high);
    const seconds = Math.floor(value / unit);
    remainder = value - seconds * unit;
    return seconds;
  }
  const upper = Math.floor(high / unit);
  let rest = high - upper * unit;
  const middle = rest * 65536 + (low >>> 16);
  const quotientMiddle = Math.floor(middle / unit);
  rest = middle - quotientMiddle * unit;
  const last = rest * 65536 + (low & 65535);
  const quotientLast = Math.floor(last / unit);
  remainder = last - quotientLast * unit;
  return upper * 4294967296 + quotientMiddle * 65536 + quotientLast;
}

/** Writes a date; returns the end position. */
export function writeDate(bytes: Uint8Array, at: number, days: number): number {
  if (days !== cachedDay) cacheDay(days);
  let position = at;
  for (let index = 0; index < cachedLength; index++)
    bytes[position++] = cachedText[index] as number;
  return position;
}

/** Writes `hh:mm:ss` and a fraction of up to `digits` digits when it is not zero. */
function writeClock(
  bytes: Uint8Array,
  at: number,
  secondOfDay: number,
  fraction: number,
  digits: number,
): number {
  const hour = (secondOfDay / 3600) | 0;
  const minute = ((secondOfDay - hour * 3600) / 60) | 0;
  let position = writePadded(bytes, at, hour, 2);
  bytes[position++] = COLON;
  position = writePadded(bytes, position, minute, 2);
  bytes[position++] = COLON;
  position = writePadded(bytes, position, secondOfDay - hour * 3600 - minute * 60, 2);
  if (fraction === 0) return position;
  bytes[position++] = POINT;
  position = writePadded(bytes, position, fraction, digits);
  while (bytes[position - 1] === ZERO) position--;
  return position;
}

function writeMoment(
  bytes: Uint8Array,
  at: number,
  low: number,
  high: number,
  digits: 6 | 9,
): number {
  const seconds = secondsOf(low, high, digits === 6 ? 1e6 : 1e9);
  const fraction = remainder;
  const days = Math.floor(seconds / 86400);
  const position = writeDate(bytes, at, days);
  bytes[position] = 84;
  return writeClock(bytes, position + 1, seconds - days * 86400, fraction, digits);
}

/** Writes a timestamp given as words of microseconds; returns the end position. */
export const writeTimestamp = (bytes: Uint8Array, at: number, low: number, high: number): number =>
  writeMoment(bytes, at, low, high, 6);

/** Writes a timestamp given as words of nanoseconds; returns the end position. */
export const writeTimestampNs = (
  bytes: Uint8Array,
  at: number,
  low: number,
  high: number,
): number => writeMoment(bytes, at, low, high, 9);

/** Writes a time of day given as words of microseconds; returns the end position. */
export function writeTime(bytes: Uint8Array, at: number, low: number, high: number): number {
  const seconds = secondsOf(low, high, 1e6);
  return writeClock(bytes, at, seconds, remainder, 6);
}

/** The same as a string, from micros. */
export function timestampText(micros: bigint): string {
  const bytes = new Uint8Array(TIMESTAMP_TEXT_BYTES_MAX);
  const low = Number(BigInt.asIntN(32, micros));
  const end = writeTimestamp(bytes, 0, low, Number(BigInt.asIntN(32, micros >> 32n)));
  let text = '';
  for (let index = 0; index < end; index++) text += String.fromCharCode(bytes[index] as number);
  return text;
}

const digitAt = (bytes: Uint8Array, at: number): number => {
  const digit = (bytes[at] as number) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

/** Two digits as a number, or a negative number when they are not digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = digitAt(bytes, at);
  const ones = digitAt(bytes, at + 1);
  return tens < 0 || ones < 0 ? -1 : tens * 10 + ones;
}

/** Writes `seconds × 10^6 + micros` into `pair`; false beyond int64. */
export function microsOfSeconds(seconds: number, micros: number, pair: Pair): boolean {
  if (seconds > -9007199254 && seconds < 9007199254) {
    const whole = seconds * 1e6 + micros;
    pair.low = whole | 0;
    pair.high = Math.floor(whole / 4294967296);
    return true;
  }
  // By limbs of 2^24 seconds; the partial products stay below 2^53.
  const upper = Math.floor(seconds / 16777216);
  const first = (seconds - upper * 16777216) * 1e6 + micros;
  const second = upper * 1e6 + Math.floor(first / 16777216);
  const high = Math.floor(second / 256);
  if (high < -2147483648 || high > 2147483647) return false;
  pair.low =
    ((second - high * 256) * 16777216 + (first - Math.floor(first / 16777216) * 16777216)) | 0;
  pair.high = high;
  return true;
}

/** Reads `±hh`, `±hhmm` or `±hh:mm` that fills `[at, to)`; minutes, or NaN. */
function readOffset(bytes: Uint8Array, at: number, to: number): number {
  const sign = bytes[at] === MINUS ? -1 : bytes[at] === PLUS ? 1 : 0;
  const length = to - at;
  if (sign === 0 || (length !== 3 && length !== 5 && length !== 6)) return Number.NaN;
  const hours = twoDigits(bytes, at + 1);
  let minutes = 0;
  if (length === 5) minutes = twoDigits(bytes, at + 3);
  if (length === 6) minutes = bytes[at + 3] === COLON ? twoDigits(bytes, at + 4) : -1;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN;
  return sign * (hours * 60 + minutes);
}

/** Reads a date `[±yy]yyyy-mm-dd` at `from`; the position after it, or −1. Leaves the day number in `readDays`. */
let readDays = 0;
function readDay(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  let digits = 4;
  let sign = 1;
  if (bytes[at] === PLUS || bytes[at] === MINUS) {
    sign = bytes[at] === MINUS ? -1 : 1;
    at++;
    digits = bytes[at + 6] === MINUS ? 6 : 7;
  }
  if (to - at < digits + 6) return -1;
  let year = 0;
  for (let index = 0; index < digits; index++) {
    const digit = digitAt(bytes, at++);
    if (digit < 0) return -1;
    year = year * 10 + digit;
  }
  year *= sign;
  const month = twoDigits(bytes, at + 1);
  const day = twoDigits(bytes, at + 4);
  if (bytes[at] !== MINUS || bytes[at + 3] !== MINUS) return -1;
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return -1;
  readDays = daysOfDate(year, month, day);
  return at + 6;
}

/** Reads `hh:mm[:ss[.fraction]]` at `from`; the position after it, or −1. Leaves what it read in `readSeconds` and `readNanos`. */
let readSeconds = 0;
let readNanos = 0;
function readClock(bytes: Uint8Array, from: number, to: number): number {
  if (to - from < 5) return -1;
  const hour = twoDigits(bytes, from);
  const minute = twoDigits(bytes, from + 3);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || bytes[from + 2] !== COLON) return -1;
  let at = from + 5;
  let second = 0;
  readNanos = 0;
  if (at < to && bytes[at] === COLON) {
    if (to - at < 3) return -1;
    second = twoDigits(bytes, at + 1);
    if (second < 0 || second > 59) return -1;
    at += 3;
    if (at < to && bytes[at] === POINT) {
      const start = ++at;
      let unit = 1e8;
      for (; at < to && digitAt(bytes, at) >= 0; at++) {
        readNanos += digitAt(bytes, at) * unit;
        unit = unit === 1 ? 0 : unit / 10;
      }
      if (at === start || at - start > 9) return -1;
    }
  }
  readSeconds = hour * 3600 + minute * 60 + second;
  return at;
}

/** Reads a moment that fills `[from, to)` into seconds since 1970 UTC (`readSeconds`) and `readNanos`. */
function readMoment(bytes: Uint8Array, from: number, to: number): boolean {
  let at = readDay(bytes, from, to);
  if (at < 0) return false;
  const start = readDays * 86400;
  if (at === to) {
    readSeconds = start;
    readNanos = 0;
    return true;
  }
  const separator = bytes[at] as number;
  if (separator !== 84 && separator !== 116 && separator !== 32) return false;
  at = readClock(bytes, at + 1, to);
  if (at < 0) return false;
  let offset = 0;
  if (at < to) {
    if (to - at === 1 && ((bytes[at] as number) | 32) === 122) offset = 0;
    else offset = readOffset(bytes, at, to);
    if (Number.isNaN(offset)) return false;
  }
  readSeconds += start - offset * 60;
  return true;
}

/**
 * Reads a timestamp that fills bytes `[from, to)`: a date, then optionally `T` or space, a time
 * `hh:mm[:ss[.fraction]]` and `Z` or an offset, which is shifted to UTC; a missing zone is UTC. The
 * fraction has 1…9 digits and is cut to micros. A leap second and 24:00 are refused.
 *
 * @returns false when the text is no such timestamp or lies beyond int64 micros
 */
export const readTimestamp = (bytes: Uint8Array, from: number, to: number, pair: Pair): boolean =>
  readMoment(bytes, from, to) && microsOfSeconds(readSeconds, Math.floor(readNanos / 1e3), pair);

/** The same in nanoseconds; false beyond int64 nanos. */
export function readTimestampNs(bytes: Uint8Array, from: number, to: number, pair: Pair): boolean {
  if (!readMoment(bytes, from, to)) return false;
  const nanos = BigInt(readSeconds) * 1_000_000_000n + BigInt(readNanos);
  if (BigInt.asIntN(64, nanos) !== nanos) return false;
  pair.low = Number(BigInt.asIntN(32, nanos));
  pair.high = Number(nanos >> 32n);
  return true;
}

/** Reads a date that fills `[from, to)`, or is the date of a timestamp as written; its day number, or NaN. */
export function readDate(bytes: Uint8Array, from: number, to: number): number {
  const end = readDay(bytes, from, to);
  if (end < 0) return Number.NaN;
  const days = readDays;
  if (end !== to && !readMoment(bytes, from, to)) return Number.NaN;
  return days;
}

/** Reads `hh:mm[:ss[.fraction]]` that fills `[from, to)` as microseconds since midnight, or NaN. */
export function readTime(bytes: Uint8Array, from: number, to: number): number {
  if (readClock(bytes, from, to) !== to) return Number.NaN;
  return readSeconds * 1e6 + Math.floor(readNanos / 1e3);
}
