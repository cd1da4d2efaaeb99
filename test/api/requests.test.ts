/** What the API says to requests that are not quite right. */
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { HOST_POINTS, LEADER_POINTS } from '../../src/api/local/crash-points.ts';
import type { LeaderEffect, LineageOperation } from '../../src/leader/interface.ts';
import type { HostCommand, HostReport } from '../../src/protocol/messages.ts';
import type { HostEffect } from '../../src/subtask/host-events.ts';
import { EVENTS, World } from './world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});

const post = (body: unknown) => world.call('POST', '/api/v1/pipelines', body);

describe('a field that no request has', () => {
  test.each([
    ['POST', '/api/v1/pipelines', { name: 'x', query: EVENTS, paralelism: 2 }, 'parallelism'],
    ['PUT', '/api/v1/pipelines/mine', { name: 'x', query: EVENTS, tag: {} }, 'tags'],
    ['POST', '/api/v1/pipelines/validate_query', { querry: EVENTS, query: EVENTS }, 'query'],
    [
      'POST',
      '/api/v1/pipelines',
      { name: 'x', query: EVENTS, settings: { batch_row: 1 } },
      'batch_rows',
    ],
  ])('is refused with the nearest one: %s %s', async (method, path, body, nearest) => {
    const answer = await world.call(method, path, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(answer.body.error).toContain(`did you mean "${nearest}"?`);
    expect((await world.call('GET', '/api/v1/pipelines')).body.data).toEqual([]);
  });

  test('is refused in a change and a restart too, and a query cannot be changed', async () => {
    const { id } = await world.create(EVENTS);
    const change = (body: unknown) => world.call('PATCH', `/api/v1/pipelines/${id}`, body);
    expect((await change({ stopp: 'checkpoint' })).body.error).toContain('"stop"');
    const query = await change({ query: EVENTS });
    expect(query.status).toBe(400);
    expect(query.body.error).toContain('create another pipeline');
    const restart = await world.call('POST', `/api/v1/pipelines/${id}/restart`, { forced: true });
    expect(restart.body.error).toContain('"force"');
  });

  test('of Arroyo is taken, and the answer says that it has no effect', async () => {
    const pipeline = await world.create(EVENTS, {
      env_vars: {},
      state_url: null,
      scheduler_config: { a: 1 },
    });
    expect(pipeline.warnings).toEqual(['scheduler_config has no effect here']);
    expect(await world.create(EVENTS, { udfs: [] })).not.toHaveProperty('warnings');
  });
});

test('a database whose migrations are not applied yet is told as what it is, and to try again', async () => {
  for (const table of ['pipelines', 'jobs'])
    await sql`ALTER TABLE ${sql.table(table)} RENAME TO ${sql.table(`${table}_later`)}`.execute(
      world.services.database,
    );
  for (const [method, path] of [
    ['GET', '/api/v1/pipelines'],
    ['PUT', '/api/v1/pipelines/mine'],
  ] as const) {
    const answer = await world.call(
      method,
      path,
      method === 'GET' ? undefined : { name: 'x', query: EVENTS },
    );
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'CATALOG_NOT_READY', retry: 'backoff' },
    });
    expect(answer.body.hint).toContain('migrations apply');
  }
});

describe('a wrong value', () => {
  test.each([
    [{ query: EVENTS }, 'name: is missing'],
    [{ name: 5, query: EVENTS }, 'name: must be text, and is a number'],
    [{ name: 'x', query: EVENTS, parallelism: 0 }, 'parallelism: must be at least 1'],
    [{ name: 'x', query: EVENTS, parallelism: 65 }, 'parallelism: must be at most 64'],
    [
      { name: 'x', query: EVENTS, parallelism: 1.5 },
      'parallelism: must be a whole number, and is 1.5',
    ],
    [{ name: '', query: EVENTS }, 'name: must be at least 1 characters'],
    [{ name: 'a\u0000b', query: EVENTS }, 'name: must have no control characters'],
    [
      { name: 'x', query: EVENTS, default_sink: 'r2' },
      'default_sink: must be "preview" or "stdout"',
    ],
  ])('is told in plain words: %j', async (body, words) => {
    expect((await post(body)).body.error).toBe(words);
  });

  test('of JSON is told with its position', async () => {
    const answer = await world.call('POST', '/api/v1/pipelines', '{"name": "x",\n "query" }', {
      'content-type': 'application/json',
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'the body is no JSON' } });
    expect(answer.body.detail).toMatch(/position \d+/);
  });
});

test('a path with another method is 405 with the methods it has, an unknown path is 404', async () => {
  const answer = await world.call('DELETE', '/api/v1/pipelines');
  expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
  expect(answer.headers.get('allow')).toBe('GET, POST');
  expect((await world.call('POST', '/api/v1/nothing')).status).toBe(404);
});

test('JSON answers end with a line feed, errors too', async () => {
  for (const path of ['/api/v1/pipelines', '/api/v1/pipelines/nobody', '/api/v1/nothing'])
    expect((await world.call('GET', path)).text).toMatch(/\}\n$/);
});

test('what is not there, or there already, comes with what to do', async () => {
  expect((await world.call('GET', '/api/v1/pipelines/nobody')).body.hint).toContain(
    '/api/v1/pipelines',
  );
  const { id } = await world.create(EVENTS);
  const again = await world.call('PUT', `/api/v1/pipelines/${id}`, { name: 'x', query: EVENTS });
  expect(again.status).toBe(400);
  expect(again.body.hint).toContain('PATCH');
});

describe('rows', () => {
  const rows = (id: string, body: string) =>
    world.call('POST', `/api/v1/pipelines/${id}/tables/ev/rows`, body);
  const ROW = '{"netuid":1,"observed_at":2}';

  test('for a pipeline at rest are taken with a notice that they wait', async () => {
    const { id } = await world.create(EVENTS);
    expect((await rows(id, ROW)).body).not.toHaveProperty('notice');
    await world.observe(id, { state: 'Stopped' });
    world.nowMs += 60_000;
    expect((await rows(id, ROW)).body).toMatchObject({
      accepted: 1,
      notice: expect.stringContaining('Stopped') as string,
    });
  });

  test('on one line are told of --data-binary', async () => {
    const { id } = await world.create(EVENTS);
    const answer = await rows(id, `${ROW}${ROW}`);
    expect(answer.body.errors[0].hint).toContain('--data-binary');
    expect((await rows(id, '{"netuid":}')).body.errors[0]).not.toHaveProperty('hint');
  });

  test('that nobody has read are counted when the pipeline is deleted', async () => {
    const { id } = await world.create(EVENTS);
    await rows(id, `${ROW}\n${ROW}\n${ROW}\n`);
    await world.call('PATCH', `/api/v1/pipelines/${id}`, { stop: 'immediate' });
    await world.observe(id, { state: 'Stopped' });
    const { status, body } = await world.call('DELETE', `/api/v1/pipelines/${id}`);
    expect(status).toBe(200);
    expect(body.warnings).toEqual([
      '3 rows of its http tables were deleted that no committed checkpoint had read',
    ]);
  });
});

describe('a crash', () => {
  test('of what is not there is refused with what there is', async () => {
    const { id } = await world.create(EVENTS, { parallelism: 2 });
    await world.observe(id, { state: 'Running', generation: 1 });
    const crash = (body: unknown) =>
      world.call('POST', `/api/v1/local/pipelines/${id}/crash`, body);
    for (const body of [
      { target: 'host', index: 2 },
      { target: 'log', table: 'ev', index: 1 },
      { target: 'leader', index: 1 },
    ])
      expect(await crash(body)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(await crash({ target: 'leader', at: 'lineage:publissh' })).toMatchObject({
      status: 400,
      body: {
        suggestion: 'lineage:publish',
        hint: expect.stringContaining('send:commit') as string,
      },
    });
    expect((await crash({ target: 'host', at: 'lineage:publish' })).status).toBe(400);
    expect(world.crashes).toEqual([]);
    expect((await crash({ target: 'host', index: 1, at: 'put-file' })).status).toBe(200);
  });

  test('has the points that leader and host have', () => {
    type Lineage = `lineage:${LineageOperation['tag']}`;
    const leader = {
      now: true,
      persist: true,
      'lineage:open': true,
      'lineage:open:after': true,
      'lineage:complete-commit': true,
      'lineage:complete-commit:after': true,
      'lineage:fence': true,
      'lineage:fence:after': true,
      'lineage:publish': true,
      'lineage:publish:after': true,
      'lineage:collect': true,
      'lineage:collect:after': true,
      'send:deploy': true,
      'send:begin': true,
      'send:adopt': true,
      'send:barrier': true,
      'send:commit': true,
      'send:settled': true,
      'send:stop': true,
      watch: true,
      'wake-at': true,
      nudge: true,
      'keep-problems': true,
      ended: true,
    } satisfies Record<
      | 'now'
      | Exclude<LeaderEffect['tag'], 'lineage' | 'send' | 'reply'>
      | Lineage
      | `${Lineage}:after`
      | `send:${HostCommand['tag']}`,
      true
    >;
    const host = {
      now: true,
      answer: true,
      'answer-delivery': true,
      'report:deployed': true,
      'report:checkpointed': true,
      'report:committed': true,
      'report:drained': true,
      'report:stopped': true,
      'report:failed': true,
      'report:heartbeat': true,
      deliver: true,
      read: true,
      'get-file': true,
      'put-file': true,
      stage: true,
      'pre-commit': true,
      commit: true,
      'call-function': true,
      preview: true,
      trim: true,
      released: true,
    } satisfies Record<
      'now' | Exclude<HostEffect['tag'], 'report'> | `report:${HostReport['tag']}`,
      true
    >;
    expect([...LEADER_POINTS].sort()).toEqual(Object.keys(leader).sort());
    expect(HOST_POINTS.filter((point) => !point.endsWith(':after')).sort()).toEqual(
      Object.keys(host).sort(),
    );
  });
});
