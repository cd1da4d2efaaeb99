import { beforeEach, describe, expect, test } from 'vitest';
import type { JobState } from '../../src/catalog/schema.ts';
import type { LeaderStatus } from '../../src/protocol/messages.ts';
import { EVENTS, World } from './world.ts';

/** What a leader says that was never started. */
const unused: LeaderStatus = {
  codeVersion: '1',
  generation: 0,
  incarnation: null,
  phase: 'new',
  outcome: null,
  epoch: 0,
  committedEpoch: 0,
  startedMs: 0,
  runningSinceMs: null,
  hosts: [],
  checkpoint: null,
  recent: [],
  metrics: [],
  errors: [],
  stopNonce: null,
};

let world: World;
beforeEach(() => {
  world = new World();
});

const patch = (id: string, body: unknown) => world.call('PATCH', `/api/v1/pipelines/${id}`, body);

describe('a pipeline', () => {
  test('is created wanted to run, reconciled before the answer, and has its tables in it', async () => {
    const created = await world.create(EVENTS, {
      parallelism: 2,
      checkpoint_interval_micros: 2_500_000,
      tags: { team: 'a' },
      batch_rows: 100,
      settings: { heartbeat_interval_ms: 500 },
    });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^pl_[0-9A-Za-z]{10}$/) as string,
      name: 'test',
      query: EVENTS,
      udfs: [],
      parallelism: 2,
      checkpoint_interval_micros: 2_500_000,
      stop: 'none',
      created_at: world.nowMs * 1000,
      preview: false,
      state_url: null,
      tags: { team: 'a' },
      settings: { batch_rows: 100, heartbeat_interval_ms: 500 },
      sinks: [{ table: 'select_1', connector: 'preview', path: null, updating: false }],
      sources: [
        {
          table: 'ev',
          connector: 'http',
          rows_url: `/api/v1/pipelines/${created.id}/tables/ev/rows`,
          columns: [
            { name: 'netuid', type: 'INT', required: true },
            { name: 'observed_at' },
            { name: 'note', required: false },
          ],
        },
      ],
    });
    expect(created.graph.nodes.map((node: { parallelism: number }) => node.parallelism)).toEqual(
      created.graph.nodes.map(() => 2),
    );
    expect(world.reconciled).toEqual([created.id]);
    expect((await world.call('GET', `/api/v1/pipelines/${created.id}`)).body).toEqual(created);
  });

  test('is refused with everything that is wrong with its query', async () => {
    const query =
      "CREATE TABLE t (a INT) WITH (connector = 'htp', type = 'source');\nSELECT b FROM u;";
    const answer = await world.call('POST', '/api/v1/pipelines', { name: 'x', query });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map((error: { code: string }) => error.code)).toEqual([
      'UNKNOWN_CONNECTOR',
      'UNKNOWN_TABLE',
    ]);
    expect(answer.body).toMatchObject({
      code: 'UNKNOWN_CONNECTOR',
      error: answer.body.errors[0].message,
      suggestion: 'http',
      span: { start: { line: 1 } },
    });
    expect((await world.call('GET', '/api/v1/pipelines')).body).toEqual({
      data: [],
      hasMore: false,
    });
  });

  test.each([
    [{}, 'name'],
    [{ name: 'x', query: EVENTS, parallelism: 65 }, 'parallelism'],
    [{ name: 'x', query: EVENTS, checkpoint_interval_micros: 999_999 }, 'one second'],
    [{ name: 'x', query: EVENTS, checkpoint_interval_micros: 86_400_000_001 }, 'one day'],
    [{ name: 'x', query: EVENTS, settings: { no_such: 1 } }, 'no_such'],
    [{ name: 'x', query: EVENTS, settings: { heartbeat_timeout_ms: 5999 } }, 'three times'],
    ['{"name"', 'JSON'],
  ])('is refused when the request has the wrong shape: %j', async (body, words) => {
    const answer =
      typeof body === 'string'
        ? await world.call('POST', '/api/v1/pipelines', body, {
            'content-type': 'application/json',
          })
        : await world.call('POST', '/api/v1/pipelines', body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', domain: 'user' },
    });
    expect(answer.body.error).toContain(words);
  });

  test('may have an id of the user, once', async () => {
    const put = (): ReturnType<World['call']> =>
      world.call('PUT', '/api/v1/pipelines/mine', { name: 'x', query: EVENTS });
    world.status = unused;
    expect((await put()).body.id).toBe('mine');
    expect(await put()).toMatchObject({
      status: 400,
      body: { error: 'there is a pipeline mine already' },
    });
    await world.observe('mine', { state: 'Failed' });
    expect((await world.call('DELETE', '/api/v1/pipelines/mine')).status).toBe(200);
    world.status = { ...unused, generation: 1 };
    expect(await put()).toMatchObject({
      status: 400,
      body: { error: 'the id mine was that of a pipeline that is deleted' },
    });
    world.status = null;
    expect(await put()).toMatchObject({ status: 503 });
    expect(
      await world.call('PUT', '/api/v1/pipelines/a%2Fb', { name: 'x', query: EVENTS }),
    ).toMatchObject({ status: 400 });
  });

  test('is listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      world.nowMs += 1;
      ids.unshift((await world.create(EVENTS)).id);
    }
    const seen: string[] = [];
    for (let after = '', more = true; more;) {
      const { body } = await world.call('GET', `/api/v1/pipelines?limit=2${after}`);
      seen.push(...body.data.map((pipeline: { id: string }) => pipeline.id));
      more = body.hasMore;
      after = `&starting_after=${seen.at(-1)}`;
    }
    expect(seen).toEqual(ids);
    expect(await world.call('GET', '/api/v1/pipelines?limit=0')).toMatchObject({ status: 400 });
  });

  test('is validated without an error status, with its plan or what is wrong', async () => {
    const good = await world.call('POST', '/api/v1/pipelines/validate_query', { query: EVENTS });
    expect(good).toMatchObject({
      status: 200,
      body: { errors: [], graph: { nodes: expect.any(Array) as unknown[] } },
    });
    expect(good.body.logical).toContain('source ev (http)');
    expect(good.body.physical).toContain('stage 0');
    const bad = await world.call('POST', '/api/v1/pipelines/validate_query', { query: 'SELEC 1' });
    expect(bad.status).toBe(200);
    expect(bad.body.graph).toBeUndefined();
    expect(bad.body.errors[0]).toMatchObject({
      code: 'SYNTAX',
      message: expect.any(String) as string,
      span: { start: { line: 1, column: 1 } },
    });
  });

  test('changes what is wanted, and only that', async () => {
    const { id } = await world.create(EVENTS);
    await world.observe(id, { state: 'Running', generation: 1 });
    expect((await patch(id, { name: 'other', tags: { a: 'b' } })).body).toMatchObject({
      name: 'other',
      tags: { a: 'b' },
      stop: 'none',
      action: 'checkpoint',
    });
    expect((await patch(id, { parallelism: 4 })).body).toMatchObject({
      parallelism: 4,
      stop: 'none',
    });
    expect((await patch(id, { checkpoint_interval_micros: 3_000_000 })).body).toMatchObject({
      checkpoint_interval_micros: 3_000_000,
    });
    expect((await patch(id, { stop: 'checkpoint' })).body).toMatchObject({
      stop: 'checkpoint',
      action: null,
      action_in_progress: true,
    });
    expect(await patch(id, {})).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(await patch('nobody', { stop: 'none' })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    expect(await patch(id, { stop: 'now' })).toMatchObject({ status: 400 });
  });

  test('can be stopped sooner than was asked for, and not later', async () => {
    const { id } = await world.create(EVENTS);
    await world.observe(id, { state: 'Running', generation: 1 });
    await patch(id, { stop: 'graceful' });
    expect((await patch(id, { stop: 'graceful' })).status).toBe(200);
    const later = await patch(id, { stop: 'checkpoint' });
    expect(later).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', hint: expect.stringContaining('immediate') as string },
    });
    expect((await patch(id, { stop: 'force' })).body).toMatchObject({ stop: 'immediate' });
    expect((await patch(id, { stop: 'none' })).body).toMatchObject({ stop: 'none' });
  });

  test.each(['Finished', 'Failed'] as const)(
    'has nothing to stop when it is %s, but may run again',
    async (state) => {
      const { id } = await world.create(EVENTS);
      await world.observe(id, { state });
      const answer = await patch(id, { stop: 'checkpoint' });
      expect(answer).toMatchObject({
        status: 409,
        body: {
          code: 'CONFLICT',
          error: expect.stringContaining(state) as string,
          hint: expect.stringContaining('restart') as string,
        },
      });
      expect((await patch(id, { stop: 'none' })).status).toBe(200);
      expect((await world.call('POST', `/api/v1/pipelines/${id}/restart`)).status).toBe(200);
    },
  );

  test('is restarted with its state or without', async () => {
    const { id } = await world.create(EVENTS);
    await world.observe(id, { state: 'Running', generation: 1 });
    expect(
      (
        await world.call('POST', `/api/v1/pipelines/${id}/restart`, {
          force: true,
          ignore_state: true,
        })
      ).status,
    ).toBe(200);
    const row = await world.database.selectFrom('pipelines').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      restart_mode: 'immediate',
      restart_reset: 1,
      desired_state: 'running',
    });
  });

  test.each(['Created', 'Scheduling', 'Running', 'CheckpointStopping', 'Recovering'] as JobState[])(
    'cannot be deleted while it is %s',
    async (state) => {
      const { id } = await world.create(EVENTS);
      await world.observe(id, { state });
      const answer = await world.call('DELETE', `/api/v1/pipelines/${id}`);
      expect(answer).toMatchObject({
        status: 400,
        body: {
          error: expect.stringContaining(state) as string,
          hint: expect.stringContaining('Stop') as string,
        },
      });
      expect((await world.call('GET', `/api/v1/pipelines/${id}`)).status).toBe(200);
    },
  );

  test('is deleted once it is at rest', async () => {
    const { id } = await world.create(EVENTS);
    await patch(id, { stop: 'checkpoint' });
    await world.observe(id, { state: 'Stopped' });
    expect((await world.call('DELETE', `/api/v1/pipelines/${id}`)).body.id).toBe(id);
    expect(world.forgotten).toEqual([`${id} up to 0`]);
    expect((await world.call('DELETE', `/api/v1/pipelines/${id}`)).status).toBe(404);
    expect((await world.call('GET', `/api/v1/pipelines/${id}/jobs`)).status).toBe(404);
  });
});

describe('the API', () => {
  test('answers what it does not know, and what breaks inside it, with problem documents', async () => {
    expect(await world.call('GET', '/api/v1/nothing')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', hint: expect.stringContaining('openapi.json') as string },
    });
    world.catalogDown = true;
    const broken = await world.call('GET', '/api/v1/pipelines');
    expect(broken).toMatchObject({ status: 500, body: { code: 'INTERNAL', domain: 'internal' } });
    expect(broken.text).not.toContain('.ts:');
  });

  test('may be asked by pages from anywhere', async () => {
    const answer = await world.call('OPTIONS', '/api/v1/pipelines', undefined, {
      origin: 'http://elsewhere',
      'access-control-request-method': 'PATCH',
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const refused = await world.call('GET', '/api/v1/pipelines/nobody');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
  });

  test('says that it is there, and what it can connect', async () => {
    expect(await world.call('GET', '/api/v1/ping')).toMatchObject({ status: 200, text: 'Pong' });
    const { data } = (await world.call('GET', '/api/v1/connectors')).body;
    expect(data.find((connector: { id: string }) => connector.id === 'http')).toMatchObject({
      source: true,
      sink: false,
      formats: ['json'],
    });
    for (const connector of data)
      expect(JSON.parse(connector.table_config)).toMatchObject({ type: 'object' });
  });

  test("has faults and objects on one's own machine only", async () => {
    const { id } = await world.create(EVENTS, { parallelism: 2 });
    const crash = (body: unknown) =>
      world.call('POST', `/api/v1/local/pipelines/${id}/crash`, body);
    expect(await crash({ target: 'host' })).toMatchObject({
      status: 503,
      body: { code: 'NOT_RUNNING' },
    });
    await world.observe(id, { state: 'Running', generation: 3 });
    await crash({ target: 'host', index: 1 });
    await crash({ target: 'leader', index: 0, at: 'lineage:publish' });
    await crash({ target: 'log', index: 0, table: 'ev' });
    expect(world.crashes).toEqual([
      { tag: 'host', generation: 3, index: 1, at: 'now' },
      { tag: 'leader', generation: 3, at: 'lineage:publish' },
      { tag: 'log', table: 'ev', index: 0 },
    ]);
    await world.call('PUT', '/api/v1/local/objects/content?key=a%2Fb.json', '{"a":1}');
    expect((await world.call('GET', '/api/v1/local/objects?prefix=a%2F')).body).toEqual({
      objects: [{ key: 'a/b.json', size: 7 }],
      truncated: false,
    });
    expect((await world.call('GET', '/api/v1/local/objects/content?key=a%2Fb.json')).text).toBe(
      '{"a":1}',
    );
    expect((await world.call('GET', '/api/v1/local/objects/content?key=none')).status).toBe(404);
    world.isLocal = false;
    expect((await crash({ target: 'host' })).status).toBe(404);
    expect((await world.call('GET', '/api/v1/local/objects?prefix=')).status).toBe(404);
    expect((await world.call('GET', '/api/v1/local/objects/content?key=a%2Fb.json')).status).toBe(
      404,
    );
    expect((await world.call('PUT', '/api/v1/local/objects/content?key=c', 'x')).status).toBe(404);
    expect(world.objects.has('c')).toBe(false);
  });
});
