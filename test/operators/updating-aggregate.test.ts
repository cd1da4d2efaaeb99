import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { sliceBatch } from '../../src/batch/take.ts';
import { rowsOf } from '../../src/batch/values.ts';
import {
  UpdatingAggregate,
  type UpdatingAggregateSpec,
} from '../../src/operators/updating-aggregate.ts';
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

const OUTPUT: Schema = [
  { name: 'k', type: TEXT, nullable: true },
  { name: 'n', type: INT64, nullable: false },
  { name: 's', type: INT64, nullable: true },
];
const SPEC: UpdatingAggregateSpec = {
  tag: 'updating-aggregate',
  keys: [column(0, TEXT)],
  aggregates: [call('count-rows', [], INT64), call('sum', [column(1, INT64)], INT64)],
  flushMs: 100,
};
const GLOBAL: UpdatingAggregateSpec = { ...SPEC, keys: [] };

/** What is left when every retraction takes one equal row back; a retraction of nothing throws. */
function standing(batches: readonly RecordBatch[], schema: Schema): string[] {
  const counts = new Map<string, number>();
  for (const batch of batches) {
    rowsOf(batch, schema).forEach((row, at) => {
      const key = text(row);
      const count = (counts.get(key) ?? 0) + (batch.retract?.[at] === 1 ? -1 : 1);
      if (count < 0) throw new Error(`retracted what was never emitted: ${key}`);
      counts.set(key, count);
    });
  }
  return [...counts].flatMap(([key, count]) => Array.from({ length: count }, () => key)).sort();
}

type Change = InputRow & { retract: boolean };

/** Appends, and retractions of rows that were appended before. */
const changesArbitrary = fc
  .array(
    fc.record({
      k: fc.constantFrom<string | null>('a', 'b', 'c', null),
      v: fc.option(fc.bigInt({ min: -9n, max: 9n })),
      undo: fc.nat({ max: 99 }),
    }),
    { maxLength: 80 },
  )
  .map((steps) => {
    const alive: InputRow[] = [];
    return steps.map(({ k, v, undo }): Change => {
      if (undo < 35 && alive.length > 0)
        return { ...(alive.splice(undo % alive.length, 1)[0] as InputRow), retract: true };
      const row: InputRow = { k, v, flag: null, t: 0n, mark: 0n };
      alive.push(row);
      return { ...row, retract: false };
    });
  });

function oracle(changes: readonly Change[], keyed: boolean): string[] {
  const groups = new Map<string, { k: string | null; n: bigint; values: bigint; sum: bigint }>();
  for (const { k, v, retract } of changes) {
    const key = keyed ? text(k) : '';
    const group = groups.get(key) ?? { k, n: 0n, values: 0n, sum: 0n };
    const step = retract ? -1n : 1n;
    group.n += step;
    if (v !== null) {
      group.values += step;
      group.sum += step * v;
    }
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter((group) => group.n > 0n)
    .map((group) => {
      const s = group.values === 0n ? null : group.sum;
      return keyed ? text({ k: group.k, n: group.n, s }) : text({ n: group.n, s });
    })
    .sort();
}

const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });
/** Before batch i: nothing, the flush clock, a checkpoint of changes, or a restart with so many subtasks. */
type Action = number | 'tick' | 'checkpoint';
const actions = fc.array(fc.constantFrom<Action>(0, 'tick', 'checkpoint', 'checkpoint', 1, 2, 3), {
  minLength: 1,
  maxLength: 7,
});

for (const [name, spec, keys] of [
  ['per key', SPEC, [0]],
  ['over everything', GLOBAL, []],
] as const) {
  test(`changes ${name} add up to the result of row-at-a-time, whatever the batches, flushes, restarts and subtasks`, () => {
    const schema = spec === GLOBAL ? OUTPUT.slice(1) : OUTPUT;
    fc.assert(
      fc.property(changesArbitrary, sizes, actions, (changes, cuts, turns) => {
        const subtasks = new Subtasks(() => new UpdatingAggregate(spec, INPUT, schema), keys, 1);
        const retract = Uint8Array.from(changes, (change) => Number(change.retract));
        let turn = 0;
        for (const batch of cutAt({ ...inputBatch(changes), retract }, cuts)) {
          const action = turns[turn++ % turns.length] as Action;
          if (action === 'tick') subtasks.tick(turn * 1000);
          else if (action === 'checkpoint') subtasks.checkpoint();
          else if (action > 0) subtasks.restart(action);
          subtasks.send(batch);
        }
        subtasks.watermark(Infinity);
        expect(standing(subtasks.output.batches, schema)).toEqual(oracle(changes, spec === SPEC));
      }),
      { numRuns: 300 },
    );
  });
}

const row = (k: string, v: bigint | null): InputRow => ({ k, v, flag: null, t: 0n, mark: 0n });
const retractions = (batches: readonly RecordBatch[]): number[] =>
  batches.flatMap((batch) => [...(batch.retract ?? [])]);

test('changes wait for the flush interval and an unchanged result is not emitted again', () => {
  const operator = new UpdatingAggregate(
    { ...SPEC, aggregates: [call('max', [column(1, INT64)], INT64)] },
    INPUT,
    OUTPUT,
  );
  const schema = OUTPUT.slice(0, 2);
  const output = new Collected();
  operator.onTick(1000, output);
  operator.onBatch(0, inputBatch([row('a', 5n), row('a', 7n)]), output);
  operator.onTick(1099, output);
  expect(output.batches).toEqual([]);
  operator.onTick(1100, output);
  expect(output.rows(schema)).toEqual([{ k: 'a', n: 7n }]);
  operator.onBatch(0, inputBatch([row('a', 6n)]), output);
  operator.onTick(1200, output);
  expect(output.batches).toHaveLength(1);
  operator.onBatch(0, inputBatch([row('a', 8n)]), output);
  operator.onTick(1300, output);
  expect(output.rows(schema).slice(1)).toEqual([
    { k: 'a', n: 7n },
    { k: 'a', n: 8n },
  ]);
  expect(retractions(output.batches)).toEqual([0, 1, 0]);
});

test('a result that does not fit keeps the last good row and is reported', () => {
  const operator = new UpdatingAggregate(SPEC, INPUT, OUTPUT);
  const output = new Collected();
  operator.onBatch(0, inputBatch([row('a', 9223372036854775807n)]), output);
  operator.onBarrier(output);
  operator.onBatch(0, inputBatch([row('a', 1n)]), output);
  operator.onBarrier(output);
  expect(output.failed).toMatchObject([{ code: 'NUMERIC_OVERFLOW' }]);
  expect(standing(output.batches, OUTPUT)).toEqual([
    text({ k: 'a', n: 1n, s: 9223372036854775807n }),
  ]);
  operator.onBatch(0, inputBatch([row('a', -2n)]), output);
  operator.onBarrier(output);
  expect(standing(output.batches, OUTPUT)).toEqual([
    text({ k: 'a', n: 3n, s: 9223372036854775806n }),
  ]);
});

test('keys whose rows have all been taken back cost no state in the long run', () => {
  const operator = new UpdatingAggregate(SPEC, INPUT, OUTPUT);
  const output = new Collected();
  const rows = Array.from({ length: 5000 }, (_, at) => row(`k${at}`, BigInt(at)));
  operator.onBatch(0, inputBatch(rows), output);
  operator.onBarrier(output);
  const gone = { ...inputBatch(rows), retract: new Uint8Array(5000).fill(1) };
  operator.onBatch(0, sliceBatch(gone, 10, 5000), output);
  operator.onBarrier(output);
  expect(operator.stateRows()).toBe(10);
  operator.onBatch(0, inputBatch([row('k3', 1n), row('k4000', 2n)]), output);
  operator.onBarrier(output);
  expect(standing(output.batches, OUTPUT)).toHaveLength(11);
});

test('a checkpoint of changes holds the groups that rows came for and names those that were swept', () => {
  const subtasks = new Subtasks(() => new UpdatingAggregate(SPEC, INPUT, OUTPUT), [0], 1);
  const rows = Array.from({ length: 5000 }, (_, at) => row(`k${at}`, BigInt(at)));
  const gone = { ...inputBatch(rows), retract: new Uint8Array(5000).fill(1) };
  subtasks.send(inputBatch(rows));
  subtasks.checkpoint();
  subtasks.send(sliceBatch(gone, 10, 5000));
  subtasks.tick(1);
  subtasks.tick(1000);
  subtasks.send(inputBatch([row('k3', 1n), row('k4000', 2n)]));
  const [operator] = subtasks.operators;
  operator?.onBarrier(subtasks.output);
  const [table] = operator?.snapshot('changes') ?? [];
  expect([table?.rows, table?.changes?.keyColumns, table?.changes?.removed?.rows]).toEqual([
    2, 1, 4990,
  ]);
  expect(operator?.snapshot('changes')).toEqual([]);
});

test('what was swept stays away after a restart from layers of changes', () => {
  const subtasks = new Subtasks(() => new UpdatingAggregate(SPEC, INPUT, OUTPUT), [0], 1);
  const rows = Array.from({ length: 3000 }, (_, at) => row(`k${at}`, BigInt(at)));
  const gone = { ...inputBatch(rows), retract: new Uint8Array(3000).fill(1) };
  subtasks.send(inputBatch(rows));
  subtasks.checkpoint();
  subtasks.send(sliceBatch(gone, 5, 3000));
  subtasks.checkpoint();
  subtasks.send(inputBatch([row('k2000', 7n)]));
  subtasks.restart(2);
  expect(subtasks.operators.reduce((sum, operator) => sum + operator.stateRows(), 0)).toBe(6);
  subtasks.send({ ...inputBatch([row('k2000', 7n)]), retract: Uint8Array.of(1) });
  subtasks.watermark(Infinity);
  expect(standing(subtasks.output.batches, OUTPUT)).toHaveLength(5);
});
