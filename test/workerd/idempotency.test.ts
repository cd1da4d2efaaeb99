/**
 * A client that retries does not count twice: the same key and body are stored once, whatever became of the
 * first answer and whichever objects were killed, created again or moved on in between.
 */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FinalRows } from '../../src/cli/committed-output.ts';
import { Thalweg } from '../harness/thalweg.ts';

const QUERY = `
CREATE TABLE t (i BIGINT) WITH (connector = 'http', format = 'json', type = 'source', partitions = 2);
CREATE TABLE counted WITH (connector = 'r2', path = 'counted', format = 'debezium_json', type = 'sink');
INSERT INTO counted SELECT count(*) AS n, sum(i) AS s FROM t;
`;

let thalweg: Thalweg;
let proxy: Server;
/** What the API answered to requests whose answers the proxy has dropped. */
const dropped: number[] = [];

beforeAll(async () => {
  thalweg = await Thalweg.start();
  // Passes each request on, waits for the answer, and breaks the connection instead of giving it.
  proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const response = await thalweg.fetch(incoming.url ?? '/', {
        method: incoming.method ?? 'GET',
        headers: { 'idempotency-key': String(incoming.headers['idempotency-key']) },
        body: await text(incoming),
      });
      await response.text();
      dropped.push(response.status);
      outgoing.destroy();
    })();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', () => resolve()));
});
afterAll(async () => {
  proxy.close();
  await thalweg.close();
});

/** Posts through the proxy; settles when the connection breaks. */
async function postAndLoseAnswer(path: string, key: string, body: string): Promise<void> {
  const { port } = proxy.address() as AddressInfo;
  await new Promise<void>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method: 'POST', headers: { 'idempotency-key': key } },
      () => reject(new Error('an answer came through')),
    );
    sent.on('error', () => resolve());
    sent.end(body);
  });
}

test('rows of a repeated request count once, across lost answers, a killed log, checkpoints and generations', async () => {
  const { id } = await thalweg.create(QUERY, { parallelism: 2 });
  const path = `/api/v1/pipelines/${id}/tables/t/rows`;
  const body = '[{"i":1},{"i":2}]';
  const post = async (key: string, rows: string) => {
    const response = await thalweg.fetch(path, {
      method: 'POST',
      headers: { 'idempotency-key': key },
      body: rows,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const committed = async (): Promise<string[]> => {
    const rows = new FinalRows();
    for (const line of await thalweg.lines('counted/')) rows.add(line);
    return rows.rows();
  };
  const replayedAndMismatched = async (): Promise<void> => {
    expect(await post('b1', body)).toMatchObject({
      status: 200,
      body: { accepted: 2, replayed: true, first_offset: 0 },
    });
    expect(await post('b1', '[{"i":1},{"i":3}]')).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_MISMATCH' },
    });
  };
  await thalweg.waitForJob(id, ({ state }) => state === 'Running');

  await postAndLoseAnswer(path, 'b1', body);
  expect(dropped).toEqual([200]);
  await replayedAndMismatched();
  expect(await post('b2', body)).toMatchObject({
    status: 200,
    body: { accepted: 2, replayed: false },
  });
  await expect.poll(committed, { timeout: 20_000 }).toEqual(['{"n":4,"s":6}']);

  // A checkpoint has passed the rows, and the log has trimmed them.
  const { epoch, run_id: generation } = await thalweg.api.job(id);
  await thalweg.waitForEpoch(id, epoch + 2);
  await replayedAndMismatched();
  for (const index of [0, 1]) await thalweg.crash(id, 'log', 'now', index, 't');
  await replayedAndMismatched();
  await thalweg.crash(id, 'host');
  await replayedAndMismatched();
  await thalweg.waitForJob(id, ({ state, run_id: now }) => state === 'Running' && now > generation);
  await replayedAndMismatched();
  await thalweg.killProcess();
  await thalweg.waitForJob(id, ({ state, run_id: now }) => state === 'Running' && now > generation);
  await replayedAndMismatched();

  // Many at once, half of them for the first time: each key is taken once.
  const keys = Array.from({ length: 10 }, (_, index) => `many-${index % 5}`);
  const answers = await Promise.all(keys.map((key) => post(key, '{"i":10}')));
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
  expect(answers.filter((answer) => answer.body['replayed'] === false)).toHaveLength(5);
  await expect.poll(committed, { timeout: 30_000 }).toEqual(['{"n":9,"s":56}']);
});
