/**
 * Trigonometry, hyperbolic functions and tests of DOUBLE. An argument outside a function's domain fails its row
 * with NUMERIC_OUT_OF_RANGE; NaN passes through.
 */
import type { Column, Float64Column } from '../../batch/column.ts';
import { setBit } from '../../batch/column.ts';
import { BOOLEAN, FLOAT64 } from '../../batch/types.ts';
import type { Evaluate, FunctionExample, ScalarFunction } from '../function-types.ts';
import { always } from '../function-types.ts';
import { Outcome, combineValidity, makeBoolean, makeFloat64, strideOf } from '../vector.ts';
import { overFloats } from './math.ts';

const inUnit = (x: number): string | null =>
  x < -1 || x > 1 ? `${x} is not between -1 and 1` : null;
const finite = (x: number): string | null =>
  x === Infinity || x === -Infinity ? `${x} has no angle` : null;
const anywhere = (): null => null;

type One = readonly [
  name: string,
  doc: string,
  compute: (x: number) => number,
  reject: (x: number) => string | null,
  from: number,
  gives: number,
];

const ONES: readonly One[] = [
  ['sin', 'the sine of an angle in radians', Math.sin, finite, 0, 0],
  ['cos', 'the cosine of an angle in radians', Math.cos, finite, 0, 1],
  ['tan', 'the tangent of an angle in radians', Math.tan, finite, 0, 0],
  [
    'cot',
    'the cotangent of an angle in radians',
    (x) => 1 / Math.tan(x),
    (x) => (x === 0 ? '0 has no cotangent' : finite(x)),
    Math.PI / 4,
    1 / Math.tan(Math.PI / 4),
  ],
  ['asin', 'the angle whose sine it is', Math.asin, inUnit, 0, 0],
  ['acos', 'the angle whose cosine it is', Math.acos, inUnit, 1, 0],
  ['atan', 'the angle whose tangent it is', Math.atan, anywhere, 0, 0],
  ['sinh', 'the hyperbolic sine', Math.sinh, anywhere, 0, 0],
  ['cosh', 'the hyperbolic cosine', Math.cosh, anywhere, 0, 1],
  ['tanh', 'the hyperbolic tangent', Math.tanh, anywhere, 0, 0],
  ['asinh', 'the inverse hyperbolic sine', Math.asinh, anywhere, 0, 0],
  [
    'acosh',
    'the inverse hyperbolic cosine',
    Math.acosh,
    (x) => (x < 1 ? `${x} is below 1` : null),
    1,
    0,
  ],
  [
    'atanh',
    'the inverse hyperbolic tangent',
    Math.atanh,
    (x) => (x <= -1 || x >= 1 ? `${x} is not between -1 and 1, both excluded` : null),
    0,
    0,
  ],
  ['degrees', 'an angle in radians as degrees', (x) => (x * 180) / Math.PI, anywhere, Math.PI, 180],
  ['radians', 'an angle in degrees as radians', (x) => (x * Math.PI) / 180, anywhere, 180, Math.PI],
];

type Two = readonly [
  name: string,
  doc: string,
  compute: (x: number, y: number) => number,
  reject: (x: number, y: number) => string | null,
  example: FunctionExample,
];

const TWOS: readonly Two[] = [
  [
    'atan2',
    'the angle of the point (x, y), called as atan2(y, x)',
    Math.atan2,
    anywhere,
    { args: [0, 1], gives: 0 },
  ],
  [
    'log',
    'the logarithm of the second number to the base of the first',
    (base, x) =>
      base === 10 ? Math.log10(x) : base === 2 ? Math.log2(x) : Math.log(x) / Math.log(base),
    (base, x) =>
      base <= 0 || base === 1
        ? `${base} is no base of logarithms`
        : x <= 0
          ? `${x} has no logarithm`
          : null,
    { args: [2, 8], gives: 3 },
  ],
  [
    'nanvl',
    'the first number, or the second where the first is NaN',
    (x, y) => (x !== x ? y : x),
    anywhere,
    { args: ['NaN', 1], gives: 1 },
  ],
];

const overPairs =
  (compute: Two[2], reject: Two[3]): Evaluate =>
  (args, rows, errors) => {
    const [left, right] = args as readonly [Float64Column, Float64Column];
    const outcome = new Outcome(args, rows, errors);
    const result = makeFloat64(rows);
    for (let row = 0; row < rows; row++) {
      const x = left.values[row * strideOf(left)] as number;
      const y = right.values[row * strideOf(right)] as number;
      const reason = reject(x, y);
      if (reason === null) result.values[row] = compute(x, y);
      else outcome.fail(row, 'NUMERIC_OUT_OF_RANGE', () => reason);
    }
    return { ...result, validity: outcome.validity };
  };

/** A test of a number. */
const tested =
  (holds: (x: number) => boolean): Evaluate =>
  (args, rows) => {
    const [input] = args as readonly [Float64Column];
    const result = makeBoolean(rows, combineValidity(args, rows));
    for (let row = 0; row < rows; row++)
      if (holds(input.values[row * strideOf(input)] as number)) setBit(result.bits, row);
    return result;
  };

const TESTS = [
  ['isnan', 'whether the number is NaN', (x: number) => x !== x, 'NaN'],
  [
    'isinf',
    'whether the number is infinite',
    (x: number) => x === Infinity || x === -Infinity,
    '-Infinity',
  ],
  ['isfinite', 'whether the number is neither NaN nor infinite', Number.isFinite, 1],
  ['iszero', 'whether the number is 0 or -0', (x: number) => x === 0, 0],
] as const;

const base = { nullRule: 'strict' } as const;

export const MATH_FLOAT: readonly ScalarFunction[] = [
  ...ONES.map(([name, doc, compute, reject, from, gives]): ScalarFunction => ({
    ...base,
    id: `${name}:float64`,
    name,
    args: ['float64'],
    result: always(FLOAT64),
    canFail: reject !== anywhere,
    doc,
    examples: [{ args: [from], gives }],
    evaluate: overFloats(compute, reject),
  })),
  ...TWOS.map(([name, doc, compute, reject, example]): ScalarFunction => ({
    ...base,
    id: `${name}:float64-pair`,
    name,
    args: ['float64', 'float64'],
    result: always(FLOAT64),
    canFail: reject !== anywhere,
    doc,
    examples: [example],
    evaluate: overPairs(compute, reject),
  })),
  ...TESTS.map(([name, doc, holds, example]): ScalarFunction => ({
    ...base,
    id: `${name}:float64`,
    name,
    args: ['float64'],
    result: always(BOOLEAN),
    canFail: false,
    doc,
    examples: [{ args: [example], gives: true }],
    evaluate: tested(holds),
  })),
  ...([['pi', 'the ratio of circumference to diameter', Math.PI]] as const).map(
    ([name, doc, value]): ScalarFunction => ({
      ...base,
      id: name,
      name,
      args: [],
      result: always(FLOAT64),
      canFail: false,
      doc,
      examples: [{ args: [], gives: value }],
      evaluate: (_, rows): Column => ({
        ...makeFloat64(rows),
        values: new Float64Array(rows).fill(value),
      }),
    }),
  ),
];
