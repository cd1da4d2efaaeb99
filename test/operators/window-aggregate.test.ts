import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BOOLEAN,
  FLOAT64,
  INT64,
  TEXT,
  TIMESTAMP,
  WINDOW,
  type Schema,
} from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';
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

const WIDTH = 10;
const OFFSET = 3;
const OUTPUT: Schema = [
  { name: 'window', type: WINDOW, nullable: false },
  { name: 'k', type: TEXT, nullable: true },
  { name: 'n', type: INT64, nullable: false },
  { name: 's', type: INT64, nullable: true },
  { name: 'lo', type: INT64, nullable: true },
  { name: 'hi', type: TIMESTAMP, nullable: true },
  { name: 'mean', type: FLOAT64, nullable: true },
  { name: 'flagged', type: INT64, nullable: false },
];
const SPEC: WindowAggregateSpec = {
  tag: 'window-aggregate',
  window: { tag: 'tumble', widthMicros: WIDTH, offsetMicros: OFFSET },
  keys: [column(0, TEXT)],
  aggregates: [
    call('count-rows', [], INT64),
    call('sum', [column(1, INT64)], INT64),
    call('min', [column(1, INT64)], INT64),
    call('max', [column(3, TIMESTAMP)], TIMESTAMP),
    call('avg', [column(1, INT64)], FLOAT64),
    call('count-rows', [], INT64, column(2, BOOLEAN)),
  ],
  outputs: [
    { tag: 'window' },
    { tag: 'key', index: 0 },
    ...[0, 1, 2, 3, 4, 5].map((index) => ({ tag: 'aggregate' as const, index })),
  ],
};

const startOf = (t: number): number => Math.floor((t - OFFSET) / WIDTH) * WIDTH + OFFSET;

/** One row at a time, plain objects. */
function oracle(rows: readonly InputRow[]): { rows: string[]; late: number } {
  const groups = new Map<string, InputRow[]>();
  let watermark = -Infinity;
  let late = 0;
  for (const row of rows) {
    const start = startOf(Number(row.t));
    if (start + WIDTH <= watermark) late++;
    else groups.set(text([start, row.k]), [...(groups.get(text([start, row.k])) ?? []), row]);
    watermark = Math.max(watermark, Number(row.mark));
  }
  const results = [...groups.entries()].map(([key, members]) => {
    const [start] = JSON.parse(key) as [number];
    const values = members.flatMap((member) => (member.v === null ? [] : [member.v]));
    const sum = values.reduce((left, right) => left + right, 0n);
    return text({
      window: { start: BigInt(start), end: BigInt(start + WIDTH) },
      k: members[0]?.k,
      n: BigInt(members.length),
      s: values.length === 0 ? null : sum,
      lo:
        values.length === 0 ? null : values.reduce((left, right) => (left < right ? left : right)),
      hi: members.map((member) => member.t).reduce((left, right) => (left > right ? left : right)),
      mean: values.length === 0 ? null : Number(sum) / values.length,
      flagged: BigInt(members.filter((member) => member.flag === true).length),
    });
  });
  return { rows: results.sort(), late };
}

const BOUND = 15n;
/** Event times wander forward with disorder of up to twice the watermark's bound, so that some rows are late. */
const inputArbitrary = fc
  .array(
    fc.record({
      k: fc.constantFrom<string | null>('a', 'b', 'c', 'dd', null),
      v: fc.option(fc.bigInt({ min: -1000n, max: 1000n })),
      flag: fc.option(fc.boolean()),
      step: fc.nat({ max: 6 }),
      back: fc.oneof(
        { weight: 5, arbitrary: fc.nat({ max: 15 }) },
        { weight: 1, arbitrary: fc.nat({ max: 40 }) },
      ),
    }),
    { maxLength: 120 },
  )
  .map((steps) => {
    let now = -40;
    return steps.map(({ k, v, flag, step, back }): InputRow => {
      now += step;
      const t = BigInt(now - back);
      return { k, v, flag, t, mark: t - BOUND };
    });
  });

const sizesArbitrary = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
/** Before batch i: restart with so many subtasks, or 0. */
const restartsArbitrary = fc.array(fc.constantFrom(0, 0, 1, 2, 3), { minLength: 1, maxLength: 7 });

const watermarkSpec = {
  eventTime: column(3, TIMESTAMP),
  watermark: column(4, TIMESTAMP),
  idleMs: null,
  idleAdvanceMs: null,
};

function run(
  rows: readonly InputRow[],
  sizes: readonly number[],
  restarts: readonly number[],
): Subtasks {
  const subtasks = new Subtasks(() => new WindowAggregate(SPEC, INPUT, OUTPUT), [0], 1);
  let generator = new WatermarkGenerator(watermarkSpec, INPUT, [0]);
  let turn = 0;
  for (const batch of cutAt(inputBatch(rows), sizes)) {
    const restart = restarts[turn++ % restarts.length] as number;
    if (restart > 0) {
      const state = JSON.parse(JSON.stringify(generator.snapshot())) as ReturnType<
        typeof generator.snapshot
      >;
      subtasks.restart(restart);
      generator = new WatermarkGenerator(watermarkSpec, INPUT, [0]);
      generator.restore(state);
    }
    for (const segment of generator.onBatch(0, batch, 0).segments) {
      subtasks.watermark(segment.watermarkBefore);
      subtasks.send(segment.batch);
    }
    subtasks.watermark(generator.watermark);
  }
  subtasks.watermark(Infinity);
  return subtasks;
}

test('whatever the batches, restarts and subtasks, the result and the late rows are those of row-at-a-time', () => {
  fc.assert(
    fc.property(inputArbitrary, sizesArbitrary, restartsArbitrary, (rows, sizes, restarts) => {
      const expected = oracle(rows);
      const { output, operators } = run(rows, sizes, restarts);
      expect(output.rows(OUTPUT).map(text).sort()).toEqual(expected.rows);
      expect(output.lateRows).toHaveLength(expected.late);
      expect(output.failed).toEqual([]);
      expect(operators.every((operator) => operator.stateRows() === 0)).toBe(true);
    }),
    { numRuns: 150 },
  );
}, 30_000);

test('an emitted row has the event time one microsecond before its window ends', () => {
  const rows: InputRow[] = [1n, 12n, 13n, 22n].map((t) => ({
    k: 'a',
    v: 1n,
    flag: null,
    t,
    mark: t,
  }));
  const { output } = run(rows, [4], [0]);
  const times = output.batches.flatMap((batch) =>
    Array.from((batch.eventTime as Int64Column).words).filter((_, at) => at % 2 === 0),
  );
  expect(times).toEqual([2, 12, 22]);
});

test('aggregating again by the window alone adds up the windows', () => {
  const rows: InputRow[] = Array.from({ length: 50 }, (_, at) => ({
    k: `k${at % 7}`,
    v: 1n,
    flag: null,
    t: BigInt(at),
    mark: BigInt(at),
  }));
  const inner = run(rows, [8], [0, 2]).output;
  const outerSchema: Schema = [OUTPUT[0] as never, { name: 'n', type: INT64, nullable: true }];
  const outer = new WindowAggregate(
    {
      ...SPEC,
      keys: [],
      aggregates: [call('sum', [column(2, INT64)], INT64)],
      outputs: [{ tag: 'window' }, { tag: 'aggregate', index: 0 }],
    },
    OUTPUT,
    outerSchema,
  );
  const output = new Collected();
  for (const batch of inner.batches) outer.onBatch(0, batch, output);
  outer.onWatermark(13, output);
  expect(output.rows(outerSchema).map((row) => row['n'])).toEqual([3n, 10n]);
  outer.onWatermark(Infinity, output);
  expect(output.rows(outerSchema).map((row) => row['n'])).toEqual([3n, 10n, 10n, 10n, 10n, 7n]);
});

test('a late row says by how much, and which window it missed', () => {
  const minute = 60_000_000;
  const base = Date.UTC(2024, 0, 1, 10) * 1000;
  const operator = new WindowAggregate(
    { ...SPEC, window: { tag: 'tumble', widthMicros: minute, offsetMicros: 0 } },
    INPUT,
    OUTPUT,
  );
  const output = new Collected();
  const at = (seconds: number, k: string): InputRow => ({
    k,
    v: 5n,
    flag: true,
    t: BigInt(base + seconds * 1e6),
    mark: 0n,
  });
  const send = (row: InputRow): void => {
    operator.onBatch(
      0,
      { ...inputBatch([row]), eventTime: columnFromValues(TIMESTAMP, [row.t]) as Int64Column },
      output,
    );
  };
  send(at(10, 'a'));
  send(at(65, 'a'));
  operator.onWatermark(base + 65e6, output);
  send(at(50, 'late'));
  expect(output.lateRows).toMatchObject([
    {
      code: 'LATE_ROW',
      message:
        'late by 15000 ms: its window ended at 2024-01-01T10:01:00, and event time had reached 2024-01-01T10:01:05',
      raw: '{"k":"late","v":5,"flag":true,"t":"2024-01-01T10:00:50","mark":"1970-01-01T00:00:00"}',
    },
  ]);
});

test('a sum that does not fit costs its own row only, with its reason', () => {
  const operator = new WindowAggregate(SPEC, INPUT, OUTPUT);
  const output = new Collected();
  const rows: InputRow[] = [
    { k: 'big', v: 9223372036854775807n, flag: null, t: 5n, mark: 0n },
    { k: 'big', v: 1n, flag: null, t: 5n, mark: 0n },
    { k: 'ok', v: 1n, flag: null, t: 5n, mark: 0n },
  ];
  operator.onBatch(
    0,
    { ...inputBatch(rows), eventTime: columnFromValues(TIMESTAMP, [5n, 5n, 5n]) as Int64Column },
    output,
  );
  operator.onWatermark(Infinity, output);
  expect(output.rows(OUTPUT).map((row) => row['k'])).toEqual(['ok']);
  expect(output.failed).toMatchObject([{ code: 'NUMERIC_OVERFLOW' }]);
  expect(output.failed[0]?.raw).toContain('"k":"big"');
});
