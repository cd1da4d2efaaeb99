/** The values that DISTINCT and collecting aggregates keep, through checkpoints of changes, restarts and rescaling. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BOOLEAN, INT64, listType, TEXT, type Schema, WINDOW } from '../../src/batch/types.ts';
import type { Row } from '../../src/batch/values.ts';
import { rowsOf } from '../../src/batch/values.ts';
import type { AggregateCall } from '../../src/expr/expr.ts';
import { UpdatingAggregate } from '../../src/operators/updating-aggregate.ts';
import { WindowAggregate } from '../../src/operators/window-aggregate.ts';
import type { WindowAggregateSpec } from '../../src/operators/window-rows.ts';
import {
  call,
  Collected,
  column,
  cutAt,
  INPUT,
  inputBatch,
  Subtasks,
  text,
  type InputRow,
} from './harness.ts';

const SEED = 20261130;
const VALUE = column(1, INT64);
const FLAG = column(2, BOOLEAN);

const distinct = (fn: string, flagged: boolean, retracts: boolean): AggregateCall => ({
  ...call(fn, [VALUE], INT64, flagged ? FLAG : null),
  distinct: true,
  ...(retracts ? { retracts: true as const } : {}),
});
const calls = (retracts: boolean): AggregateCall[] => [
  distinct('count', false, retracts),
  distinct('count', true, retracts),
  distinct('sum', false, retracts),
  call('count', [VALUE], INT64),
  { ...call('array-agg', [VALUE, VALUE], listType(INT64)), order: [ASCENDING] },
];
const ASCENDING = { descending: false, nullsFirst: false };
const RESULTS: Schema = [
  ...['d', 'f', 's', 'n'].map((name) => ({ name, type: INT64, nullable: true })),
  { name: 'a', type: listType(INT64), nullable: true },
];
const KEYED: Schema = [{ name: 'k', type: TEXT, nullable: true }, ...RESULTS];

type Change = InputRow & { retract: boolean };

const changesArbitrary = (retracts: boolean) =>
  fc
    .array(
      fc.record({
        k: fc.constantFrom<string | null>('a', 'b', null),
        v: fc.option(fc.bigInt({ min: -3n, max: 3n })),
        flag: fc.option(fc.boolean()),
        undo: fc.nat({ max: 99 }),
      }),
      { maxLength: 80 },
    )
    .map((steps) => {
      const alive: InputRow[] = [];
      return steps.map(({ k, v, flag, undo }, at): Change => {
        if (retracts && undo < 40 && alive.length > 0)
          return { ...(alive.splice(undo % alive.length, 1)[0] as InputRow), retract: true };
        const row: InputRow = { k, v, flag, t: BigInt(at * 2 - (undo % 15)), mark: 0n };
        alive.push(row);
        return { ...row, retract: false };
      });
    });

/** What the aggregates give for these rows. */
function resultOf(rows: readonly InputRow[]): Row {
  const values = rows.flatMap(({ v }) => (v === null ? [] : [v]));
  const flagged = rows.flatMap(({ v, flag }) => (v === null || flag !== true ? [] : [v]));
  const ordered = rows
    .map(({ v }) => v)
    .toSorted((x, y) => (x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -1 : 1));
  return {
    d: BigInt(new Set(values).size),
    f: BigInt(new Set(flagged).size),
    s: values.length === 0 ? null : [...new Set(values)].reduce((sum, value) => sum + value, 0n),
    n: BigInt(values.length),
    a: ordered,
  };
}

/** The rows that are not taken back, by key. */
function standingRows(changes: readonly Change[]): Map<string | null, InputRow[]> {
  const groups = new Map<string | null, InputRow[]>();
  for (const { retract, ...row } of changes) {
    const rows = groups.get(row.k) ?? [];
    groups.set(row.k, rows);
    if (!retract) rows.push(row);
    else
      rows.splice(
        rows.findIndex((each) => text(each) === text(row)),
        1,
      );
  }
  return groups;
}

/** The rows that were emitted and not retracted. */
function emitted(output: Collected, schema: Schema): string[] {
  const counts = new Map<string, number>();
  for (const batch of output.batches)
    rowsOf(batch, schema).forEach((row, at) => {
      const key = text(row);
      counts.set(key, (counts.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1));
    });
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([key]) => key)
    .toSorted();
}

const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });
type Action = number | 'checkpoint';
const actions = fc.array(fc.constantFrom<Action>(0, 'checkpoint', 'checkpoint', 1, 2, 3), {
  minLength: 1,
  maxLength: 7,
});

test.each([
  ['rows that stay', false],
  ['rows that are taken back', true],
])(
  'over %s every group has its values after checkpoints and restarts',
  (_name, retracts) => {
    const spec = {
      tag: 'updating-aggregate' as const,
      keys: [column(0, TEXT)],
      aggregates: calls(retracts),
      flushMs: 100,
    };
    fc.assert(
      fc.property(changesArbitrary(retracts), sizes, actions, (changes, cuts, turns) => {
        const subtasks = new Subtasks(() => new UpdatingAggregate(spec, INPUT, KEYED), [0], 1);
        const retract = retracts ? Uint8Array.from(changes, (each) => Number(each.retract)) : null;
        let turn = 0;
        for (const batch of cutAt({ ...inputBatch(changes), retract }, cuts)) {
          const action = turns[turn++ % turns.length] as Action;
          if (action === 'checkpoint') subtasks.checkpoint();
          else if (action > 0) subtasks.restart(action);
          subtasks.send(batch);
        }
        subtasks.watermark(Infinity);
        const expected = [...standingRows(changes)]
          .filter(([, rows]) => rows.length > 0)
          .map(([k, rows]) => text({ k, ...resultOf(rows) }));
        expect(emitted(subtasks.output, KEYED)).toEqual(expected.toSorted());
      }),
      { seed: SEED, numRuns: 80 },
    );
  },
  30_000,
);

test.each([
  ['tumbling', { tag: 'tumble', widthMicros: 20, offsetMicros: 0 }, 20],
  ['hopping', { tag: 'hop', widthMicros: 20, slideMicros: 10, offsetMicros: 0 }, 10],
] as const)(
  '%s windows have their values after checkpoints and restarts',
  (_name, window, slide) => {
    const schema: Schema = [{ name: 'w', type: WINDOW, nullable: false }, ...KEYED];
    const spec: WindowAggregateSpec = {
      tag: 'window-aggregate',
      window,
      keys: [column(0, TEXT)],
      aggregates: calls(false),
      outputs: [
        { tag: 'window' },
        { tag: 'key', index: 0 },
        ...[0, 1, 2, 3, 4].map((index) => ({ tag: 'aggregate' as const, index })),
      ],
    };
    fc.assert(
      fc.property(changesArbitrary(false), sizes, actions, (changes, cuts, turns) => {
        const subtasks = new Subtasks(() => new WindowAggregate(spec, INPUT, schema), [0], 1);
        let turn = 0;
        let newest = -100;
        for (const batch of cutAt({ ...inputBatch(changes), eventTime: null }, cuts)) {
          const action = turns[turn++ % turns.length] as Action;
          if (action === 'checkpoint') subtasks.checkpoint();
          else if (action > 0) subtasks.restart(action);
          subtasks.send({ ...batch, eventTime: batch.columns[3] as never });
          for (const { t } of rowsOf(batch, INPUT)) newest = Math.max(newest, Number(t));
          subtasks.watermark(newest - 20);
        }
        subtasks.watermark(Infinity);
        const groups = new Map<string, InputRow[]>();
        for (const { retract: _, ...row } of changes) {
          const last = Math.floor(Number(row.t) / slide) * slide;
          for (let start = last; start > Number(row.t) - 20; start -= slide) {
            const key = text([BigInt(start), row.k]);
            groups.set(key, [...(groups.get(key) ?? []), row]);
          }
        }
        const expected = [...groups].map(([key, rows]) => {
          const start = BigInt((JSON.parse(key) as [string])[0].replace('n', ''));
          return text({ w: { start, end: start + 20n }, k: rows[0]?.k, ...resultOf(rows) });
        });
        expect(subtasks.output.rows(schema).map(text).toSorted()).toEqual(expected.toSorted());
        expect(subtasks.output.lateRows).toEqual([]);
      }),
      { seed: SEED, numRuns: 60 },
    );
  },
  30_000,
);

test('a snapshot of changes holds the values that came, not those of the group', () => {
  const spec = {
    tag: 'updating-aggregate' as const,
    keys: [],
    aggregates: [distinct('count', false, false), distinct('count', true, false)],
    flushMs: 100,
  };
  const operator = new UpdatingAggregate(spec, INPUT, RESULTS.slice(0, 2));
  const output = new Collected();
  const send = (from: number, to: number, flag: boolean): void => {
    const rows = Array.from({ length: to - from }, (_, at) => ({
      k: null,
      v: BigInt(from + at),
      flag,
      t: 0n,
      mark: 0n,
    }));
    operator.onBatch(0, inputBatch(rows), output);
    operator.onBarrier(output);
  };
  const sizesOf = (kind: 'whole' | 'changes'): Record<string, number> =>
    Object.fromEntries(operator.snapshot(kind).map(({ table, rows }) => [table, rows]));
  send(0, 5000, false);
  expect(sizesOf('whole')).toEqual({ groups: 1, values0: 5000 });
  send(4990, 5007, false);
  expect(sizesOf('changes')).toEqual({ groups: 1, values0: 7 });
  // Values that are known to one of the two become known to the other.
  send(0, 3, true);
  expect(sizesOf('changes')).toEqual({ groups: 1, values0: 3 });
  send(0, 3, true);
  expect(sizesOf('changes')).toEqual({ groups: 1 });
  expect(output.rows(RESULTS.slice(0, 2)).at(-1)).toEqual({ d: 5007n, f: 3n });
  expect(operator.stateBytes() / 5007).toBeLessThan(100);
});

test('values that were taken back are named as removed, and many of them begin the table anew', () => {
  const spec = {
    tag: 'updating-aggregate' as const,
    keys: [],
    aggregates: [distinct('count', false, true)],
    flushMs: 100,
  };
  const operator = new UpdatingAggregate(spec, INPUT, RESULTS.slice(0, 1));
  const output = new Collected();
  const send = (count: number, back: 0 | 1, from = 0): void => {
    const rows = Array.from({ length: count }, (_, at) => ({
      k: null,
      v: BigInt(from + at),
      flag: null,
      t: 0n,
      mark: 0n,
    }));
    operator.onBatch(0, { ...inputBatch(rows), retract: new Uint8Array(count).fill(back) }, output);
    operator.onBarrier(output);
  };
  send(4000, 0);
  operator.snapshot('whole');
  send(5, 1);
  const [, changes] = operator.snapshot('changes');
  expect([changes?.rows, changes?.changes?.removed?.rows]).toEqual([0, 5]);
  send(3900, 1, 5);
  const [, whole] = operator.snapshot('changes');
  expect([whole?.rows, whole?.changes]).toEqual([95, null]);
  expect(output.rows(RESULTS.slice(0, 1)).at(-1)).toEqual({ d: 95n });
});
