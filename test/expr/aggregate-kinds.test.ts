import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SqlType } from '../../src/batch/types.ts';
import { BOOLEAN, FLOAT64, INT64, TEXT, decimalType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { mergeGroups, type Accumulator } from '../../src/expr/accumulator.ts';
import {
  AGGREGATES,
  makeAccumulator,
  resolveAggregate,
} from '../../src/expr/aggregate-registry.ts';
import type { AggregateCall, LiteralValue, SortOrder } from '../../src/expr/expr.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { column, valuesOf } from './support.ts';

const SEED = 20261129;
const GROUPS = 3;
const ALL = Int32Array.of(0, 1, 2);

type Tuple = readonly Value[];
type Kind = {
  name: string;
  /** Of arguments and keys. */
  types: readonly SqlType[];
  values?: number;
  params?: readonly LiteralValue[];
  order?: readonly SortOrder[];
  distinct?: boolean;
  ignoreNulls?: true;
  /** From all tuples of a group, in any order. */
  oracle: (tuples: readonly Tuple[]) => Value;
};

const ASC: SortOrder = { descending: false, nullsFirst: false };
const DESC: SortOrder = { descending: true, nullsFirst: true };

function callOf(kind: Kind, retracts: boolean): AggregateCall {
  const { name, types, values = types.length, params = [] } = kind;
  const constants = params.map((param) => (typeof param === 'number' ? FLOAT64 : TEXT));
  const resolved = resolveAggregate(name, [...types.slice(0, values), ...constants], false);
  if ('error' in resolved) throw new Error(resolved.message);
  return {
    fn: resolved.fn,
    args: types.map((type, index) => column(index, type)),
    params,
    ...(kind.order === undefined ? {} : { order: kind.order }),
    ...(kind.ignoreNulls === undefined ? {} : { ignoreNulls: true }),
    ...(retracts ? { retracts: true } : {}),
    distinct: kind.distinct === true,
    filter: null,
    type: resolved.type,
    label: name,
  };
}

// The oracle's own order of values: NULL last, NaN after every number.
const compare = (left: Value, right: Value): number => {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (Number.isNaN(left) || Number.isNaN(right))
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
};
const present = (tuples: readonly Tuple[], at = 0): Value[] =>
  tuples.map((tuple) => tuple[at] as Value).filter((value) => value !== null);
const sorted = (values: readonly Value[]): Value[] => [...values].sort(compare);
const unique = (values: readonly Value[]): Value[] => [...new Set(values)];
/** By the last column, then by the first. */
const inOrder = (tuples: readonly Tuple[], { descending }: SortOrder): Tuple[] =>
  [...tuples].sort((left, right) => {
    const [a, b] = [left.at(-1) as Value, right.at(-1) as Value];
    const order = compare(a, b);
    return (descending ? -order : order) || compare(left[0] as Value, right[0] as Value);
  });
const orNull = (values: readonly Value[], make: (values: readonly Value[]) => Value): Value =>
  values.length === 0 ? null : make(values);

/** Exact rational arithmetic on small whole numbers. */
const pairsOf = (tuples: readonly Tuple[]): [number, number][] =>
  tuples.filter(([y, x]) => y !== null && x !== null).map(([y, x]) => [y as number, x as number]);
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const moments = (tuples: readonly Tuple[]) => {
  const pairs = pairsOf(tuples);
  const n = pairs.length;
  const [y, x] = [pairs.map(([value]) => value), pairs.map(([, value]) => value)];
  const dx = n * sumOf(x.map((v) => v * v)) - sumOf(x) ** 2;
  const dy = n * sumOf(y.map((v) => v * v)) - sumOf(y) ** 2;
  const dxy = n * sumOf(pairs.map(([a, b]) => a * b)) - sumOf(x) * sumOf(y);
  return { n, dx, dy, dxy, sx: sumOf(x), sy: sumOf(y) };
};
type Moments = ReturnType<typeof moments>;
const regression = (name: string, make: (m: Moments) => number | null): Kind => ({
  name,
  types: [FLOAT64, FLOAT64],
  oracle: (tuples) => {
    const m = moments(tuples);
    return m.n === 0 ? null : make(m);
  },
});
const spread = (name: string, make: (d: number, n: number) => number | null): Kind => ({
  name,
  types: [FLOAT64],
  oracle: (tuples) => {
    const { n, dx } = moments(tuples.map(([value]) => [value as Value, value as Value]));
    return n === 0 ? null : make(dx, n);
  },
});

const median = (values: readonly number[], p = 0.5): number => {
  const place = p * (values.length - 1);
  const [low, high] = [values[Math.floor(place)] as number, values[Math.ceil(place)] as number];
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
};
const numbersOf = (tuples: readonly Tuple[]): number[] => sorted(present(tuples)) as number[];

const KINDS: readonly Kind[] = [
  {
    name: 'count',
    types: [TEXT],
    distinct: true,
    oracle: (t) => BigInt(unique(present(t)).length),
  },
  {
    name: 'count',
    types: [INT64],
    distinct: true,
    oracle: (t) => BigInt(unique(present(t)).length),
  },
  {
    name: 'sum',
    types: [INT64],
    distinct: true,
    oracle: (t) =>
      orNull(
        unique(present(t)),
        (v) => v.reduce((s, x) => (s as bigint) + (x as bigint), 0n) as Value,
      ),
  },
  {
    name: 'count_if',
    types: [BOOLEAN],
    oracle: (t) => BigInt(t.filter(([v]) => v === true).length),
  },
  {
    name: 'bool_and',
    types: [BOOLEAN],
    oracle: (t) => orNull(present(t), (v) => v.every(Boolean)),
  },
  { name: 'bool_or', types: [BOOLEAN], oracle: (t) => orNull(present(t), (v) => v.some(Boolean)) },
  {
    name: 'bit_and',
    types: [INT64],
    oracle: (t) =>
      orNull(present(t), (v) => v.reduce((a, b) => (a as bigint) & (b as bigint)) as Value),
  },
  {
    name: 'bit_or',
    types: [INT64],
    oracle: (t) =>
      orNull(present(t), (v) => v.reduce((a, b) => (a as bigint) | (b as bigint)) as Value),
  },
  {
    name: 'bit_xor',
    types: [INT64],
    oracle: (t) =>
      orNull(present(t), (v) => v.reduce((a, b) => (a as bigint) ^ (b as bigint)) as Value),
  },
  { name: 'min', types: [TEXT], oracle: (t) => sorted(present(t))[0] ?? null },
  { name: 'max', types: [INT64], oracle: (t) => sorted(present(t)).at(-1) ?? null },
  {
    name: 'array_agg',
    types: [TEXT],
    oracle: (t) => orNull(sorted(t.map(([v]) => v as Value)), (v) => [...v]),
  },
  {
    name: 'array_agg',
    types: [TEXT, INT64],
    values: 1,
    order: [DESC],
    oracle: (t) =>
      orNull(
        inOrder(t, DESC).map(([v]) => v as Value),
        (v) => [...v],
      ),
  },
  {
    name: 'array_agg',
    types: [INT64],
    distinct: true,
    ignoreNulls: true,
    oracle: (t) => orNull(sorted(unique(present(t))), (v) => [...v]),
  },
  {
    name: 'string_agg',
    types: [TEXT, INT64],
    values: 1,
    params: ['-'],
    order: [ASC],
    oracle: (t) =>
      orNull(
        inOrder(
          t.filter(([v]) => v !== null),
          ASC,
        ).map(([v]) => v as Value),
        (v) => v.join('-'),
      ),
  },
  {
    name: 'first_value',
    types: [TEXT, INT64],
    values: 1,
    order: [ASC],
    oracle: (t) => inOrder(t, ASC)[0]?.[0] ?? null,
  },
  {
    name: 'first_value',
    types: [TEXT, INT64],
    values: 1,
    order: [DESC],
    ignoreNulls: true,
    oracle: (t) =>
      inOrder(
        t.filter(([v]) => v !== null),
        DESC,
      )[0]?.[0] ?? null,
  },
  {
    name: 'last_value',
    types: [TEXT, INT64],
    values: 1,
    order: [ASC],
    oracle: (t) => inOrder(t, ASC).at(-1)?.[0] ?? null,
  },
  {
    name: 'any_value',
    types: [TEXT, INT64],
    values: 1,
    order: [ASC],
    oracle: (t) =>
      inOrder(
        t.filter(([v]) => v !== null),
        ASC,
      )[0]?.[0] ?? null,
  },
  {
    name: 'nth_value',
    types: [TEXT, INT64],
    values: 1,
    params: [2],
    order: [ASC],
    oracle: (t) => inOrder(t, ASC)[1]?.[0] ?? null,
  },
  {
    name: 'arg_min',
    types: [TEXT, INT64],
    oracle: (t) =>
      inOrder(
        t.filter(([, y]) => y !== null),
        ASC,
      )[0]?.[0] ?? null,
  },
  {
    name: 'arg_max',
    types: [TEXT, INT64],
    oracle: (t) =>
      inOrder(
        t.filter(([, y]) => y !== null),
        DESC,
      )[0]?.[0] ?? null,
  },
  {
    name: 'median',
    types: [FLOAT64],
    oracle: (t) => orNull(numbersOf(t), (v) => median(v as number[])),
  },
  {
    name: 'percentile_cont',
    types: [FLOAT64],
    params: [0.3],
    oracle: (t) => orNull(numbersOf(t), (v) => median(v as number[], 0.3)),
  },
  {
    name: 'percentile_disc',
    types: [TEXT],
    params: [0.3],
    oracle: (t) =>
      orNull(sorted(present(t)), (v) => v[Math.max(0, Math.ceil(0.3 * v.length) - 1)] as Value),
  },
  {
    name: 'mode',
    types: [TEXT],
    oracle: (t) =>
      orNull(
        present(t),
        (v) =>
          [...unique(sorted(v))].sort(
            (a, b) => v.filter((x) => x === b).length - v.filter((x) => x === a).length,
          )[0] as Value,
      ),
  },
  // The values of the test have few bits, so that rounding to nine changes nothing.
  {
    name: 'approx_median',
    types: [FLOAT64],
    oracle: (t) => orNull(numbersOf(t), (v) => median(v as number[])),
  },
  {
    name: 'approx_percentile_cont',
    types: [FLOAT64],
    params: [0.9, 100],
    oracle: (t) => orNull(numbersOf(t), (v) => median(v as number[], 0.9)),
  },
  { name: 'approx_distinct', types: [TEXT], oracle: (t) => BigInt(unique(present(t)).length) },
  spread('var_pop', (d, n) => d / n ** 2),
  spread('var_samp', (d, n) => (n < 2 ? null : d / (n * (n - 1)))),
  spread('stddev_pop', (d, n) => Math.sqrt(d / n ** 2)),
  spread('stddev', (d, n) => (n < 2 ? null : Math.sqrt(d / (n * (n - 1))))),
  regression('covar_pop', ({ n, dxy }) => dxy / n ** 2),
  regression('covar_samp', ({ n, dxy }) => (n < 2 ? null : dxy / (n * (n - 1)))),
  regression('corr', ({ dx, dy, dxy }) =>
    dx === 0 || dy === 0 ? null : Math.sign(dxy) * Math.sqrt(dxy ** 2 / (dx * dy)),
  ),
  regression('regr_slope', ({ dx, dxy }) => (dx === 0 ? null : dxy / dx)),
  regression('regr_intercept', ({ n, dx, dxy, sx, sy }) =>
    dx === 0 ? null : (sy * dx - sx * dxy) / (n * dx),
  ),
  regression('regr_r2', ({ dx, dy, dxy }) =>
    dx === 0 ? null : dy === 0 ? 1 : dxy ** 2 / (dx * dy),
  ),
  regression('regr_avgx', ({ n, sx }) => sx / n),
  regression('regr_avgy', ({ n, sy }) => sy / n),
  regression('regr_sxx', ({ n, dx }) => dx / n),
  regression('regr_syy', ({ n, dy }) => dy / n),
  regression('regr_sxy', ({ n, dxy }) => dxy / n),
  { name: 'regr_count', types: [FLOAT64, FLOAT64], oracle: (t) => BigInt(pairsOf(t).length) },
];

const arbitraryOf = (type: SqlType): fc.Arbitrary<Value> => {
  const some: fc.Arbitrary<Value> =
    type.tag === 'boolean'
      ? fc.boolean()
      : type.tag === 'text'
        ? fc.constantFrom('', 'a', 'b', 'é', '😀', 'ab')
        : type.tag === 'int64'
          ? fc.constantFrom(-3n, 0n, 1n, 2n, 7n, 2n ** 62n)
          : fc.integer({ min: -8, max: 8 });
  return fc.option(some, { nil: null, freq: 5 });
};

type Row = { group: number; tuple: Tuple; part: number };

function feed(
  accumulator: Accumulator,
  kind: Kind,
  rows: readonly Row[],
  retract: Uint8Array | null,
): void {
  const columns = kind.types.map((type, at) =>
    columnFromValues(
      type,
      rows.map(({ tuple }) => tuple[at] as Value),
    ),
  );
  accumulator.update(
    Int32Array.from(rows, ({ group }) => group),
    rows.length,
    columns,
    retract,
  );
}

function fresh(kind: Kind, retracts: boolean): Accumulator {
  const accumulator = makeAccumulator(callOf(kind, retracts));
  accumulator.resize(GROUPS);
  return accumulator;
}

const resultsOf = (accumulator: Accumulator): Value[] => {
  const errors = new RowErrors(GROUPS);
  const values = valuesOf(accumulator.results(ALL, errors));
  expect(errors.list).toEqual([]);
  return values;
};

function expectOracle(kind: Kind, found: readonly Value[], rows: readonly Row[]): void {
  for (let group = 0; group < GROUPS; group++) {
    const wanted = kind.oracle(rows.filter((row) => row.group === group).map(({ tuple }) => tuple));
    const value = found[group] as Value;
    if (typeof wanted === 'number' && typeof value === 'number')
      expect(value).toBeCloseTo(wanted, 12);
    else expect(value).toEqual(wanted);
  }
}

describe('every aggregate', () => {
  it('has a case here or in aggregates.test.ts', () => {
    const covered = new Set(KINDS.map((kind) => callOf(kind, false).fn));
    const elsewhere = [
      'count-rows',
      'count',
      'sum',
      'min',
      'max',
      'avg',
      'approx-percentile-cont-with-weight',
    ];
    for (const { id } of AGGREGATES)
      expect(covered.has(id) || elsewhere.includes(id), id).toBe(true);
  });

  it.each(KINDS.map((kind, at) => [`${kind.name} #${at}`, kind] as const))(
    '%s is that of its rows, however they are cut, merged, ordered, doubled and taken back',
    (_, kind) => {
      const tuple = fc.tuple(...kind.types.map(arbitraryOf));
      const row = fc.record({ group: fc.nat(GROUPS - 1), tuple, part: fc.nat(2) });
      fc.assert(
        fc.property(
          fc.array(row, { maxLength: 14 }),
          fc.array(row, { maxLength: 8 }),
          (rows, taken) => {
            // Three parts, each a subtask of its own, whose states meet.
            const parts = [0, 1, 2].map((part) => {
              const accumulator = fresh(kind, false);
              feed(
                accumulator,
                kind,
                rows.filter((each) => each.part === part),
                null,
              );
              return accumulator;
            });
            const merged = fresh(kind, false);
            for (const part of [...parts].reverse())
              merged.merge(ALL, GROUPS, part.stateColumns(ALL));
            const found = resultsOf(merged);
            expectOracle(kind, found, rows);

            const handedOn = fresh(kind, false);
            for (const part of parts) mergeGroups(handedOn, ALL, GROUPS, part, ALL);
            expect(resultsOf(handedOn)).toEqual(found);

            const alone = fresh(kind, false);
            for (const each of [...rows].reverse()) feed(alone, kind, [each], null);
            expect(resultsOf(alone)).toEqual(found);

            const updating = fresh(kind, true);
            expect(updating.invertible).toBe(true);
            feed(updating, kind, [...taken, ...rows], null);
            const restored = fresh(kind, true);
            restored.merge(ALL, GROUPS, updating.stateColumns(ALL));
            feed(restored, kind, taken, new Uint8Array(taken.length).fill(1));
            expectOracle(kind, resultsOf(restored), rows);
          },
        ),
        { seed: SEED, numRuns: 40 },
      );
    },
  );
});

describe('sums of doubles', () => {
  const exotic = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(1e308, -1e308, 5e-324, 1e-170, 0.1, -0, 3e15, 2 ** 52 + 0.5),
  );

  it('give one variance in every order, and zero for equal values', () => {
    const kind = KINDS.find(({ name }) => name === 'var_pop') as Kind;
    fc.assert(
      fc.property(fc.array(exotic, { minLength: 1, maxLength: 12 }), (values) => {
        const rows = values.map((value) => ({ group: 0, tuple: [value], part: 0 }));
        const outcome = (list: readonly Row[]) => {
          const accumulator = fresh(kind, false);
          for (const each of list) feed(accumulator, kind, [each], null);
          const errors = new RowErrors(GROUPS);
          return [valuesOf(accumulator.results(ALL, errors)), errors.list.map(({ code }) => code)];
        };
        expect(outcome([...rows].reverse())).toEqual(outcome(rows));
        const same = rows.map((row) => ({ ...row, tuple: [values[0] as number] }));
        expect(outcome(same)).toEqual([[0, null, null], []]);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('are NaN with a NaN or an infinity, until it is taken back', () => {
    const kind = KINDS.find(({ name }) => name === 'var_samp') as Kind;
    const accumulator = fresh(kind, false);
    const rows = [1, Infinity, 3].map((value) => ({ group: 0, tuple: [value], part: 0 }));
    feed(accumulator, kind, rows, null);
    expect(resultsOf(accumulator)[0]).toBeNaN();
    feed(accumulator, kind, [rows[1] as Row], Uint8Array.of(1));
    expect(resultsOf(accumulator)[0]).toBe(2);
  });
});

describe('approximations', () => {
  it('count many different values within two per cent', () => {
    const kind = KINDS.find(({ name }) => name === 'approx_distinct') as Kind;
    const accumulator = fresh(kind, false);
    const other = fresh(kind, false);
    const rows = Array.from({ length: 60_000 }, (_, at) => ({
      group: 0,
      tuple: [`user-${at % 50_000}`],
      part: 0,
    }));
    feed(accumulator, kind, rows.slice(0, 40_000), null);
    feed(other, kind, rows.slice(30_000), null);
    accumulator.merge(ALL, GROUPS, other.stateColumns(ALL));
    const found = Number(resultsOf(accumulator)[0]);
    expect(Math.abs(found - 50_000) / 50_000).toBeLessThan(0.02);
  });

  it('find percentiles within one in 512 of the value', () => {
    const kind = KINDS.find(({ name }) => name === 'approx_percentile_cont') as Kind;
    const accumulator = fresh(kind, false);
    const values = Array.from({ length: 5000 }, (_, at) => ((at * 7919) % 5000) ** 2 / 3 + 1);
    feed(
      accumulator,
      kind,
      values.map((value) => ({ group: 0, tuple: [value], part: 0 })),
      null,
    );
    const exact = median(
      [...values].sort((a, b) => a - b),
      0.9,
    );
    expect(Math.abs((resultsOf(accumulator)[0] as number) / exact - 1)).toBeLessThan(1 / 512);
  });

  it('weigh values', () => {
    const kind: Kind = {
      name: 'approx_percentile_cont_with_weight',
      types: [FLOAT64, FLOAT64],
      params: [0.5],
      oracle: () => null,
    };
    const accumulator = fresh(kind, false);
    const rows: Tuple[] = [
      [1, 1],
      [2, 1],
      [3, 5],
      [null, 9],
      [4, null],
    ];
    feed(
      accumulator,
      kind,
      rows.map((tuple) => ({ group: 0, tuple, part: 0 })),
      null,
    );
    expect(resultsOf(accumulator)).toEqual([3, null, null]);
  });
});

describe('percentiles of decimals', () => {
  it('the median has every digit', () => {
    const type = decimalType(38, 2);
    const kind: Kind = { name: 'median', types: [type], oracle: () => null };
    const accumulator = fresh(kind, false);
    const rows = ['999999999999999999999999999999999999.99', '0.01', '0.02'].map((value) => ({
      group: 0,
      tuple: [value],
      part: 0,
    }));
    feed(accumulator, kind, rows.slice(1), null);
    expect(resultsOf(accumulator)[0]).toBe('0.015');
    feed(accumulator, kind, rows.slice(0, 1), null);
    expect(resultsOf(accumulator)[0]).toBe('0.020');
  });
});
