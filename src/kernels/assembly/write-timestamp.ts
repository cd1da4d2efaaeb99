/** Timestamps as `"yyyy-mm-ddThh:mm:ss[.ffffff]"`, of the years 0 to 9999. */
import { writeEight } from './write-number.ts';

const MINUTE: i64 = 60000000;
/** Micros of 0000-01-01 and of 10000-01-01. */
const FIRST: i64 = -62167219200000000;
const END: i64 = 253402300800000000;

/** The minute written last, in micros, and its text: in a stream it is nearly always the same. */
let minute: i64 = i64.MIN_VALUE;
const text = memory.data(16, 16);

function putTwo(to: usize, value: u32): void {
  store<u8>(to, 48 + value / 10);
  store<u8>(to, 48 + (value % 10), 1);
}

/** Makes `value` the minute written last. */
function rememberMinute(value: i64): void {
  let start = value / MINUTE;
  if (start * MINUTE > value) start--;
  minute = start * MINUTE;
  // Days are counted from the first of March of the year 0, so that the leap day comes last.
  const minutes = <u64>(start + (719468 + 146097) * 1440);
  const days = <u32>(minutes / 1440);
  const ofDay = <u32>(minutes % 1440);
  const era = days / 146097;
  const dayOfEra = days % 146097;
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const month = (5 * dayOfYear + 2) / 153;
  const day = dayOfYear - (153 * month + 2) / 5 + 1;
  const year = yearOfEra + era * 400 - 400 + (month >= 10 ? 1 : 0);
  putTwo(text, year / 100);
  putTwo(text + 2, year % 100);
  store<u8>(text, 45, 4);
  putTwo(text + 5, month < 10 ? month + 3 : month - 9);
  store<u8>(text, 45, 7);
  putTwo(text + 8, day);
  store<u8>(text, 84, 10);
  putTwo(text + 11, ofDay / 60);
  store<u8>(text, 58, 13);
  putTwo(text + 14, ofDay % 60);
}

/** Writes a timestamp; the end, or 0 for a year of more than four digits. */
// @ts-ignore: decorator
@inline
export function writeTimestamp(to: usize, value: i64): usize {
  if (value < FIRST || value >= END) return 0;
  if (<u64>value - <u64>minute >= <u64>MINUTE) rememberMinute(value);
  const rest = <u32>(value - minute);
  const seconds = rest / 1000000;
  const micros = rest - seconds * 1000000;
  store<u8>(to, 34);
  v128.store(to, v128.load(text), 1);
  store<u8>(to, 58, 17);
  putTwo(to + 18, seconds);
  let end = to + 20;
  if (micros != 0) {
    // Two zeros come first: the second is written over.
    writeEight(end - 1, micros);
    store<u8>(end, 46);
    putTwo(to + 18, seconds);
    end += 7;
    while (load<u8>(end - 1) == 48) end--;
  }
  store<u8>(end, 34);
  return end + 1;
}
