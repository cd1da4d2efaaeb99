/**
 * What a user may ask of a pipeline while it lives: stop in every way, start, restart, rescale, forget its
 * state, delete. Whatever is asked, every row counts once, except where the user asked to forget.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FinalRows } from '../../src/cli/committed-output.ts';
import { Thalweg } from '../harness/thalweg.ts';

let thalweg: Thalweg;
beforeAll(async () => {
  thalweg = await Thalweg.start();
});
afterAll(async () => {
  await thalweg.close();
});

/** Counts and sums rows as changes: whatever is doubled or lost shows in the last one. */
const countingInto = (path: string, partitions = 1): string => `
CREATE TABLE t (i BIGINT) WITH (connector = 'http', format = 'json', type = 'source', partitions = ${partitions});
CREATE TABLE counted WITH (connector = 'r2', path = '${path}', format = 'debezium_json', type = 'sink');
INSERT INTO counted SELECT count(*) AS n, sum(i) AS s FROM t;
`;

const rowsFrom = (first: number, count: number): { i: number }[] =>
  Array.from({ length: count }, (_, index) => ({ i: first + index }));
const counted = (count: number): string =>
  JSON.stringify({ n: count, s: (count * (count - 1)) / 2 });

/** The rows that committed changes leave standing. */
async function standing(path: string): Promise<string[]> {
  const rows = new FinalRows();
  for (const line of await thalweg.lines(`${path}/`)) rows.add(line);
  return rows.rows();
}

const waitForStanding = async (path: string, row: string): Promise<void> =>
  await expect.poll(() => standing(path), { timeout: 20_000, interval: 100 }).toEqual([row]);

const stop = async (id: string, mode: string): Promise<void> => {
  await thalweg.api.patch(id, { stop: mode });
  await thalweg.waitForJob(id, ({ state }) => state === 'Stopped');
};

const start = async (id: string, extra: Record<string, unknown> = {}) => {
  await thalweg.api.patch(id, { stop: 'none', ...extra });
  return await thalweg.waitForJob(id, ({ state }) => state === 'Running');
};

const restart = async (id: string, body: Record<string, unknown>): Promise<void> => {
  const { run_id: before } = await thalweg.api.job(id);
  const response = await thalweg.fetch(`/api/v1/pipelines/${id}/restart`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
  await thalweg.waitForJob(
    id,
    ({ state, run_id: generation }) => state === 'Running' && generation > before,
  );
};

describe('a pipeline over http rows', () => {
  test('is stopped in every way and started again: nothing is doubled or lost', async () => {
    const { id } = await thalweg.create(countingInto('stops', 2), { parallelism: 2 });
    let sent = 0;
    const send = async (key: string): Promise<void> => {
      await thalweg.send(id, 't', rowsFrom(sent, 50), key);
      sent += 50;
    };
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    for (const mode of ['checkpoint', 'graceful', 'immediate', 'force']) {
      await send(`${mode}-running`);
      await stop(id, mode);
      // A stop with a checkpoint has committed what it had read; others leave it to be read again.
      if (mode === 'checkpoint')
        expect((await thalweg.api.job(id)).committed_epoch).toBe((await thalweg.api.job(id)).epoch);
      await send(`${mode}-stopped`);
      await start(id);
      await waitForStanding('stops', counted(sent));
    }
    expect((await thalweg.api.job(id)).restarts).toBe(0);
  });

  test('may be stopped twice, more hastily but not less, and not at all when it is gone', async () => {
    const { id } = await thalweg.create(countingInto('twice'));
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    await thalweg.send(id, 't', rowsFrom(0, 10), 'a');
    await waitForStanding('twice', counted(10));
    await Promise.all([
      thalweg.api.patch(id, { stop: 'checkpoint' }),
      thalweg.api.patch(id, { stop: 'checkpoint' }),
    ]);
    await thalweg.waitForJob(id, ({ state }) => state === 'Stopped');
    await thalweg.api.patch(id, { stop: 'checkpoint' });
    await thalweg.api.patch(id, { stop: 'immediate' });
    expect((await thalweg.api.job(id)).state).toBe('Stopped');
    await start(id);
    await thalweg.api.patch(id, { stop: 'immediate' });
    await thalweg.waitForJob(id, ({ state }) => state === 'Stopped');
    expect(await standing('twice')).toEqual([counted(10)]);

    expect((await thalweg.fetch(`/api/v1/pipelines/${id}`, { method: 'DELETE' })).status).toBe(200);
    await expect(thalweg.api.patch(id, { stop: 'none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    const late = await thalweg.fetch(`/api/v1/pipelines/${id}/tables/t/rows`, {
      method: 'POST',
      body: '{"i":1}',
    });
    expect(late.status).toBe(404);
    // What it has committed is the user's and stays.
    expect(await standing('twice')).toEqual([counted(10)]);
  });

  test('follows changes of mind that nobody waits for', async () => {
    const { id } = await thalweg.create(countingInto('minds'));
    await thalweg.send(id, 't', rowsFrom(0, 10), 'before it runs');
    const wishes = [
      'checkpoint',
      'none',
      'immediate',
      'none',
      'graceful',
      'none',
      'checkpoint',
      'none',
    ];
    for (const wish of wishes) await thalweg.api.patch(id, { stop: wish });
    await thalweg.send(id, 't', rowsFrom(10, 10), 'in between');
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    await waitForStanding('minds', counted(20));
    for (const wish of [...wishes, 'checkpoint']) await thalweg.api.patch(id, { stop: wish });
    await thalweg.waitForJob(id, ({ state }) => state === 'Stopped');
    expect(await standing('minds')).toEqual([counted(20)]);
    expect((await thalweg.api.job(id)).restarts).toBe(0);
  });

  test('is rescaled 1 → 2 → 3 → 1 while rows flow, and restarted', async () => {
    const query = `
CREATE TABLE t (i BIGINT, k BIGINT) WITH (connector = 'http', format = 'json', type = 'source', partitions = 3);
CREATE TABLE counted WITH (connector = 'r2', path = 'rescaled', format = 'debezium_json', type = 'sink');
INSERT INTO counted SELECT k, count(*) AS n, sum(i) AS s FROM t GROUP BY k;`;
    const { id } = await thalweg.create(query);
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    const groups = new Map<number, { k: number; n: number; s: number }>();
    let batch = 0;
    const send = async (): Promise<void> => {
      const rows = rowsFrom(batch * 40, 40).map(({ i }) => ({ i, k: i % 13 }));
      for (const { i, k } of rows) {
        const group = groups.get(k) ?? { k, n: 0, s: 0 };
        groups.set(k, { k, n: group.n + 1, s: group.s + i });
      }
      await thalweg.send(id, 't', rows, `rescale-${batch++}`);
    };
    const sendWhile = async (change: Promise<unknown>): Promise<void> => {
      let done = false;
      const finished = change.finally(() => {
        done = true;
      });
      // Each send waits for its answer, so this neither spins nor outruns the log.
      do await send();
      while (!done);
      await finished;
    };
    const settled = async (change: () => Promise<unknown>): Promise<void> => {
      const { run_id: before } = await thalweg.api.job(id);
      await change();
      await thalweg.waitForJob(
        id,
        ({ state, run_id: generation }) => state === 'Running' && generation > before,
      );
    };
    for (const parallelism of [2, 3, 1])
      await sendWhile(settled(() => thalweg.api.patch(id, { parallelism })));
    await sendWhile(restart(id, {}));
    await sendWhile(restart(id, { force: true }));
    await send();
    const want = [...groups.values()].map((group) => JSON.stringify(group)).sort();
    await expect
      .poll(async () => (await standing('rescaled')).sort(), { timeout: 20_000, interval: 100 })
      .toEqual(want);
  });

  test('forgets its state when asked to, once: a later recovery does not', async () => {
    const { id } = await thalweg.create(countingInto('forgets'));
    /** The count as the last change has it; changes before a restart without state stand for themselves. */
    const newest = async (): Promise<unknown> => {
      const last = (await thalweg.lines('forgets/')).at(-1);
      return last === undefined
        ? null
        : (JSON.parse(last) as { after: { n: number } | null }).after?.n;
    };
    const waitForCount = async (count: number): Promise<void> =>
      await expect.poll(newest, { timeout: 20_000, interval: 100 }).toBe(count);
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    await thalweg.send(id, 't', rowsFrom(0, 5), 'five');
    await waitForCount(5);
    const { epoch: before } = await thalweg.api.job(id);
    await restart(id, { ignore_state: true });
    await thalweg.send(id, 't', rowsFrom(5, 3), 'three');
    await waitForCount(3);
    const { epoch: after, run_id: generation } = await thalweg.api.job(id);
    expect(after).toBeGreaterThan(before);
    await thalweg.waitForEpoch(id, after + 1);
    await thalweg.crash(id, 'host');
    await thalweg.waitForJob(id, ({ state, run_id }) => state === 'Running' && run_id > generation);
    await thalweg.send(id, 't', rowsFrom(8, 2), 'two');
    await waitForCount(5);
    // The rows are 3 to 5 of the second life and the two after the crash, none of the first five.
    const last = JSON.parse((await thalweg.lines('forgets/')).at(-1) ?? '') as { after: unknown };
    expect(last.after).toEqual({ n: 5, s: 5 + 6 + 7 + 8 + 9 });
  });
});

describe('a bounded pipeline', () => {
  const TICKS =
    "CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 2000, message_count = 3000, partitions = 2);";

  test('finishes with its tail committed, also after a host was lost', async () => {
    const { id } = await thalweg.create(
      `${TICKS}
CREATE TABLE tail WITH (connector = 'r2', path = 'tail', format = 'json', type = 'sink');
INSERT INTO tail SELECT counter FROM ticks;`,
      { parallelism: 2 },
    );
    await thalweg.waitForJob(id, ({ state }) => state === 'Running');
    await thalweg.crash(id, 'host', 'now', 1);
    const job = await thalweg.waitForJob(id, ({ state }) => state === 'Finished');
    expect(job.run_id).toBe(2);
    expect(job.committed_epoch).toBe(job.epoch);
    const counters = (await thalweg.lines('tail/')).map(
      (line) => (JSON.parse(line) as { counter: number }).counter,
    );
    expect(counters.sort((one, other) => one - other)).toEqual(
      Array.from({ length: 3_000 }, (_, index) => index),
    );
    await expect(thalweg.api.patch(id, { stop: 'checkpoint' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  test('that also reads a source without an end keeps checkpointing after the bounded one has ended', async () => {
    const { id } = await thalweg.create(
      `${TICKS}
CREATE TABLE t (i BIGINT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE both WITH (connector = 'r2', path = 'both', format = 'json', type = 'sink');
INSERT INTO both SELECT counter AS i FROM ticks UNION ALL SELECT i FROM t;`,
      { parallelism: 2 },
    );
    await thalweg.waitForLines('both/', 3_000);
    const { epoch } = await thalweg.api.job(id);
    await thalweg.send(id, 't', rowsFrom(3_000, 10), 'more');
    await thalweg.waitForLines('both/', 3_010);
    await thalweg.crash(id, 'host');
    await thalweg.send(id, 't', rowsFrom(3_010, 10), 'still more');
    const lines = await thalweg.waitForLines('both/', 3_020);
    await thalweg.waitForEpoch(id, epoch + 5);
    expect(
      lines.map((line) => (JSON.parse(line) as { i: number }).i).sort((one, other) => one - other),
    ).toEqual(Array.from({ length: 3_020 }, (_, index) => index));
    expect((await thalweg.api.job(id)).state).toBe('Running');
    await stop(id, 'checkpoint');
    expect(await thalweg.lines('both/')).toHaveLength(3_020);
  });
});
