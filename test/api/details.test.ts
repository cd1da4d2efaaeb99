/** A pipeline's details over real runs of the step machines: manifests, sinks, rows that went wrong. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createPipeline } from '../../src/catalog/pipelines.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { readLineage } from '../../src/lineage/read.ts';
import { bucketOf, clusterOf, FILES } from '../audit/world.ts';
import { PATHS } from '../harness/cluster/bucket.ts';
import { type Json, World } from './world.ts';

// Whole runs of a cluster: a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let world: World;
beforeEach(() => {
  world = new World();
});

/** The catalogue, the lineage and the bucket of a run, under the ids that the run has. */
async function afterRun(seed: string): Promise<void> {
  const cluster = clusterOf(FILES, seed);
  cluster.startGeneration('created');
  cluster.runFor(700);
  cluster.splitBrain();
  cluster.runToOutcome();
  const store = bucketOf(cluster);
  for (const [key, { body }] of store.objects) world.objects.set(key, body);
  world.lineage = driveSync(readLineage(PATHS), (op) => store.answer(op));
  const { graph } = planSql(FILES, DECLARATIONS, { defaultSink: 'preview' });
  await createPipeline(world.database, {
    id: 'pl',
    jobId: 'job',
    name: 'run',
    query: FILES,
    parallelism: 2,
    checkpointIntervalMs: 100,
    graph: JSON.stringify(graph),
    planHash: 'p',
    settings: {},
    tags: {},
    nowMs: world.nowMs,
  });
  await world.observe('pl', { state: 'Finished', generation: cluster.generation });
}

const manifest = async (ref: string): Promise<{ status: number; body: Json }> =>
  await world.call('GET', `/api/v1/pipelines/pl/lineage/manifest?ref=${encodeURIComponent(ref)}`);

describe('a manifest', () => {
  beforeEach(() => afterRun('manifests'));

  test('of every checkpoint that the lineage names tells what is stored, its files and its output', async () => {
    const { body: lineage } = await world.call('GET', '/api/v1/pipelines/pl/lineage');
    expect(lineage.epochs.length).toBeGreaterThan(3);
    for (const epoch of lineage.epochs) {
      const { status, body } = await manifest(epoch.ref);
      expect(status).toBe(200);
      expect(body.kind).toBe('checkpoint');
      expect(body.bytes).toBe(world.objects.get(epoch.ref)?.length);
      expect(body.manifest.epoch).toBe(epoch.epoch);
      expect(body.files).toHaveLength(epoch.files);
      const bytes = body.files.reduce((sum: number, file: Json) => sum + file.bytes, 0);
      expect(bytes).toBe(epoch.bytes);
      const rows = body.outputs.reduce((sum: number, output: Json) => sum + output.rows, 0);
      expect(rows).toBe(epoch.output_rows);
      for (const output of body.outputs) expect(output.committed).toBe(epoch.committed);
    }
  });

  test('is every object of the lineage that says something, and no other object of the bucket', async () => {
    world.objects.set('other/job/epochs/0000000001.record', new TextEncoder().encode('{}'));
    world.objects.set('secret', new TextEncoder().encode('{"secret":1}'));
    const kinds = new Map<string, number>();
    for (const key of world.objects.keys()) {
      const { status, body } = await manifest(key);
      if (status === 200) kinds.set(body.kind, (kinds.get(body.kind) ?? 0) + 1);
      else expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
      const isOfLineage = PATHS.parse(key) !== null;
      const says = isOfLineage && !['current', 'file'].includes(PATHS.parse(key)?.tag ?? '');
      expect(status === 200, key).toBe(says);
    }
    expect([...kinds.keys()].toSorted()).toEqual(['checkpoint', 'commit', 'generation', 'record']);
  });

  test.each([
    'pl/job/epochs/../../../secret',
    'pl/job/epochs/0000009999.record',
    '/pl/job/epochs/0000000001.record',
    'pl/job/',
    'pl/other/epochs/0000000001.record',
    'windows/0',
  ])('that is none is not found: %s', async (ref) => {
    expect((await manifest(ref)).status).toBe(404);
  });
});

test('sinks tell what they received and committed, as the files have it', async () => {
  await afterRun('sinks');
  const { body } = await world.call('GET', '/api/v1/pipelines/pl/sinks');
  const { body: lineage } = await world.call('GET', '/api/v1/pipelines/pl/lineage');
  const output = lineage.epochs.reduce((sum: number, epoch: Json) => sum + epoch.output_rows, 0);
  expect(body.data.map(({ table, connector }: Json) => [table, connector])).toEqual([
    ['windows', 'r2'],
    ['every', 'single_file'],
  ]);
  const committed = body.data.reduce((sum: number, sink: Json) => sum + sink.rows_committed, 0);
  expect(committed).toBe(output);
  for (const sink of body.data) {
    expect(sink.rows_staged).toBe(0);
    expect(sink.rows_received).toBe(sink.rows_committed);
    expect(sink.files).toBeGreaterThan(0);
    expect(sink.last_commit_epoch).toBeGreaterThan(0);
    expect(sink.files_since_epoch).toBeNull();
  }
});

test('sinks say from which epoch on their files are counted, when older ones are collected', async () => {
  await afterRun('collected');
  const whole = world.lineage;
  if (whole.tag !== 'read') throw new Error('there is a lineage');
  const checkpoints = whole.view.checkpoints.slice(-2);
  world.lineage = { tag: 'read', view: { ...whole.view, checkpoints } };
  const { body } = await world.call('GET', '/api/v1/pipelines/pl/sinks');
  for (const sink of body.data) {
    expect(sink.files_since_epoch).toBe(checkpoints[0]?.epoch);
    expect(sink.rows_committed).toBeGreaterThan(0);
  }
});

describe('a checkpoint now', () => {
  test('is named by its epoch; nothing that runs answers 503', async () => {
    await afterRun('flush');
    const flush = (): Promise<Json> => world.call('POST', '/api/v1/pipelines/pl/checkpoint');
    expect(await flush()).toMatchObject({ status: 503, body: { code: 'NOT_RUNNING' } });
    world.flushed = 12;
    expect((await flush()).body).toEqual({ epoch: 12 });
    world.services.flush = async () => {
      throw new Error('no answer');
    };
    expect((await flush()).status).toBe(503);
  });
});

describe('rows that went wrong', () => {
  const TABLE = `CREATE TABLE t (id INT NOT NULL, note TEXT) WITH (connector = 'http', format = 'json', type = 'source'`;
  const rowsOf = async (id: string, query = ''): Promise<Json> =>
    (await world.call('GET', `/api/v1/pipelines/${id}/errors/rows${query}`)).body;

  test('are those that were refused and those that could not be computed, newest first, page by page', async () => {
    const { id } = await world.create(`${TABLE}); SELECT 1 / id FROM t;`);
    await world.observe(id, { state: 'Running', generation: 2 });
    for (const generation of [1, 2])
      world.problems.set(
        generation,
        Array.from({ length: 5 }, (_, index) => ({
          number: index + 1,
          atMs: world.nowMs + index * 10 + generation,
          operator: 'project-2',
          subtask: 1,
          message: 'x: by zero',
          detail: '{"id":0}',
          code: 'DIVISION_BY_ZERO',
          domain: 'user' as const,
          row: {
            column: 'x',
            reason: 'by zero',
            raw: '{"id":0}',
            rawSha256: null,
            partition: null,
          },
        })),
      );
    world.nowMs += 25;
    const bad = `{"id":"${'é'.repeat(3_000)}"}`;
    await world.call('POST', `/api/v1/pipelines/${id}/tables/t/rows`, `${bad}\n{"note":"n"}\n`);
    const { data, hasMore } = await rowsOf(id);
    expect(hasMore).toBe(false);
    expect(data).toHaveLength(12);
    const times = data.map(({ time }: Json) => time);
    expect(times).toEqual(times.toSorted((left: number, right: number) => right - left));
    const refused = data.filter(({ table }: Json) => table === 't');
    expect(refused[0]).toMatchObject({ code: 'MISSING_REQUIRED', column: 'id', generation: 0 });
    expect(refused[1]).toMatchObject({
      code: 'TYPE_MISMATCH',
      column: 'id',
      operator_id: 'source-1',
    });
    expect(new TextEncoder().encode(refused[1].raw).length).toBeLessThanOrEqual(2_048);
    expect(bad.startsWith(refused[1].raw)).toBe(true);
    const paged: Json[] = [];
    for (let after = '', more = true; more;) {
      const page = await rowsOf(id, `?limit=5${after === '' ? '' : `&starting_after=${after}`}`);
      paged.push(...page.data);
      after = page.data.at(-1).id;
      more = page.hasMore;
    }
    expect(paged).toEqual(data);
  });

  test("of a table with errors.raw = 'redact' show a hash and nothing of the row (U54)", async () => {
    const { id } = await world.create(`${TABLE}, errors.raw = 'redact'); SELECT id FROM t;`);
    await world.observe(id, { state: 'Running', generation: 1 });
    const raw = '{"id":"jane@example.test"}';
    const answer = await world.call('POST', `/api/v1/pipelines/${id}/tables/t/rows`, `${raw}\n`);
    // Whoever sent the row is told what is wrong with it.
    expect(answer.body.errors[0]).toMatchObject({ code: 'TYPE_MISMATCH', column: 'id' });
    const { data } = await rowsOf(id);
    expect(data[0]).toMatchObject({
      raw: null,
      raw_sha256: createHash('sha256').update(raw).digest('hex'),
      code: 'TYPE_MISMATCH',
      column: 'id',
    });
    const told = await world.call('GET', `/api/v1/pipelines/${id}/tables/t/errors`);
    expect(told.body.data[0].raw).toBeNull();
    expect(JSON.stringify(data) + told.text).not.toContain('jane');
  });

  test('are told as far as their keepers answer', async () => {
    const { id } = await world.create(`${TABLE}); SELECT id FROM t;`);
    await world.observe(id, { state: 'Running', generation: 1 });
    await world.call('POST', `/api/v1/pipelines/${id}/tables/t/rows`, '{"id":"x"}\n');
    world.services.problems = async () => {
      throw new Error('no answer');
    };
    expect((await rowsOf(id)).data).toHaveLength(1);
  });
});

test('the server tells what it is', async () => {
  expect((await world.call('GET', '/api/v1/server')).body).toEqual({
    name: 'Thalweg',
    version: '0.1.0',
    local: true,
    code_version: 'test',
    api: 'v1',
  });
});
