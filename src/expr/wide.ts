/**
 * Numbers wider than a double holds exactly: int64 in two words, decimals in four.
 *
 * A double result strictly inside ±2^53 of integer operands inside that range is exact, so `isSafe`
 * decides between the fast path and the exact BigInt path. Nothing here rounds silently.
 */
import { wordsToNumber } from '../batch/column.ts';

const SAFE = 9007199254740992;

/** Whether an integer computed in doubles is certainly exact. */
export const isSafe = (value: number): boolean => value < SAFE && value > -SAFE;

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;
export const fitsInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX;

export const int64AsNumber = (words: Int32Array, index: number): number =>
  wordsToNumber(words[2 * index] as number, words[2 * index + 1] as number);

export const readInt64 = (words: Int32Array, index: number): bigint =>
  (BigInt(words[2 * index + 1] as number) << 32n) | BigInt((words[2 * index] as number) >>> 0);

/** The same without sign. */
export const readUint64 = (words: Int32Array, index: number): bigint =>
  BigInt.asUintN(64, readInt64(words, index));

/** The nearest double of a value without sign. */
export const uint64AsNumber = (words: Int32Array, index: number): number =>
  ((words[2 * index + 1] as number) >>> 0) * 4294967296 + ((words[2 * index] as number) >>> 0);

export function writeInt64(words: Int32Array, index: number, value: bigint): void {
  words[2 * index] = Number(BigInt.asIntN(32, value));
  words[2 * index + 1] = Number(BigInt.asIntN(32, value >> 32n));
}

/** Writes an integer inside ±2^53. */
export function writeSafeInt64(words: Int32Array, index: number, value: number): void {
  words[2 * index] = value | 0;
  words[2 * index + 1] = Math.floor(value / 4294967296);
}

/** The order of two int64 values: negative, 0 or positive. */
export function compareInt64(
  left: Int32Array,
  leftIndex: number,
  right: Int32Array,
  rightIndex: number,
): number {
  const high = (left[2 * leftIndex + 1] as number) - (right[2 * rightIndex + 1] as number);
  if (high !== 0) return high;
  return ((left[2 * leftIndex] as number) >>> 0) - ((right[2 * rightIndex] as number) >>> 0);
}

/** The order of two 64-bit values without sign. */
export function compareUint64(
  left: Int32Array,
  leftIndex: number,
  right: Int32Array,
  rightIndex: number,
): number {
  const high =
    ((left[2 * leftIndex + 1] as number) >>> 0) - ((right[2 * rightIndex + 1] as number) >>> 0);
  if (high !== 0) return high;
  return ((left[2 * leftIndex] as number) >>> 0) - ((right[2 * rightIndex] as number) >>> 0);
}

/** The value as a double when it lies within ±2^53 (test with `isSafe`), else some value outside. */
export function decimalAsNumber(words: Int32Array, index: number): number {
  const at = 4 * index;
  const second = words[at + 1] as number;
  const sign = second >> 31;
  if (words[at + 2] !== sign || words[at + 3] !== sign) return Infinity;
  return wordsToNumber(words[at] as number, second);
}

export function readDecimal(words: Int32Array, index: number): bigint {
  const at = 4 * index;
  return (
    (BigInt(words[at + 3] as number) << 96n) |
    (BigInt((words[at + 2] as number) >>> 0) << 64n) |
    (BigInt((words[at + 1] as number) >>> 0) << 32n) |
    BigInt((words[at] as number) >>> 0)
  );
}

export function writeDecimal(words: Int32Array, index: number, value: bigint): void {
  const at = 4 * index;
  for (let word = 0; word < 4; word++) {
    words[at + word] = Number(BigInt.asIntN(32, value >> BigInt(32 * word)));
  }
}

/** Writes an integer inside ±2^53. */
export function writeSafeDecimal(words: Int32Array, index: number, value: number): void {
  const at = 4 * index;
  const sign = value < 0 ? -1 : 0;
  words[at] = value | 0;
  words[at + 1] = Math.floor(value / 4294967296);
  words[at + 2] = sign;
  words[at + 3] = sign;
}

export function compareDecimal(
  left: Int32Array,
  leftIndex: number,
  right: Int32Array,
  rightIndex: number,
): number {
  const a = 4 * leftIndex;
  const b = 4 * rightIndex;
  const top = (left[a + 3] as number) - (right[b + 3] as number);
  if (top !== 0) return top;
  for (let word = 2; word >= 0; word--) {
    const difference = ((left[a + word] as number) >>> 0) - ((right[b + word] as number) >>> 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const POWERS: readonly bigint[] = Array.from(
  { length: 78 },
  (_, exponent) => 10n ** BigInt(exponent),
);

/** 10^exponent, 0 ≤ exponent < 78. */
export const powerOfTen = (exponent: number): bigint => POWERS[exponent] as bigint;

/** Whether an unscaled value has at most `precision` digits. */
export const fitsPrecision = (value: bigint, precision: number): boolean => {
  const bound = powerOfTen(precision);
  return value < bound && value > -bound;
};

/** numerator / denominator to the nearest integer, halves away from zero; denominator not 0. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  const quotient = (2n * n + d) / (2n * d);
  return negative ? -quotient : quotient;
}

const bitLength = (value: bigint): number => value.toString(16).length * 4;

/** The exponent of the smallest double. */
const FINEST = -1074;

/**
 * numerator / denominator as the nearest double, halves to even, an infinity when it is too large; denominator > 0.
 * The quotient carries at least 62 bits and a sticky bit, so the one rounding is the final one; near zero, where doubles
 * have fewer bits, it is rounded to theirs.
 */
export function ratioToNumber(numerator: bigint, denominator: bigint): number {
  if (numerator === 0n) return 0;
  const negative = numerator < 0n;
  const n = negative ? -numerator : numerator;
  const shift = Math.min(-FINEST, 68 - (bitLength(n) - bitLength(denominator)));
  const scaled = shift > 0 ? n << BigInt(shift) : n;
  const divisor = shift < 0 ? denominator << BigInt(-shift) : denominator;
  const quotient = scaled / divisor;
  const rest = scaled - quotient * divisor;
  const value =
    shift === -FINEST && quotient < 9007199254740992n
      ? Number(quotient + roundedUp(quotient, 2n * rest - divisor)) * 2 ** FINEST
      : scaledBy(Number((quotient << 1n) | (rest === 0n ? 0n : 1n)), -(shift + 1));
  return negative ? -value : value;
}

/** 1n when what lies `beyond` the middle between a whole number and the next takes it there, halves to even. */
const roundedUp = (whole: bigint, beyond: bigint): bigint =>
  beyond > 0n || (beyond === 0n && (whole & 1n) === 1n) ? 1n : 0n;

/** value · 2^exponent, where 2^exponent itself may be no double. */
function scaledBy(value: number, exponent: number): number {
  const half = exponent >> 1;
  return value * 2 ** half * 2 ** (exponent - half);
}

/** Unscaled decimal text with its point put in: ('-5', 2) is '-0.05'. */
export function placePoint(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${negative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
