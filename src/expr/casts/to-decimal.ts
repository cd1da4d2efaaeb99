/** Casts to DECIMAL(p, s): surplus digits are rounded half away from zero, too many whole digits fail the row. */
import type { Column, DecimalColumn } from '../../batch/column.ts';
import { readDecimal as readDecimalText } from '../../batch/decimal-text.ts';
import { float32Digits } from '../../batch/float-text.ts';
import { typeName } from '../../batch/types.ts';
import { scaleInt64Kernel } from '../../kernels/int64-arithmetic.ts';
import type { Casting } from '../cast.ts';
import type { DecimalType } from '../functions/arithmetic-decimal.ts';
import { encodeText } from '../text-sink.ts';
import { makeDecimal } from '../vector.ts';
import {
  decimalAsNumber,
  divideHalfUp,
  fitsPrecision,
  int64AsNumber,
  isSafe,
  placePoint,
  powerOfTen,
  readDecimal,
  readInt64,
  readUint64,
  writeDecimal,
  writeSafeDecimal,
} from '../wide.ts';
import { quoted, range, trimText } from './trimmed.ts';

export function toDecimal(column: Column, casting: Casting, type: DecimalType): DecimalColumn {
  // More room for the same digits: nothing is computed, and nothing can fail.
  if (
    column.tag === 'decimal' &&
    column.type.scale === type.scale &&
    column.type.precision <= type.precision
  )
    return { ...column, type, validity: casting.outcome.validity };
  const result = makeDecimal(column.length, type);
  if (column.tag === 'text' || column.tag === 'float64') parse(column, casting, type, result.words);
  else rescale(column, casting, type, result.words);
  result.validity = casting.outcome.validity;
  return result;
}

/** Whole numbers and decimals: a change of scale, in doubles while that is exact. */
function rescale(
  column: Column,
  { outcome, fail }: Casting,
  type: DecimalType,
  words: Int32Array,
): void {
  const scale = column.tag === 'decimal' ? column.type.scale : 0;
  const up = type.scale - scale;
  const fastFactor = up >= 0 && up <= 22 ? Number(powerOfTen(up)) : NaN;
  const bound = type.precision > 15 ? Infinity : 10 ** type.precision;
  const compute = (row: number): void => {
    const value = approximate(column, row) * fastFactor;
    if (isSafe(value) && Math.abs(value) < bound) {
      writeSafeDecimal(words, row, value);
      return;
    }
    if (!outcome.has(row)) return;
    const source = exactly(column, row);
    const exact = up >= 0 ? source * powerOfTen(up) : divideHalfUp(source, powerOfTen(-up));
    if (fitsPrecision(exact, type.precision)) writeDecimal(words, row, exact);
    else
      fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `${placePoint(source, scale)} is out of range for ${typeName(type)}`,
      );
  };
  if (column.tag === 'int64' && column.type.tag === 'int64') {
    const { length } = column;
    if (!scaleInt64Kernel(column.words, length, up, type.precision, words, compute))
      rescaleInt64(column.words, length, fastFactor, bound, words, compute);
  } else for (let row = 0; row < column.length; row++) compute(row);
}

/** The most common case, where a double is exact; `hard` computes the other rows. */
function rescaleInt64(
  source: Int32Array,
  rows: number,
  factor: number,
  bound: number,
  words: Int32Array,
  hard: (row: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    const value = int64AsNumber(source, row) * factor;
    if (isSafe(value) && value < bound && value > -bound) writeSafeDecimal(words, row, value);
    else hard(row);
  }
}

/** The unscaled value as a double; unsafe when that is not exact. */
function approximate(column: Column, row: number): number {
  if (column.type.tag === 'uint64') return NaN;
  if (column.tag === 'int32') return column.values[row] as number;
  if (column.tag === 'decimal') return decimalAsNumber(column.words, row);
  return column.tag === 'int64' ? int64AsNumber(column.words, row) : NaN;
}

function exactly(column: Column, row: number): bigint {
  if (column.type.tag === 'uint64' && column.tag === 'int64') return readUint64(column.words, row);
  if (column.tag === 'int32') return BigInt(column.values[row] as number);
  if (column.tag === 'decimal') return readDecimal(column.words, row);
  return column.tag === 'int64' ? readInt64(column.words, row) : 0n;
}

function parse(
  column: Column & { tag: 'text' | 'float64' },
  { outcome, fail }: Casting,
  type: DecimalType,
  words: Int32Array,
): void {
  for (let row = 0; row < column.length; row++) {
    if (!outcome.has(row)) continue;
    const target = words.subarray(4 * row, 4 * row + 4);
    let read: true | false | 'range';
    if (column.tag === 'text') {
      trimText(column, row);
      read = readDecimalText(
        column.bytes,
        range.from,
        range.to,
        type.precision,
        type.scale,
        target,
      );
    } else {
      const value = column.values[row] as number;
      const single = column.type.tag === 'float32';
      const bytes = encodeText(single ? float32Digits(value) : String(value));
      read = Number.isFinite(value)
        ? readDecimalText(bytes, 0, bytes.length, type.precision, type.scale, target)
        : 'range';
    }
    const written = (): string =>
      column.tag === 'text' ? quoted(column, row) : String(column.values[row]);
    if (read === 'range')
      fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${written()} is out of range for ${typeName(type)}`);
    else if (!read) fail(row, 'INVALID_CAST', () => `${written()} is no ${typeName(type)}`);
  }
}
