import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INT32, INT64, decimalType } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply } from './support.ts';

const SEED = 20261129;
const int = (value: number) => ({ type: INT32, value });
const decimal = (value: string) => ({
  type: decimalType(value.replace(/\D/g, '').length, value.split('.')[1]?.length ?? 0),
  value,
});
const OUT = { fails: 'NUMERIC_OUT_OF_RANGE' };
const OVER = { fails: 'NUMERIC_OVERFLOW' };

const CASES: readonly Case[] = [
  ['sin', [NaN], NaN],
  ['cos', [Infinity], OUT],
  ['asin', [1.5], OUT],
  ['acosh', [0.5], OUT],
  ['atanh', [1], OUT],
  ['atan2', [1, 0], Math.PI / 2],
  ['cot', [0], OUT],
  ['log', [10, 1000], 3],
  ['log', [1, 5], OUT],
  ['log', [2, 0], OUT],
  ['nanvl', [NaN, 2], 2],
  ['isnan', [0], false],
  ['isinf', [Infinity], true],
  ['isfinite', [NaN], false],
  ['iszero', [-0], true],
  ['gcd', [0n, 0n], 0n],
  ['gcd', [-(2n ** 63n), 0n], OVER],
  ['gcd', [-(2n ** 63n), 6n], 2n],
  ['lcm', [0n, 5n], 0n],
  ['lcm', [2n ** 40n, 3n ** 30n], OVER],
  ['lcm', [2n ** 31n, 3n ** 19n], 2n ** 31n * 3n ** 19n],
  ['factorial', [20n], 2432902008176640000n],
  ['factorial', [21n], OVER],
  ['factorial', [-1n], OUT],
  ['factorial', [0n], 1n],
  ['width_bucket', [10, 0, 10, 4n], 5],
  ['width_bucket', [-1, 0, 10, 4n], 0],
  ['width_bucket', [9, 10, 0, 5n], 1],
  ['width_bucket', [1, 1, 1, 4n], OUT],
  ['trunc', [-2.999, 1n], -2.9],
  ['trunc', [1234.5, -2n], 1200],
  ['trunc', [0.3, 1n], 0.3],
  ['trunc', [decimal('-12.99'), 1n], '-12.90'],
  ['trunc', [decimal('12.99'), -1n], '10.00'],
  ['truncate', [decimal('12.99'), 5n], '12.99'],
  ['&', [int(-1), int(255)], 255],
  ['|', [2n ** 62n, 1n], 2n ** 62n + 1n],
  ['#', [-1n, 1n], -2n],
  ['~', [2n ** 40n], -(2n ** 40n) - 1n],
  ['bit_count', [-1n], 64],
  ['signum', [-2.5], -1],
];

describe('mathematics', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) => check(each));

  it('pi() is a constant', () => {
    expect(apply('pi', [], [[]]).values).toEqual([Math.PI]);
  });

  it('shifts of BIGINT equal those of 64-bit numbers', () => {
    const word = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 130 }), (value, by) => {
        const shift = BigInt(by & 63);
        expect(apply('<<', [INT64, INT64], [[value, BigInt(by)]]).values).toEqual([
          BigInt.asIntN(64, value << shift),
        ]);
        expect(apply('>>', [INT64, INT64], [[value, BigInt(by)]]).values).toEqual([value >> shift]);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('cuts decimals off without rounding and whatever their size', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
        fc.integer({ min: -40, max: 12 }),
        (unscaled, places) => {
          const dropped = BigInt(Math.max(0, Math.min(40, 10 - places)));
          const unit = 10n ** dropped;
          const wanted = (unscaled / unit) * unit;
          const digits = (wanted < 0n ? -wanted : wanted).toString().padStart(11, '0');
          const text = `${wanted < 0n ? '-' : ''}${digits.slice(0, -10)}.${digits.slice(-10)}`;
          const size = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(11, '0');
          const given = `${unscaled < 0n ? '-' : ''}${size.slice(0, -10)}.${size.slice(-10)}`;
          const type = decimalType(38, 10);
          expect(apply('trunc', [type, INT64], [[given, BigInt(places)]]).values).toEqual([text]);
        },
      ),
      { seed: SEED, numRuns: 200 },
    );
  });
});
