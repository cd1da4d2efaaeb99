/** What q14 of Nexmark asks of every row: decimals beside constants, decimals that cannot fail, and one character replaced. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { INT64, TEXT, decimalType, type DecimalType } from '../../src/batch/types.ts';
import { canFail } from '../../src/expr/expr-tools.ts';
import type { Expr } from '../../src/expr/expr.ts';
import { placePoint } from '../../src/expr/wide.ts';
import { call, cast, column, literal, run } from './support.ts';

const SEED = 20_261_130;
const WIDE = decimalType(38, 3);

const digits = fc.oneof(
  fc
    .constantFrom(0n, 1n, -1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 37n)
    .chain((near) =>
      fc
        .tuple(fc.integer({ min: -2, max: 2 }), fc.boolean())
        .map(([off, minus]) => (minus ? -near : near) + BigInt(off)),
    ),
  fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
);

it('every comparison of a DECIMAL with a constant is that of its digits, on either side', () => {
  const operators = {
    '=': (a: bigint, b: bigint) => a === b,
    '<>': (a: bigint, b: bigint) => a !== b,
    '<': (a: bigint, b: bigint) => a < b,
    '<=': (a: bigint, b: bigint) => a <= b,
    '>': (a: bigint, b: bigint) => a > b,
    '>=': (a: bigint, b: bigint) => a >= b,
  };
  fc.assert(
    fc.property(
      fc.array(fc.option(digits, { nil: null, freq: 6 }), { minLength: 2, maxLength: 20 }),
      digits,
      (values, constant) => {
        const fixed = literal(WIDE, constant.toString());
        const written = values.map((value) =>
          value === null ? null : placePoint(value, WIDE.scale),
        );
        for (const [name, holds] of Object.entries(operators)) {
          const left = run(call(name, column(0, WIDE), fixed), [WIDE, written]).values;
          expect(left).toEqual(
            values.map((value) => (value === null ? null : holds(value, constant))),
          );
          const right = run(call(name, fixed, column(0, WIDE)), [WIDE, written]).values;
          expect(right).toEqual(
            values.map((value) => (value === null ? null : holds(constant, value))),
          );
        }
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});

it('what cannot fail by its types does not, at the ends of them', () => {
  const scaled = fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38))
    .map(([p, s]) => decimalType(Math.max(p, s), s));
  const product = (left: Expr, right: Expr, name: string): Expr => call(name, left, right);
  let safe = 0;
  fc.assert(
    fc.property(
      scaled,
      scaled,
      fc.constantFrom('+', '-', '*', 'cast'),
      fc.boolean(),
      fc.boolean(),
      (a, b, name, minus, other) => {
        const expr =
          name === 'cast' ? cast(column(0, a), b) : product(column(0, a), column(1, b), name);
        if (canFail(expr)) return;
        safe++;
        const end = ({ precision, scale }: DecimalType, isNegative: boolean): string =>
          placePoint((10n ** BigInt(precision) - 1n) * (isNegative ? -1n : 1n), scale);
        const { errors } = run(expr, [a, [end(a, minus), '0']], [b, [end(b, other), '0']]);
        expect(errors).toEqual([]);
      },
    ),
    { seed: SEED, numRuns: 2000 },
  );
  expect(safe).toBeGreaterThan(200);
  const whole = (precision: number): boolean =>
    canFail(cast(column(0, INT64), decimalType(precision, 0)));
  expect([whole(18), whole(19)]).toEqual([true, false]);
  expect(
    run(cast(column(0, INT64), decimalType(19, 0)), [INT64, [-(2n ** 63n), 2n ** 63n - 1n]]).errors,
  ).toEqual([]);
});

it('replace puts one character for another, or none, wherever it stands', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'é', '😀', '\u0001', 'bbbb'), { maxLength: 9 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      fc.array(fc.option(text, { nil: null, freq: 6 }), { minLength: 2, maxLength: 12 }),
      fc.constantFrom('a', 'b', '\u0001', 'é'),
      fc.constantFrom('', 'x', 'c', 'xy'),
      (texts, old, fresh) => {
        const replaced = call('replace', column(0, TEXT), literal(TEXT, old), literal(TEXT, fresh));
        const expected = texts.map((value) => value?.replaceAll(old, fresh) ?? null);
        expect(run(replaced, [TEXT, texts]).values).toEqual(expected);
        expect(run(call('length', replaced), [TEXT, texts]).values).toEqual(
          expected.map((value) => (value === null ? null : [...value].length)),
        );
        expect(run(call('=', replaced, column(0, TEXT)), [TEXT, texts]).values).toEqual(
          texts.map((value, at) => (value === null ? null : value === expected[at])),
        );
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});
