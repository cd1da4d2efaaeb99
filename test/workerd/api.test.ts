/** The API end to end on the deployed Worker: rows in, rows out, faults in between. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalRuntime, startRuntime } from '../../src/cli/local-runtime.ts';

type Json = ReturnType<typeof JSON.parse>;

const stateDir = mkdtempSync(join(tmpdir(), 'thalweg-api-'));
let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await startRuntime({ stateDir });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(stateDir, { recursive: true, force: true });
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Json }> {
  const response = await runtime.fetch(`/api/v1${path}`, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function job(id: string): Promise<Json> {
  return (await call('GET', `/pipelines/${id}/jobs`)).body.data[0];
}

/** Asks until the job is as `wanted` says; fails with the job as it is. */
async function waitFor(id: string, wanted: (job: Json) => boolean): Promise<Json> {
  for (let attempt = 0; ; attempt++) {
    const seen = await job(id);
    if (wanted(seen)) return seen;
    if (attempt === 200) throw new Error(`the job did not get there: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Follows the output; `rows()` are the texts of the rows so far, `ended` settles with the stream. */
async function follow(
  id: string,
  jobId: string,
): Promise<{ rows(): string; ended: Promise<void> }> {
  const response = await runtime.fetch(`/api/v1/pipelines/${id}/jobs/${jobId}/output`);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const ended = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  const rows = (): string =>
    text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) =>
        (JSON.parse(line.slice('data: '.length)) as { batch: string }).batch.slice(1, -1),
      )
      .join(',');
  return { rows, ended };
}

async function waitUntil(condition: () => boolean, what: () => string): Promise<void> {
  for (let attempt = 0; !condition(); attempt++) {
    if (attempt === 200) throw new Error(what());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const IDS = `CREATE TABLE ids (id BIGINT NOT NULL, rel BIGINT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT id, id + 1 AS nxt, rel FROM ids;`;

test('rows go in and come out with every digit, across a lost host, until the pipeline is stopped', async () => {
  const created = await call('POST', '/pipelines', {
    name: 'ids',
    query: IDS,
    checkpoint_interval_micros: 1_000_000,
  });
  expect(created.status).toBe(200);
  const { id } = created.body;
  const first = await waitFor(id, ({ state }) => state === 'Running');
  const output = await follow(id, first.id);

  const rows =
    '{"id":9007199254740993,"rel":-9223372036854775808}\n{"id":"x"}\n{"id":2033735037361704962,"rel":null}\n';
  const post = (): ReturnType<typeof call> =>
    call('POST', `/pipelines/${id}/tables/ids/rows`, rows, { 'idempotency-key': 'b1' });
  const stored = await post();
  expect(stored).toMatchObject({
    status: 207,
    body: {
      accepted: 2,
      rejected: 1,
      replayed: false,
      errors: [{ index: 1, code: 'TYPE_MISMATCH', column: 'id' }],
    },
  });
  expect((await post()).body).toEqual({ ...stored.body, replayed: true });
  const expected =
    '{"id":9007199254740993,"nxt":9007199254740994,"rel":-9223372036854775808},{"id":2033735037361704962,"nxt":2033735037361704963,"rel":null}';
  await waitUntil(() => output.rows() === expected, output.rows);

  await waitFor(id, ({ committed_epoch: epoch }) => epoch > first.epoch + 1);
  expect(
    (await call('POST', `/local/pipelines/${id}/crash`, { target: 'host', index: 0 })).status,
  ).toBe(200);
  expect(
    (await call('POST', `/local/pipelines/${id}/crash`, { target: 'log', table: 'ids', index: 0 }))
      .status,
  ).toBe(200);
  await waitFor(id, ({ state, generation }) => state === 'Running' && generation === 2);
  expect((await post()).body).toEqual({ ...stored.body, replayed: true });
  await call('POST', `/pipelines/${id}/tables/ids/rows`, '[{"id":1}]');
  await waitUntil(() => output.rows() === `${expected},{"id":1,"nxt":2,"rel":null}`, output.rows);

  const path = `/pipelines/${id}/jobs/${first.id}`;
  expect((await call('GET', `${path}/errors`)).body.data).toMatchObject([
    { code: 'HOST_LOST', generation: 1, level: 'error' },
  ]);
  const { epoch } = await job(id);
  expect((await call('GET', `${path}/checkpoints`)).body.data[0].epoch).toBeGreaterThanOrEqual(
    epoch,
  );
  expect(
    (await call('GET', `${path}/checkpoints/${epoch}/operator_checkpoint_groups`)).status,
  ).toBe(200);
  expect((await call('GET', `/pipelines/${id}/lineage`)).body).toMatchObject({
    generation: 2,
    unreadable: [],
  });
  expect((await call('GET', `/pipelines/${id}/tables/ids/errors`)).body.data).toMatchObject([
    { index: 1, raw: '{"id":"x"}' },
  ]);

  expect((await call('DELETE', `/pipelines/${id}`)).status).toBe(400);
  expect((await call('PATCH', `/pipelines/${id}`, { stop: 'checkpoint' })).status).toBe(200);
  await waitFor(id, ({ state }) => state === 'Stopped');
  await output.ended;
  expect((await call('DELETE', `/pipelines/${id}`)).status).toBe(200);
  expect((await call('GET', `/pipelines/${id}`)).status).toBe(404);
});

/** Events of a pipeline, until `enough` of its rows were read or it is gone. */
async function events(
  id: string,
  lastId: string,
  enough: number,
): Promise<{ rows: string[]; lastId: string; names: Set<string> }> {
  const stop = new AbortController();
  const response = await runtime.fetch(`/api/v1/pipelines/${id}/events`, {
    headers: lastId === '' ? {} : { 'last-event-id': lastId },
    signal: stop.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  const seen = { rows: [] as string[], lastId, names: new Set<string>() };
  for (let text = ''; seen.rows.length < enough;) {
    const { done, value } = await reader.read();
    if (done) return seen;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const event = /^event: (.*)$/m.exec(part)?.[1];
      if (event === undefined) continue;
      seen.names.add(event);
      seen.lastId = /^id: (.*)$/m.exec(part)?.[1] ?? '';
      const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? '') as Json;
      if (event === 'output')
        for (const { counter } of JSON.parse(data.batch) as { counter: number }[])
          seen.rows.push(`${data.generation}/${counter}`);
    }
  }
  await reader.cancel();
  stop.abort();
  return seen;
}

test('a preview is read by one stream of events that breaks and goes on, and is deleted when it is not wanted', async () => {
  const { body } = await call('POST', '/pipelines/preview', {
    query: `CREATE TABLE n WITH (connector = 'impulse', event_rate = 2000);
      CREATE TABLE o WITH (connector = 'r2', path = 'never', format = 'json', type = 'sink');
      INSERT INTO o SELECT counter FROM n;`,
  });
  expect([body.preview, body.sinks[0].connector]).toEqual([true, 'preview']);
  const rows: string[] = [];
  let lastId = '';
  for (const enough of [500, 1_000, 1]) {
    const part = await events(body.id, lastId, enough);
    rows.push(...part.rows);
    lastId = part.lastId;
  }
  expect(rows).toEqual(rows.map((_, index) => `1/${index}`));
  const flushed = await call('POST', `/pipelines/${body.id}/checkpoint`);
  expect([flushed.status, flushed.body.epoch]).toEqual([200, expect.any(Number)]);
  for (let more = true; more;) {
    const { body: lineage } = await call('GET', `/pipelines/${body.id}/lineage`);
    const epoch = lineage.epochs.find((each: Json) => each.epoch === flushed.body.epoch);
    more = epoch === undefined;
    if (more) continue;
    const manifest = await call(
      'GET',
      `/pipelines/${body.id}/lineage/manifest?ref=${encodeURIComponent(epoch.ref)}`,
    );
    expect(manifest.body).toMatchObject({ kind: 'checkpoint', phases: { kind: 'scheduled' } });
  }
  expect((await call('DELETE', `/pipelines/${body.id}`)).status).toBe(200);
  expect((await events(body.id, lastId, Infinity)).names).toContain('gone');
  expect((await call('GET', `/pipelines/${body.id}`)).status).toBe(404);
}, 40_000);

test('a pipeline is stopped, started, rescaled and started afresh, and counts every row once', async () => {
  const query = `CREATE TABLE t (i BIGINT) WITH (connector = 'http', format = 'json', type = 'source', partitions = 3);
    SELECT count(*) AS n, sum(i) AS s FROM t;`;
  const { id } = (
    await call('PUT', '/pipelines/counting', {
      name: 'counting',
      query,
      parallelism: 2,
      checkpoint_interval_micros: 1_000_000,
    })
  ).body;
  const rows = Array.from({ length: 100 }, (_, index) => ({ i: index }));
  const send = async (key: string): Promise<void> => {
    expect(
      (await call('POST', `/pipelines/${id}/tables/t/rows`, rows, { 'idempotency-key': key })).body
        .accepted,
    ).toBe(100);
  };
  const { id: jobId } = await waitFor(id, ({ state }) => state === 'Running');
  const output = await follow(id, jobId);
  for (let batch = 0; batch < 5; batch++) await send(`a${batch}`);
  await waitUntil(() => output.rows().includes('{"n":500,"s":24750}'), output.rows);

  await call('PATCH', `/pipelines/${id}`, { stop: 'checkpoint' });
  await waitFor(id, ({ state }) => state === 'Stopped');
  for (let batch = 0; batch < 5; batch++) await send(`b${batch}`);
  await call('PATCH', `/pipelines/${id}`, { stop: 'none', parallelism: 3 });
  const again = await waitFor(id, ({ state }) => state === 'Running');
  const more = await follow(id, again.id);
  await waitUntil(() => more.rows().includes('{"n":1000,"s":49500}'), more.rows);

  await call('POST', `/pipelines/${id}/restart`, { ignore_state: true });
  await waitFor(
    id,
    ({ state, generation }) => state === 'Running' && generation > again.generation,
  );
  await send('c');
  await waitUntil(() => more.rows().includes('{"n":100,"s":4950}'), more.rows);
  await call('PATCH', `/pipelines/${id}`, { stop: 'immediate' });
  await waitFor(id, ({ state }) => state === 'Stopped');
  await Promise.all([output.ended, more.ended]);
  await call('DELETE', `/pipelines/${id}`);
  // Also when everything that the pipeline left behind has been cleared away.
  for (const waitMs of [0, 2_000]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const reused = await call('PUT', '/pipelines/counting', { name: 'counting', query });
    expect(reused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', error: expect.stringContaining('deleted') },
    });
  }
});
