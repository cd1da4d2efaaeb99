import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HISTORY_COLUMNS, LeaderHistory } from '../../src/leader/history.ts';
import { ratesOf, withSample } from '../../src/leader/rates.ts';
import type { MetricSample } from '../../src/leader/state.ts';
import type { OperatorMetrics } from '../../src/protocol/messages.ts';

const T = 1_700_000_000_000;
const SEED = 20_240_611;
const OPERATORS = ['source-1', 'sink-2'];

const metrics = (
  rows: number,
  rest: Partial<OperatorMetrics> = {},
  operator = 'source-1',
): OperatorMetrics => ({
  operator,
  subtask: 0,
  rowsIn: rows,
  rowsOut: rows,
  bytesIn: rows * 10,
  bytesOut: 0,
  batchesIn: 1,
  batchesOut: 1,
  errors: 0,
  late: 0,
  filtered: 0,
  watermark: null,
  stateBytes: 0,
  stateRows: 0,
  backpressure: 0,
  ...rest,
});

const column = (
  history: LeaderHistory,
  name: (typeof HISTORY_COLUMNS)[number],
  fromMs: number,
  toMs: number,
  stepMs = 1000,
  operator = 0,
): number[] => {
  const { values, points } = history.read(fromMs, toMs, stepMs);
  const from = (operator * HISTORY_COLUMNS.length + HISTORY_COLUMNS.indexOf(name)) * points;
  return [...values.subarray(from, from + points)];
};

test('what grew between two heartbeats is spread evenly over the time between them', () => {
  const history = new LeaderHistory(OPERATORS);
  history.observe(0, [metrics(100)], T);
  history.observe(0, [metrics(300)], T + 2_000);
  history.observe(0, [metrics(330)], T + 3_000);
  expect(column(history, 'rowsIn', T, T + 60_000)).toEqual([100, 100, 30]);
  expect(column(history, 'bytesIn', T, T + 60_000)).toEqual([1000, 1000, 300]);
});

test('hosts that report at different times add up, and only steps that all have told of are read', () => {
  const history = new LeaderHistory(OPERATORS);
  for (let at = 0; at <= 10; at++) {
    history.observe(0, [metrics(at * 200)], T + at * 2_000);
    history.observe(1, [metrics(at * 100)], T + at * 2_000 + 700);
  }
  const rates = column(history, 'rowsIn', T, T + 60_000);
  expect(rates).toHaveLength(20);
  for (const rate of rates.slice(1)) expect(rate).toBeCloseTo(150, 4);
});

test('a host that is silent holds the newest points back for ten seconds and no longer', () => {
  const history = new LeaderHistory(OPERATORS);
  history.observe(1, [metrics(0)], T);
  for (let at = 0; at <= 20; at++) history.observe(0, [metrics(at)], T + at * 1_000);
  expect(column(history, 'rowsIn', T, T + 60_000)).toHaveLength(10);
});

test('levels are levels: the fullest queue, the largest lag, the state of all hosts', () => {
  const history = new LeaderHistory(OPERATORS);
  for (let at = 0; at <= 3; at++) {
    const watermark = (T - 5_000) * 1000;
    history.observe(
      0,
      [metrics(0, { stateBytes: 40, backpressure: 0.25, watermark })],
      T + at * 2_000,
    );
    history.observe(1, [metrics(0, { stateBytes: 2, backpressure: 0.5 })], T + at * 2_000);
  }
  expect(column(history, 'stateBytes', T, T + 9_000)).toEqual([42, 42, 42, 42, 42, 42]);
  expect(column(history, 'backpressure', T, T + 9_000)).toEqual(Array(6).fill(0.5));
  const [lag] = column(history, 'lag', T, T + 9_000);
  expect((lag as number) / 1e6).toBeCloseTo(7, 3);
});

test('counters that went back count as nothing, and a repeated heartbeat counts once', () => {
  const history = new LeaderHistory(OPERATORS);
  history.observe(0, [metrics(100)], T);
  history.observe(0, [metrics(40)], T + 1_000);
  history.observe(0, [metrics(50)], T + 2_000);
  history.observe(0, [metrics(50)], T + 2_000);
  expect(column(history, 'rowsIn', T, T + 2_000)).toEqual([0, 10]);
});

test('ten seconds hold what their seconds hold, for six hours', () => {
  const history = new LeaderHistory(OPERATORS);
  const hours = 7;
  for (let at = 0; at <= hours * 3600; at += 5)
    history.observe(0, [metrics(at * 3)], T + at * 1000);
  const toMs = T + hours * 3_600_000;
  const coarse = column(history, 'rowsIn', toMs - 6 * 3_600_000, toMs, 10_000);
  expect(coarse).toHaveLength(2160);
  expect(new Set(coarse)).toEqual(new Set([3]));
  expect(column(history, 'rowsIn', T, T + 60_000, 10_000).every(Number.isNaN)).toBe(true);
  expect(new Set(column(history, 'rowsIn', toMs - 300_000, toMs))).toEqual(new Set([3]));
});

type Beat = { host: number; afterMs: number; rows: number; reset: boolean };

const beats: fc.Arbitrary<Beat[]> = fc.array(
  fc.record({
    host: fc.integer({ min: 0, max: 2 }),
    afterMs: fc.integer({ min: 1, max: 9_000 }),
    rows: fc.integer({ min: 0, max: 5_000 }),
    reset: fc.boolean(),
  }),
  { minLength: 2, maxLength: 60 },
);

test('INV-53 no row is lost or counted twice, whatever the heartbeats and resets', () => {
  fc.assert(
    fc.property(beats, (list) => {
      let history = new LeaderHistory(OPERATORS);
      const slabs = new Map<number, Float32Array>();
      const counted = [0, 0, 0];
      const first: (number | null)[] = [null, null, null];
      let nowMs = T;
      for (const { host, afterMs, rows, reset } of list) {
        nowMs += afterMs;
        counted[host] = (counted[host] as number) + rows;
        first[host] ??= counted[host] as number;
        history.observe(host, [metrics(counted[host] as number)], nowMs);
        for (const { index, values } of history.takeFull(nowMs).slabs) slabs.set(index, values);
        if (!reset) continue;
        const saved = structuredClone(history.save());
        history = new LeaderHistory(OPERATORS);
        history.restore(
          saved,
          [...slabs].map(([index, values]) => ({ index, values })),
        );
      }
      // Everybody reports once more, far enough behind for every step to be whole.
      nowMs += 20_000;
      for (const host of [0, 1, 2])
        history.observe(host, [metrics(counted[host] as number)], nowMs);
      const rates = column(history, 'rowsIn', T - 10_000, nowMs, 10_000);
      const total = rates.reduce((sum, rate) => sum + (Number.isNaN(rate) ? 0 : rate * 10), 0);
      const expected = counted.reduce((sum, rows, host) => sum + rows - (first[host] ?? rows), 0);
      expect(Math.abs(total - expected)).toBeLessThan(1 + expected * 1e-4);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

test('after a reset the hole since the last save is filled, and seconds that are lost are told by their ten', () => {
  let history = new LeaderHistory(OPERATORS);
  for (let at = 0; at <= 400; at += 2) history.observe(0, [metrics(at * 5)], T + at * 1000);
  const saved = structuredClone(history.save());
  history.observe(0, [metrics(402 * 5)], T + 402_000);
  const { slabs } = history.takeFull(T + 1_200_000);
  history = new LeaderHistory(OPERATORS);
  history.restore(saved, slabs);
  history.observe(0, [metrics(412 * 5)], T + 412_000);
  const rates = column(history, 'rowsIn', T + 112_000, T + 412_000);
  expect(rates).toHaveLength(300);
  for (const rate of rates) expect(rate).toBeCloseTo(5, 3);
});

test('history of another graph is left behind', () => {
  const history = new LeaderHistory(OPERATORS);
  history.observe(0, [metrics(0)], T);
  history.observe(0, [metrics(10)], T + 2_000);
  const other = new LeaderHistory(['source-1', 'filter-2', 'sink-3']);
  other.restore(history.save(), []);
  expect(other.read(T, T + 2_000, 1000).points).toBe(0);
});

test('a rate is told by heartbeats that lie apart, not by one that was hastened', () => {
  let samples: readonly MetricSample[] = [];
  const beat = (atMs: number, rows: number): void => {
    samples = withSample(samples, { atMs, metrics: [metrics(rows)] });
  };
  beat(T, 0);
  expect(ratesOf(samples)).toEqual([]);
  beat(T + 2_000, 200);
  expect(ratesOf(samples)[0]?.rowsIn).toBe(100);
  beat(T + 2_010, 201);
  expect(ratesOf(samples)[0]?.rowsIn).toBeCloseTo(100, 0);
  beat(T + 4_010, 1_201);
  expect(ratesOf(samples)[0]?.rowsIn).toBe(500);
  expect(samples.length).toBeLessThan(4);
});
