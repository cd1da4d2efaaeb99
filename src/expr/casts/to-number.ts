/** Casts to INT, BIGINT and DOUBLE. */
import type {
  Column,
  Float64Column,
  Int32Column,
  Int64Column,
  TextColumn,
} from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { Pair } from '../../batch/int-text.ts';
import { readInt64 as readInt64Text } from '../../batch/int-text.ts';
import { INT64, typeName } from '../../batch/types.ts';
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
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import { quoted, range, trimText } from './trimmed.ts';

const pair: Pair = { low: 0, high: 0 };

/** Every source as int64 words; toInt32 narrows them. */
export function toInt64(column: Column, casting: Casting): Int64Column {
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
        else if (outcome.has(row))
          fail(
            row,
            'NUMERIC_OUT_OF_RANGE',
            () => `${column.values[row]} is out of range for ${typeName(type)}`,
          );
      }
      break;
    case 'decimal': {
      const unit = powerOfTen(column.type.scale);
      for (let row = 0; row < length; row++) {
        const unscaled = readDecimal(column.words, row);
        const value = divideHalfUp(unscaled, unit);
        if (fitsInt64(value)) writeInt64(words, row, value);
        else if (outcome.has(row))
          fail(
            row,
            'NUMERIC_OUT_OF_RANGE',
            () =>
              `${placePoint(unscaled, column.type.scale)} is out of range for ${typeName(type)}`,
          );
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
    } else if (read === 'range')
      fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `${quoted(column, row)} is out of range for ${typeName(type)}`,
      );
    else fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no ${typeName(type)}`);
  }
}

export function toInt32(column: Column, casting: Casting): Int32Column {
  const wide = toInt64(column, casting);
  const result = makeInt32(column.length);
  for (let row = 0; row < column.length; row++) {
    const low = wide.words[2 * row] as number;
    result.values[row] = low;
    if (wide.words[2 * row + 1] !== low >> 31 && casting.outcome.has(row)) {
      casting.fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `${readInt64(wide.words, row)} is out of range for INT`,
      );
    }
  }
  result.validity = casting.outcome.validity;
  return result;
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
    case 'int64':
      for (let row = 0; row < length; row++) values[row] = int64AsNumber(column.words, row);
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

function parseFloats(column: TextColumn, { outcome, fail }: Casting, values: Float64Array): void {
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    trimText(column, row);
    const text = decodeBytes(column.bytes, range.from, range.to);
    if (NUMBER.test(text)) {
      const value = Number(text);
      values[row] = value;
      if (!Number.isFinite(value))
        fail(
          row,
          'NUMERIC_OUT_OF_RANGE',
          () => `${quoted(column, row)} is out of range for DOUBLE`,
        );
      continue;
    }
    const special = SPECIAL.get(text.toLowerCase());
    if (special === undefined)
      fail(row, 'INVALID_CAST', () => `${quoted(column, row)} is no DOUBLE`);
    else values[row] = special;
  }
}
