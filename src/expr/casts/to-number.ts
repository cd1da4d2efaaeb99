/** Casts to the whole-number types, FLOAT and DOUBLE. */
import type {
  Column,
  Float64Column,
  Int32Column,
  Int64Column,
  TextColumn,
} from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { readDecimal as readDecimalText } from '../../batch/decimal-text.ts';
import type { Pair } from '../../batch/int-text.ts';
import { readInt64 as readInt64Text } from '../../batch/int-text.ts';
import { INTEGERS, INT64, isIntegerTag, typeName } from '../../batch/types.ts';
import type { SqlType } from '../../batch/types.ts';
import { assert } from '../../base/assert.ts';
import type { Casting } from '../cast.ts';
import { roundHalfEven } from '../functions/math.ts';
import { decodeBytes } from '../text-sink.ts';
import { makeFloat64, makeInt32, makeInt64 } from '../vector.ts';
import {
  decimalAsNumber,
  divideHalfUp,
  fitsInt64,
  int64AsNumber,
  isSafe,
  placePoint,
  powerOfTen,
  ratioToNumber,
  readDecimal,
  readInt64,
  readUint64,
  uint64AsNumber,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import { quoted, range, trimText } from './trimmed.ts';

const pair: Pair = { low: 0, high: 0 };

/** A whole number of any type; the target is in `casting`. */
export function toInteger(column: Column, casting: Casting): Int32Column | Int64Column {
  const { type } = casting;
  if (type.tag === 'int64' && column.type.tag !== 'uint64') return toInt64(column, casting);
  if (type.tag === 'uint64' || column.type.tag === 'uint64') return toUnsigned(column, casting);
  return narrow(toInt64(column, casting), casting);
}

/** Every source but BIGINT UNSIGNED as int64 words. */
function toInt64(column: Column, casting: Casting): Int64Column {
  const { outcome, fail, type } = casting;
  const { length } = column;
  const result = makeInt64(length, INT64);
  const { words } = result;
  switch (column.tag) {
    case 'boolean':
      for (let row = 0; row < length; row++) words[2 * row] = bitAt(column.bits, row) ? 1 : 0;
      break;
    case 'int32':
      for (let row = 0; row < length; row++) {
        const value = column.values[row] as number;
        words[2 * row] = value;
        words[2 * row + 1] = value >> 31;
      }
      break;
    case 'int64':
      words.set(column.words.subarray(0, 2 * length));
      break;
    case 'float64':
      for (let row = 0; row < length; row++) {
        const value = roundHalfEven(column.values[row] as number);
        if (isSafe(value)) writeSafeInt64(words, row, value);
        else if (Number.isFinite(value) && fitsInt64(BigInt(value)))
          writeInt64(words, row, BigInt(value));
        else if (outcome.has(row)) outOfRange(fail, row, String(column.values[row]), type);
      }
      break;
    case 'decimal': {
      const unit = powerOfTen(column.type.scale);
      for (let row = 0; row < length; row++) {
        const unscaled = readDecimal(column.words, row);
        const value = divideHalfUp(unscaled, unit);
        if (fitsInt64(value)) writeInt64(words, row, value);
        else if (outcome.has(row))
          outOfRange(fail, row, placePoint(unscaled, column.type.scale), type);
      }
      break;
    }
    case 'text':
      parseIntegers(column, casting, words);
      break;
    default:
      break;
  }
  result.validity = outcome.validity;
  return result;
}

function outOfRange(fail: Casting['fail'], row: number, value: string, type: SqlType): void {
  fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${value} is out of range for ${typeName(type)}`);
}

function parseIntegers(
  column: TextColumn,
  { outcome, fail, type }: Casting,
  words: Int32Array,
): void {
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    trimText(column, row);
    const read = readInt64Text(column.bytes, range.from, range.to, pair);
    if (read === true) {
      words[2 * row] = pair.low;
      words[2 * row + 1] = pair.high;
    } else if (read === 'range') outOfRange(fail, row, quoted(column, row), type);
    else fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no ${typeName(type)}`);
  }
}

/** int64 words within the bounds of a type below 64 bits. */
function narrow(wide: Int64Column, casting: Casting): Int32Column | Int64Column {
  const { type, outcome } = casting;
  const { length } = wide;
  assert(isIntegerTag(type.tag), 'a whole-number type');
  const min = Number(INTEGERS[type.tag].min);
  const max = Number(INTEGERS[type.tag].max);
  const isWord = type.tag !== 'uint32';
  const result = isWord ? { ...makeInt32(length), type } : makeInt64(length, type);
  for (let row = 0; row < length; row++) {
    const value = int64AsNumber(wide.words, row);
    if (result.tag === 'int32') result.values[row] = value;
    else writeSafeInt64(result.words, row, value);
    if ((value < min || value > max) && outcome.has(row))
      outOfRange(casting.fail, row, String(readInt64(wide.words, row)), type);
  }
  result.validity = outcome.validity;
  return result;
}

/** From or to BIGINT UNSIGNED. */
function toUnsigned(column: Column, casting: Casting): Int32Column | Int64Column {
  const { type, outcome, fail } = casting;
  const { length } = column;
  if (column.type.tag === 'uint64' && column.tag === 'int64') {
    const { words } = column;
    for (let row = 0; row < length; row++) {
      if ((words[2 * row + 1] as number) < 0 && outcome.has(row))
        outOfRange(fail, row, String(readUint64(words, row)), type);
    }
    if (type.tag !== 'int64') return narrow(column, casting);
    return { ...column, type, validity: outcome.validity };
  }
  if (column.tag === 'int32' || column.tag === 'int64' || column.tag === 'boolean') {
    const wide = toInt64(column, casting);
    for (let row = 0; row < length; row++) {
      if ((wide.words[2 * row + 1] as number) < 0 && outcome.has(row))
        outOfRange(fail, row, String(readInt64(wide.words, row)), type);
    }
    return { ...wide, type, validity: outcome.validity };
  }
  const result = makeInt64(length, type);
  for (let row = 0; row < length; row++) {
    if (!outcome.has(row)) continue;
    const value = exactInteger(column, row, casting);
    if (value === null) continue;
    if (value < 0n || value > INTEGERS.uint64.max) outOfRange(fail, row, String(value), type);
    else writeInt64(result.words, row, value);
  }
  result.validity = outcome.validity;
  return result;
}

const quad = new Int32Array(4);

/** A DOUBLE, DECIMAL or text as a whole number; null after a failure. */
function exactInteger(column: Column, row: number, { type, fail }: Casting): bigint | null {
  if (column.tag === 'float64') {
    const value = roundHalfEven(column.values[row] as number);
    if (Number.isFinite(value)) return BigInt(value);
    outOfRange(fail, row, String(value), type);
    return null;
  }
  if (column.tag === 'decimal')
    return divideHalfUp(readDecimal(column.words, row), powerOfTen(column.type.scale));
  assert(column.tag === 'text', 'a source of whole numbers');
  trimText(column, row);
  const { bytes } = column;
  if (readInt64Text(bytes, range.from, range.to, pair) === false) {
    fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no ${typeName(type)}`);
    return null;
  }
  if (readDecimalText(bytes, range.from, range.to, 38, 0, quad) === true)
    return readDecimal(quad, 0);
  outOfRange(fail, row, quoted(column, row), type);
  return null;
}

/** The nearest double of each value; beyond ±2^53 that may be another number, as in any database. */
export function toFloat64(column: Column, casting: Casting): Float64Column {
  const { length } = column;
  const result = makeFloat64(length);
  const { values } = result;
  switch (column.tag) {
    case 'int32':
      for (let row = 0; row < length; row++) values[row] = column.values[row] as number;
      break;
    case 'int64': {
      const read = column.type.tag === 'uint64' ? uint64AsNumber : int64AsNumber;
      for (let row = 0; row < length; row++) values[row] = read(column.words, row);
      break;
    }
    case 'float64':
      values.set(column.values.subarray(0, length));
      break;
    case 'decimal': {
      const { scale } = column.type;
      const unit = scale > 22 ? NaN : Number(powerOfTen(scale));
      for (let row = 0; row < length; row++) {
        const value = decimalAsNumber(column.words, row);
        values[row] =
          isSafe(value) && scale <= 22
            ? value / unit
            : ratioToNumber(readDecimal(column.words, row), powerOfTen(scale));
      }
      break;
    }
    case 'text':
      parseFloats(column, casting, values);
      break;
    default:
      break;
  }
  result.validity = casting.outcome.validity;
  return result;
}

/** The nearest 32-bit number of each value; a finite value beyond them fails. */
export function toFloat32(column: Column, casting: Casting): Float64Column {
  const wide = toFloat64(column, casting);
  const { values, length } = wide;
  for (let row = 0; row < length; row++) {
    const value = values[row] as number;
    const single = Math.fround(value);
    values[row] = single;
    if (!Number.isFinite(single) && Number.isFinite(value) && casting.outcome.has(row))
      outOfRange(casting.fail, row, String(value), casting.type);
  }
  return { ...wide, type: casting.type, validity: casting.outcome.validity };
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', NaN],
  ['infinity', Infinity],
  ['+infinity', Infinity],
  ['-infinity', -Infinity],
  ['inf', Infinity],
  ['+inf', Infinity],
  ['-inf', -Infinity],
]);

function parseFloats(
  column: TextColumn,
  { outcome, fail, type }: Casting,
  values: Float64Array,
): void {
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    trimText(column, row);
    const text = decodeBytes(column.bytes, range.from, range.to);
    if (NUMBER.test(text)) {
      const value = Number(text);
      values[row] = value;
      if (!Number.isFinite(value)) outOfRange(fail, row, quoted(column, row), type);
      continue;
    }
    const special = SPECIAL.get(text.toLowerCase());
    if (special === undefined)
      fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no ${typeName(type)}`);
    else values[row] = special;
  }
}
