/**
 * + - * / % and unary minus on DECIMAL.
 *
 * Result types, for DECIMAL(p1, s1) and DECIMAL(p2, s2), every precision and scale capped at 38:
 *   + -   scale max(s1, s2), precision max(p1 - s1, p2 - s2) + scale + 1
 *   *     scale s1 + s2, precision p1 + p2
 *   /     scale max(6, s1 + 4), precision p1 - s1 + s2 + scale
 *   %     scale max(s1, s2), precision min(p1 - s1, p2 - s2) + scale
 * Results are exact except that / rounds halves away from zero to its scale, and * does so when
 * s1 + s2 exceeds 38. A result with more digits than its precision fails its row: NUMERIC_OVERFLOW.
 */
import type { DecimalColumn } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { decimalType, typeName } from '../../batch/types.ts';
import { assert } from '../../base/assert.ts';
import { multiplyDecimalKernel } from '../../kernels/int64-arithmetic.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { ofFirst } from '../function-types.ts';
import { Outcome, makeDecimal, operandOf, strideOf } from '../vector.ts';
import {
  decimalAsNumber,
  divideHalfUp,
  fitsPrecision,
  isSafe,
  placePoint,
  powerOfTen,
  readDecimal,
  writeDecimal,
  writeSafeDecimal,
} from '../wide.ts';
import type { Operator } from './arithmetic-loops.ts';

export type DecimalType = SqlType & { tag: 'decimal' };

const capped = (precision: number, scale: number): SqlType => {
  const cappedScale = Math.min(scale, 38);
  return decimalType(Math.max(1, Math.min(precision, 38), cappedScale), cappedScale);
};

/** The result type of an operator on two decimals. */
export function decimalResult(operator: Operator, left: DecimalType, right: DecimalType): SqlType {
  const wholeLeft = left.precision - left.scale;
  const wholeRight = right.precision - right.scale;
  const scale = Math.max(left.scale, right.scale);
  switch (operator) {
    case '+':
    case '-':
      return capped(Math.max(wholeLeft, wholeRight) + scale + 1, scale);
    case '*':
      return capped(left.precision + right.precision, left.scale + right.scale);
    case '/': {
      const quotientScale = Math.min(38, Math.max(6, left.scale + 4));
      return capped(wholeLeft + right.scale + quotientScale, quotientScale);
    }
    case '%':
      return capped(Math.min(wholeLeft, wholeRight) + scale, scale);
  }
}

/**
 * How an operator computes: in doubles, giving something unsafe where that would not be exact, and
 * in BigInt. Both get unscaled operands and give the unscaled result.
 */
type Plan = { fast: (x: number, y: number) => number; exact: (x: bigint, y: bigint) => bigint };

/** Multipliers beyond 10^22 are not exact doubles; they make the fast path give up. */
const asDouble = (exponent: number): number => (exponent > 22 ? NaN : Number(powerOfTen(exponent)));

/** A sum of two exact products is exact when every part is safe. */
const safeOr = (value: number): number => (isSafe(value) ? value : Infinity);

function planOf(
  operator: Operator,
  left: DecimalType,
  right: DecimalType,
  result: DecimalType,
): Plan {
  switch (operator) {
    case '+':
    case '-':
    case '%': {
      const upLeft = result.scale - left.scale;
      const upRight = result.scale - right.scale;
      const [a, b] = [powerOfTen(upLeft), powerOfTen(upRight)];
      const [fastA, fastB] = [asDouble(upLeft), asDouble(upRight)];
      if (operator === '+')
        return {
          fast: (x, y) => safeOr(x * fastA) + safeOr(y * fastB),
          exact: (x, y) => x * a + y * b,
        };
      if (operator === '-')
        return {
          fast: (x, y) => safeOr(x * fastA) - safeOr(y * fastB),
          exact: (x, y) => x * a - y * b,
        };
      return {
        fast: (x, y) => safeOr(x * fastA) % (isSafe(y * fastB) ? y * fastB : NaN),
        exact: (x, y) => (x * a) % (y * b),
      };
    }
    case '*': {
      const excess = left.scale + right.scale - result.scale;
      if (excess === 0) return { fast: (x, y) => x * y, exact: (x, y) => x * y };
      return { fast: () => NaN, exact: (x, y) => divideHalfUp(x * y, powerOfTen(excess)) };
    }
    case '/': {
      const up = result.scale - left.scale + right.scale;
      assert(up >= 0, 'a quotient is scaled up');
      const factor = powerOfTen(up);
      const fastFactor = asDouble(up);
      return {
        fast: (x, y) => {
          const numerator = safeOr(x * fastFactor);
          const remainder = numerator % y;
          const quotient = (numerator - remainder) / y;
          if (2 * Math.abs(remainder) < Math.abs(y)) return quotient;
          return x < 0 === y < 0 ? quotient + 1 : quotient - 1;
        },
        exact: (x, y) => divideHalfUp(x * factor, y),
      };
    }
  }
}

/** Products whose scale is that of both together, where a double is exact; `hard` computes the other rows. */
function multiply(
  a: Int32Array,
  strideA: number,
  b: Int32Array,
  strideB: number,
  rows: number,
  bound: number,
  words: Int32Array,
  hard: (row: number) => void,
): void {
  for (let row = 0; row < rows; row++) {
    const value = decimalAsNumber(a, row * strideA) * decimalAsNumber(b, row * strideB);
    if (isSafe(value) && value < bound && value > -bound) writeSafeDecimal(words, row, value);
    else hard(row);
  }
}

const decimalLoop =
  (operator: Operator): Evaluate =>
  (args, rows, errors, type) => {
    const [left, right] = args as readonly [DecimalColumn, DecimalColumn];
    const target = type as DecimalType;
    const { fast, exact } = planOf(operator, left.type, right.type, target);
    const divides = operator === '/' || operator === '%';
    const bound = target.precision > 15 ? Infinity : 10 ** target.precision;
    const outcome = new Outcome(args, rows, errors);
    const result = makeDecimal(rows, target);
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    const written = (column: DecimalColumn, at: number): string =>
      placePoint(readDecimal(column.words, at), column.type.scale);
    const overflow = (row: number): void =>
      outcome.fail(
        row,
        'NUMERIC_OVERFLOW',
        () =>
          `${written(left, row * strideA)} ${operator} ${written(right, row * strideB)} does not fit ${typeName(target)}`,
      );
    const compute = (row: number): void => {
      const x = decimalAsNumber(left.words, row * strideA);
      const y = decimalAsNumber(right.words, row * strideB);
      if (divides && y === 0) {
        outcome.fail(
          row,
          'DIVISION_BY_ZERO',
          () => `division by zero: ${written(left, row * strideA)} ${operator} 0`,
        );
        return;
      }
      if (isSafe(x) && isSafe(y)) {
        const value = fast(x, y);
        if (isSafe(value)) {
          if (Math.abs(value) < bound) writeSafeDecimal(result.words, row, value);
          else overflow(row);
          return;
        }
      }
      const value = exact(
        readDecimal(left.words, row * strideA),
        readDecimal(right.words, row * strideB),
      );
      if (fitsPrecision(value, target.precision)) writeDecimal(result.words, row, value);
      else overflow(row);
    };
    const { words } = result;
    if (operator === '*' && left.type.scale + right.type.scale === target.scale) {
      const { precision } = target;
      const operands = [operandOf(left), operandOf(right)] as const;
      if (!multiplyDecimalKernel(...operands, rows, precision, words, compute))
        multiply(left.words, strideA, right.words, strideB, rows, bound, words, compute);
    } else for (let row = 0; row < rows; row++) compute(row);
    result.validity = outcome.validity;
    return result;
  };

const negateDecimal: Evaluate = (args, rows, errors, type) => {
  const [input] = args as readonly [DecimalColumn];
  const result = makeDecimal(rows, type as DecimalType);
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) {
    const value = decimalAsNumber(input.words, row * stride);
    if (isSafe(value)) writeSafeDecimal(result.words, row, -value);
    else writeDecimal(result.words, row, -readDecimal(input.words, row * stride));
  }
  result.validity = new Outcome(args, rows, errors).validity;
  return result;
};

/** Whether a result may have more digits than its type, which then was capped; or a divisor be zero. */
function mayOverflow(operator: Operator, left: DecimalType, right: DecimalType): boolean {
  if (operator === '*') return left.precision + right.precision > 38;
  if (operator === '/' || operator === '%') return true;
  const whole = Math.max(left.precision - left.scale, right.precision - right.scale);
  return whole + Math.max(left.scale, right.scale) + 1 > 38;
}

const NAMES: Record<Operator, string> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
};

const overload = (operator: Operator, doc: string, example: FunctionExample): ScalarFunction => ({
  id: `${NAMES[operator]}:decimal`,
  name: operator,
  infix: operator,
  args: ['decimal', 'decimal'],
  result: (args) => decimalResult(operator, args[0] as DecimalType, args[1] as DecimalType),
  nullRule: 'strict',
  canFail: true,
  canFailWith: (_, [left, right]) =>
    mayOverflow(operator, left as DecimalType, right as DecimalType),
  doc,
  examples: [example],
  evaluate: decimalLoop(operator),
});

export const DECIMAL_ARITHMETIC: readonly ScalarFunction[] = [
  overload('+', 'the exact sum', { args: ['1.50', '0.255'], gives: '1.755' }),
  overload('-', 'the exact difference', { args: ['1.50', '0.255'], gives: '1.245' }),
  overload('*', 'the exact product', { args: ['1.5', '-0.25'], gives: '-0.375' }),
  overload('/', 'the quotient, rounded half away from zero', {
    args: ['2.0', '3'],
    gives: '0.666667',
  }),
  overload('%', 'the remainder, with the sign of the dividend', {
    args: ['-7.5', '2'],
    gives: '-1.5',
  }),
  {
    id: 'negate:decimal',
    name: '-',
    infix: '-',
    args: ['decimal'],
    result: ofFirst,
    nullRule: 'strict',
    canFail: false,
    doc: 'the number with its sign changed',
    examples: [{ args: ['1.5'], gives: '-1.5' }],
    evaluate: negateDecimal,
  },
];
