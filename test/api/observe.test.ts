import { beforeEach, describe, expect, test } from 'vitest';
import { historyOf, stepFor } from '../../src/api/observe/history.ts';
import { lowest } from '../../src/api/observe/status.ts';
import { getPipeline } from '../../src/catalog/pipelines.ts';
import { recordFailure } from '../../src/catalog/jobs.ts';
import { HISTORY_COLUMNS } from '../../src/leader/history.ts';
import type { HistoryPoints, LeaderStatus, OperatorMetrics } from '../../src/protocol/messages.ts';
import { HealthWorld } from './health-world.ts';
import { EVENTS, World } from './world.ts';

const T = 1_700_000_000_000;

let world: World;
let id: string;
beforeEach(async () => {
  world = new World();
  id = (await world.create(EVENTS, { parallelism: 2 })).id;
});

const leader = (rest: Partial<LeaderStatus> = {}): LeaderStatus => ({
  codeVersion: 'v7',
  generation: 2,
  incarnation: null,
  phase: 'running',
  outcome: null,
  epoch: 9,
  committedEpoch: 8,
  startedMs: T,
  runningSinceMs: T + 5,
  hosts: [{ index: 0, incarnation: 'h0', lastHeardMs: T + 9 }],
  checkpoint: null,
  recent: [],
  metrics: [],
  errors: [],
  stopNonce: null,
  ...rest,
});

const metric = (
  operator: string,
  subtask: number,
  rest: Partial<OperatorMetrics> = {},
): OperatorMetrics => ({
  operator,
  subtask,
  rowsIn: 7,
  rowsOut: 5,
  bytesIn: 70,
  bytesOut: 50,
  batchesIn: 1,
  batchesOut: 1,
  errors: 0,
  late: 1,
  filtered: 2,
  watermark: 12,
  stateBytes: 8,
  stateRows: 2,
  backpressure: 0.5,
  ...rest,
});

const atGeneration = (generation: number): Promise<void> =>
  world.observe(id, { state: 'Running', generation });

describe('the status', () => {
  test('knows what the catalogue knows while there is no leader', async () => {
    const { status, body } = await world.call('GET', `/api/v1/pipelines/${id}/status`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      pipeline_id: id,
      state: 'Created',
      generation: 0,
      leader: 'none',
      running_since: null,
      lag_micros: null,
      rates: { rows_in: 0, rows_out: 0, bytes_in: 0 },
      totals: { rows_in: 0, rows_out: 0, errors: 0, late: 0, filtered: 0 },
      checkpoint: { interval_micros: 10_000_000, next_at: null, running: null, last: null },
      failure: null,
    });
    expect(body.operators.map((operator: { kind: string }) => operator.kind)).toContain('source');
  });

  test('says that a leader which should answer is silent', async () => {
    await atGeneration(2);
    const { body } = await world.call('GET', `/api/v1/pipelines/${id}/status`);
    expect(body.leader).toBe('silent');
  });

  test('sums subtasks, takes the lowest watermark and the fullest queue', async () => {
    await atGeneration(2);
    world.nowMs = T + 20;
    world.status = leader({
      metrics: [
        metric('source-1', 1, { watermark: 9.5, backpressure: 0.75 }),
        metric('source-1', 0, { watermark: 'end' }),
      ],
      rates: [
        { operator: 'source-1', subtask: 0, rowsIn: 10, rowsOut: 9, bytesIn: 100 },
        { operator: 'source-1', subtask: 1, rowsIn: 20, rowsOut: 18, bytesIn: 200 },
      ],
      nextCheckpointMs: T + 10_000,
    });
    const { body } = await world.call('GET', `/api/v1/pipelines/${id}/status`);
    const [first] = body.operators;
    expect(first).toMatchObject({
      operator_id: 'source-1',
      kind: 'source',
      rows_in: 14,
      rows_in_per_second: 30,
      rows_out_per_second: 27,
      backpressure: 0.75,
      watermark: 9,
      lag_micros: (T + 20) * 1000 - 9,
      open_windows: null,
      uncommitted_rows: null,
    });
    expect(first.subtasks.map((subtask: { index: number }) => subtask.index)).toEqual([0, 1]);
    expect(body).toMatchObject({
      leader: 'answers',
      code_version: 'v7',
      running_since: (T + 5) * 1000,
      rates: { rows_in: 30, bytes_in: 300 },
      checkpoint: { next_at: (T + 10_000) * 1000 },
      hosts: [{ index: 0, incarnation: 'h0', last_heard_at: (T + 9) * 1000 }],
    });
  });

  test('the lowest watermark is that of those who have one and have not ended', () => {
    expect(lowest([])).toBe(null);
    expect(lowest([null, 'end'])).toBe('end');
    expect(lowest([null, 7, 'end', 5])).toBe(5);
  });

  test('of a running cluster tells partitions, windows and rates', () => {
    const running = new HealthWorld(
      `CREATE TABLE t (ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
         WITH (connector = 'http', format = 'json', type = 'source', partitions = 2);
       SELECT window.start AS s, n FROM (SELECT hop(interval '10 seconds', interval '30 seconds') AS window,
         count(*) AS n FROM t GROUP BY 1);`,
      { parallelism: 2 },
    ).start();
    const post = (partition: number, second: number): void =>
      running.post(
        't',
        [{ ts: new Date(Date.UTC(2023, 0, 1, 0, 0, second)).toISOString() }],
        partition,
      );
    for (let second = 0; second < 20; second++) {
      post(0, second);
      post(1, second + 5);
      running.cluster.runFor(1_000);
    }
    const { status } = running;
    expect(status.sources[0]).toMatchObject({ table: 't', connector: 'http' });
    const [zero, one] = status.sources[0]?.partitions ?? [];
    const of = (second: number): number => Date.UTC(2023, 0, 1, 0, 0, second) * 1000;
    expect(zero).toMatchObject({
      partition: 0,
      subtask: 0,
      rows: 20,
      last_event_time: of(19),
      watermark: of(19),
      idle: false,
      ended: false,
    });
    expect(one).toMatchObject({ partition: 1, subtask: 1, rows: 20, last_event_time: of(24) });
    expect(zero?.backlog_rows).toBe(0);
    expect(status.at - (zero?.last_row_at ?? 0)).toBeLessThan(1_100_000);
    const windows = status.operators.find((operator) => operator.kind === 'window-aggregate');
    // Ends 10, 20 and so on: the one at 10 has left, those at 20 to 50 hold rows.
    expect(windows).toMatchObject({
      watermark: of(19),
      open_windows: { count: 4, first_end: of(20) },
    });
    expect(status.rates.rows_in).toBeGreaterThan(1.5);
    expect(status.rates.rows_in).toBeLessThan(2.5);
    expect(status.operators.every((operator) => operator.bytes_in > 0)).toBe(true);
    expect(status.checkpoint.recent.length).toBeGreaterThan(0);
    expect(status.checkpoint.next_at).toBeGreaterThan(status.at);
  });
});

const points = (
  generation: number,
  startedMs: number,
  firstMs: number,
  count: number,
  rows: number,
): HistoryPoints => {
  const values = new Float32Array(HISTORY_COLUMNS.length * count).fill(NaN);
  values.fill(rows, 0, count);
  return {
    generation,
    reason: generation === 1 ? 'created' : 'recovery: HOST_LOST',
    startedMs,
    firstMs,
    stepMs: 1000,
    points: count,
    operators: ['source-1'],
    values,
    commits: [{ atMs: firstMs + 1_500, epoch: generation * 10 }],
  };
};

describe('the history', () => {
  test('goes on over a recovery: what both generations did in one second adds up, what nobody knows is null', async () => {
    await atGeneration(2);
    world.nowMs = T + 60_000;
    world.histories.set(1, () => points(1, T, T, 41, 5));
    world.histories.set(2, () => points(2, T + 40_300, T + 40_000, 18, 7));
    await recordFailure(
      world.database,
      await world.jobId(id),
      1,
      { code: 'HOST_LOST', domain: 'internal', retry: 'backoff', message: 'host 0 was lost' },
      T + 40_100,
    );
    const { body } = await world.call('GET', `/api/v1/pipelines/${id}/metrics/history?seconds=90`);
    expect(body.step_micros).toBe(1_000_000);
    expect(body.times).toHaveLength(body.pipeline.rows_in.length);
    const at = (ms: number): number => body.times.indexOf(ms * 1000);
    const [source] = body.operators;
    expect(source.rows_in[at(T - 1000)]).toBe(null);
    expect(source.rows_in[at(T)]).toBe(5);
    expect(source.rows_in[at(T + 40_000)]).toBe(12);
    expect(source.rows_in[at(T + 41_000)]).toBe(7);
    expect(body.times.at(-1)).toBe((T + 57_000) * 1000);
    expect(body.pipeline.rows_in[at(T + 50_000)]).toBe(7);
    expect(source.lag_micros.every((value: unknown) => value === null)).toBe(true);
    expect(
      body.marks.map((mark: { kind: string; generation: number }) => [mark.kind, mark.generation]),
    ).toEqual([
      ['generation', 1],
      ['checkpoint', 1],
      ['failure', 1],
      ['generation', 2],
      ['checkpoint', 2],
    ]);
    expect(body.marks[2].text).toBe('HOST_LOST: host 0 was lost');
  });

  test('one stretch after the other gives each point and each mark once', async () => {
    await atGeneration(2);
    const all = [
      points(1, T, T, 41, 5),
      {
        ...points(2, T + 40_300, T + 40_000, 18, 7),
        commits: [42, 47, 51].map((at) => ({ atMs: T + at * 1000 + 300, epoch: at })),
      },
    ];
    for (const part of all)
      world.histories.set(part.generation, ({ fromMs, toMs }) => {
        const from = Math.max(0, (fromMs - part.firstMs) / 1000);
        const to = Math.max(
          from,
          Math.min(part.points, Math.floor((toMs - part.firstMs) / 1000) - 2),
        );
        const values = new Float32Array(HISTORY_COLUMNS.length * (to - from)).fill(
          part.values[0] as number,
        );
        return { ...part, firstMs: part.firstMs + from * 1000, points: to - from, values };
      });
    const found = await getPipeline(world.database, id);
    if (found === null) throw new Error('no pipeline');
    world.nowMs = T + 30_500;
    let after: number | null = null;
    const times: number[] = [];
    const marks: string[] = [];
    for (; world.nowMs < T + 61_000; world.nowMs += 700) {
      const history = await historyOf(world.services, found, 60, after);
      times.push(...history.times);
      marks.push(...history.marks.map((mark) => mark.text));
      after = history.times.at(-1) ?? after;
    }
    const first = times[0] as number;
    expect(times).toEqual(times.map((_, at) => first + at * 1_000_000));
    expect(times.at(-1)).toBe((T + 57_000) * 1000);
    expect(marks).toEqual([
      'generation 1: created',
      'epoch 10 committed',
      'generation 2: recovery: HOST_LOST',
      'epoch 42 committed',
      'epoch 47 committed',
      'epoch 51 committed',
    ]);
  });

  test('has every column that a leader has', async () => {
    await atGeneration(2);
    world.nowMs = T + 3_000;
    const part = points(2, T, T, 2, 0);
    for (let column = 0; column < HISTORY_COLUMNS.length; column++)
      part.values.fill(column + 1, column * 2, column * 2 + 2);
    world.histories.set(2, () => part);
    const found = await getPipeline(world.database, id);
    if (found === null) throw new Error('no pipeline');
    const { operators, pipeline } = await historyOf(world.services, found, 60);
    for (const [column, name] of HISTORY_COLUMNS.entries()) {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const key = name === 'lag' ? 'lag_micros' : snake;
      expect(operators[0]?.[key as 'rows_in'].at(-1), key).toBe(column + 1);
    }
    expect(pipeline.lag_micros.at(-1)).toBe(HISTORY_COLUMNS.indexOf('lag') + 1);
  });

  test('asks no leader that the window does not reach, and five at most', async () => {
    await atGeneration(9);
    world.nowMs = T + 600_000;
    const asked: number[] = [];
    for (let generation = 1; generation <= 9; generation++)
      world.histories.set(generation, ({ fromMs }) => {
        asked.push(generation);
        return points(
          generation,
          generation === 7 ? fromMs : T + generation * 60_000,
          fromMs,
          1,
          1,
        );
      });
    await world.call('GET', `/api/v1/pipelines/${id}/metrics/history`);
    expect(asked).toEqual([9, 8, 7]);
    asked.length = 0;
    await world.call('GET', `/api/v1/pipelines/${id}/metrics/history?seconds=3600`);
    expect(asked).toEqual([9, 8, 7]);
  });

  test('has steps of a second for five minutes and of ten or more beyond, 360 at most', () => {
    expect([1, 300, 301, 3600, 21_600].map(stepFor)).toEqual([1000, 1000, 10_000, 10_000, 60_000]);
  });

  test('refuses spans that nobody keeps', async () => {
    for (const seconds of ['0', '21601', 'x'])
      expect(
        (await world.call('GET', `/api/v1/pipelines/${id}/metrics/history?seconds=${seconds}`))
          .status,
      ).toBe(400);
  });
});

test('the health route gives a sentence', async () => {
  const { status, body } = await world.call('GET', `/api/v1/pipelines/${id}/health`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ code: 'STARTING', level: 'waiting', others: [] });
});
