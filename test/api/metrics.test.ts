import fc from 'fast-check';
import { expect, test } from 'vitest';
import { metricGroups } from '../../src/api/jobs/metric-views.ts';
import { METRIC_NAMES } from '../../src/api/jobs/job-shapes.ts';
import { PrometheusText } from '../../src/api/observe/prometheus-text.ts';
import { createPipeline } from '../../src/catalog/pipelines.ts';
import { LeaderSeries, SERIES_VALUES } from '../../src/leader/series.ts';
import { newHost, newLeader } from '../../src/leader/state.ts';
import type { LeaderStatus, OperatorMetrics } from '../../src/protocol/messages.ts';
import { HealthWorld } from './health-world.ts';
import { type ParsedFamily, parsePrometheus } from './prometheus-parser.ts';
import { EVENTS, World } from './world.ts';

const SEED = 20_240_612;

const read = async (world: World): Promise<Map<string, ParsedFamily>> => {
  const { status, headers, text } = await world.call('GET', '/metrics');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new Map(parsePrometheus(text).map((family) => [family.name, family]));
};

/** The status of a leader that runs for real, in a simulated cluster. */
function leaderStatus(): LeaderStatus {
  const running = new HealthWorld(
    `CREATE TABLE t (ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
       WITH (connector = 'http', format = 'json', type = 'source', partitions = 2);
     SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM t GROUP BY 1);`,
    { parallelism: 2 },
  ).start();
  for (const partition of [0, 1])
    running.post('t', [{ ts: '2023-01-01T10:00:10' }, { ts: '2023-01-01T10:00:20' }], partition);
  running.cluster.runFor(12_000);
  const { leaderStatus: status } = running.cluster;
  if (status === null) throw new Error('no leader');
  return status;
}

test('leaders, operators, subtasks and partitions stand in the text, whatever their names', async () => {
  const world = new World();
  const name = 'a "quoted" \\ name';
  const { id } = await world.create(EVENTS, { name });
  await world.observe(id, { state: 'Running', generation: 1 });
  world.status = leaderStatus();
  world.nowMs = 1_700_000_020_000;
  const families = await read(world);
  const value = (family: string, labels: Record<string, string> = {}): number | undefined =>
    families
      .get(family)
      ?.samples.find((sample) =>
        Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
      )?.value;
  const [up] = families.get('thalweg_pipeline_up')?.samples ?? [];
  expect(up).toEqual({ name: 'thalweg_pipeline_up', labels: { pipeline: id, name }, value: 1 });
  expect(value('thalweg_pipelines', { state: 'Running' })).toBe(1);
  expect(value('thalweg_build_info')).toBe(1);
  const rows = families.get('thalweg_operator_rows_in_total');
  expect(rows).toMatchObject({ type: 'counter', help: 'Rows received, of a source: read.' });
  expect(value('thalweg_operator_rows_in_total', { operator: 'source-1', subtask: '0' })).toBe(2);
  expect(value('thalweg_operator_watermark_timestamp_seconds', { operator: 'source-1' })).toBe(
    Date.UTC(2023, 0, 1, 10, 0, 20) / 1000,
  );
  expect(value('thalweg_pipeline_lag_seconds')).toBe(
    1_700_000_020 - Date.UTC(2023, 0, 1, 10, 0, 20) / 1000,
  );
  expect(families.get('thalweg_source_backlog_rows')?.samples).toHaveLength(2);
  expect(value('thalweg_pipeline_checkpoint_duration_seconds')).toBeGreaterThan(0);
  expect(value('thalweg_scrape_pipelines_skipped')).toBe(0);
});

test('any label is read back as it was', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.double().map((each) => (each === 0 ? 0 : each)),
      (label, value) => {
        fc.pre(!label.includes('\r'));
        const text = new PrometheusText();
        text.family('m', 'gauge', label === '' ? 'none' : `x${label}`);
        text.add('m', { label }, value);
        const [family] = parsePrometheus(text.toString());
        expect(family?.samples).toEqual([{ name: 'm', labels: { label }, value }]);
        expect(family?.help).toBe(label === '' ? 'none' : `x${label}`);
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});

test('a leader that does not answer is down, a pipeline at rest is only counted', async () => {
  const world = new World();
  const silent = await world.create(EVENTS);
  const stopped = await world.create(EVENTS);
  await world.observe(silent.id, { state: 'Running', generation: 1 });
  await world.observe(stopped.id, { state: 'Stopped', generation: 1 });
  const families = await read(world);
  const up = families.get('thalweg_pipeline_up')?.samples ?? [];
  expect(up.map(({ labels, value }) => [labels['pipeline'], value])).toEqual([[silent.id, 0]]);
  expect(families.get('thalweg_pipelines')?.samples).toHaveLength(2);
  expect(families.has('thalweg_operator_rows_in_total')).toBe(false);
});

test('two hundred leaders are asked at most, sixteen at a time, and none after the deadline', async () => {
  const world = new World();
  for (let index = 0; index < 210; index++) {
    const id = `pl_${index}`;
    await createPipeline(world.database, {
      id,
      jobId: `job_${index}`,
      name: 'one of many',
      query: EVENTS,
      parallelism: 1,
      checkpointIntervalMs: 10_000,
      graph: '{}',
      planHash: '',
      settings: {},
      tags: {},
      nowMs: world.nowMs,
    });
    await world.observe(id, { state: 'Running', generation: 1 });
  }
  let asking = 0;
  let most = 0;
  let asked = 0;
  let tookMs = 0;
  world.services.leaderStatus = async () => {
    asked++;
    most = Math.max(most, ++asking);
    await Promise.resolve();
    world.nowMs += tookMs;
    asking--;
    return null;
  };
  const skipped = async (): Promise<number | undefined> =>
    (await read(world)).get('thalweg_scrape_pipelines_skipped')?.samples[0]?.value;
  expect(await skipped()).toBe(10);
  expect([asked, most]).toEqual([200, 16]);
  asked = 0;
  tookMs = 500;
  const left = await skipped();
  expect(asked).toBeLessThan(40);
  expect(left).toBe(210 - asked);
}, 30_000);

const metrics = (subtask: number, rows: number): OperatorMetrics => ({
  operator: 'source-1',
  subtask,
  rowsIn: rows,
  rowsOut: rows,
  bytesIn: 0,
  bytesOut: 0,
  batchesIn: 0,
  batchesOut: 0,
  errors: 0,
  late: 0,
  filtered: 0,
  watermark: null,
  stateBytes: 0,
  stateRows: 0,
  backpressure: 0.25,
});

test('a metric group has a point for each heartbeat of the last five minutes', () => {
  const series = new LeaderSeries();
  const beat = (atMs: number, rows: number): void =>
    series.take({
      ...newLeader(),
      hosts: [0, 1].map((index) => ({
        ...newHost(null, 0),
        metrics: [metrics(index, rows + index)],
        metricsMs: atMs,
      })),
    });
  for (let second = 0; second <= 600; second += 2) {
    beat(second * 1000, second);
    beat(second * 1000 + 10, second);
  }
  const { graph } = new HealthWorld(EVENTS);
  const [group] = metricGroups(
    graph,
    [metrics(0, 600), metrics(1, 601)],
    series.read(600_000),
    600_000,
  );
  expect(group?.metric_groups.map(({ name }) => name)).toEqual([...METRIC_NAMES]);
  const of = (name: string) =>
    group?.metric_groups.find((each) => each.name === name)?.subtasks ?? [];
  const [zero, one] = of('messages_recv');
  expect(zero?.metrics).toHaveLength(150);
  expect(zero?.metrics[0]).toEqual({ time: 302_000_000, value: 302 });
  expect(one?.metrics.at(-1)).toEqual({ time: 600_000_000, value: 601 });
  expect(of('backpressure')[0]?.metrics[0]?.value).toBe(0.25);
  const size = of('tx_queue_size')[0]?.metrics[0]?.value ?? 0;
  expect(of('tx_queue_rem')[0]?.metrics[0]?.value).toBe(size * 0.75);
  expect(METRIC_NAMES.filter((name) => !name.startsWith('tx_')).toSorted()).toEqual(
    [...SERIES_VALUES].toSorted(),
  );
});
