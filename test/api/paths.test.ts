/** Paths of a new pipeline against those of pipelines that are stored. */
import { beforeEach, expect, test } from 'vitest';
import type { LeaderStatus } from '../../src/protocol/messages.ts';
import { World } from './world.ts';

/** What a leader says that was never started. */
const UNUSED: LeaderStatus = {
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
  world.status = UNUSED;
});

const writing = (path: string, connector = 'r2'): string =>
  `CREATE TABLE i WITH (connector = 'impulse', event_rate = 1);
CREATE TABLE o WITH (connector = '${connector}', path = '${path}', format = 'json', type = 'sink');
INSERT INTO o SELECT counter FROM i;`;
const reading = (path: string): string =>
  `CREATE TABLE s (k TEXT) WITH (connector = 'r2', path = '${path}', format = 'json', type = 'source');
SELECT k FROM s;`;

const put = async (id: string, query: string) =>
  await world.call('PUT', `/api/v1/pipelines/${id}`, {
    name: `name of ${id}`,
    query,
    parallelism: 1,
  });
const validate = async (query: string) =>
  (await world.call('POST', '/api/v1/pipelines/validate_query', { query })).body;

test('a second pipeline under the path of a first is made, and told of it by name', async () => {
  expect((await put('first', writing('out/orders'))).body.warnings).toBeUndefined();
  const { status, body } = await put('second', writing('/out/orders/'));
  expect(status).toBe(200);
  expect(body.warnings).toEqual([
    `SHARED_PATH: "o" writes to '/out/orders/', and "o" of pipeline name of first (first) to 'out/orders'. Whoever reads the outer folder reads the rows of both.`,
  ]);
  expect((await put('third', writing('out/orders/eu'))).body.warnings).toHaveLength(1);
  expect((await put('fourth', writing('out/orders2'))).body.warnings).toBeUndefined();
});

test('the query is warned of before it is made, at its table', async () => {
  await put('first', writing('out', 'single_file'));
  const { errors, warnings } = await validate(writing('out', 'single_file'));
  expect(errors).toEqual([]);
  expect(warnings).toMatchObject([
    {
      code: 'SHARED_PATH',
      detail: 'The object keeps its first writer: the commits of the second one are refused.',
      span: { start: { line: 2 } },
    },
  ]);
  expect((await validate(writing('out'))).warnings).toEqual([]);
});

test("the path of a pipeline that was deleted, and that of a preview, are nobody's", async () => {
  await put('first', writing('out'));
  await world.call('POST', '/api/v1/pipelines/preview', { query: writing('other') });
  await world.call('PATCH', '/api/v1/pipelines/first', { stop: 'immediate' });
  await world.observe('first', { state: 'Stopped' });
  expect((await world.call('DELETE', '/api/v1/pipelines/first')).status).toBe(200);
  expect((await validate(writing('out'))).warnings).toEqual([]);
  expect((await validate(writing('other'))).warnings).toEqual([]);
});

test('a table among the checkpoints of a pipeline with an id of its own is refused', async () => {
  const { body } = await world.call('PUT', '/api/v1/pipelines/mine', {
    name: 'n',
    query: writing('out'),
    parallelism: 1,
  });
  const job = (await world.call('GET', `/api/v1/pipelines/${body.id}/jobs`)).body.data[0].id;
  for (const query of [writing(`mine/${job}`), reading(`mine/${job}/current-generation.json`)]) {
    const { errors, graph } = await validate(query);
    expect(errors).toMatchObject([{ code: 'RESERVED_PATH' }]);
    expect(graph).toBeUndefined();
    const refused = await put('other', query);
    expect([refused.status, refused.body.code]).toEqual([400, 'RESERVED_PATH']);
  }
  expect((await validate(writing(`mine/out`))).errors).toEqual([]);
  expect((await validate(writing(`theirs/${job}`))).errors).toEqual([]);
});
