import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOAT64, INT32, INT64, TIMESTAMP, type SqlType } from '../../src/batch/types.ts';
import { columnFromValues, valueAt, type Value } from '../../src/batch/values.ts';
import { functionById } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';

const edges64 = [
  -(2n ** 63n),
  -(2n ** 53n) - 1n,
  -(2n ** 53n),
  -(2n ** 32n),
  -1n,
  0n,
  1n,
  2n ** 31n,
];
const more64 = [
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
];
const int64 = fc.oneof(fc.constantFrom(...edges64, ...more64), fc.bigInt({ min: -9n, max: 9n }));
const VALUES: [SqlType, fc.Arbitrary<Value>][] = [
  [INT32, fc.oneof(fc.constantFrom(-2147483648, -1, 0, 1, 2147483647), fc.nat({ max: 3 }))],
  [INT64, int64],
  [TIMESTAMP, int64],
  [FLOAT64, fc.constantFrom(NaN, -Infinity, Infinity, -0, 0, 1.5, -1.5, 5e-324, 1e308)],
];

/** NaN equals itself and comes last; null: not comparable. */
function order(left: Value, right: Value): number | null {
  if (left === null || right === null) return null;
  const [x, y] = [left as number | bigint, right as number | bigint];
  const isNaNLeft = x !== x;
  const isNaNRight = y !== y;
  if (isNaNLeft || isNaNRight) return Number(isNaNLeft) - Number(isNaNRight);
  return x < y ? -1 : x > y ? 1 : 0;
}

const HOLDS: Record<string, (order: number) => boolean> = {
  equal: (at) => at === 0,
  'not-equal': (at) => at !== 0,
  less: (at) => at < 0,
  'less-equal': (at) => at <= 0,
  greater: (at) => at > 0,
  'greater-equal': (at) => at >= 0,
};

test('every comparison of a column with a constant or a column is what its rows say, for any number of rows', () => {
  const cases = fc.constantFrom(...VALUES).chain(([type, value]) =>
    fc.record({
      type: fc.constant(type),
      rows: fc.array(fc.tuple(fc.option(value, { freq: 9 }), value), {
        minLength: 2,
        maxLength: 40,
      }),
      constant: fc.option(value, { freq: 9 }),
      fn: fc.constantFrom(...Object.keys(HOLDS)),
    }),
  );
  fc.assert(
    fc.property(cases, ({ type, rows, constant, fn }) => {
      const left = columnFromValues(
        type,
        rows.map(([x]) => x),
      );
      const right = columnFromValues(
        type,
        rows.map(([, y]) => y),
      );
      const one = columnFromValues(type, [constant]);
      const run = (a: typeof left, b: typeof left): Value[] => {
        const errors = new RowErrors(rows.length);
        const column = functionById(fn).evaluate([a, b], rows.length, errors, { tag: 'boolean' });
        return rows.map((_, row) => valueAt(column, row));
      };
      const wanted = (pairs: [Value, Value][]): (boolean | null)[] =>
        pairs.map(([x, y]) => {
          const at = order(x, y);
          return at === null ? null : (HOLDS[fn] as (at: number) => boolean)(at);
        });
      expect(run(left, right)).toEqual(wanted(rows));
      expect(run(left, one)).toEqual(wanted(rows.map(([x]) => [x, constant])));
      expect(run(one, left)).toEqual(wanted(rows.map(([x]) => [constant, x])));
    }),
    { numRuns: 1000, seed: 20261129 },
  );
});
