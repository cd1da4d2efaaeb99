import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INTERVAL, TIMESTAMP, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, columnFromValues, rowsOf } from '../../src/batch/values.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { EVENT_TIME_MAX } from '../../src/operators/times.ts';
import { WatermarkGenerator } from '../../src/operators/watermark-generator.ts';
import { column, cutAt } from './harness.ts';

const SCHEMA: Schema = [
  { name: 't', type: TIMESTAMP, nullable: true },
  { name: 'mark', type: TIMESTAMP, nullable: true },
];
const spec = (idleMs: number | null = null, idleAdvanceMs: number | null = null) => ({
  eventTime: column(0, TIMESTAMP),
  watermark: column(1, TIMESTAMP),
  idleMs,
  idleAdvanceMs,
});
const batch = (...times: (number | null)[]) =>
  batchFromRows(
    SCHEMA,
    times.map((t) => ({ t: t === null ? null : BigInt(t), mark: t === null ? null : BigInt(t) })),
  );
const SECOND = 1_000_000;

type Event = { partition: number; times: number[] };

test('what stands before each row is the minimum over partitions of their running maxima, for any batches', () => {
  const events = fc.array(
    fc.record({
      partition: fc.nat({ max: 2 }),
      times: fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 8 }),
    }),
    { maxLength: 15 },
  );
  fc.assert(
    fc.property(
      events,
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
      (list: Event[], sizes) => {
        const generator = new WatermarkGenerator(spec(), SCHEMA, [0, 1, 2]);
        const maxima = new Map<number, number>();
        const merged = (): number | null => (maxima.size < 3 ? null : Math.min(...maxima.values()));
        let announced: number | null = null;
        for (const { partition, times } of list) {
          const marks: boolean[] = [];
          const expected: boolean[] = [];
          for (const part of cutAt(batch(...times), sizes)) {
            for (const segment of generator.onBatch(partition, part, 0).segments) {
              expect(announced === null || (segment.watermarkBefore ?? -1) >= announced).toBe(true);
              announced = segment.watermarkBefore ?? announced;
              for (const row of rowsOf(segment.batch, SCHEMA)) {
                marks.push(announced !== null && Number(row['t']) < announced);
              }
            }
          }
          for (const time of times) {
            const before = merged();
            expected.push(before !== null && time < before);
            maxima.set(partition, Math.max(maxima.get(partition) ?? -1, time));
          }
          expect(marks).toEqual(expected);
          expect(generator.watermark).toBe(merged());
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** The watermark is the event time less a constant, which the generator sees. */
const lagSpec = (micros: bigint) => ({
  eventTime: column(0, TIMESTAMP),
  watermark: {
    tag: 'call' as const,
    fn: 'subtract:timestamp-interval',
    args: [
      { tag: 'row-time' as const, type: TIMESTAMP },
      { tag: 'literal' as const, value: String(micros), type: INTERVAL },
    ],
    type: TIMESTAMP,
  },
  idleMs: null,
  idleAdvanceMs: null,
});

test('times less a constant cut as times and marks told apart do: NULL, out of order, before 1970, where words change, beyond 2^52', () => {
  const base = fc.constantFrom(
    0n,
    -3n,
    1_700_000_000_000_000n,
    -1_700_000_000_000_000n,
    2n ** 32n * 400_000n - 4n,
    -(2n ** 32n) * 400_000n - 4n,
    2n ** 31n - 4n,
    2n ** 52n - 4n,
    -(2n ** 52n) - 4n,
    2n ** 60n + 60n,
  );
  const rows = fc.record({
    partition: fc.nat({ max: 1 }),
    from: fc.nat({ max: 1 }),
    steps: fc.array(fc.integer({ min: -6, max: 12 }), { minLength: 1, maxLength: 10 }),
    nullAt: fc.option(fc.nat({ max: 20 }), { freq: 1 }),
  });
  const told = (generator: WatermarkGenerator, list: readonly [number, RecordBatch][]) =>
    list.map(([partition, each]) => {
      const { segments, problems } = generator.onBatch(partition, each, 0);
      const cuts = segments.map(({ batch: part, watermarkBefore }) => [
        watermarkBefore,
        part.eventTime?.words.subarray(0, part.rows * 2),
      ]);
      return [cuts, problems.map(({ row, code }) => [row, code]), generator.watermark];
    });
  fc.assert(
    fc.property(
      fc.array(rows, { minLength: 1, maxLength: 8 }),
      fc.tuple(base, base),
      fc.constantFrom(0n, 1n, 5n, 100n, 2n ** 32n + 3n, -2n),
      fc.boolean(),
      (list, bases, lag, alone) => {
        const batches = list.map(({ partition, from, steps, nullAt }) => {
          let time = bases[from] as bigint;
          const times = steps.map((step, at) => (at === nullAt ? null : (time += BigInt(step))));
          const marked = times.map((t) => ({ t, mark: t === null ? null : t - lag }));
          return [alone ? 0 : partition, batchFromRows(SCHEMA, marked)] as [number, RecordBatch];
        });
        const partitions = alone ? [0] : [0, 1];
        const one = new WatermarkGenerator(lagSpec(lag), SCHEMA, partitions);
        const other = new WatermarkGenerator(spec(), SCHEMA, partitions);
        expect(told(one, batches)).toEqual(told(other, batches));
      },
    ),
    { seed: 20_261_130, numRuns: 2000 },
  );
});

test('a batch in order is not cut at all', () => {
  const generator = new WatermarkGenerator(spec(), SCHEMA, [0]);
  expect(generator.onBatch(0, batch(1, 2, 3, 50, 51), 0).segments).toHaveLength(1);
  expect(
    generator
      .onBatch(0, batch(52, 1, 2, 60, 3), 0)
      .segments.map(({ batch: { rows }, watermarkBefore }) => [rows, watermarkBefore]),
  ).toEqual([
    [1, 51],
    [3, 52],
    [1, 60],
  ]);
});

test('a silent partition steps aside after idle_time, and its rows are measured by the others', () => {
  const generator = new WatermarkGenerator(spec(5000), SCHEMA, [0, 1]);
  generator.onBatch(0, batch(10 * SECOND, 65 * SECOND), 0);
  expect(generator.watermark).toBe(null);
  generator.onBatch(1, batch(5 * SECOND), 0);
  expect(generator.watermark).toBe(5 * SECOND);
  generator.onBatch(0, batch(66 * SECOND), 3000);
  generator.onTick(5000);
  expect(generator.watermark).toBe(66 * SECOND);
  expect(generator.idle).toBe(false);
  expect(generator.onBatch(1, batch(40 * SECOND), 5001).segments[0]?.watermarkBefore).toBe(
    66 * SECOND,
  );
  expect(generator.watermark).toBe(66 * SECOND);
  expect(generator.status().get(1)).toEqual({
    watermark: 40 * SECOND,
    lastEventTime: 40 * SECOND,
    idle: false,
    ended: false,
  });
});

test('when every partition is idle the furthest counts', () => {
  const generator = new WatermarkGenerator(spec(5000), SCHEMA, [0, 1]);
  generator.onBatch(0, batch(65 * SECOND), 0);
  generator.onBatch(1, batch(5 * SECOND), 0);
  generator.onTick(6000);
  expect([generator.watermark, generator.idle]).toEqual([65 * SECOND, true]);
});

test('a partition that never had a row steps aside too, but alone it gives no watermark', () => {
  const generator = new WatermarkGenerator(spec(5000), SCHEMA, [0, 1]);
  generator.onTick(100);
  generator.onTick(5100);
  expect([generator.watermark, generator.idle]).toEqual([null, true]);
  generator.onBatch(0, batch(7), 5200);
  expect([generator.watermark, generator.idle]).toEqual([7, false]);
});

test('after idle_advance of silence the watermark runs on at clock speed from where it stood', () => {
  const generator = new WatermarkGenerator(spec(null, 30_000), SCHEMA, [0]);
  generator.onBatch(0, batch(10 * SECOND, 20 * SECOND), 0);
  generator.onTick(30_000);
  expect(generator.watermark).toBe(20 * SECOND);
  generator.onTick(60_000);
  generator.onTick(90_000);
  expect(generator.watermark).toBe(80 * SECOND);
  generator.onBatch(0, batch(81 * SECOND), 90_000);
  generator.onTick(119_000);
  expect(generator.watermark).toBe(81 * SECOND);
});

test('an ended partition counts as infinite, and so does a source without partitions', () => {
  const generator = new WatermarkGenerator(spec(), SCHEMA, [0, 1]);
  generator.onPartitionEnded(1);
  expect(generator.watermark).toBe(null);
  generator.onBatch(0, batch(4), 0);
  expect(generator.watermark).toBe(4);
  generator.onPartitionEnded(0);
  expect(generator.watermark).toBe(Infinity);
  expect(new WatermarkGenerator(spec(), SCHEMA, []).watermark).toBe(Infinity);
});

test('a snapshot brings the watermarks of the partitions back, also to another split of them', () => {
  const generator = new WatermarkGenerator(spec(), SCHEMA, [0, 1]);
  generator.onBatch(0, batch(9), 0);
  generator.onBatch(1, batch(5), 0);
  const state = generator.snapshot();
  const first = new WatermarkGenerator(spec(), SCHEMA, [0]);
  const second = new WatermarkGenerator(spec(), SCHEMA, [1, 2]);
  for (const each of [first, second]) each.restore({ ...state, 2: null });
  expect([first.watermark, second.watermark]).toEqual([9, null]);
});

test('a row without event time is reported and the others go on', () => {
  const generator = new WatermarkGenerator(spec(), SCHEMA, [0]);
  const { segments, problems } = generator.onBatch(0, batch(1, null, 3), 0);
  expect(problems).toMatchObject([
    { row: 1, code: 'NULL_VIOLATION', raw: '{"t":null,"mark":null}' },
  ]);
  expect(
    segments.flatMap((segment) => rowsOf(segment.batch, SCHEMA)).map((row) => row['t']),
  ).toEqual([1n, 3n]);
});

test('without a WATERMARK clause the event time is that of the source or of arrival, and the watermark a second behind', () => {
  const generator = new WatermarkGenerator(null, SCHEMA, [0]);
  const arrived = generator.onBatch(0, batch(1, 2), 5000).segments[0]?.batch
    .eventTime as Int64Column;
  expect([...arrived.words]).toEqual([5_000_000, 0, 5_000_000, 0]);
  expect(generator.watermark).toBe(4_000_000);
  const eventTime = columnFromValues(TIMESTAMP, [8n * 1_000_000n]) as Int64Column;
  generator.onBatch(0, { ...batch(1), eventTime }, 5000);
  expect(generator.watermark).toBe(7_000_000);
});

test('a row whose time is too far from 1970 is refused with the time it has, alone', () => {
  const generator = new WatermarkGenerator(spec(), SCHEMA, [0]);
  const far = 253_402_300_799_000_000;
  const { segments, problems } = generator.onBatch(
    0,
    batch(1, far, 2, -62_135_596_800_000_000, EVENT_TIME_MAX),
    0,
  );
  expect(
    segments.flatMap(({ batch: some }) => rowsOf(some, SCHEMA).map(({ t }) => Number(t))),
  ).toEqual([1, 2, EVENT_TIME_MAX]);
  expect(problems.map(({ row, code, message }) => [row, code, message])).toEqual([
    [
      1,
      'NUMERIC_OUT_OF_RANGE',
      'the event time 9999-12-31T23:59:59 is not of the years 1700 to 2239',
    ],
    [
      3,
      'NUMERIC_OUT_OF_RANGE',
      'the event time 0001-01-01T00:00:00 is not of the years 1700 to 2239',
    ],
  ]);
  expect(generator.watermark).toBe(EVENT_TIME_MAX);
});
