/**
 * + - * / % and unary minus on INT, BIGINT and DOUBLE.
 *
 * Whole-number results that do not fit fail their row with NUMERIC_OVERFLOW; a zero divisor fails it
 * with DIVISION_BY_ZERO, for DOUBLE too, as in Postgres. Division truncates toward zero and % takes
 * the sign of the dividend. A DOUBLE result that leaves the finite range from finite operands is
 * Infinity, as IEEE says.
 */
import type { Float64Column, Int32Column, Int64Column } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { FLOAT64, INT32, INT64 } from '../../batch/types.ts';
import { int64Kernel } from '../../kernels/int64-arithmetic.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { Outcome, makeFloat64, makeInt32, makeInt64, operandOf, strideOf } from '../vector.ts';
import {
  addWords,
  FLOAT64_LOOPS,
  INT32_CHECKS,
  INT32_LOOPS,
  INT64_LOOPS,
  subtractWords,
} from './arithmetic-loops.ts';
import type { Operator } from './arithmetic-loops.ts';
import { fitsInt64, readInt64, writeInt64 } from '../wide.ts';

function int32Operator(operator: Operator): Evaluate {
  const compute = INT32_LOOPS[operator];
  const findWrong = INT32_CHECKS[operator];
  const divides = operator === '/' || operator === '%';
  return (args, rows, errors) => {
    const [left, right] = args as readonly [Int32Column, Int32Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt32(rows);
    const a = left.values;
    const b = right.values;
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    compute(a, strideA, b, strideB, rows, result.values);
    for (
      let row = findWrong(a, strideA, b, strideB, rows, result.values, 0);
      row < rows;
      row = findWrong(a, strideA, b, strideB, rows, result.values, row + 1)
    ) {
      const x = a[row * strideA] as number;
      const y = b[row * strideB] as number;
      if (divides && y === 0)
        outcome.fail(row, 'DIVISION_BY_ZERO', () => `division by zero: ${x} ${operator} 0`);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${x} ${operator} ${y} does not fit INT`);
    }
    result.validity = outcome.validity;
    return result;
  };
}

/** Addition and subtraction work on the words themselves and are exact everywhere. */
export function addInt64(
  args: readonly [Int64Column, Int64Column],
  rows: number,
  negate: boolean,
  outcome: Outcome,
  type: SqlType,
): Int64Column {
  const [left, right] = args;
  const result = makeInt64(rows, type);
  const a = left.words;
  const b = right.words;
  const words = result.words;
  const strideA = 2 * strideOf(left);
  const strideB = 2 * strideOf(right);
  const overflow = (row: number): void => {
    const sign = negate ? '-' : '+';
    const name =
      type.tag === 'timestamp' ? 'TIMESTAMP' : type.tag === 'interval' ? 'INTERVAL' : 'BIGINT';
    outcome.fail(
      row,
      'NUMERIC_OVERFLOW',
      () =>
        `${readInt64(a, (row * strideA) / 2)} ${sign} ${readInt64(b, (row * strideB) / 2)} does not fit ${name}`,
    );
  };
  const operator = negate ? '-' : '+';
  if (!int64Kernel(operator, operandOf(left), operandOf(right), rows, words, overflow))
    (negate ? subtractWords : addWords)(a, strideA, b, strideB, rows, words, overflow);
  result.validity = outcome.validity;
  return result;
}

const addOrSubtractInt64 =
  (negate: boolean): Evaluate =>
  (args, rows, errors, type) =>
    addInt64(
      args as readonly [Int64Column, Int64Column],
      rows,
      negate,
      new Outcome(args, rows, errors),
      type,
    );

/** Multiplication and division: doubles while everything is inside ±2^53, BigInt beyond. */
function int64Operator(
  operator: '*' | '/' | '%',
  exact: (x: bigint, y: bigint) => bigint,
): Evaluate {
  const compute = INT64_LOOPS[operator];
  return (args, rows, errors, type) => {
    const [left, right] = args as readonly [Int64Column, Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    const hard = (row: number): void => {
      const x = readInt64(left.words, row * strideA);
      const y = readInt64(right.words, row * strideB);
      if (operator !== '*' && y === 0n) {
        outcome.fail(row, 'DIVISION_BY_ZERO', () => `division by zero: ${x} ${operator} 0`);
        return;
      }
      const value = exact(x, y);
      if (fitsInt64(value)) writeInt64(result.words, row, value);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${x} ${operator} ${y} does not fit BIGINT`);
    };
    const { words } = result;
    if (!int64Kernel(operator, operandOf(left), operandOf(right), rows, words, hard))
      compute(left.words, strideA, right.words, strideB, rows, words, hard);
    result.validity = outcome.validity;
    return result;
  };
}

function float64Operator(operator: Operator): Evaluate {
  const compute = FLOAT64_LOOPS[operator];
  const divides = operator === '/' || operator === '%';
  return (args, rows, errors) => {
    const [left, right] = args as readonly [Float64Column, Float64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeFloat64(rows);
    const a = left.values;
    const b = right.values;
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    compute(a, strideA, b, strideB, rows, result.values);
    for (let row = 0; divides && row < rows; row++) {
      if (b[row * strideB] === 0)
        outcome.fail(
          row,
          'DIVISION_BY_ZERO',
          () => `division by zero: ${a[row * strideA]} ${operator} 0`,
        );
    }
    result.validity = outcome.validity;
    return result;
  };
}

const negateInt32: Evaluate = (args, rows, errors) => {
  const [input] = args as readonly [Int32Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeInt32(rows);
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) {
    const x = input.values[row * stride] as number;
    if (x === -2147483648) outcome.fail(row, 'NUMERIC_OVERFLOW', () => `-(${x}) does not fit INT`);
    result.values[row] = -x;
  }
  result.validity = outcome.validity;
  return result;
};

const negateInt64: Evaluate = (args, rows, errors, type) => {
  const zero = makeInt64(1, type);
  const outcome = new Outcome(args, rows, errors);
  return addInt64([zero, args[0] as Int64Column], rows, true, outcome, type);
};

const negateFloat64: Evaluate = (args, rows, errors) => {
  const [input] = args as readonly [Float64Column];
  const result = makeFloat64(rows);
  const stride = strideOf(input);
  for (let row = 0; row < rows; row++) result.values[row] = -(input.values[row * stride] as number);
  result.validity = new Outcome(args, rows, errors).validity;
  return result;
};

const NAMES: Record<Operator, string> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
};

function overload(
  operator: Operator,
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction {
  return {
    id: `${NAMES[operator]}:${type.tag}`,
    name: operator,
    infix: operator,
    args: [type.tag, type.tag],
    result: always(type),
    nullRule: 'strict',
    canFail: type.tag !== 'float64' || operator === '/' || operator === '%',
    doc,
    examples: [example],
    evaluate,
  };
}

const negation = (type: SqlType, example: FunctionExample, evaluate: Evaluate): ScalarFunction => ({
  id: `negate:${type.tag}`,
  name: '-',
  infix: '-',
  args: [type.tag],
  result: always(type),
  nullRule: 'strict',
  canFail: type.tag !== 'float64',
  doc: 'the number with its sign changed',
  examples: [example],
  evaluate,
});

export const ARITHMETIC: readonly ScalarFunction[] = [
  overload('+', INT32, 'the exact sum', { args: [2, 3], gives: 5 }, int32Operator('+')),
  overload('-', INT32, 'the exact difference', { args: [2, 3], gives: -1 }, int32Operator('-')),
  overload('*', INT32, 'the exact product', { args: [-2, 3], gives: -6 }, int32Operator('*')),
  overload(
    '/',
    INT32,
    'the quotient, truncated toward zero',
    { args: [-7, 2], gives: -3 },
    int32Operator('/'),
  ),
  overload(
    '%',
    INT32,
    'the remainder, with the sign of the dividend',
    { args: [-7, 2], gives: -1 },
    int32Operator('%'),
  ),
  overload(
    '+',
    INT64,
    'the exact sum',
    { args: ['9007199254740993', '1'], gives: '9007199254740994' },
    addOrSubtractInt64(false),
  ),
  overload(
    '-',
    INT64,
    'the exact difference',
    { args: ['-9007199254740993', '1'], gives: '-9007199254740994' },
    addOrSubtractInt64(true),
  ),
  overload(
    '*',
    INT64,
    'the exact product',
    { args: ['3037000499', '3037000499'], gives: '9223372030926249001' },
    int64Operator('*', (x, y) => x * y),
  ),
  overload(
    '/',
    INT64,
    'the quotient, truncated toward zero',
    { args: ['-9007199254740993', '2'], gives: '-4503599627370496' },
    int64Operator('/', (x, y) => x / y),
  ),
  overload(
    '%',
    INT64,
    'the remainder, with the sign of the dividend',
    { args: ['-7', '2'], gives: '-1' },
    int64Operator('%', (x, y) => x % y),
  ),
  overload('+', FLOAT64, 'the IEEE sum', { args: [0.5, 0.25], gives: 0.75 }, float64Operator('+')),
  overload(
    '-',
    FLOAT64,
    'the IEEE difference',
    { args: [0.5, 0.25], gives: 0.25 },
    float64Operator('-'),
  ),
  overload('*', FLOAT64, 'the IEEE product', { args: [0.5, 3], gives: 1.5 }, float64Operator('*')),
  overload('/', FLOAT64, 'the IEEE quotient', { args: [1, 4], gives: 0.25 }, float64Operator('/')),
  overload(
    '%',
    FLOAT64,
    'the remainder, with the sign of the dividend',
    { args: [-7.5, 2], gives: -1.5 },
    float64Operator('%'),
  ),
  negation(INT32, { args: [5], gives: -5 }, negateInt32),
  negation(INT64, { args: ['5'], gives: '-5' }, negateInt64),
  negation(FLOAT64, { args: [0.5], gives: -0.5 }, negateFloat64),
];
