import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeColumn } from '../../src/batch/take.ts';
import type { Column } from '../../src/batch/column.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  WINDOW,
  decimalType,
} from '../../src/batch/types.ts';
import type { SqlType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { mergeGroups, subtractGroups, type Accumulator } from '../../src/expr/accumulator.ts';
import { makeAccumulator, resolveAggregate } from '../../src/expr/aggregate-registry.ts';
import type { AggregateCall } from '../../src/expr/expr.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { column, valuesOf } from './support.ts';

const GROUPS = 5;
const ALL = Int32Array.from({ length: GROUPS }, (_, group) => group);

function callOf(name: string, type: SqlType | null): AggregateCall {
  const resolved = resolveAggregate(name, type === null ? [] : [type], false);
  if ('error' in resolved) throw new Error(resolved.message);
  const args = type === null ? [] : [column(0, type)];
  return {
    fn: resolved.fn,
    args,
    distinct: false,
    filter: null,
    type: resolved.type,
    label: `${name}(v)`,
  };
}

type Row = { group: number; value: Value };

function feed(
  accumulator: Accumulator,
  type: SqlType,
  rows: readonly Row[],
  retract: Uint8Array | null = null,
): void {
  accumulator.update(
    Int32Array.from(rows, ({ group }) => group),
    rows.length,
    [
      columnFromValues(
        type,
        rows.map(({ value }) => value),
      ),
    ],
    retract,
  );
}

function resultsOf(
  accumulator: Accumulator,
  groups = ALL,
): { values: Value[]; codes: (string | null)[]; messages: string[] } {
  const errors = new RowErrors(groups.length);
  const values = valuesOf(accumulator.results(groups, errors));
  const codes: (string | null)[] = values.map(() => null);
  for (const { row, code } of errors.list) codes[row] = code;
  return { values, codes, messages: errors.list.map(({ message }) => message) };
}

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 0n),
  fc.bigInt({ min: -9n, max: 9n }),
);
const unscaled = fc.oneof(
  fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
  fc.constantFrom(10n ** 38n - 1n, 1n - 10n ** 38n),
  fc.bigInt({ min: -9n, max: 9n }),
);
const point = (value: bigint, scale: number): string => {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${scale ? `.${digits.slice(digits.length - scale)}` : ''}`;
};
const roundedRatio = (numerator: bigint, denominator: bigint): bigint => {
  const size = numerator < 0n ? -numerator : numerator;
  const rounded = size / denominator + ((size % denominator) * 2n >= denominator ? 1n : 0n);
  return numerator < 0n ? -rounded : rounded;
};
const valuesIn = (rows: readonly Row[], group: number): Value[] =>
  rows.filter((row) => row.group === group && row.value !== null).map(({ value }) => value);
const total = (values: readonly Value[]): bigint =>
  values.reduce<bigint>(
    (sum, value) =>
      sum + BigInt(typeof value === 'string' ? value.replace('.', '') : (value as number | bigint)),
    0n,
  );

type Case = {
  name: string;
  type: SqlType;
  value: fc.Arbitrary<Value>;
  oracle: (values: Value[]) => { value: Value; code?: string };
};

const wholeSum = (values: Value[]) => {
  if (values.length === 0) return { value: null };
  const sum = total(values);
  return sum >= -(2n ** 63n) && sum < 2n ** 63n
    ? { value: sum }
    : { value: null, code: 'NUMERIC_OVERFLOW' };
};
const decimalSum = (values: Value[]) => {
  if (values.length === 0) return { value: null };
  const sum = total(values);
  return sum > -(10n ** 38n) && sum < 10n ** 38n
    ? { value: point(sum, 4) }
    : { value: null, code: 'NUMERIC_OVERFLOW' };
};
const decimalMean = (values: Value[]) => {
  if (values.length === 0) return { value: null };
  const mean = roundedRatio(total(values) * 100n, BigInt(values.length));
  return mean > -(10n ** 38n) && mean < 10n ** 38n
    ? { value: point(mean, 6) }
    : { value: null, code: 'NUMERIC_OVERFLOW' };
};
const best = (largest: boolean, less: (a: Value, b: Value) => boolean) => (values: Value[]) => ({
  value:
    values.length === 0
      ? null
      : values.reduce((one, other) => (less(one, other) === largest ? other : one)),
});
const byCodePoint = (a: Value, b: Value): boolean => {
  const [x, y] = [[...(a as string)], [...(b as string)]].map((points) =>
    points.map((one) => one.codePointAt(0) as number),
  ) as [number[], number[]];
  for (let index = 0; index < Math.min(x.length, y.length); index++)
    if (x[index] !== y[index]) return (x[index] as number) < (y[index] as number);
  return x.length < y.length;
};
const byNumber = (a: Value, b: Value): boolean => (a as bigint) < (b as bigint);
const float = fc.oneof(
  fc.double().map((value) => (value === 0 ? 0 : value)),
  fc.constantFrom(NaN, Infinity, -Infinity, 0, 1),
);
const byFloat = (a: Value, b: Value): boolean =>
  Number.isNaN(b) ? !Number.isNaN(a) : (a as number) < (b as number);

const CASES: Case[] = [
  {
    name: 'count',
    type: INT64,
    value: int64,
    oracle: (values) => ({ value: BigInt(values.length) }),
  },
  { name: 'sum', type: INT64, value: int64, oracle: wholeSum },
  { name: 'sum', type: INT32, value: fc.integer(), oracle: wholeSum },
  {
    name: 'sum',
    type: decimalType(38, 4),
    value: unscaled.map((value) => point(value, 4)),
    oracle: decimalSum,
  },
  {
    name: 'avg',
    type: decimalType(38, 4),
    value: unscaled.map((value) => point(value, 4)),
    oracle: decimalMean,
  },
  {
    name: 'avg',
    type: INT64,
    value: int64,
    oracle: (values) => ({
      value: values.length === 0 ? null : nearest(total(values), BigInt(values.length)),
    }),
  },
  { name: 'min', type: INT64, value: int64, oracle: best(false, byNumber) },
  { name: 'max', type: INT64, value: int64, oracle: best(true, byNumber) },
  { name: 'max', type: TIMESTAMP, value: int64, oracle: best(true, byNumber) },
  { name: 'min', type: INT32, value: fc.integer(), oracle: best(false, byNumber) },
  { name: 'min', type: BOOLEAN, value: fc.boolean(), oracle: best(false, byNumber) },
  {
    name: 'max',
    type: decimalType(38, 0),
    value: unscaled.map(String),
    oracle: best(true, (a, b) => BigInt(a as string) < BigInt(b as string)),
  },
  {
    name: 'min',
    type: TEXT,
    value: fc.string({ unit: 'grapheme', maxLength: 4 }),
    oracle: best(false, byCodePoint),
  },
  {
    name: 'max',
    type: TEXT,
    value: fc.string({ unit: 'binary', maxLength: 3 }),
    oracle: best(true, byCodePoint),
  },
  { name: 'min', type: FLOAT64, value: float, oracle: best(false, byFloat) },
  { name: 'max', type: FLOAT64, value: float, oracle: best(true, byFloat) },
];

/** The nearest double of a fraction: reading decimal text rounds correctly, and a last digit stands for what follows. */
function nearest(numerator: bigint, denominator: bigint): number {
  const size = numerator < 0n ? -numerator : numerator;
  const scaled = size * 10n ** 100n;
  const rest = scaled % denominator === 0n ? '0' : '1';
  const value = Number(`${point(scaled / denominator, 100)}${rest}`);
  return numerator < 0n ? -value : value;
}

describe.each(CASES)('$name of $type.tag', ({ name, type, value, oracle }) => {
  const rows = fc.array(
    fc.record({
      group: fc.integer({ min: 0, max: GROUPS - 1 }),
      value: fc.option(value, { freq: 6 }),
    }),
    { maxLength: 60 },
  );

  it('equals the oracle for any split into batches and any tree of merges', () => {
    fc.assert(
      fc.property(
        rows,
        fc.array(fc.nat(3), { minLength: 60, maxLength: 60 }),
        fc.boolean(),
        (all, parts, backwards) => {
          const call = callOf(name, type);
          const partials = [0, 1, 2, 3].map((part) => {
            const accumulator = makeAccumulator(call);
            accumulator.resize(GROUPS);
            const mine = all.filter((_, index) => parts[index] === part);
            const half = mine.length >> 1;
            feed(accumulator, type, mine.slice(0, half));
            feed(accumulator, type, mine.slice(half));
            return accumulator;
          });
          const merged = makeAccumulator(call);
          // Groups arrive permuted and one at a time grown, as after a rescale.
          merged.resize(1);
          merged.resize(GROUPS);
          for (const partial of backwards ? partials.reverse() : partials) {
            const order = Int32Array.of(3, 0, 4, 1, 2);
            const states = partial.stateColumns(order);
            expect(states.map((state) => state.type)).toEqual(partial.stateTypes);
            merged.merge(order, GROUPS, states);
          }
          const expected = Array.from(ALL, (group) => oracle(valuesIn(all, group)));
          const { values, codes } = resultsOf(merged);
          expect(values).toEqual(expected.map((one) => one.value));
          expect(codes).toEqual(expected.map((one) => one.code ?? null));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe.each(CASES)('states of $name of $type.tag', ({ name, type, value }) => {
  const rows = fc.array(
    fc.record({ group: fc.integer({ min: 0, max: GROUPS - 1 }), value: fc.option(value) }),
    { maxLength: 40 },
  );
  const withRoom = (): Accumulator => {
    const accumulator = makeAccumulator(callOf(name, type));
    accumulator.resize(GROUPS);
    return accumulator;
  };

  it('are handed on from one accumulator to another as they are by columns, and given back', () => {
    fc.assert(
      fc.property(rows, rows, (ones, others) => {
        const [first, second] = [withRoom(), withRoom()];
        feed(first, type, ones);
        feed(second, type, others);
        const into = Int32Array.of(3, 0, 4, 1, 2);
        const sources = Int32Array.of(1, 1, -1, 0, 4);
        const rowsOfStates = [0, 1, 3, 4];
        const picked = (list: Int32Array): Int32Array =>
          Int32Array.from(rowsOfStates, (row) => list[row] as number);

        const byColumns = withRoom();
        byColumns.merge(ALL, GROUPS, first.stateColumns(ALL));
        byColumns.merge(picked(into), 4, second.stateColumns(picked(sources)));
        const handedOn = withRoom();
        mergeGroups(handedOn, ALL, GROUPS, first, ALL);
        mergeGroups(handedOn, into, GROUPS, second, sources);
        expect(resultsOf(handedOn)).toEqual(resultsOf(byColumns));
        expect(handedOn.stateColumns(ALL).flatMap(valuesOf)).toEqual(
          byColumns.stateColumns(ALL).flatMap(valuesOf),
        );

        if (handedOn.subtract !== undefined) {
          subtractGroups(handedOn, picked(into), 4, second, picked(sources));
          expect(handedOn.stateColumns(ALL).flatMap(valuesOf)).toEqual(
            first.stateColumns(ALL).flatMap(valuesOf),
          );
        }
        handedOn.resize(0);
        handedOn.resize(GROUPS);
        expect(handedOn.stateColumns(ALL).flatMap(valuesOf)).toEqual(
          withRoom().stateColumns(ALL).flatMap(valuesOf),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(CASES.filter(({ name }) => name !== 'min' && name !== 'max'))(
  'retraction in $name of $type.tag',
  ({ name, type, value, oracle }) => {
    it('leaves what was never taken back', () => {
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.option(value), fc.boolean()), { maxLength: 40 }),
          (entries) => {
            const accumulator = makeAccumulator(callOf(name, type));
            expect(accumulator.invertible).toBe(true);
            accumulator.resize(1);
            const rows = entries.map(([one]) => ({ group: 0, value: one }));
            const gone = rows.filter((_, index) => entries[index]?.[1]);
            const kept = rows.filter((_, index) => !entries[index]?.[1]);
            feed(
              accumulator,
              type,
              [...rows, ...gone],
              Uint8Array.from([...rows.map(() => 0), ...gone.map(() => 1)]),
            );
            const expected = oracle(valuesIn(kept, 0));
            expect(resultsOf(accumulator, Int32Array.of(0))).toMatchObject({
              values: [expected.value],
              codes: [expected.code ?? null],
            });
          },
        ),
        { numRuns: 60 },
      );
    });
  },
);

describe('sums of DOUBLE', () => {
  it('keep what plain addition loses', () => {
    const accumulator = makeAccumulator(callOf('sum', FLOAT64));
    accumulator.resize(1);
    feed(
      accumulator,
      FLOAT64,
      [1e100, 1, -1e100, 0.1, 0.2].map((value) => ({ group: 0, value })),
    );
    expect(resultsOf(accumulator, Int32Array.of(0)).values[0]).toBeCloseTo(1.3, 12);
  });

  it('take NaN and infinities back', () => {
    const accumulator = makeAccumulator(callOf('avg', FLOAT64));
    accumulator.resize(1);
    const state = (): Value => resultsOf(accumulator, Int32Array.of(0)).values[0] as Value;
    const step = (value: number, back: 0 | 1): Value => {
      feed(accumulator, FLOAT64, [{ group: 0, value }], Uint8Array.of(back));
      return state();
    };
    expect([
      step(2, 0),
      step(Infinity, 0),
      step(-Infinity, 0),
      step(Infinity, 1),
      step(NaN, 0),
      step(NaN, 1),
      step(-Infinity, 1),
      step(2, 1),
    ]).toEqual([2, Infinity, NaN, -Infinity, NaN, -Infinity, 2, null]);
  });

  it('are the same after a round trip of the state', () => {
    fc.assert(
      fc.property(fc.array(float, { maxLength: 30 }), (values) => {
        const one = makeAccumulator(callOf('sum', FLOAT64));
        one.resize(1);
        feed(
          one,
          FLOAT64,
          values.map((value) => ({ group: 0, value })),
        );
        const other = makeAccumulator(callOf('sum', FLOAT64));
        other.resize(1);
        other.merge(Int32Array.of(0), 1, one.stateColumns(Int32Array.of(0)));
        expect(resultsOf(other, Int32Array.of(0))).toEqual(resultsOf(one, Int32Array.of(0)));
      }),
    );
  });
});

describe('groups', () => {
  it('a negative group skips the row, and an empty group counts 0 and is NULL otherwise', () => {
    for (const [name, type, wanted] of [
      ['count', INT32, [0n, 1n]],
      ['sum', INT32, [null, 7n]],
      ['avg', INT32, [null, 7]],
      ['min', INT32, [null, 7]],
      ['max', TEXT, [null, '7']],
    ] as const) {
      const accumulator = makeAccumulator(callOf(name, type));
      accumulator.resize(2);
      const value = type === TEXT ? '7' : 7;
      feed(accumulator, type, [
        { group: -1, value },
        { group: 1, value },
        { group: 1, value: null },
      ]);
      expect(resultsOf(accumulator, Int32Array.of(0, 1)).values).toEqual(wanted);
      accumulator.resize(1);
      accumulator.resize(2);
      expect(
        resultsOf(accumulator, Int32Array.of(1)).values,
        'a group given up and made again is empty',
      ).toEqual([wanted[0]]);
    }
  });

  it('grow by thousands and report their bytes', () => {
    const accumulator = makeAccumulator(callOf('sum', INT64));
    const before = accumulator.bytes();
    accumulator.resize(5000);
    const groups = Int32Array.from({ length: 5000 }, (_, group) => group);
    const input = columnFromValues(
      INT64,
      Array.from(groups, (group) => BigInt(group)),
    );
    accumulator.update(groups, 5000, [input], null);
    expect(resultsOf(accumulator, Int32Array.of(0, 4999)).values).toEqual([0n, 4999n]);
    expect(accumulator.bytes() - before).toBeGreaterThanOrEqual(5000 * 16);
  });

  it('count(*) counts rows, whatever is in them', () => {
    const accumulator = makeAccumulator(callOf('count', null));
    accumulator.resize(2);
    accumulator.update(Int32Array.of(0, 1, 1, -1), 4, [], Uint8Array.of(0, 0, 1, 0));
    expect(resultsOf(accumulator, Int32Array.of(0, 1)).values).toEqual([1n, 0n]);
  });

  it('read a column that is a piece of a larger one', () => {
    const accumulator = makeAccumulator(callOf('max', TEXT));
    accumulator.resize(1);
    const piece: Column = takeColumn(
      columnFromValues(TEXT, ['zz', 'b', 'c']),
      Int32Array.of(2, 1),
      2,
    );
    accumulator.update(Int32Array.of(0, 0), 2, [piece], null);
    expect(resultsOf(accumulator, Int32Array.of(0)).values).toEqual(['c']);
  });
});

describe('what users reported', () => {
  it('U06: a sum beyond BIGINT fails by name instead of wrapping, and recovers when rows go back', () => {
    const accumulator = makeAccumulator(callOf('sum', INT64));
    accumulator.resize(1);
    feed(accumulator, INT64, [
      { group: 0, value: 9223372036854775807n },
      { group: 0, value: 1n },
    ]);
    expect(resultsOf(accumulator, Int32Array.of(0))).toEqual({
      values: [null],
      codes: ['NUMERIC_OVERFLOW'],
      messages: ['sum(v) is 9223372036854775808, which does not fit BIGINT'],
    });
    feed(accumulator, INT64, [{ group: 0, value: 1n }], Uint8Array.of(1));
    expect(resultsOf(accumulator, Int32Array.of(0)).values).toEqual([9223372036854775807n]);
  });

  it('U14: min and max of text go by code point', () => {
    for (const [name, wanted] of [
      ['min', '｡'],
      ['max', '😀'],
    ] as const) {
      const accumulator = makeAccumulator(callOf(name, TEXT));
      accumulator.resize(1);
      feed(accumulator, TEXT, [
        { group: 0, value: '😀' },
        { group: 0, value: '｡' },
      ]);
      expect(resultsOf(accumulator, Int32Array.of(0)).values).toEqual([wanted]);
    }
  });
});

describe('resolution of aggregates', () => {
  it('gives result types', () => {
    expect(resolveAggregate('SUM', [INT32], false)).toMatchObject({ fn: 'sum', type: INT64 });
    expect(resolveAggregate('sum', [decimalType(10, 3)], false)).toMatchObject({
      type: decimalType(38, 3),
    });
    expect(resolveAggregate('avg', [decimalType(10, 3)], false)).toMatchObject({
      type: decimalType(38, 6),
    });
    expect(resolveAggregate('avg', [INT64], false)).toMatchObject({ type: FLOAT64 });
    expect(resolveAggregate('count', [], false)).toMatchObject({ fn: 'count-rows', type: INT64 });
  });

  it('says clearly what it does not do', () => {
    expect(resolveAggregate('max', [INT64], true)).toMatchObject({ fn: 'max' });
    expect(resolveAggregate('sum', [TEXT], false)).toMatchObject({ error: 'TYPE_ERROR' });
    expect(resolveAggregate('sum', [WINDOW], false)).toMatchObject({ error: 'TYPE_ERROR' });
    expect(resolveAggregate('sum', [], false)).toMatchObject({
      error: 'TYPE_ERROR',
      hint: 'It is called as sum(x).',
    });
    expect(resolveAggregate('summ', [INT64], false)).toMatchObject({
      error: 'UNKNOWN_FUNCTION',
      candidates: ['sum'],
    });
  });
});
