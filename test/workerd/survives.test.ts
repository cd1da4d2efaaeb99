/**
 * The main job in real workerd: HTTP rows → tumbling window → R2, while objects and processes are killed
 * at every phase of a checkpoint. What is committed equals, row for row, what a run without faults gives.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { patiently, pause, Thalweg } from '../harness/thalweg.ts';

/** Each test has a pipeline and a folder of its own. */
const queryOf = (path: string): string => `
CREATE TABLE bids (ts TIMESTAMP NOT NULL, k TEXT NOT NULL, v BIGINT, WATERMARK FOR ts AS ts - interval '1 second')
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE totals WITH (connector = 'r2', path = '${path}', format = 'json', type = 'sink');
INSERT INTO totals SELECT k, window.start AS s, n, total FROM (
  SELECT k, tumble(interval '1 second') AS window, count(*) AS n, sum(v) AS total FROM bids GROUP BY k, window);
`;

type Row = { ts: string; k: string; v: number };

const BASE_MS = Date.UTC(2026, 0, 1);

const stamp = (ms: number): string => new Date(ms).toISOString().replace('Z', '');

/** Batch `batch` of `count`: 40 rows over 200 ms of event time, up to 500 ms out of order. */
function batchOf(batch: number, prng: Prng): Row[] {
  return Array.from({ length: 40 }, (_, index) => ({
    ts: stamp(BASE_MS + batch * 200 + index * 5 - prng.below(500)),
    k: `key-${prng.below(6)}`,
    v: prng.below(1_000),
  }));
}

function expected(rows: readonly Row[]): string[] {
  const groups = new Map<string, { k: string; s: string; n: number; total: number }>();
  for (const { ts, k, v } of rows) {
    const s = stamp(Math.floor(Date.parse(`${ts}Z`) / 1_000) * 1_000).slice(0, 19);
    const group = groups.get(`${k} ${s}`) ?? { k, s, n: 0, total: 0 };
    group.n++;
    group.total += v;
    groups.set(`${k} ${s}`, group);
  }
  return [...groups.values()].map((group) => JSON.stringify(group)).sort();
}

/** Sends `batches` batches with faults in between, then a last row that closes every window; checks what was committed. */
async function runWithFaults(
  thalweg: Thalweg,
  seed: string,
  parallelism: number,
  batches: number,
  fault: (batch: number, pipeline: string, prng: Prng) => Promise<void>,
): Promise<{ generation: number; restarts: number; starts: number }> {
  const prng = new Prng(seed);
  const path = seed.replace(/[^a-z]+/g, '-');
  const pipeline = await thalweg.create(queryOf(path), { parallelism });
  await thalweg.waitForJob(pipeline.id, (job) => job.state === 'Running');
  const rows: Row[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const sent = batchOf(batch, prng);
    const answer = await thalweg.send(pipeline.id, 'bids', sent, `${seed}-${batch}`);
    expect(answer.accepted, `seed ${seed}, batch ${batch}`).toBe(sent.length);
    rows.push(...sent);
    await fault(batch, pipeline.id, prng);
    await pause(30);
  }
  const want = expected(rows);
  await thalweg.send(
    pipeline.id,
    'bids',
    [{ ts: stamp(BASE_MS + batches * 200 + 60_000), k: 'end', v: 0 }],
    `${seed}-end`,
  );
  const lines = await thalweg.waitForLines(`${path}/`, want.length, 45_000);
  const job = await thalweg.waitForJob(pipeline.id, (view) => view.state === 'Running');
  expect(lines.sort(), `seed ${seed}`).toEqual(want);
  // One more checkpoint commits what was still staged: nothing is.
  await patiently(() => thalweg.api.patch(pipeline.id, { stop: 'checkpoint' }));
  await thalweg.waitForJob(pipeline.id, (view) => view.state === 'Stopped');
  expect((await thalweg.lines(`${path}/`)).sort(), `seed ${seed}`).toEqual(want);
  const lineage = await thalweg.fetch(`/api/v1/pipelines/${pipeline.id}/lineage`);
  const { generations } = (await lineage.json()) as { generations: { generation: number }[] };
  return { generation: job.run_id, restarts: job.restarts, starts: generations.length };
}

describe('a pipeline survives', () => {
  let thalweg: Thalweg;
  beforeAll(async () => {
    thalweg = await Thalweg.start();
  });
  afterAll(async () => {
    await thalweg.close();
  });

  test('nothing happening', async () => {
    await runWithFaults(thalweg, 'quiet', 1, 10, async () => undefined);
  });

  test('a host that is reset again and again, at parallelism 2', async () => {
    const { generation } = await runWithFaults(
      thalweg,
      'hosts',
      2,
      40,
      async (batch, pipeline, prng) => {
        if (batch % 10 === 5) await thalweg.crash(pipeline, 'host', 'now', prng.below(2));
      },
    );
    expect(generation).toBeGreaterThan(1);
  });

  test('a leader that is reset again and again, without a new generation', async () => {
    const { generation, restarts } = await runWithFaults(
      thalweg,
      'leader',
      2,
      40,
      async (batch, pipeline) => {
        if (batch % 10 === 5) await thalweg.crash(pipeline, 'leader');
      },
    );
    expect(generation).toBe(1);
    expect(restarts).toBe(0);
  });

  test('SIGKILL to workerd and to the whole process', async () => {
    await runWithFaults(thalweg, 'process', 2, 30, async (batch) => {
      if (batch === 8) await thalweg.killWorkerd();
      if (batch === 18) await thalweg.killProcess();
    });
  });

  test('a log partition that is reset', async () => {
    await runWithFaults(thalweg, 'log', 1, 30, async (batch, pipeline) => {
      if (batch % 10 === 4) await thalweg.crash(pipeline, 'log', 'now', 0, 'bids');
    });
  });

  const leaderPoints = [
    'send:barrier',
    'lineage:publish',
    'lineage:publish:after',
    'send:commit',
    'lineage:complete-commit',
    'lineage:complete-commit:after',
    'send:settled',
    'lineage:collect',
  ];
  test.each(leaderPoints)('a leader that is reset at %s', async (point) => {
    const name = `leader ${point}`;
    const { generation, starts } = await runWithFaults(
      thalweg,
      name,
      2,
      25,
      async (batch, pipeline) => {
        if (batch === 10) await thalweg.crash(pipeline, 'leader', point);
      },
    );
    expect(generation).toBe(1);
    expect(starts, 'the leader was reset').toBeGreaterThan(1);
  });

  const hostPoints = [
    'put-file',
    'file-put:after',
    'stage',
    'staged:after',
    'pre-commit',
    'pre-committed:after',
    'report:checkpointed',
    'commit',
    'committed:after',
    'report:committed',
    'trim',
  ];
  test.each(hostPoints)('a host that is reset at %s', async (point) => {
    const { generation } = await runWithFaults(
      thalweg,
      `host ${point}`,
      2,
      25,
      async (batch, pipeline) => {
        if (batch === 10) await thalweg.crash(pipeline, 'host', point, 0);
      },
    );
    expect(generation, 'the host was reset').toBeGreaterThan(1);
  });
});
