import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { BOOLEAN, INT64, TEXT, WINDOW, type Schema } from '../../src/batch/types.ts';
import type { GraphOperator } from '../../src/graph/graph.ts';
import { combinerFor, rowsOfPartial } from '../../src/operators/window-combiner.ts';
import { WindowAggregate } from '../../src/operators/window-aggregate.ts';
import type { WindowAggregateSpec } from '../../src/operators/window-rows.ts';
import {
  call,
  Collected,
  column,
  cutAt,
  INPUT,
  inputBatch,
  type InputRow,
  text,
} from './harness.ts';

const TUMBLE: WindowAggregateSpec = {
  tag: 'window-aggregate',
  window: { tag: 'tumble', widthMicros: 10, offsetMicros: 3 },
  keys: [column(0, TEXT)],
  aggregates: [
    call('count-rows', [], INT64),
    call('sum', [column(1, INT64)], INT64),
    call('max', [column(1, INT64)], INT64, column(2, BOOLEAN)),
  ],
  outputs: [
    { tag: 'key', index: 0 },
    { tag: 'window' },
    { tag: 'aggregate', index: 0 },
    { tag: 'aggregate', index: 1 },
    { tag: 'aggregate', index: 2 },
  ],
};
const HOP: WindowAggregateSpec = {
  ...TUMBLE,
  window: { tag: 'hop', widthMicros: 9, slideMicros: 4, offsetMicros: 0 },
};
const GAPS: WindowAggregateSpec = {
  ...TUMBLE,
  window: { tag: 'hop', widthMicros: 2, slideMicros: 5, offsetMicros: 0 },
};
const GLOBAL: WindowAggregateSpec = {
  ...TUMBLE,
  keys: [],
  outputs: TUMBLE.outputs.slice(1),
};
const schemaOf = (spec: WindowAggregateSpec): Schema => [
  ...(spec.keys.length === 0 ? [] : [{ name: 'k', type: TEXT, nullable: true }]),
  { name: 'window', type: WINDOW, nullable: false },
  { name: 'n', type: INT64, nullable: false },
  { name: 's', type: INT64, nullable: true },
  { name: 'm', type: INT64, nullable: true },
];

const receiver = (spec: WindowAggregateSpec): GraphOperator => ({
  id: 'window-aggregate-2',
  description: '',
  spec,
  schema: schemaOf(spec),
  updating: false,
  parallelism: null,
});

const row: fc.Arbitrary<InputRow> = fc.record({
  k: fc.option(fc.constantFrom('a', 'b', 'c')),
  v: fc.option(fc.bigInt({ min: -9n, max: 9n })),
  flag: fc.option(fc.boolean()),
  t: fc.bigInt({ min: -20n, max: 40n }),
  mark: fc.constant(0n),
});

const timed = (rows: readonly InputRow[]): RecordBatch => {
  const batch = inputBatch(rows);
  return { ...batch, eventTime: batch.columns[3] as Int64Column };
};

/** What leaves, how many rows are late, and how many came in. */
function run(
  spec: WindowAggregateSpec,
  batch: RecordBatch,
  sizes: readonly number[],
  watermarks: readonly number[],
  combined: boolean,
): { rows: string[]; late: number; rowsIn: number } {
  const output = new Collected();
  const operator = new WindowAggregate(spec, INPUT, schemaOf(spec));
  const combiner = combined ? combinerFor(receiver(spec), INPUT) : null;
  let watermark = -Infinity;
  let rowsIn = 0;
  const fold = (partial: RecordBatch | null): void => {
    if (partial === null) return;
    rowsIn += rowsOfPartial(partial);
    operator.onPartial(partial, output);
  };
  let turn = 0;
  for (const part of cutAt(batch, sizes)) {
    const rest = combiner === null ? part : combiner.add(part, watermark);
    if (rest !== null) {
      rowsIn += rest.rows;
      operator.onBatch(0, rest, output);
    }
    const next = watermarks[turn++];
    if (next === undefined || next <= watermark) continue;
    watermark = next;
    fold(combiner?.takeDue(watermark) ?? null);
    operator.onWatermark(watermark, output);
  }
  fold(combiner?.takeAll() ?? null);
  operator.onWatermark(Infinity, output);
  return {
    rows: output.rows(schemaOf(spec)).map(text).sort(),
    late: output.lateRows.length,
    rowsIn,
  };
}

test.each([
  ['tumbling', TUMBLE],
  ['hopping', HOP],
  ['with gaps', GAPS],
  ['of no key', GLOBAL],
])('windows (%s) are the same, whether rows are combined before or not', (_, spec) => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.integer({ min: -25, max: 45 }), { maxLength: 20 }),
      (rows, sizes, watermarks) => {
        const batch = timed(rows);
        const direct = run(spec, batch, sizes, watermarks, false);
        expect(run(spec, batch, sizes, watermarks, true)).toEqual(direct);
        expect(direct.rowsIn).toBe(rows.length);
      },
    ),
    { seed: 5, numRuns: 200 },
  );
});

test('a pane is held until a watermark ends a window with it, and one state leaves for each key', () => {
  const combiner = combinerFor(receiver(TUMBLE), INPUT);
  const rows = Array.from({ length: 50 }, (_, at): InputRow => ({
    k: at % 2 === 0 ? 'a' : 'b',
    v: 1n,
    flag: true,
    t: 4n,
    mark: 0n,
  }));
  expect(combiner?.add(timed(rows), -Infinity)).toBeNull();
  expect(combiner?.takeDue(12)).toBeNull();
  const partial = combiner?.takeDue(13) ?? null;
  expect(partial?.rows).toBe(2);
  expect(partial === null ? 0 : rowsOfPartial(partial)).toBe(50);
  expect(combiner?.takeAll()).toBeNull();
});

test('where keys hardly repeat rows pass as they are, and later it is tried again', () => {
  const combiner = combinerFor(receiver(TUMBLE), INPUT);
  const rows = Array.from({ length: 1000 }, (_, at): InputRow => ({
    k: `key ${at}`,
    v: 1n,
    flag: true,
    t: 4n,
    mark: 0n,
  }));
  const batch = timed(rows);
  expect(combiner?.add(batch, -Infinity)).toBeNull();
  expect(combiner?.takeAll()?.rows).toBe(1000);
  let passed = 0;
  while (combiner?.add(batch, -Infinity) === batch) passed++;
  expect(passed).toBe(100);
});

test('aggregates whose states have no size of their own are not combined', () => {
  const spec = { ...TUMBLE, aggregates: [call('array_agg', [column(1, INT64)], INT64)] };
  expect(combinerFor(receiver(spec), INPUT)).toBeNull();
});
