import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/batch/values.ts';
import { FLOAT64, INT32, INT64, decimalType } from '../../src/batch/types.ts';
import { resolveFunction } from '../../src/expr/registry.ts';
import { apply, call, column, literal, run } from './support.ts';

const MIN64 = -(2n ** 63n);
const MAX64 = 2n ** 63n - 1n;
const edges64 = [
  0n,
  1n,
  -1n,
  2n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 32n,
  2n ** 53n,
  2n ** 53n - 1n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  MAX64,
  MIN64,
  MAX64 - 1n,
  3037000500n,
];
const int64 = fc.oneof(
  fc.constantFrom(...edges64),
  fc.bigInt({ min: MIN64, max: MAX64 }),
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
);
const int32 = fc.oneof(fc.constantFrom(0, 1, -1, 2147483647, -2147483648), fc.integer());
const pairs = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<[T | null, T | null][]> =>
  fc.array(fc.tuple(fc.option(one, { freq: 6 }), fc.option(one, { freq: 6 })), { maxLength: 40 });

type Expected = { value: Value; code?: string };

/** Exact arithmetic with the rules of SQL. */
function exact(sign: string, x: bigint, y: bigint, min: bigint, max: bigint): Expected {
  if ((sign === '/' || sign === '%') && y === 0n) return { value: null, code: 'DIVISION_BY_ZERO' };
  const value =
    sign === '+'
      ? x + y
      : sign === '-'
        ? x - y
        : sign === '*'
          ? x * y
          : sign === '/'
            ? x / y
            : x % y;
  return value < min || value > max ? { value: null, code: 'NUMERIC_OVERFLOW' } : { value };
}

function check(result: ReturnType<typeof apply>, expected: Expected[]): void {
  expect(result.values).toEqual(expected.map(({ value }) => value));
  expect(result.errors).toEqual(
    expected.flatMap(({ code }, row) => (code === undefined ? [] : [{ row, code }])),
  );
}

describe.each(['+', '-', '*', '/', '%'])('%s', (sign) => {
  it('on BIGINT equals exact arithmetic or fails the row', () => {
    fc.assert(
      fc.property(pairs(int64), (rows) => {
        check(
          apply(sign, [INT64, INT64], rows),
          rows.map(([x, y]) =>
            x === null || y === null ? { value: null } : exact(sign, x, y, MIN64, MAX64),
          ),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('on every pair of edge values of BIGINT equals exact arithmetic', () => {
    const rows = edges64.flatMap((x) => edges64.map((y): [bigint, bigint] => [x, y]));
    check(
      apply(sign, [INT64, INT64], rows),
      rows.map(([x, y]) => exact(sign, x, y, MIN64, MAX64)),
    );
  });

  it('on INT equals exact arithmetic or fails the row', () => {
    fc.assert(
      fc.property(pairs(int32), (rows) => {
        const expected = rows.map(([x, y]) => {
          if (x === null || y === null) return { value: null };
          const outcome = exact(sign, BigInt(x), BigInt(y), -(2n ** 31n), 2n ** 31n - 1n);
          return { ...outcome, value: outcome.value === null ? null : Number(outcome.value) };
        });
        check(apply(sign, [INT32, INT32], rows), expected);
      }),
    );
  });

  it('takes a constant on either side', () => {
    fc.assert(
      fc.property(fc.array(int64, { maxLength: 20 }), int64, (values, other) => {
        const right = run(call(sign, column(0, INT64), literal(INT64, other.toString())), [
          INT64,
          values,
        ]);
        check(
          right,
          values.map((x) => exact(sign, x, other, MIN64, MAX64)),
        );
        const left = run(call(sign, literal(INT64, other.toString()), column(0, INT64)), [
          INT64,
          values,
        ]);
        check(
          left,
          values.map((x) => exact(sign, other, x, MIN64, MAX64)),
        );
      }),
    );
  });

  it('on DOUBLE equals IEEE arithmetic, with an error for a zero divisor', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.double(), fc.double()), { maxLength: 30 }), (rows) => {
        const divides = sign === '/' || sign === '%';
        const compute = (x: number, y: number): number =>
          sign === '+'
            ? x + y
            : sign === '-'
              ? x - y
              : sign === '*'
                ? x * y
                : sign === '/'
                  ? x / y
                  : x % y;
        const expected = rows.map(([x, y]) =>
          divides && y === 0 ? { value: null, code: 'DIVISION_BY_ZERO' } : { value: compute(x, y) },
        );
        check(apply(sign, [FLOAT64, FLOAT64], rows), expected);
      }),
    );
  });

  it('on DECIMAL equals exact rational arithmetic, rounded half away from zero', () => {
    const type = fc
      .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38))
      .map(([precision, scale]) => ({ precision, scale: Math.min(scale, precision) }));
    const value = (precision: number): fc.Arbitrary<bigint> => {
      const bound = 10n ** BigInt(precision) - 1n;
      return fc.oneof(
        fc.bigInt({ min: -bound, max: bound }),
        fc.bigInt({ min: -(bound < 99n ? bound : 99n), max: bound < 99n ? bound : 99n }),
        fc.constantFrom(bound, -bound),
      );
    };
    const input = fc.tuple(type, type).chain(([a, b]) =>
      fc.record({
        a: fc.constant(a),
        b: fc.constant(b),
        rows: fc.array(fc.tuple(value(a.precision), value(b.precision)), {
          minLength: 1,
          maxLength: 10,
        }),
      }),
    );
    fc.assert(
      fc.property(input, ({ a, b, rows }) => {
        const left = decimalType(a.precision, a.scale);
        const right = decimalType(b.precision, b.scale);
        const resolved = resolveFunction(sign, [left, right]);
        if ('error' in resolved || resolved.type.tag !== 'decimal')
          throw new Error('a decimal operator');
        const { precision, scale } = resolved.type;
        const written = rows.map(([x, y]) => [point(x, a.scale), point(y, b.scale)]);
        check(
          apply(sign, [left, right], written),
          rows.map(([x, y]) => rational(sign, x, a.scale, y, b.scale, precision, scale)),
        );
      }),
      { numRuns: 400 },
    );
  });
});

function point(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${value < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(digits.length - scale)}` : ''}`;
}

/** x·10^-sx (sign) y·10^-sy as a fraction, then rounded to `scale`. */
function rational(
  sign: string,
  x: bigint,
  sx: number,
  y: bigint,
  sy: number,
  precision: number,
  scale: number,
): Expected {
  const [ux, uy] = [10n ** BigInt(sx), 10n ** BigInt(sy)];
  if ((sign === '/' || sign === '%') && y === 0n) return { value: null, code: 'DIVISION_BY_ZERO' };
  let numerator = x * uy + y * ux;
  let denominator = ux * uy;
  if (sign === '-') numerator = x * uy - y * ux;
  if (sign === '*') numerator = x * y;
  if (sign === '/') [numerator, denominator] = [x * uy, ux * y];
  if (sign === '%') numerator = (x * uy) % (y * ux);
  if (denominator < 0n) [numerator, denominator] = [-numerator, -denominator];
  const scaled = numerator * 10n ** BigInt(scale);
  const size = scaled < 0n ? -scaled : scaled;
  const rounded = size / denominator + ((size % denominator) * 2n >= denominator ? 1n : 0n);
  const value = scaled < 0n ? -rounded : rounded;
  return rounded >= 10n ** BigInt(precision)
    ? { value: null, code: 'NUMERIC_OVERFLOW' }
    : { value: point(value, scale) };
}

describe('unary minus', () => {
  it('fails for the smallest whole numbers only', () => {
    expect(apply('-', [INT32], [[5], [-2147483648], [null]])).toMatchObject({
      values: [-5, null, null],
      errors: [{ row: 1, code: 'NUMERIC_OVERFLOW' }],
    });
    expect(apply('-', [INT64], [[MAX64], [MIN64]])).toMatchObject({
      values: [-MAX64, null],
      errors: [{ row: 1, code: 'NUMERIC_OVERFLOW' }],
    });
    expect(
      apply('-', [decimalType(38, 2)], [['1.50'], ['-999999999999999999999999999999999999.99']])
        .values,
    ).toEqual(['-1.50', '999999999999999999999999999999999999.99']);
  });
});

describe('result types of mixed operands', () => {
  it('climb from INT through BIGINT and DECIMAL to DOUBLE', () => {
    const typeOf = (a: Parameters<typeof resolveFunction>[1][number], b: typeof a) => {
      const resolved = resolveFunction('+', [a, b]);
      return 'error' in resolved ? resolved.error : resolved.type;
    };
    expect(typeOf(INT32, INT32)).toEqual(INT32);
    expect(typeOf(INT32, INT64)).toEqual(INT64);
    expect(typeOf(INT64, decimalType(5, 2))).toEqual(decimalType(22, 2));
    expect(typeOf(decimalType(38, 38), FLOAT64)).toEqual(FLOAT64);
    expect(typeOf(INT32, { tag: 'text' })).toBe('TYPE_ERROR');
  });
});

it('a failed row tells both operands and the type', () => {
  expect(apply('+', [INT64, INT64], [[MAX64, 1n]]).messages).toEqual([
    '9223372036854775807 + 1 does not fit BIGINT',
  ]);
  expect(apply('/', [INT32, INT32], [[7, 0]]).messages).toEqual(['division by zero: 7 / 0']);
});

it('a DECIMAL quotient in the middle is rounded away from zero', () => {
  const [one, million] = [decimalType(1, 0), decimalType(7, 0)];
  const rows = [
    ['1', '2000000'],
    ['-1', '2000000'],
    ['-1', '-2000000'],
    ['1', '2000001'],
    ['3', '2000000'],
  ];
  expect(apply('/', [one, million], rows).values).toEqual([
    '0.000001',
    '-0.000001',
    '0.000001',
    '0.000000',
    '0.000002',
  ]);
});
