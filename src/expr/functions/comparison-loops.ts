/**
 * < and = of INT, BIGINT, TIMESTAMP, DOUBLE, and DECIMAL with a constant, a byte of eight rows at a time and without a look at anything per row but
 * its value: with a constant on one side, whose value is read once, or with two columns.
 *
 * An int64 is compared with a constant as a double. Rounding keeps order, and a constant inside ±2^53 is no other number's
 * rounding, so that this is exact.
 */
import type {
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
} from '../../batch/column.ts';
import { compareInt64Kernel } from '../../kernels/int64-arithmetic.ts';
import { strideOf } from '../vector.ts';
import { decimalAsNumber, int64AsNumber, isSafe, readInt64 } from '../wide.ts';

export type Test = 'less' | 'equal';

type WithConstant<T> = (values: T, constant: number, rows: number, bits: Uint8Array) => void;
type Pairwise<T> = (left: T, right: T, rows: number, bits: Uint8Array) => void;

const belowInt32: WithConstant<Int32Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if ((values[row] as number) < constant) set |= bit;
    bits[byte] = set;
  }
};

const aboveInt32: WithConstant<Int32Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if ((values[row] as number) > constant) set |= bit;
    bits[byte] = set;
  }
};

const isInt32: WithConstant<Int32Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1) if (values[row] === constant) set |= bit;
    bits[byte] = set;
  }
};

const belowInt64: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (int64AsNumber(words, row) < constant) set |= bit;
    bits[byte] = set;
  }
};

const aboveInt64: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (int64AsNumber(words, row) > constant) set |= bit;
    bits[byte] = set;
  }
};

const isInt64: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  const low = constant | 0;
  const high = Math.floor(constant / 4294967296);
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (words[2 * row] === low && words[2 * row + 1] === high) set |= bit;
    bits[byte] = set;
  }
};

const belowFloat: WithConstant<Float64Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if ((values[row] as number) < constant) set |= bit;
    bits[byte] = set;
  }
};

/** NaN comes after every other number. */
const aboveFloat: WithConstant<Float64Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (!((values[row] as number) <= constant)) set |= bit;
    bits[byte] = set;
  }
};

const isFloat: WithConstant<Float64Array> = (values, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1) if (values[row] === constant) set |= bit;
    bits[byte] = set;
  }
};

const lessInt64: Pairwise<Int32Array> = (left, right, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1) {
      const high = left[2 * row + 1] as number;
      const other = right[2 * row + 1] as number;
      if (
        high === other
          ? (left[2 * row] as number) >>> 0 < (right[2 * row] as number) >>> 0
          : high < other
      )
        set |= bit;
    }
    bits[byte] = set;
  }
};

const equalInt64: Pairwise<Int32Array> = (left, right, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (left[2 * row] === right[2 * row] && left[2 * row + 1] === right[2 * row + 1]) set |= bit;
    bits[byte] = set;
  }
};

/** An unscaled decimal as a double, one beyond 64 bits as an infinity: see above why that is exact beside a constant. */
function decimalNear(words: Int32Array, row: number): number {
  const high = words[4 * row + 1] as number;
  const sign = high >> 31;
  const top = words[4 * row + 3] as number;
  if (words[4 * row + 2] === sign && top === sign) return int64AsNumber(words, 2 * row);
  return top < 0 ? -Infinity : Infinity;
}

const belowDecimal: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (decimalNear(words, row) < constant) set |= bit;
    bits[byte] = set;
  }
};

const aboveDecimal: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (decimalNear(words, row) > constant) set |= bit;
    bits[byte] = set;
  }
};

const isDecimal: WithConstant<Int32Array> = (words, constant, rows, bits) => {
  for (let row = 0, byte = 0; row < rows; byte++) {
    const end = Math.min(row + 8, rows);
    let set = 0;
    for (let bit = 1; row < end; row++, bit <<= 1)
      if (decimalNear(words, row) === constant) set |= bit;
    bits[byte] = set;
  }
};

/** The loops of one layout with a constant. */
type Loops<T> = { below: WithConstant<T>; above: WithConstant<T>; is: WithConstant<T> };

const INT32_LOOPS: Loops<Int32Array> = { below: belowInt32, above: aboveInt32, is: isInt32 };
const INT64_LOOPS: Loops<Int32Array> = { below: belowInt64, above: aboveInt64, is: isInt64 };
const DECIMAL_LOOPS: Loops<Int32Array> = {
  below: belowDecimal,
  above: aboveDecimal,
  is: isDecimal,
};
const FLOAT_LOOPS: Loops<Float64Array> = { below: belowFloat, above: aboveFloat, is: isFloat };

function withConstant<T>(
  loops: Loops<T>,
  values: T,
  constant: number,
  isLeft: boolean,
  test: Test,
  rows: number,
  bits: Uint8Array,
): void {
  if (test === 'equal') loops.is(values, constant, rows, bits);
  else if (isLeft) loops.above(values, constant, rows, bits);
  else loops.below(values, constant, rows, bits);
}

/**
 * Writes the bits of all rows, when there is a loop for these columns; rows that are NULL get any bit.
 * @returns whether there is
 */
export function compareFast(
  left: Column,
  right: Column,
  test: Test,
  rows: number,
  bits: Uint8Array,
): boolean {
  const isLeft = strideOf(left) === 0;
  const isRight = strideOf(right) === 0;
  if (isLeft && isRight) return false;
  const [constant, full] = isLeft ? [left, right] : [right, left];
  switch (full.type.tag) {
    case 'int32': {
      if (isLeft === isRight) return false;
      const { values } = full as Int32Column;
      const value = (constant as Int32Column).values[0] as number;
      withConstant(INT32_LOOPS, values, value, isLeft, test, rows, bits);
      return true;
    }
    case 'int64':
    case 'timestamp': {
      const { words } = full as Int64Column;
      if (isLeft === isRight) {
        (test === 'less' ? lessInt64 : equalInt64)(
          (left as Int64Column).words,
          (right as Int64Column).words,
          rows,
          bits,
        );
        return true;
      }
      const which = test === 'equal' ? 'is' : isLeft ? 'above' : 'below';
      const exact = readInt64((constant as Int64Column).words, 0);
      if (compareInt64Kernel(words, exact, which, rows, bits)) return true;
      const value = int64AsNumber((constant as Int64Column).words, 0);
      if (!isSafe(value)) return false;
      withConstant(INT64_LOOPS, words, value, isLeft, test, rows, bits);
      return true;
    }
    case 'decimal': {
      if (isLeft === isRight) return false;
      const value = decimalAsNumber((constant as DecimalColumn).words, 0);
      if (!isSafe(value)) return false;
      withConstant(DECIMAL_LOOPS, (full as DecimalColumn).words, value, isLeft, test, rows, bits);
      return true;
    }
    case 'float64': {
      const value = (constant as Float64Column).values[0] as number;
      if (isLeft === isRight || value !== value) return false;
      withConstant(FLOAT_LOOPS, (full as Float64Column).values, value, isLeft, test, rows, bits);
      return true;
    }
    default:
      return false;
  }
}
