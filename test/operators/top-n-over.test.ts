/** Top-N, OVER and set operations against a row-at-a-time oracle: whatever the batches, retractions, flushes and restarts are. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  BOOLEAN,
  FLOAT64,
  INT64,
  TEXT,
  TIMESTAMP,
  type Schema,
  type SqlType,
} from '../../src/batch/types.ts';
import { batchFromRows, rowsOf, type Row, type Value } from '../../src/batch/values.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { Expr } from '../../src/expr/expr.ts';
import type { FrameBound, OverCall, OverForm, OverFunction, SortKey } from '../../src/expr/over.ts';
import type { Operator } from '../../src/operators/operator.ts';
import { OverTimed } from '../../src/operators/over-timed.ts';
import { OverUpdating } from '../../src/operators/over-updating.ts';
import { SetOperation } from '../../src/operators/set-operation.ts';
import { TopN } from '../../src/operators/top-n.ts';
import type { PlanNode } from '../../src/plan/logical.ts';
import { makeOver, makeSetOperation, makeTopN } from '../../src/plan/over-nodes.ts';
import { interpretOver } from '../plan/interpret-over.ts';
import { Collected, Subtasks, column, cutAt, text } from './harness.ts';

const SEED = 20260905;

vi.setConfig({ testTimeout: 60_000 });

/** Key, two values to order and aggregate by, a condition and a time. */
const SCHEMA: Schema = [
  { name: 'k', type: TEXT, nullable: true },
  { name: 'v', type: INT64, nullable: true },
  { name: 'x', type: FLOAT64, nullable: true },
  { name: 'flag', type: BOOLEAN, nullable: true },
  { name: 't', type: TIMESTAMP, nullable: false },
];

const [K, V, X, FLAG, T] = SCHEMA.map((field, index) => column(index, field.type)) as [
  Expr,
  Expr,
  Expr,
  Expr,
  Expr,
];

const row = fc.record({
  k: fc.constantFrom('a', 'b', null),
  v: fc.option(fc.bigInt({ min: -3n, max: 3n })),
  x: fc.constantFrom(-1, 0, 0.5, Number.NaN, null),
  flag: fc.constantFrom(true, false, null),
  t: fc.bigInt({ min: 0n, max: 30n }),
});

type Input = { row: Row; retract: boolean };

/** Rows of which some are taken back later. */
const inputs = (retracting: boolean): fc.Arbitrary<Input[]> =>
  fc.array(fc.tuple(row, fc.nat(), fc.boolean()), { maxLength: 40 }).map((steps) => {
    const alive: Row[] = [];
    return steps.map(([next, pick, back]): Input => {
      const gone = retracting && back && alive.length > 0;
      if (gone) return { row: alive.splice(pick % alive.length, 1)[0] as Row, retract: true };
      alive.push(next);
      return { row: next, retract: false };
    });
  });

function batchOf(rows: readonly Input[]): RecordBatch {
  const batch = batchFromRows(
    SCHEMA,
    rows.map((input) => input.row),
  );
  return {
    ...batch,
    eventTime: batch.columns[4] as Int64Column,
    retract: rows.some((input) => input.retract)
      ? Uint8Array.from(rows, (input) => Number(input.retract))
      : null,
  };
}

const named = (values: readonly Value[]): string => text(values);

/** What is left of rows that come and go; a row that goes before it came is a fault of the operator. */
function settled(batches: readonly RecordBatch[], width: number): string[] {
  const counts = new Map<string, number>();
  for (const batch of batches) {
    const schema: Schema = batch.columns.map((each, at) => ({
      name: `c${at}`,
      type: each.type,
      nullable: true,
    }));
    rowsOf(batch, schema).forEach((values, at) => {
      const key = named(Object.values(values));
      const count = (counts.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1);
      expect(count, `${key} is taken back before it came`).toBeGreaterThanOrEqual(0);
      counts.set(key, count);
    });
    expect(batch.columns).toHaveLength(width);
  }
  return [...counts].flatMap(([key, count]) => Array.from({ length: count }, () => key)).sort();
}

function remaining(rows: readonly Input[]): Value[][] {
  const alive: Value[][] = [];
  for (const input of rows) {
    const values = SCHEMA.map((field) => input.row[field.name] ?? null);
    if (!input.retract) alive.push(values);
    else
      alive.splice(
        alive.findIndex((other) => named(other) === named(values)),
        1,
      );
  }
  return alive;
}

const leaf = (updating: boolean): PlanNode =>
  ({
    tag: 'scan',
    schema: SCHEMA,
    updating,
    keys: null,
    eventTime: !updating,
    windows: SCHEMA.map(() => null),
  }) as unknown as PlanNode;

const sortKey = fc
  .record({
    expr: fc.constantFrom(V, X, T, FLAG),
    descending: fc.boolean(),
    nullsFirst: fc.boolean(),
  })
  .map((key): SortKey => key);

const plan = fc.record({
  partitionBy: fc.constantFrom<readonly Expr[]>([K], [K, FLAG], []),
  orderBy: fc.array(sortKey, { minLength: 1, maxLength: 2 }),
  sizes: fc.constantFrom([1], [3, 1], [100]),
  /** After so many batches a flush, and a restart at this parallelism. */
  turns: fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 3 })), { maxLength: 4 }),
});

const keyNumbers = (exprs: readonly Expr[]): number[] =>
  exprs.map((expr) => (expr.tag === 'column' ? expr.index : 0));

/** Drives an operator over the rows with flushes, checkpoints and restarts in between. */
function drive(
  make: () => Operator,
  rows: readonly Input[],
  how: {
    partitionBy: readonly Expr[];
    sizes: readonly number[];
    turns: readonly (readonly [number, number])[];
  },
): Collected {
  const subtasks = new Subtasks(
    make,
    keyNumbers(how.partitionBy),
    how.partitionBy.length === 0 ? 1 : 2,
  );
  let turn = 0;
  let time = 0;
  for (const batch of rows.length === 0 ? [] : cutAt(batchOf(rows), how.sizes)) {
    subtasks.send(batch);
    const [kind, parallelism] = how.turns[turn++ % Math.max(1, how.turns.length)] ?? [3, 1];
    if (kind === 0) subtasks.tick((time += 1000));
    else if (kind === 1) subtasks.checkpoint();
    else if (kind === 2) subtasks.restart(how.partitionBy.length === 0 ? 1 : parallelism);
  }
  subtasks.watermark(Infinity);
  return subtasks.output;
}

const check = (property: fc.IProperty<never>): void =>
  void fc.assert(property as never, { seed: SEED, numRuns: 80 });

describe.each([false, true])('over input that is taken back: %s', (retracting) => {
  test('a Top-N is the first rows of each partition', () => {
    check(
      fc.property(
        plan,
        inputs(retracting),
        fc.record({
          limit: fc.integer({ min: 1, max: 4 }),
          offset: fc.nat(2),
          ties: fc.boolean(),
          ranked: fc.boolean(),
        }),
        ({ partitionBy, orderBy, sizes, turns }, rows, { limit, offset, ties, ranked }) => {
          // Skipping and sharing ranks are not asked for together.
          const shape = { partitionBy, orderBy, limit, offset: ties ? 0 : offset, ties };
          const make = (): Operator =>
            new TopN({ tag: 'top-n', ...shape, ranked, retracting, flushMs: 1000 }, SCHEMA);
          const output = drive(make, rows, { partitionBy, sizes, turns });
          const node = makeTopN(leaf(retracting), { ...shape, rank: ranked ? 'rn' : null });
          const wanted = interpretOver(
            node,
            () => ({ schema: SCHEMA, rows: remaining(rows), times: [] }) as never,
          );
          expect(settled(output.batches, SCHEMA.length + Number(ranked))).toEqual(
            wanted.rows.map(named).sort(),
          );
          expect(output.failed).toEqual([]);
        },
      ) as never,
    );
  });

  test('updating OVER is every row with its results', () => {
    check(
      fc.property(
        plan,
        inputs(retracting),
        fc.array(anyCall, { minLength: 1, maxLength: 3 }),
        ({ partitionBy, orderBy, sizes, turns }, rows, calls) => {
          const single = orderBy.slice(0, 1);
          const usable = calls.map((call) => measurable(call, single));
          const shape = {
            form: 'updating' as OverForm,
            partitionBy,
            orderBy: single,
            calls: usable,
          };
          const make = (): Operator =>
            new OverUpdating({ tag: 'over', ...shape, flushMs: 1000 }, SCHEMA);
          const output = drive(make, rows, { partitionBy, sizes, turns });
          const node = makeOver(
            leaf(retracting),
            shape,
            usable.map((call) => ({ name: 'c', type: call.type, nullable: true })),
          );
          const wanted = interpretOver(
            node,
            () => ({ schema: SCHEMA, rows: remaining(rows), times: [] }) as never,
          );
          expect(settled(output.batches, SCHEMA.length + usable.length)).toEqual(
            wanted.rows.map(named).sort(),
          );
          expect(output.failed).toEqual([]);
        },
      ) as never,
    );
  });
});

const bound: fc.Arbitrary<FrameBound> = fc.oneof(
  fc.constantFrom<FrameBound>(
    { tag: 'unbounded_preceding' },
    { tag: 'current_row' },
    { tag: 'unbounded_following' },
  ),
  fc.record({
    tag: fc.constantFrom('preceding' as const, 'following' as const),
    offset: fc.constantFrom('0', '1', '2', '9'),
  }),
);

const PLACES = [
  'unbounded_preceding',
  'preceding',
  'current_row',
  'following',
  'unbounded_following',
];

const frame = fc
  .record({
    unit: fc.constantFrom('rows' as const, 'range' as const, 'groups' as const),
    start: bound,
    end: bound,
  })
  .filter(
    ({ start, end }) =>
      start.tag !== 'unbounded_following' &&
      end.tag !== 'unbounded_preceding' &&
      PLACES.indexOf(start.tag) <= PLACES.indexOf(end.tag),
  );

const aggregate = (fn: string, args: readonly Expr[], type: SqlType, filter: Expr | null) => ({
  fn,
  args,
  distinct: false,
  filter,
  type,
  label: fn,
});

const anyCall: fc.Arbitrary<OverCall> = fc
  .record({
    fn: fc.constantFrom<OverFunction[]>(
      'row_number',
      'rank',
      'dense_rank',
      'percent_rank',
      'cume_dist',
      'ntile',
      'lag',
      'lead',
      'first_value',
      'last_value',
      'nth_value',
      'aggregate',
      'aggregate',
      'aggregate',
    ),
    count: fc.integer({ min: 1, max: 3 }),
    ignoreNulls: fc.boolean(),
    withDefault: fc.boolean(),
    frame,
    inner: fc.constantFrom(
      aggregate('count-rows', [], INT64, FLAG),
      aggregate('count', [V], INT64, null),
      aggregate('sum', [V], INT64, null),
      aggregate('min', [V], INT64, FLAG),
      aggregate('max', [V], INT64, null),
      aggregate('avg', [V], FLOAT64, null),
    ),
  })
  .map(({ fn, count, ignoreNulls, withDefault, frame: chosen, inner }): OverCall => {
    const shifts = fn === 'lag' || fn === 'lead';
    const picks = fn === 'first_value' || fn === 'last_value' || fn === 'nth_value';
    const ratio = fn === 'percent_rank' || fn === 'cume_dist';
    return {
      fn,
      args: shifts ? (withDefault ? [V, V] : [V]) : picks ? [X] : [],
      count,
      ignoreNulls: (shifts || picks) && ignoreNulls,
      aggregate: fn === 'aggregate' ? inner : null,
      frame: chosen,
      type: fn === 'aggregate' ? inner.type : picks ? FLOAT64 : ratio ? FLOAT64 : INT64,
      label: fn,
    };
  });

/** RANGE measures numbers and times only. */
function measurable(call: OverCall, orderBy: readonly SortKey[]): OverCall {
  const type = orderBy[0]?.expr.type.tag;
  const measures = [call.frame.start.tag, call.frame.end.tag].some(
    (tag) => tag === 'preceding' || tag === 'following',
  );
  return call.frame.unit === 'range' && measures && type === 'boolean'
    ? { ...call, frame: { ...call.frame, unit: 'rows' } }
    : call;
}

/** Calls that look back only, as the planner picks them for the form `timed`. */
const backwardCall = anyCall
  .map((call) => ({ ...call, ignoreNulls: false }))
  .filter(({ fn, frame: { unit, start, end } }) => {
    if (['row_number', 'rank', 'dense_rank', 'lag'].includes(fn)) return true;
    if (!['first_value', 'last_value', 'nth_value', 'aggregate'].includes(fn) || unit === 'groups')
      return false;
    if (end.tag !== 'current_row' && end.tag !== 'preceding') return false;
    return start.tag !== 'unbounded_preceding' || fn !== 'aggregate' || end.tag === 'current_row';
  });

test('OVER by event time gives every row once, with the results of the whole', () => {
  check(
    fc.property(
      plan,
      inputs(false),
      fc.array(backwardCall, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 0, max: 6 }),
      ({ partitionBy, sizes, turns }, rows, calls, delay) => {
        const orderBy: SortKey[] = [{ expr: T, descending: false, nullsFirst: false }];
        const shape = { form: 'timed' as OverForm, partitionBy, orderBy, calls };
        const make = (): Operator =>
          new OverTimed({ tag: 'over', ...shape, flushMs: 1000 }, SCHEMA);
        const subtasks = new Subtasks(
          make,
          keyNumbers(partitionBy),
          partitionBy.length === 0 ? 1 : 2,
        );
        // Rows in disorder, but none behind the watermark.
        const ordered = [...rows].sort(
          (left, right) =>
            Number((left.row['t'] as bigint) / BigInt(delay + 1)) -
            Number((right.row['t'] as bigint) / BigInt(delay + 1)),
        );
        let turn = 0;
        for (const batch of ordered.length === 0 ? [] : cutAt(batchOf(ordered), sizes)) {
          const times = rowsOf(batch, SCHEMA).map((each) => Number(each['t']));
          subtasks.watermark(Math.floor(Math.min(...times) / (delay + 1)) * (delay + 1));
          subtasks.send(batch);
          const [kind, parallelism] = turns[turn++ % Math.max(1, turns.length)] ?? [3, 1];
          if (kind === 1) subtasks.checkpoint();
          else if (kind === 2) subtasks.restart(partitionBy.length === 0 ? 1 : parallelism);
        }
        subtasks.watermark(Infinity);
        const node = makeOver(
          leaf(false),
          shape,
          calls.map((call) => ({ name: 'c', type: call.type, nullable: true })),
        );
        const wanted = interpretOver(
          node,
          () => ({ schema: SCHEMA, rows: remaining(ordered), times: [] }) as never,
        );
        expect(subtasks.output.lateRows).toEqual([]);
        expect(subtasks.output.batches.every((batch) => batch.retract === null)).toBe(true);
        expect(settled(subtasks.output.batches, SCHEMA.length + calls.length)).toEqual(
          wanted.rows.map(named).sort(),
        );
      },
    ) as never,
  );
});

test('EXCEPT and INTERSECT count rows on both sides', () => {
  check(
    fc.property(
      inputs(true),
      inputs(true),
      plan,
      fc.constantFrom('except' as const, 'intersect' as const),
      fc.boolean(),
      (left, right, { sizes, turns }, operator, all) => {
        const output = new Collected();
        const few = (rows: readonly Input[]): Input[] =>
          rows.map((input) => ({
            ...input,
            row: {
              k: input.row['k'] ?? null,
              v: null,
              x: input.row['x'] ?? null,
              flag: null,
              t: 0n,
            },
          }));
        const sides = [few(left), few(right)].map((rows) =>
          rows.length === 0 ? [] : [...cutAt(batchOf(rows), sizes)],
        );
        let made = new SetOperation({ tag: 'set-operation', operator, all, flushMs: 1000 }, SCHEMA);
        let turn = 0;
        for (let at = 0; at < Math.max(sides[0]?.length ?? 0, sides[1]?.length ?? 0); at++) {
          sides.forEach((side, port) => {
            const batch = side[at];
            if (batch !== undefined) made.onBatch(port, batch, output);
          });
          const [kind] = turns[turn++ % Math.max(1, turns.length)] ?? [3];
          if (kind === 0) made.onBarrier(output);
          if (kind !== 2) continue;
          made.onBarrier(output);
          const tables = made.snapshot('whole');
          made = new SetOperation({ tag: 'set-operation', operator, all, flushMs: 1000 }, SCHEMA);
          made.restore(tables);
        }
        made.onWatermark(Infinity, output);
        const tables = [few(left), few(right)].map((rows) => ({
          schema: SCHEMA,
          rows: remaining(rows),
          times: [],
        }));
        const node = makeSetOperation(operator, all, [leaf(true), leaf(true)]);
        let side = 0;
        const wanted = interpretOver(node, () => tables[side++] as never);
        expect(settled(output.batches, SCHEMA.length)).toEqual(wanted.rows.map(named).sort());
      },
    ) as never,
  );
});
