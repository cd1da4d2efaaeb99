/**
 * abs, sign, rounding, roots, powers and logarithms.
 *
 * As in Postgres, round on DOUBLE goes to the even neighbour on a tie and round on DECIMAL away from
 * zero; an argument outside a function's domain fails its row with NUMERIC_OUT_OF_RANGE. NaN passes
 * through. Whole numbers pass through the rounding functions.
 */
import type {
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
} from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { FLOAT64, INT32, INT64, decimalType, typeName } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always, ofFirst } from '../function-types.ts';
import {
  Outcome,
  combineValidity,
  makeDecimal,
  makeFloat64,
  makeInt32,
  makeInt64,
  strideOf,
} from '../vector.ts';
import {
  divideHalfUp,
  fitsInt64,
  fitsPrecision,
  int64AsNumber,
  isSafe,
  powerOfTen,
  readDecimal,
  readInt64,
  writeDecimal,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import type { DecimalType } from './arithmetic-decimal.ts';

/** The even neighbour on a tie; exact, since a double with a fraction is far below 2^53. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction < 0.5) return floor;
  if (fraction > 0.5) return floor + 1;
  if (!Number.isFinite(value)) return value;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** @param reject  why an argument is outside the domain, or null */
export const overFloats =
  (compute: (x: number) => number, reject: (x: number) => string | null = () => null): Evaluate =>
  (args, rows, errors) => {
    const [input] = args as readonly [Float64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeFloat64(rows);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const x = input.values[row * stride] as number;
      const reason = reject(x);
      if (reason !== null) outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => reason);
      else result.values[row] = compute(x);
    }
    result.validity = outcome.validity;
    return result;
  };

const power: Evaluate = (args, rows, errors) => {
  const [base, exponent] = args as readonly [Float64Column, Float64Column];
  const outcome = new Outcome(args, rows, errors);
  const result = makeFloat64(rows);
  for (let row = 0; row < rows; row++) {
    const x = base.values[row * strideOf(base)] as number;
    const y = exponent.values[row * strideOf(exponent)] as number;
    if (x === 0 && y < 0)
      outcome.fail(
        row,
        'NUMERIC_OUT_OF_RANGE',
        () => `zero to the negative power ${y} is undefined`,
      );
    else if (x < 0 && Number.isFinite(x) && Number.isFinite(y) && !Number.isInteger(y)) {
      outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => `${x} to the power ${y} is no real number`);
    } else result.values[row] = x === 1 ? 1 : x ** y;
  }
  result.validity = outcome.validity;
  return result;
};

/** x to `digits` places, from the exact value of the double. */
function roundFloat(x: number, digits: number): number {
  if (!Number.isFinite(x) || digits > 100) return x;
  if (digits >= 0) return Math.abs(x) >= 1e21 ? x : Number(x.toFixed(digits));
  const unit = 10 ** Math.min(400, -digits);
  return unit === Infinity ? 0 : roundHalfEven(x / unit) * unit;
}

const roundFloats: Evaluate = (args, rows) => {
  const [input, digits] = args as readonly [Float64Column, Int64Column];
  const result = makeFloat64(rows);
  result.validity = combineValidity(args, rows);
  for (let row = 0; row < rows; row++) {
    result.values[row] = roundFloat(
      input.values[row * strideOf(input)] as number,
      int64AsNumber(digits.words, row * strideOf(digits)),
    );
  }
  return result;
};

const overInts =
  (compute: (x: number) => number): Evaluate =>
  (args, rows, errors) => {
    const [input] = args as readonly [Int32Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt32(rows);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const value = compute(input.values[row * stride] as number);
      if (value > 2147483647)
        outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${value} does not fit INT`);
      result.values[row] = value;
    }
    result.validity = outcome.validity;
    return result;
  };

const overBigInts =
  (compute: (x: bigint) => bigint, fast: (x: number) => number): Evaluate =>
  (args, rows, errors, type) => {
    const [input] = args as readonly [Int64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeInt64(rows, type);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const near = int64AsNumber(input.words, row * stride);
      if (isSafe(near)) {
        writeSafeInt64(result.words, row, fast(near));
        continue;
      }
      const value = compute(readInt64(input.words, row * stride));
      if (fitsInt64(value)) writeInt64(result.words, row, value);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${value} does not fit BIGINT`);
    }
    result.validity = outcome.validity;
    return result;
  };

/** @param compute  gets the unscaled value and 10^scale, gives the unscaled result in the result's scale */
const overDecimals =
  (compute: (x: bigint, unit: bigint) => bigint): Evaluate =>
  (args, rows, errors, type) => {
    const [input] = args as readonly [DecimalColumn];
    const target = type as DecimalType;
    const outcome = new Outcome(args, rows, errors);
    const result = makeDecimal(rows, target);
    const unit = powerOfTen(input.type.scale);
    const stride = strideOf(input);
    for (let row = 0; row < rows; row++) {
      const value = compute(readDecimal(input.words, row * stride), unit);
      if (fitsPrecision(value, target.precision)) writeDecimal(result.words, row, value);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${value} does not fit ${typeName(target)}`);
    }
    result.validity = outcome.validity;
    return result;
  };

/** Keeps the argument's scale: the digits behind place n become zeros. */
const roundDecimals: Evaluate = (args, rows, errors, type) => {
  const [input, digits] = args as readonly [DecimalColumn, Int64Column];
  const target = type as DecimalType;
  const outcome = new Outcome(args, rows, errors);
  const result = makeDecimal(rows, target);
  for (let row = 0; row < rows; row++) {
    const value = readDecimal(input.words, row * strideOf(input));
    const dropped = input.type.scale - int64AsNumber(digits.words, row * strideOf(digits));
    const unit = dropped <= 0 ? 1n : dropped > 39 ? powerOfTen(40) : powerOfTen(dropped);
    const rounded = divideHalfUp(value, unit) * unit;
    if (fitsPrecision(rounded, target.precision)) writeDecimal(result.words, row, rounded);
    else
      outcome.fail(
        row,
        'NUMERIC_OVERFLOW',
        () => `a rounded number does not fit ${typeName(target)}`,
      );
  }
  result.validity = outcome.validity;
  return result;
};

/** Towards zero to `digits` places. */
const truncFloats: Evaluate = (args, rows) => {
  const [input, digits] = args as readonly [Float64Column, Int64Column];
  const result = makeFloat64(rows);
  result.validity = combineValidity(args, rows);
  for (let row = 0; row < rows; row++) {
    const x = input.values[row * strideOf(input)] as number;
    const rounded = roundFloat(x, int64AsNumber(digits.words, row * strideOf(digits)));
    if (Math.abs(rounded) <= Math.abs(x)) {
      result.values[row] = rounded;
      continue;
    }
    // Rounding went away from zero: one unit back.
    const places = int64AsNumber(digits.words, row * strideOf(digits));
    const unit = 10 ** -places;
    result.values[row] = roundFloat(rounded - Math.sign(x) * unit, places);
  }
  return result;
};

const truncDecimals: Evaluate = (args, rows, _errors, type) => {
  const [input, digits] = args as readonly [DecimalColumn, Int64Column];
  const result = makeDecimal(rows, type as DecimalType);
  result.validity = combineValidity(args, rows);
  for (let row = 0; row < rows; row++) {
    const value = readDecimal(input.words, row * strideOf(input));
    const dropped = input.type.scale - int64AsNumber(digits.words, row * strideOf(digits));
    const unit = dropped <= 0 ? 1n : dropped > 39 ? powerOfTen(40) : powerOfTen(dropped);
    writeDecimal(result.words, row, (value / unit) * unit);
  }
  return result;
};

const floorDivide = (x: bigint, unit: bigint): bigint => (x % unit < 0n ? x / unit - 1n : x / unit);

const absolute = (x: bigint): bigint => (x < 0n ? -x : x);
const sign = (x: bigint): bigint => (x < 0n ? -1n : x > 0n ? 1n : 0n);
const same: Evaluate = (args) => args[0] as Column;

/** Rounding to whole numbers may need one digit more. */
const wholeOf: ScalarFunction['result'] = (args) => {
  const { precision, scale } = args[0] as DecimalType;
  return decimalType(Math.min(38, precision - scale + 1), 0);
};

/** Rounding up may carry into a new place: 99.9 to 100.0. */
const oneMoreDigit: ScalarFunction['result'] = (args) => {
  const { precision, scale } = args[0] as DecimalType;
  return decimalType(Math.min(38, precision + 1), scale);
};

function fn(
  name: string,
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
  extra: Partial<ScalarFunction> = {},
): ScalarFunction {
  return {
    id: `${name}:${type.tag}`,
    name,
    args: [type.tag],
    result: type.tag === 'decimal' ? ofFirst : always(type),
    nullRule: 'strict',
    canFail: type.tag !== 'float64',
    doc,
    examples: [example],
    evaluate,
    ...extra,
  };
}

const DECIMAL = decimalType(38, 0);

const FLOAT_ONLY = (
  [
    [
      'sqrt',
      'the square root',
      Math.sqrt,
      (x: number) => (x < 0 ? `${x} has no real square root` : null),
      [2.25, 1.5],
    ],
    ['cbrt', 'the cube root', Math.cbrt, () => null, [-8, -2]],
    ['exp', 'e to the power of the argument', Math.exp, () => null, [0, 1]],
    [
      'ln',
      'the natural logarithm',
      Math.log,
      (x: number) => (x <= 0 ? `${x} has no logarithm` : null),
      [1, 0],
    ],
    [
      'log10',
      'the logarithm to base 10',
      Math.log10,
      (x: number) => (x <= 0 ? `${x} has no logarithm` : null),
      [1000, 3],
    ],
    [
      'log',
      'the logarithm to base 10',
      Math.log10,
      (x: number) => (x <= 0 ? `${x} has no logarithm` : null),
      [1000, 3],
    ],
    [
      'log2',
      'the logarithm to base 2',
      Math.log2,
      (x: number) => (x <= 0 ? `${x} has no logarithm` : null),
      [8, 3],
    ],
  ] as const
).map(([name, doc, compute, reject, [from, gives]]) =>
  fn(name, FLOAT64, doc, { args: [from], gives }, overFloats(compute, reject), { canFail: true }),
);

const ROUNDINGS = (
  [
    ['floor', 'the largest whole number not above', Math.floor, floorDivide, -2, '-2'],
    [
      'ceil',
      'the smallest whole number not below',
      Math.ceil,
      (x: bigint, unit: bigint) => -floorDivide(-x, unit),
      -1,
      '-1',
    ],
    [
      'ceiling',
      'the smallest whole number not below',
      Math.ceil,
      (x: bigint, unit: bigint) => -floorDivide(-x, unit),
      -1,
      '-1',
    ],
    ['round', 'the nearest whole number', roundHalfEven, divideHalfUp, -2, '-2'],
    ['trunc', 'the whole part', Math.trunc, (x: bigint, unit: bigint) => x / unit, -1, '-1'],
  ] as const
).flatMap(([name, doc, float, decimal, floatGives, decimalGives]) => [
  fn(name, INT32, doc, { args: [7], gives: 7 }, same, { canFail: false }),
  fn(name, INT64, doc, { args: ['7'], gives: '7' }, same, { canFail: false }),
  fn(name, DECIMAL, doc, { args: ['-1.50'], gives: decimalGives }, overDecimals(decimal), {
    result: wholeOf,
  }),
  fn(name, FLOAT64, doc, { args: [-1.5], gives: floatGives }, overFloats(float)),
]);

export const MATH: readonly ScalarFunction[] = [
  fn('abs', INT32, 'the number without its sign', { args: [-5], gives: 5 }, overInts(Math.abs)),
  fn(
    'abs',
    INT64,
    'the number without its sign',
    { args: ['-5'], gives: '5' },
    overBigInts(absolute, Math.abs),
  ),
  fn(
    'abs',
    DECIMAL,
    'the number without its sign',
    { args: ['-1.5'], gives: '1.5' },
    overDecimals(absolute),
  ),
  fn(
    'abs',
    FLOAT64,
    'the number without its sign',
    { args: [-0.5], gives: 0.5 },
    overFloats(Math.abs),
  ),
  fn('sign', INT32, '-1, 0 or 1', { args: [-5], gives: -1 }, overInts(Math.sign)),
  fn('sign', INT64, '-1, 0 or 1', { args: ['-5'], gives: '-1' }, overBigInts(sign, Math.sign)),
  fn('sign', DECIMAL, '-1, 0 or 1', { args: ['-1.5'], gives: '-1' }, overDecimals(sign), {
    result: always(decimalType(1, 0)),
  }),
  fn('sign', FLOAT64, '-1, 0 or 1', { args: [-0.5], gives: -1 }, overFloats(Math.sign)),
  ...ROUNDINGS,
  fn(
    'round',
    FLOAT64,
    'the number rounded to n places; to tens, hundreds … when n is negative',
    { args: [2.345, '1'], gives: 2.3 },
    roundFloats,
    { id: 'round-to:float64', args: ['float64', 'int64'] },
  ),
  fn(
    'round',
    DECIMAL,
    'the number rounded to n places, halves away from zero',
    { args: ['2.345', '2'], gives: '2.350' },
    roundDecimals,
    { id: 'round-to:decimal', args: ['decimal', 'int64'], result: oneMoreDigit },
  ),
  fn(
    'trunc',
    FLOAT64,
    'the number cut off after n places; at tens, hundreds … when n is negative',
    { args: [-2.378, '2'], gives: -2.37 },
    truncFloats,
    { id: 'trunc-to:float64', args: ['float64', 'int64'] },
  ),
  fn(
    'trunc',
    DECIMAL,
    'the number cut off after n places',
    { args: ['-2.378', '2'], gives: '-2.370' },
    truncDecimals,
    { id: 'trunc-to:decimal', args: ['decimal', 'int64'], canFail: false },
  ),
  ...FLOAT_ONLY,
  ...['power', 'pow'].map((name) =>
    fn(
      name,
      FLOAT64,
      'the first number to the power of the second',
      { args: [2, 10], gives: 1024 },
      power,
      { args: ['float64', 'float64'], canFail: true },
    ),
  ),
];
