/**
 * + - * / % and unary minus on TINYINT, SMALLINT, all unsigned whole numbers and FLOAT.
 *
 * As for INT and BIGINT: a result that does not fit its type fails its row with NUMERIC_OVERFLOW, a zero
 * divisor fails it with DIVISION_BY_ZERO. FLOAT results are those of DOUBLE rounded once to 32 bits,
 * which for these operators is the correctly rounded result.
 */
import type { Float64Column, Int32Column, Int64Column } from '../../batch/column.ts';
import {
  FLOAT32,
  INT16,
  INT8,
  INTEGERS,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
  typeName,
} from '../../batch/types.ts';
import type { IntegerTag, SqlType } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { Outcome, makeFloat64, makeInt32, makeInt64, strideOf } from '../vector.ts';
import { isSafe, readUint64, uint64AsNumber, writeInt64, writeSafeInt64 } from '../wide.ts';
import { FLOAT64_LOOPS } from './arithmetic-loops.ts';
import type { Operator } from './arithmetic-loops.ts';

type Compute = (x: number, y: number) => number;

/** In doubles, exact for operands of 32 bits as far as the result may fit. */
const COMPUTE: Record<Operator, Compute> = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '/': (x, y) => Math.trunc(x / y),
  '%': (x, y) => x % y,
};

const EXACT: Record<Operator, (x: bigint, y: bigint) => bigint> = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '/': (x, y) => x / y,
  '%': (x, y) => x % y,
};

function failRow(
  outcome: Outcome,
  row: number,
  operator: Operator,
  x: number | bigint,
  y: number | bigint,
  type: SqlType,
): void {
  if (Number(y) === 0 && (operator === '/' || operator === '%'))
    outcome.fail(row, 'DIVISION_BY_ZERO', () => `division by zero: ${x} ${operator} 0`);
  else
    outcome.fail(
      row,
      'NUMERIC_OVERFLOW',
      () => `${x} ${operator} ${y} does not fit ${typeName(type)}`,
    );
}

/** TINYINT, SMALLINT and their unsigned forms. */
function smallOperator(operator: Operator, type: SqlType): Evaluate {
  const min = Number(INTEGERS[type.tag as IntegerTag].min);
  const max = Number(INTEGERS[type.tag as IntegerTag].max);
  const compute = COMPUTE[operator];
  return (args, rows, errors) => {
    const [left, right] = args as readonly [Int32Column, Int32Column];
    const outcome = new Outcome(args, rows, errors);
    const result: Int32Column = { ...makeInt32(rows), type };
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    for (let row = 0; row < rows; row++) {
      const x = left.values[row * strideA] as number;
      const y = right.values[row * strideB] as number;
      const value = compute(x, y);
      result.values[row] = value;
      // NaN and the infinities of a zero divisor fail both comparisons.
      if (!(value >= min && value <= max)) failRow(outcome, row, operator, x, y, type);
    }
    result.validity = outcome.validity;
    return result;
  };
}

/** INT UNSIGNED and BIGINT UNSIGNED: doubles while they are exact, BigInt beyond. */
function wideOperator(operator: Operator, type: SqlType): Evaluate {
  const { max } = INTEGERS[type.tag as IntegerTag];
  const bound = type.tag === 'uint32' ? 4294967295 : Infinity;
  const compute = COMPUTE[operator];
  const divides = operator === '/' || operator === '%';
  return (args, rows, errors) => {
    const [left, right] = args as readonly [Int64Column, Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const strideA = strideOf(left);
    const strideB = strideOf(right);
    for (let row = 0; row < rows; row++) {
      const x = uint64AsNumber(left.words, row * strideA);
      const y = uint64AsNumber(right.words, row * strideB);
      const value = divides && operator === '/' ? (x - (x % y)) / y : compute(x, y);
      if (isSafe(x) && isSafe(y) && isSafe(value) && value >= 0 && value <= bound) {
        writeSafeInt64(result.words, row, value);
        continue;
      }
      if (!outcome.has(row)) continue;
      const exactX = readUint64(left.words, row * strideA);
      const exactY = readUint64(right.words, row * strideB);
      const exact = divides && exactY === 0n ? -1n : EXACT[operator](exactX, exactY);
      if (exact >= 0n && exact <= max) writeInt64(result.words, row, exact);
      else failRow(outcome, row, operator, exactX, exactY, type);
    }
    result.validity = outcome.validity;
    return result;
  };
}

function floatOperator(operator: Operator): Evaluate {
  const compute = FLOAT64_LOOPS[operator];
  const divides = operator === '/' || operator === '%';
  return (args, rows, errors, type) => {
    const [left, right] = args as readonly [Float64Column, Float64Column];
    const outcome = new Outcome(args, rows, errors);
    const result: Float64Column = { ...makeFloat64(rows), type };
    const strideB = strideOf(right);
    compute(left.values, strideOf(left), right.values, strideB, rows, result.values);
    for (let row = 0; row < rows; row++) {
      result.values[row] = Math.fround(result.values[row] as number);
      if (divides && right.values[row * strideB] === 0)
        failRow(outcome, row, operator, left.values[row * strideOf(left)] as number, 0, type);
    }
    result.validity = outcome.validity;
    return result;
  };
}

const negateSmall =
  (type: SqlType): Evaluate =>
  (args, rows, errors) =>
    smallOperator('-', type)([{ ...makeInt32(1), type }, ...args], rows, errors, type);

const negateFloat: Evaluate = (args, rows, errors, type) => {
  const [input] = args as readonly [Float64Column];
  const result: Float64Column = { ...makeFloat64(rows), type };
  for (let row = 0; row < rows; row++)
    result.values[row] = -(input.values[row * strideOf(input)] as number);
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

const DOCS: Record<Operator, string> = {
  '+': 'the exact sum',
  '-': 'the exact difference',
  '*': 'the exact product',
  '/': 'the quotient, truncated toward zero',
  '%': 'the remainder, with the sign of the dividend',
};

const record = (
  id: string,
  name: string,
  args: number,
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id: `${id}:${type.tag}`,
  name,
  infix: name,
  args: Array.from({ length: args }, () => type.tag),
  result: always(type),
  nullRule: 'strict',
  canFail: type.tag !== 'float32' || name === '/' || name === '%',
  doc,
  examples: [example],
  evaluate,
});

const OPERATORS: readonly Operator[] = ['+', '-', '*', '/', '%'];
const WHOLE_RESULTS: Record<Operator, number> = { '+': 9, '-': 5, '*': 14, '/': 3, '%': 1 };
const FLOAT_RESULTS: Record<Operator, number> = {
  '+': 9.5,
  '-': 5.5,
  '*': 15,
  '/': 3.75,
  '%': 1.5,
};

function wholeOperators(type: SqlType): ScalarFunction[] {
  const isWide = type.tag === 'uint32' || type.tag === 'uint64';
  const literal = (value: number): number | string => (isWide ? String(value) : value);
  return OPERATORS.map((operator) =>
    record(
      NAMES[operator],
      operator,
      2,
      type,
      DOCS[operator],
      { args: [literal(7), literal(2)], gives: literal(WHOLE_RESULTS[operator]) },
      isWide ? wideOperator(operator, type) : smallOperator(operator, type),
    ),
  );
}

const negation = (type: SqlType, evaluate: Evaluate): ScalarFunction =>
  record(
    'negate',
    '-',
    1,
    type,
    'the number with its sign changed',
    { args: [5], gives: -5 },
    evaluate,
  );

export const TYPED_ARITHMETIC: readonly ScalarFunction[] = [
  ...[INT8, INT16, UINT8, UINT16, UINT32, UINT64].flatMap(wholeOperators),
  ...OPERATORS.map((operator) =>
    record(
      NAMES[operator],
      operator,
      2,
      FLOAT32,
      DOCS[operator].replace('exact', 'IEEE').replace(', truncated toward zero', ''),
      { args: [7.5, 2], gives: FLOAT_RESULTS[operator] },
      floatOperator(operator),
    ),
  ),
  negation(INT8, negateSmall(INT8)),
  negation(INT16, negateSmall(INT16)),
  negation(FLOAT32, negateFloat),
];
