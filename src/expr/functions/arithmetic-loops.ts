/** The loops of + - * / % on INT, BIGINT and DOUBLE: one function an operator, so that each stays monomorphic. */
import { int64AsNumber, isSafe, writeSafeInt64 } from '../wide.ts';

export type Operator = '+' | '-' | '*' | '/' | '%';

/** The values of both operands with their strides, and the result to fill. */
type Loop<T> = (a: T, strideA: number, b: T, strideB: number, rows: number, values: T) => void;

/**
 * They write what fits nowhere or divides by
 * zero as rubbish; `checkInt32` finds those rows afterwards.
 */
export const INT32_LOOPS: Record<Operator, Loop<Int32Array>> = {
  '+': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) + (b[row * strideB] as number);
  },
  '-': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) - (b[row * strideB] as number);
  },
  '*': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = Math.imul(a[row * strideA] as number, b[row * strideB] as number);
  },
  '/': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) / (b[row * strideB] as number);
  },
  '%': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) % (b[row * strideB] as number);
  },
};

/** Whether a row of `x (operator) y = value` is wrong, as a loop that finds the first such row from `from` on. */
export const INT32_CHECKS: Record<
  Operator,
  (
    a: Int32Array,
    strideA: number,
    b: Int32Array,
    strideB: number,
    rows: number,
    values: Int32Array,
    from: number,
  ) => number
> = {
  '+': (a, strideA, b, strideB, rows, values, from) => {
    for (let row = from; row < rows; row++)
      if ((a[row * strideA] as number) + (b[row * strideB] as number) !== values[row]) return row;
    return rows;
  },
  '-': (a, strideA, b, strideB, rows, values, from) => {
    for (let row = from; row < rows; row++)
      if ((a[row * strideA] as number) - (b[row * strideB] as number) !== values[row]) return row;
    return rows;
  },
  '*': (a, strideA, b, strideB, rows, values, from) => {
    for (let row = from; row < rows; row++)
      if ((a[row * strideA] as number) * (b[row * strideB] as number) !== values[row]) return row;
    return rows;
  },
  '/': (a, strideA, b, strideB, rows, _values, from) => {
    for (let row = from; row < rows; row++) {
      const divisor = b[row * strideB] as number;
      if (divisor === 0 || (divisor === -1 && a[row * strideA] === -2147483648)) return row;
    }
    return rows;
  },
  '%': (_a, _strideA, b, strideB, rows, _values, from) => {
    for (let row = from; row < rows; row++) if (b[row * strideB] === 0) return row;
    return rows;
  },
};

export const FLOAT64_LOOPS: Record<Operator, Loop<Float64Array>> = {
  '+': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) + (b[row * strideB] as number);
  },
  '-': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) - (b[row * strideB] as number);
  },
  '*': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) * (b[row * strideB] as number);
  },
  '/': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) / (b[row * strideB] as number);
  },
  '%': (a, strideA, b, strideB, rows, values) => {
    for (let row = 0; row < rows; row++)
      values[row] = (a[row * strideA] as number) % (b[row * strideB] as number);
  },
};

/** The words of both operands with their strides, and the words to fill; `hard` computes the rows that a double cannot. */
type Int64Loop = (
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  words: Int32Array,
  hard: (row: number) => void,
) => void;

/**
 * A quotient of integers inside ±2^53 never rounds up to the next integer, so that its whole part is exact; so is the
 * product of that and the divisor. A product of doubles is exact when it is safe, whatever its factors.
 */
export const INT64_LOOPS: Record<'*' | '/' | '%', Int64Loop> = {
  '*': (a, strideA, b, strideB, rows, words, hard) => {
    for (let row = 0; row < rows; row++) {
      const value = int64AsNumber(a, row * strideA) * int64AsNumber(b, row * strideB);
      if (isSafe(value)) writeSafeInt64(words, row, value);
      else hard(row);
    }
  },
  '/': (a, strideA, b, strideB, rows, words, hard) => {
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(a, row * strideA);
      const y = int64AsNumber(b, row * strideB);
      if (isSafe(x) && isSafe(y) && y !== 0) writeSafeInt64(words, row, Math.trunc(x / y));
      else hard(row);
    }
  },
  '%': (a, strideA, b, strideB, rows, words, hard) => {
    for (let row = 0; row < rows; row++) {
      const x = int64AsNumber(a, row * strideA);
      const y = int64AsNumber(b, row * strideB);
      if (isSafe(x) && isSafe(y) && y !== 0) writeSafeInt64(words, row, x - Math.trunc(x / y) * y);
      else hard(row);
    }
  },
};

const fitsInt32 = (value: number): boolean => value >= -2147483648 && value <= 2147483647;

/** Sums word by word, exact everywhere; strides count words, and `overflow` is told the rows whose sum does not fit. */
export const addWords: Int64Loop = (a, strideA, b, strideB, rows, words, overflow) => {
  for (let row = 0; row < rows; row++) {
    const atA = row * strideA;
    const atB = row * strideB;
    const low = ((a[atA] as number) >>> 0) + ((b[atB] as number) >>> 0);
    const carry = low >= 4294967296 ? 1 : 0;
    const high = (a[atA + 1] as number) + (b[atB + 1] as number) + carry;
    words[2 * row] = low;
    words[2 * row + 1] = high;
    if (!fitsInt32(high)) overflow(row);
  }
};

/** Differences, likewise. */
export const subtractWords: Int64Loop = (a, strideA, b, strideB, rows, words, overflow) => {
  for (let row = 0; row < rows; row++) {
    const atA = row * strideA;
    const atB = row * strideB;
    const low = ((a[atA] as number) >>> 0) - ((b[atB] as number) >>> 0);
    const borrow = low < 0 ? 1 : 0;
    const high = (a[atA + 1] as number) - (b[atB + 1] as number) - borrow;
    words[2 * row] = low;
    words[2 * row + 1] = high;
    if (!fitsInt32(high)) overflow(row);
  }
};
