/** min, max, sum and avg of the types that have no loop in common with INT, BIGINT and DOUBLE. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BYTEA,
  DATE,
  FLOAT32,
  INT8,
  INTERVAL,
  TIMESTAMPTZ,
  UINT32,
  UINT64,
  listType,
  type SqlType,
} from '../../src/batch/types.ts';
import { columnFromValues, type Value } from '../../src/batch/values.ts';
import { makeAccumulator, resolveAggregate } from '../../src/expr/aggregate-registry.ts';
import { castColumn } from '../../src/expr/cast.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { column, valuesOf } from './support.ts';

/** The aggregate of one group, by way of two partial states. */
function aggregate(name: string, type: SqlType, values: readonly Value[]): Value | 'failed' {
  const resolved = resolveAggregate(name, [type], false);
  if ('error' in resolved) throw new Error(resolved.message);
  const input = resolved.coerced[0] as SqlType;
  const make = () =>
    makeAccumulator({
      fn: resolved.fn,
      args: [column(0, input)],
      distinct: false,
      filter: null,
      type: resolved.type,
      label: `${name}(v)`,
    });
  const whole = make();
  whole.resize(1);
  const half = values.length >> 1;
  for (const part of [values.slice(0, half), values.slice(half)]) {
    const partial = make();
    partial.resize(1);
    const given = columnFromValues(type, part);
    const cast = castColumn(given, input, false, new RowErrors(part.length));
    partial.update(new Int32Array(part.length), part.length, [cast], null);
    whole.merge(new Int32Array(1), 1, partial.stateColumns(new Int32Array(1)));
  }
  const errors = new RowErrors(1);
  const result = whole.results(new Int32Array(1), errors);
  return errors.failed ? 'failed' : (valuesOf(result)[0] as Value);
}

test('the smallest and the largest value of each type', () => {
  const struct: SqlType = {
    tag: 'struct',
    fields: [
      { name: 'a', type: DATE, nullable: true },
      { name: 'b', type: UINT64, nullable: true },
    ],
  };
  const cases: [SqlType, Value[], Value, Value][] = [
    [UINT64, [5n, 2n ** 64n - 1n, 2n ** 63n, null], 5n, 2n ** 64n - 1n],
    [UINT32, [4_294_967_295n, 0n], 0n, 4_294_967_295n],
    [INT8, [-128, 127], -128, 127],
    [DATE, [0, -719_163, 11_016], -719_163, 11_016],
    [TIMESTAMPTZ, [1n, -1n], -1n, 1n],
    [FLOAT32, [Math.fround(0.1), NaN, -1], -1, NaN],
    [BYTEA, ['\\xff', '\\x00ff', '\\x'], '\\x', '\\xff'],
    [INTERVAL, ['1 0 0', '0 31 0', '0 0 5'], '0 0 5', '0 31 0'],
    [listType(INT8), [[1, 2], [1], [0, 9, 9], null], [0, 9, 9], [1, 2]],
    [
      struct,
      [
        { a: 1, b: 2n },
        { a: 1, b: 2n ** 63n },
        { a: 0, b: null },
      ],
      { a: 0, b: null },
      { a: 1, b: 2n ** 63n },
    ],
  ];
  for (const [type, values, least, most] of cases) {
    const written = type.tag === 'interval' && least === '0 0 5' ? '5' : least;
    expect(aggregate('min', type, values), type.tag).toEqual(written);
    expect(aggregate('max', type, values), type.tag).toEqual(most);
    expect(aggregate('max', type, [null, null]), type.tag).toBeNull();
  }
});

test('sums of unsigned values and of intervals are exact in any order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 1 }),
      (values) => {
        const total = values.reduce((sum, value) => sum + value, 0n);
        expect(aggregate('sum', UINT64, values)).toBe(total.toString());
      },
    ),
    { numRuns: 50, seed: 4 },
  );
  expect(
    aggregate('sum', INTERVAL, ['1 2 3', '0 0 -9223372036854775808', '5 -3 9223372036854775807']),
  ).toBe('6 -1 2');
  expect(aggregate('sum', INTERVAL, ['0 0 9223372036854775807', '1'])).toBe('failed');
  expect(aggregate('avg', INTERVAL, ['1 0 0', '0 0 0'])).toBe('0 15 0');
  expect(aggregate('avg', INTERVAL, ['0 1 0', '0 0 0', '0 0 0', '0 0 0'])).toBe('21600000000');
  expect(aggregate('sum', INTERVAL, [null])).toBeNull();
  expect(aggregate('avg', UINT64, [2n ** 64n - 1n, 0n])).toBe('9223372036854775807.500000');
});
