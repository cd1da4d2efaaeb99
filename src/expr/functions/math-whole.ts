/**
 * Whole numbers: gcd, lcm, factorial, width_bucket and the operators on bits. What does not fit fails its row.
 * Operators on bits take INT or BIGINT; shifts count modulo the width, as Postgres does.
 */
import type { Column, Float64Column, Int32Column, Int64Column } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT32, INT64 } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { Outcome, combineValidity, makeInt32, makeInt64, strideOf } from '../vector.ts';
import {
  fitsInt64,
  int64AsNumber,
  isSafe,
  readInt64,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';

const wordsAt = (column: Column, row: number): number => row * strideOf(column);

function gcdOf(left: number, right: number): number {
  let a = Math.abs(left);
  let b = Math.abs(right);
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

function bigGcd(left: bigint, right: bigint): bigint {
  let a = left < 0n ? -left : left;
  let b = right < 0n ? -right : right;
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** Of two BIGINT; doubles while exact. */
const overPairs =
  (
    name: string,
    fast: (x: number, y: number) => number,
    exact: (x: bigint, y: bigint) => bigint,
  ): Evaluate =>
  (args, rows, errors) => {
    const [left, right] = args as readonly [Int64Column, Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, INT64);
    for (let row = 0; row < rows; row++) {
      const [at, other] = [wordsAt(left, row), wordsAt(right, row)];
      const [x, y] = [int64AsNumber(left.words, at), int64AsNumber(right.words, other)];
      const near = isSafe(x) && isSafe(y) ? fast(x, y) : Infinity;
      if (isSafe(near)) {
        writeSafeInt64(result.words, row, near);
        continue;
      }
      const value = exact(readInt64(left.words, at), readInt64(right.words, other));
      if (fitsInt64(value)) writeInt64(result.words, row, value);
      else
        outcome.fail(
          row,
          'NUMERIC_OVERFLOW',
          () => `${name} is ${value}, which does not fit BIGINT`,
        );
    }
    return { ...result, validity: outcome.validity };
  };

const lcmOf = (x: number, y: number): number =>
  x === 0 || y === 0 ? 0 : Math.abs(x / gcdOf(x, y)) * Math.abs(y);
const bigLcm = (x: bigint, y: bigint): bigint => {
  if (x === 0n || y === 0n) return 0n;
  const product = (x / bigGcd(x, y)) * y;
  return product < 0n ? -product : product;
};

const FACTORIALS: readonly bigint[] = Array.from({ length: 21 }, (_, n) => {
  let product = 1n;
  for (let factor = 2n; factor <= BigInt(n); factor++) product *= factor;
  return product;
});

const factorial: Evaluate = (args, rows, errors) => {
  const [input] = args as readonly [Int64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt64(rows, INT64);
  for (let row = 0; row < rows; row++) {
    const n = int64AsNumber(input.words, wordsAt(input, row));
    const value = FACTORIALS[n];
    if (value !== undefined) writeInt64(result.words, row, value);
    else if (n < 0) outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${n} has no factorial`);
    else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `the factorial of ${n} does not fit BIGINT`);
  }
  return { ...result, validity: outcome.validity };
};

/** Which of n buckets of equal width between low and high: 0 below, n + 1 from high on; high may be below low. */
const widthBucket: Evaluate = (args, rows, errors) => {
  const [value, low, high, count] = args as readonly [
    Float64Column,
    Float64Column,
    Float64Column,
    Int64Column,
  ];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  const at = (column: Float64Column, row: number): number =>
    column.values[wordsAt(column, row)] as number;
  for (let row = 0; row < rows; row++) {
    const [x, from, to] = [at(value, row), at(low, row), at(high, row)];
    const n = int64AsNumber(count.words, wordsAt(count, row));
    if (n < 1 || n >= 2147483647 || from === to || !Number.isFinite(from + to) || x !== x) {
      outcome.fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `width_bucket(${x}, ${from}, ${to}, ${n}) is not defined`,
      );
      continue;
    }
    const share = (x - from) / (to - from);
    result.values[row] = share < 0 ? 0 : share >= 1 ? n + 1 : Math.floor(share * n) + 1;
  }
  return { ...result, validity: outcome.validity };
};

type WordOperator = (x: number, y: number) => number;

const onInts =
  (compute: WordOperator): Evaluate =>
  (args, rows) => {
    const [left, right] = args as readonly [Int32Column, Int32Column];
    const result = makeInt32(rows);
    result.validity = combineValidity(args, rows);
    for (let row = 0; row < rows; row++)
      result.values[row] = compute(
        left.values[wordsAt(left, row)] as number,
        right.values[wordsAt(right, row)] as number,
      );
    return result;
  };

const onBigints =
  (compute: WordOperator): Evaluate =>
  (args, rows) => {
    const [left, right] = args as readonly [Int64Column, Int64Column];
    const result = makeInt64(rows, INT64);
    result.validity = combineValidity(args, rows);
    for (let row = 0; row < rows; row++) {
      const [at, other] = [2 * wordsAt(left, row), 2 * wordsAt(right, row)];
      for (let word = 0; word < 2; word++)
        result.words[2 * row + word] = compute(
          left.words[at + word] as number,
          right.words[other + word] as number,
        );
    }
    return result;
  };

const shiftInts =
  (left: boolean): Evaluate =>
  (args, rows) => {
    const [input, by] = args as readonly [Int32Column, Int32Column];
    const result = makeInt32(rows);
    result.validity = combineValidity(args, rows);
    for (let row = 0; row < rows; row++) {
      const x = input.values[wordsAt(input, row)] as number;
      const bits = by.values[wordsAt(by, row)] as number;
      result.values[row] = left ? x << bits : x >> bits;
    }
    return result;
  };

const shiftBigints =
  (left: boolean): Evaluate =>
  (args, rows) => {
    const [input, by] = args as readonly [Int64Column, Int64Column];
    const result = makeInt64(rows, INT64);
    result.validity = combineValidity(args, rows);
    for (let row = 0; row < rows; row++) {
      const bits = (by.words[2 * wordsAt(by, row)] as number) & 63;
      const low = input.words[2 * wordsAt(input, row)] as number;
      const high = input.words[2 * wordsAt(input, row) + 1] as number;
      const rest = bits & 31;
      const far = bits >= 32;
      // The bits that cross from one word into the other; a shift by 32 would be one by 0.
      const up = rest === 0 ? 0 : low >>> (32 - rest);
      const down = rest === 0 ? 0 : high << (32 - rest);
      if (left) {
        result.words[2 * row] = far ? 0 : low << rest;
        result.words[2 * row + 1] = far ? low << rest : (high << rest) | up;
      } else {
        result.words[2 * row] = far ? high >> rest : (low >>> rest) | down;
        result.words[2 * row + 1] = far ? high >> 31 : high >> rest;
      }
    }
    return result;
  };

const complement: Evaluate = (args, rows, _errors, type) => {
  const validity = combineValidity(args, rows);
  const [input] = args as readonly [Int32Column | Int64Column];
  if (input.tag === 'int32') {
    const result = makeInt32(rows);
    for (let row = 0; row < rows; row++)
      result.values[row] = ~(input.values[wordsAt(input, row)] as number);
    return { ...result, validity };
  }
  const result = makeInt64(rows, type);
  for (let row = 0; row < rows; row++)
    for (let word = 0; word < 2; word++)
      result.words[2 * row + word] = ~(input.words[2 * wordsAt(input, row) + word] as number);
  return { ...result, validity };
};

const bitsOf = (word: number): number => {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
};

const bitCount: Evaluate = (args, rows) => {
  const [input] = args as readonly [Int64Column];
  const result = makeInt32(rows);
  result.validity = combineValidity(args, rows);
  for (let row = 0; row < rows; row++) {
    const at = 2 * wordsAt(input, row);
    result.values[row] = bitsOf(input.words[at] as number) + bitsOf(input.words[at + 1] as number);
  }
  return result;
};

const fn = (
  id: string,
  name: string,
  args: ScalarFunction['args'],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  canFail = true,
): ScalarFunction => ({
  id,
  name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail,
  doc,
  examples: [example],
  evaluate,
});

const sign = (
  infix: string,
  id: string,
  doc: string,
  [x, y, gives]: readonly [number, number, number],
  ints: Evaluate,
  bigints: Evaluate,
): ScalarFunction[] => [
  {
    ...fn(
      `${id}:int32`,
      infix,
      ['int32', 'int32'],
      INT32,
      doc,
      { args: [x, y], gives },
      ints,
      false,
    ),
    infix,
  },
  {
    ...fn(
      `${id}:int64`,
      infix,
      ['int64', 'int64'],
      INT64,
      doc,
      { args: [`${x}`, `${y}`], gives: `${gives}` },
      bigints,
      false,
    ),
    infix,
  },
];

const both = (
  infix: string,
  id: string,
  doc: string,
  example: readonly [number, number, number],
  compute: WordOperator,
): ScalarFunction[] => sign(infix, id, doc, example, onInts(compute), onBigints(compute));

export const MATH_WHOLE: readonly ScalarFunction[] = [
  fn(
    'gcd',
    'gcd',
    ['int64', 'int64'],
    INT64,
    'the greatest common divisor',
    { args: ['12', '-18'], gives: '6' },
    overPairs('the greatest common divisor', gcdOf, bigGcd),
  ),
  fn(
    'lcm',
    'lcm',
    ['int64', 'int64'],
    INT64,
    'the least common multiple',
    { args: ['4', '-6'], gives: '12' },
    overPairs('the least common multiple', lcmOf, bigLcm),
  ),
  fn(
    'factorial',
    'factorial',
    ['int64'],
    INT64,
    'the product of the whole numbers up to n, n ≤ 20',
    { args: ['5'], gives: '120' },
    factorial,
  ),
  fn(
    'width-bucket',
    'width_bucket',
    ['float64', 'float64', 'float64', 'int64'],
    INT32,
    'which of n buckets of equal width from the second to the third number; 0 before them, n + 1 behind them',
    { args: [5, 0, 10, '4'], gives: 3 },
    widthBucket,
  ),
  fn(
    'bit-count',
    'bit_count',
    ['int64'],
    INT32,
    'how many bits are set',
    { args: ['7'], gives: 3 },
    bitCount,
    false,
  ),
  ...both('&', 'bits-and', 'the bits that both have', [6, 3, 2], (x, y) => x & y),
  ...both('|', 'bits-or', 'the bits that one of both has', [6, 3, 7], (x, y) => x | y),
  ...both('#', 'bits-xor', 'the bits that exactly one has', [6, 3, 5], (x, y) => x ^ y),
  ...sign(
    '<<',
    'shift-left',
    'the bits moved to the left',
    [3, 2, 12],
    shiftInts(true),
    shiftBigints(true),
  ),
  ...sign(
    '>>',
    'shift-right',
    'the bits moved to the right, the sign kept',
    [-8, 1, -4],
    shiftInts(false),
    shiftBigints(false),
  ),
  {
    ...fn(
      'bits-not:int32',
      '~',
      ['int32'],
      INT32,
      'every bit turned over',
      { args: [5], gives: -6 },
      complement,
      false,
    ),
    infix: '~',
  },
  {
    ...fn(
      'bits-not:int64',
      '~',
      ['int64'],
      INT64,
      'every bit turned over',
      { args: ['5'], gives: '-6' },
      complement,
      false,
    ),
    infix: '~',
  },
];
