/**
 * A running pipeline without its control plane: no cron, D1 emptied, no request. It goes on reading,
 * writing checkpoints and committing, also over a reset of its leader, and what it has committed is right.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalRuntime, startRuntime } from '../../src/cli/local-runtime.ts';
import { DataPlane, reset, until } from '../harness/data-plane.ts';
import { pause } from '../harness/thalweg.ts';

const RATE = 500;
const KEYS = 7;
const QUERY = `
CREATE TABLE ticks WITH (connector = 'impulse', event_rate = ${RATE}, partitions = 2);
CREATE TABLE totals WITH (connector = 'r2', path = 'totals', format = 'json', type = 'sink');
INSERT INTO totals SELECT k, window.start AS s, n, total FROM (
  SELECT counter % ${KEYS} AS k, tumble(interval '1 second') AS window, count(*) AS n, sum(counter) AS total FROM ticks GROUP BY k, window);
`;
const EPOCHS = 5;

type Row = { k: number; s: string; n: number; total: number };

const stateDir = mkdtempSync(join(tmpdir(), 'thalweg-control-'));
let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await startRuntime({ stateDir, onLog: () => undefined });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(stateDir, { recursive: true, force: true });
});

/** Every row of the windows up to the one that begins at `last`, for a pipeline created at `createdMicros`. */
function expectedRows(createdMicros: number, last: string): string[] {
  const groups = new Map<string, Row>();
  for (let counter = 0; ; counter++) {
    const millis = Math.floor((createdMicros + counter * (1_000_000 / RATE)) / 1_000);
    const s = new Date(Math.floor(millis / 1_000) * 1_000).toISOString().slice(0, 19);
    if (s > last) break;
    const key = `${s} ${counter % KEYS}`;
    const row = groups.get(key) ?? { k: counter % KEYS, s, n: 0, total: 0 };
    row.n++;
    row.total += counter;
    groups.set(key, row);
  }
  return [...groups.values()].map((row) => JSON.stringify(row)).sort();
}

const database = async (): Promise<D1Database> =>
  (await runtime.miniflare.getD1Database('DB')) as unknown as D1Database;

/** Takes every table away, so that whatever asks the catalogue is refused. */
async function breakD1(): Promise<void> {
  const d1 = await database();
  const { results } = await d1
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all<{ name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !/^(sqlite_|_cf_)/.test(name));
  expect(names).toEqual(expect.arrayContaining(['pipelines', 'jobs', 'job_errors']));
  await d1.batch(
    ['PRAGMA defer_foreign_keys = true', ...names.map((name) => `DROP TABLE "${name}"`)].map(
      (statement) => d1.prepare(statement),
    ),
  );
}

async function create(name: string): Promise<{ id: string; createdMicros: number; jobId: string }> {
  const created = await runtime.fetch('/api/v1/pipelines', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name,
      query: QUERY.replaceAll('totals', name),
      parallelism: 2,
      checkpoint_interval_micros: 1_000_000,
    }),
  });
  const { id, created_at: createdMicros } = (await created.json()) as {
    id: string;
    created_at: number;
  };
  const jobs = (await (await runtime.fetch(`/api/v1/pipelines/${id}/jobs`)).json()) as {
    data: { id: string }[];
  };
  return { id, createdMicros, jobId: jobs.data[0]?.id ?? '' };
}

test('a generation that ends while D1 is away is followed by another when D1 is back, without cron', async () => {
  const { id, jobId } = await create('away');
  const plane = await DataPlane.of(runtime);
  const leader = await plane.leader(id, 1);
  await until(
    () => leader.poll(),
    ({ phase, committedEpoch }) => phase === 'running' && committedEpoch > 0,
  );
  const d1 = await database();
  await d1.prepare('ALTER TABLE jobs RENAME TO jobs_away').run();
  await reset(await plane.host(id, 1, 1));
  await until(
    () => leader.poll(),
    ({ outcome }) => outcome?.tag === 'failed',
  );
  // Long enough for the leader to have told the controller in vain.
  await pause(1_000);
  await expect((await plane.leader(id, 2)).poll()).resolves.toMatchObject({ phase: 'new' });
  await d1.prepare('ALTER TABLE jobs_away RENAME TO jobs').run();
  await until(
    () => plane.lineage(id, jobId),
    ({ generations }) => generations.has(2),
    20_000,
  );
  await (await plane.leader(id, 2)).stop('immediate', 'over');
});

test('a pipeline checkpoints and commits while API, D1 and cron are gone, and over a reset of its leader', async () => {
  const { id, createdMicros, jobId } = await create('totals');
  const plane = await DataPlane.of(runtime);
  const leader = await plane.leader(id, 1);
  await until(
    () => leader.poll(),
    ({ phase }) => phase === 'running',
  );

  await breakD1();
  expect((await runtime.fetch(`/api/v1/pipelines/${id}`)).status).toBeGreaterThanOrEqual(500);
  await expect(runtime.runScheduled()).rejects.toThrow();

  const look = async () => ({
    ...(await plane.lineage(id, jobId)),
    files: (await plane.keys('totals/')).length,
  });
  const grown = async (from: Awaited<ReturnType<typeof look>>, epochs = EPOCHS) =>
    await until(
      look,
      ({ recorded, marked, files }) =>
        recorded >= from.recorded + epochs &&
        marked >= from.marked + epochs &&
        files >= from.files + epochs,
    );
  const first = await until(look, ({ marked }) => marked > 0);
  const alone = await grown(first);

  const { incarnation } = await leader.poll();
  await reset(leader);
  const resumed = await until(
    async () => await (await plane.leader(id, 1)).poll(),
    (seen) => seen.incarnation?.startNo === (incarnation?.startNo ?? 0) + 1,
  );
  expect(resumed.incarnation?.nonce).not.toBe(incarnation?.nonce);
  const after = await grown(alone, 2);
  expect([...after.generations]).toEqual([1]);

  // Even a stop needs only the leader: what is committed then are whole windows, from the first on.
  const again = await plane.leader(id, 1);
  await again.stop('checkpoint', 'the end');
  await until(
    () => again.poll(),
    ({ outcome }) => outcome?.tag === 'stopped',
  );
  const lines = (await plane.lines('totals/')).sort();
  const last = lines
    .map((line) => (JSON.parse(line) as Row).s)
    .reduce((one, other) => (one > other ? one : other));
  expect(lines).toEqual(expectedRows(createdMicros, last));
  expect(new Set(lines.map((line) => (JSON.parse(line) as Row).s)).size).toBeGreaterThanOrEqual(
    EPOCHS,
  );
});
