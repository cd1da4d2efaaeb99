/**
 * Values of columns other than text. As in json-strings.ts each reader returns the position behind the value, or 0 when the
 * complete decoder has to read the row. What follows a number, the caller checks: `,`, `}` or space.
 */
import {
  DATA,
  KIND,
  LIMIT,
  MINUTE,
  MINUTE_TEXT,
  PRESENT,
  SCALE,
} from './json-layout.ts';

/** Powers of ten that 64 bits hold, and those that doubles hold exactly. */
const WHOLE_POWERS = memory.data<u64>([
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
]);
const EXACT_POWERS = memory.data<f64>([
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
  1e22,
]);

/** Row `row` of the field becomes NULL; its slot holds zeros, so that equal rows have equal bytes. */
export function setNull(field: usize, row: u32): void {
  store<u8>(load<usize>(field, PRESENT) + row, 0);
  const data = load<usize>(field, DATA);
  switch (load<u32>(field, KIND)) {
    case 0:
    case 1:
      store<u32>(data + (row << 2), 0);
      break;
    case 4:
      v128.store(data + (row << 4), i64x2.splat(0));
      break;
    case 5:
      store<u32>(data + (row << 2), load<u32>(data + (row << 2)), 4);
      break;
    default:
      store<u64>(data + (row << 3), 0);
  }
}

/** The word `null` at `p`, for a column that may be NULL. */
export function nullAt(p: usize, field: usize, row: u32): usize {
  if (load<u32>(p) != 0x6c6c756e || load<usize>(field, PRESENT) == 0) return 0;
  setNull(field, row);
  return p + 4;
}

export function readBoolean(p: usize, field: usize, row: u32): usize {
  const word = load<u32>(p);
  const slot = load<usize>(field, DATA) + (row << 2);
  if (word == 0x65757274) {
    store<u32>(slot, 1);
    return p + 4;
  }
  if (word == 0x736c6166 && load<u8>(p + 4) == 101) {
    store<u32>(slot, 0);
    return p + 5;
  }
  return nullAt(p, field, row);
}

let whole: u64 = 0;

/** Eight digits, the first in the lowest byte, each as a number. */
// @ts-ignore: decorator
@inline
function ofDigits(digits: u64): u64 {
  let value = (digits * 2561) >> 8;
  value = ((value & 0x00ff00ff00ff00ff) * 6553601) >> 16;
  return ((value & 0x0000ffff0000ffff) * 42949672960001) >> 32;
}

/** The digits at `p` without sign, of which there may be 19, into `whole`. */
// @ts-ignore: decorator
@inline
function readDigits(p: usize): usize {
  const chunk = load<u64>(p) ^ 0x3030303030303030;
  // The top bit of a byte that is no digit; only the lowest of them is looked at.
  const others = ((chunk + 0x7676767676767676) | chunk) & 0x8080808080808080;
  if (others == 0) return readMoreDigits(p, ofDigits(chunk));
  const count = ctz<u64>(others) >> 3;
  if (count == 0 || (count > 1 && load<u8>(p) == 48)) return 0;
  whole = ofDigits(chunk << (64 - (count << 3)));
  return p + <usize>count;
}

function readMoreDigits(p: usize, upper: u64): usize {
  if (load<u8>(p) == 48) return 0;
  let value = upper;
  let at = p + 8;
  let digit: u32 = <u32>load<u8>(at) - 48;
  while (digit < 10) {
    if (at - p == 19) return 0;
    value = value * 10 + digit;
    at++;
    digit = <u32>load<u8>(at) - 48;
  }
  whole = value;
  return at;
}

/**
 * A BIGINT of up to 15 digits that has no sign and is not 0, into the slot at `slot`; any other the caller leaves to
 * `readInt64`, and 0 tells of it.
 */
// @ts-ignore: decorator
@inline
export function readPlainInt64(p: usize, slot: usize): usize {
  const chunk = load<u64>(p) ^ 0x3030303030303030;
  // The first digit is 1 to 9: so there is one, and no zero leads.
  if (<u32>(chunk & 255) - 1 > 8) return 0;
  const others = ((chunk + 0x7676767676767676) | chunk) & 0x8080808080808080;
  if (others == 0) return readLongInt64(p, chunk, slot);
  const bits = ctz<u64>(others) & ~7;
  store<u64>(slot, ofDigits(chunk << (64 - bits)));
  return p + <usize>(bits >> 3);
}

/** The same for one that begins with eight digits. */
function readLongInt64(p: usize, first: u64, slot: usize): usize {
  const chunk = load<u64>(p, 8) ^ 0x3030303030303030;
  const others = ((chunk + 0x7676767676767676) | chunk) & 0x8080808080808080;
  if (others == 0) return 0;
  const bits = ctz<u64>(others) & ~7;
  const lower = ofDigits((chunk << (56 - bits)) << 8);
  store<u64>(slot, ofDigits(first) * load<u64>(WHOLE_POWERS + <usize>bits) + lower);
  return p + 8 + <usize>(bits >> 3);
}

export function readInt64(p: usize, field: usize, row: u32): usize {
  const negative = load<u8>(p) == 45;
  const end = readDigits(p + <usize>negative);
  if (end == 0) return nullAt(p, field, row);
  const value = whole;
  if (value > <u64>i64.MAX_VALUE + <u64>negative) return 0;
  store<u64>(load<usize>(field, DATA) + (row << 3), negative ? 0 - value : value);
  return end;
}

export function readInt32(p: usize, field: usize, row: u32): usize {
  const negative = load<u8>(p) == 45;
  const end = readDigits(p + <usize>negative);
  if (end == 0) return nullAt(p, field, row);
  const value = whole;
  if (value > <u64>i32.MAX_VALUE + <u64>negative) return 0;
  store<u32>(load<usize>(field, DATA) + (row << 2), <u32>(negative ? 0 - value : value));
  return end;
}

/** Digits behind the point that `readFixed` met, and digits in all. */
let fractionDigits: u32 = 0;
let allDigits: u32 = 0;

/** `digits[.digits]` at `p`, without its point in `whole`; right for up to 19 digits, which `allDigits` tells. */
function readFixed(p: usize): usize {
  let value: u64 = 0;
  let at = p;
  let digit: u32 = <u32>load<u8>(at) - 48;
  while (digit < 10) {
    value = value * 10 + digit;
    at++;
    digit = <u32>load<u8>(at) - 48;
  }
  let count = <u32>(at - p);
  if (count == 0 || (count > 1 && load<u8>(p) == 48)) return 0;
  fractionDigits = 0;
  if (load<u8>(at) == 46) {
    const fraction = ++at;
    digit = <u32>load<u8>(at) - 48;
    while (digit < 10) {
      value = value * 10 + digit;
      at++;
      digit = <u32>load<u8>(at) - 48;
    }
    fractionDigits = <u32>(at - fraction);
    if (fractionDigits == 0) return 0;
    count += fractionDigits;
  }
  whole = value;
  allDigits = count;
  return at;
}

/** A mantissa below 2^53 times or over a power of ten up to 10^22 is rounded once, so the result is exact (Clinger 1990). */
export function readFloat(p: usize, field: usize, row: u32): usize {
  const negative = load<u8>(p) == 45;
  let at = readFixed(p + <usize>negative);
  if (at == 0) return nullAt(p, field, row);
  if (allDigits > 19 || whole > 9007199254740992) return 0;
  let power = -(<i32>fractionDigits);
  if ((load<u8>(at) | 32) == 101) {
    at++;
    const sign = load<u8>(at);
    if (sign == 43 || sign == 45) at++;
    const start = at;
    let exponent: i32 = 0;
    let digit: u32 = <u32>load<u8>(at) - 48;
    while (digit < 10) {
      if (exponent < 1000) exponent = exponent * 10 + digit;
      at++;
      digit = <u32>load<u8>(at) - 48;
    }
    if (at == start) return 0;
    power += sign == 45 ? -exponent : exponent;
  }
  let value = <f64>whole;
  if (power < 0) {
    if (power < -22) return 0;
    value /= load<f64>(EXACT_POWERS + (<usize>-power << 3));
  } else {
    if (power > 22) return 0;
    value *= load<f64>(EXACT_POWERS + (<usize>power << 3));
  }
  store<f64>(load<usize>(field, DATA) + (row << 3), negative ? -value : value);
  return at;
}

/** A decimal whose unscaled form has at most 18 digits and needs no rounding. */
export function readDecimal(p: usize, field: usize, row: u32): usize {
  // A decimal may also stand in quotes.
  const quoted = load<u8>(p) == 34;
  const start = p + <usize>quoted;
  const negative = load<u8>(start) == 45;
  let end = readFixed(start + <usize>negative);
  if (end == 0) return nullAt(p, field, row);
  const missing = load<u32>(field, SCALE) - fractionDigits;
  // As unsigned: surplus digits behind the point count as too many as well.
  if (missing > 18 || allDigits + missing > 18) return 0;
  const value = whole * load<u64>(WHOLE_POWERS + (missing << 3));
  const limit = load<u64>(field, LIMIT);
  if (limit != 0 && value >= limit) return 0;
  if (quoted) {
    if (load<u8>(end) != 34) return 0;
    end++;
  }
  const signed = negative ? 0 - value : value;
  const slot = load<usize>(field, DATA) + (row << 4);
  store<u64>(slot, signed);
  store<i64>(slot, <i64>signed >> 63, 8);
  return end;
}

/** Two digits at `p`, or a number above 99. */
// @ts-ignore: decorator
@inline
function twoDigits(p: usize): u32 {
  const tens: u32 = <u32>load<u8>(p) - 48;
  const ones: u32 = <u32>load<u8>(p + 1) - 48;
  return tens > 9 || ones > 9 ? 255 : tens * 10 + ones;
}

/** Days since 1970-01-01 of a date that exists, from year 0 on. */
function daysOfDate(year: u32, month: u32, day: u32): i64 {
  // The year starts in March, so that the leap day comes last; 400 years more keep it from going below zero.
  const shifted = year + 400 - (month <= 2 ? 1 : 0);
  const era = shifted / 400;
  const yearOfEra = shifted % 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return <i64>(era * 146097 + dayOfEra) - 719468 - 146097;
}

function daysOfMonth(year: u32, month: u32): u32 {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/** Takes the `yyyy-mm-ddThh:mm` at `p` as the minute seen last. */
function readMinute(p: usize, field: usize): bool {
  const century = twoDigits(p);
  const yearOfCentury = twoDigits(p + 2);
  const month = twoDigits(p + 5);
  const day = twoDigits(p + 8);
  const hour = twoDigits(p + 11);
  const minute = twoDigits(p + 14);
  if (century > 99 || yearOfCentury > 99 || hour > 23 || minute > 59) return false;
  const year = century * 100 + yearOfCentury;
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return false;
  const separator: u32 = load<u8>(p + 10);
  if (separator != 32 && (separator | 32) != 116) return false;
  if (load<u8>(p + 4) != 45 || load<u8>(p + 7) != 45 || load<u8>(p + 13) != 58) return false;
  const minutes = daysOfDate(year, month, day) * 1440 + <i64>(hour * 60 + minute);
  store<i64>(field, minutes * 60000000, MINUTE);
  v128.store(field, v128.load(p), MINUTE_TEXT);
  return true;
}

/** The fraction whose first digit is at `p`, cut to micros, into `whole`. */
// @ts-ignore: decorator
@inline
function readFraction(p: usize): usize {
  let at = p;
  let micros: u32 = 0;
  let digit: u32 = <u32>load<u8>(at) - 48;
  while (digit < 10) {
    if (at - p < 6) micros = micros * 10 + digit;
    at++;
    digit = <u32>load<u8>(at) - 48;
  }
  const count = <u32>(at - p);
  if (count == 0 || count > 9) return 0;
  if (count < 6) micros *= <u32>load<u64>(WHOLE_POWERS + ((6 - count) << 3));
  whole = micros;
  return at;
}

let offset: i64 = 0;

/** `±hh`, `±hhmm` or `±hh:mm` at `p`, in micros in `offset`. */
function readOffset(p: usize): usize {
  const hours = twoDigits(p + 1);
  if (hours > 23) return 0;
  let minutes: u32 = 0;
  let at = p + 3;
  const next: u32 = load<u8>(at);
  if (next == 58) at++;
  if (next != 34) {
    minutes = twoDigits(at);
    if (minutes > 59) return 0;
    at += 2;
  }
  offset = <i64>(hours * 60 + minutes) * 60000000;
  if (load<u8>(p) == 45) offset = -offset;
  return at;
}

/**
 * `yyyy-mm-ddThh:mm:ss.mmmZ"` at `p`, in the minute seen last; any other form by `readTimestamp`. `data`: where the values
 * lie. The quote before it was met.
 */
// @ts-ignore: decorator
@inline
export function readPlainTimestamp(p: usize, data: usize, field: usize, row: u32): usize {
  const same = v128.eq<u8>(v128.load(p), v128.load(field, MINUTE_TEXT));
  // `:`, `.` and `Z` become zeros, digits their values.
  const chunk = load<u64>(p, 16) ^ 0x5a3030302e30303a;
  const others = ((chunk + 0x7f7676767f767a7f) | chunk) & 0x8080808080808080;
  if (i8x16.bitmask(same) != 0xffff || others != 0 || load<u8>(p, 24) != 34)
    return readTimestamp(p - 1, field, row);
  const pairs = ((chunk >> 8) * 2561) >> 8;
  const millis = (pairs & 255) * 1000 + ((pairs >> 16) & 255) * 100 + ((pairs >> 32) & 255);
  store<u64>(data + (row << 3), load<u64>(field, MINUTE) + millis * 1000);
  return p + 25;
}

export function readTimestamp(p: usize, field: usize, row: u32): usize {
  if (load<u8>(p) != 34) return readUnixTime(p, field, row);
  const same = v128.eq<u8>(v128.load(p + 1), v128.load(field, MINUTE_TEXT));
  if (!i8x16.all_true(same) && !readMinute(p + 1, field)) return 0;
  const seconds = twoDigits(p + 18);
  if (load<u8>(p + 17) != 58 || seconds > 59) return 0;
  let at = p + 20;
  let micros = load<i64>(field, MINUTE) + <i64>seconds * 1000000;
  if (load<u8>(at) == 46) {
    at = readFraction(at + 1);
    if (at == 0) return 0;
    micros += whole;
  }
  const zone: u32 = load<u8>(at);
  if ((zone | 32) == 122) at++;
  else if (zone == 43 || zone == 45) {
    at = readOffset(at);
    if (at == 0) return 0;
    micros -= offset;
  }
  if (load<u8>(at) != 34) return 0;
  store<i64>(load<usize>(field, DATA) + (row << 3), micros);
  return at + 1;
}

/** A timestamp as a whole number of the declared unit. */
function readUnixTime(p: usize, field: usize, row: u32): usize {
  const unit = load<u64>(field, LIMIT);
  const negative = load<u8>(p) == 45;
  const end = readDigits(p + <usize>negative);
  if (end == 0) return nullAt(p, field, row);
  const value = whole;
  if (unit == 0 || value > <u64>i64.MAX_VALUE / unit) return 0;
  let micros = <i64>(value * unit);
  if (negative) micros = -micros;
  if (load<u32>(field, SCALE) == 1) {
    // Nanoseconds are cut to micros, downwards.
    const quotient = micros / 1000;
    micros = quotient - <i64>(quotient * 1000 > micros);
  }
  store<i64>(load<usize>(field, DATA) + (row << 3), micros);
  return end;
}
