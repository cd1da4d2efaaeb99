/** The list of pipelines in short, and the stream of what changes of it. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createPipeline } from '../../src/catalog/pipelines.ts';
import type { LeaderStatus } from '../../src/protocol/messages.ts';
import { Clock, EventReader } from './event-reader.ts';
import { EVENTS, type Json, World } from './world.ts';

let world: World;
let clock: Clock;
beforeEach(() => {
  world = new World();
  clock = new Clock(world);
});

const put = async (id: string, name: string, tags: Record<string, string> = {}): Promise<void> => {
  await createPipeline(world.database, {
    id,
    jobId: `job_${id}`,
    name,
    query: '',
    parallelism: 1,
    checkpointIntervalMs: 10_000,
    graph: '{"version":1,"operators":[],"edges":[],"planHash":"p"}',
    planHash: 'p',
    settings: {},
    tags,
    connectors: { sources: ['nexmark'], sinks: ['r2'] },
    nowMs: world.nowMs++,
  });
};

const summaries = async (query = ''): Promise<Json> =>
  (await world.call('GET', `/api/v1/pipelines/summaries${query}`)).body;
const ids = async (query: string): Promise<string[]> =>
  (await summaries(query)).data.map(({ id }: Json) => id);

const open = async (watch = '', lastId = ''): Promise<EventReader> =>
  (await EventReader.open(world, `/api/v1/events?watch=${watch}`, lastId)).follow();

describe('summaries', () => {
  test('tell what a list shows, without the graph', async () => {
    const { id } = await world.create(EVENTS, { parallelism: 2, tags: { team: 'a' } });
    await world.observe(id, {
      state: 'Failed',
      generation: 4,
      epoch: 9,
      committedEpoch: 8,
      restarts: 3,
      failure: {
        code: 'SINK_FAILED',
        domain: 'external',
        retry: 'backoff',
        message: 'no',
        detail: 'x'.repeat(10_000),
      },
    });
    const { data, total } = await summaries();
    expect(total).toBe(1);
    expect(data).toEqual([
      {
        id,
        name: 'test',
        state: 'Failed',
        action: 'none',
        action_text: 'Start',
        action_in_progress: false,
        created_at: expect.any(Number),
        parallelism: 2,
        generation: 4,
        epoch: 9,
        committed_epoch: 8,
        restarts: 3,
        tags: { team: 'a' },
        failure: { code: 'SINK_FAILED', message: 'no' },
        sources: ['http'],
        sinks: ['preview'],
        live: null,
      },
    ]);
  });

  test('are found, ordered and cut', async () => {
    await put('pl_a', 'Zebra');
    await put('pl_b', 'apple', { owner: 'Ann' });
    await put('pl_c', 'Mango 100%');
    await world.observe('pl_c', { state: 'Scheduling' });
    expect(await ids('')).toEqual(['pl_c', 'pl_b', 'pl_a']);
    expect(await ids('?sort=name&descending=false')).toEqual(['pl_b', 'pl_c', 'pl_a']);
    expect(await ids('?q=ZEB')).toEqual(['pl_a']);
    expect(await ids('?q=ann')).toEqual(['pl_b']);
    expect(await ids('?q=100%25')).toEqual(['pl_c']);
    expect(await ids('?q=%25')).toEqual(['pl_c']);
    expect(await ids('?q=nexmark')).toHaveLength(3);
    expect(await ids(`?q=${'x'.repeat(60)}`)).toEqual([]);
    expect(await ids('?state=Scheduling,Failed')).toEqual(['pl_c']);
    expect(await summaries('?limit=2')).toMatchObject({ total: 3, data: [{}, {}] });
    expect((await world.call('GET', '/api/v1/pipelines/summaries?sort=age')).status).toBe(400);
  });
});

describe('the stream of the list', () => {
  test('begins with all and goes on with what has changed', async () => {
    await put('pl_a', 'a');
    await put('pl_b', 'b');
    const reader = await open();
    await clock.pass(3_000);
    expect(reader.all.map(({ event }) => event)).toEqual(['summaries']);
    expect(reader.taken('summaries')[0].total).toBe(2);
    await put('pl_c', 'c');
    await world.observe('pl_a', { state: 'Scheduling' });
    await clock.pass(1_000);
    const [change] = reader.taken('changed');
    expect(change.changed.map(({ id, state }: Json) => [id, state])).toEqual([
      ['pl_c', 'Created'],
      ['pl_a', 'Scheduling'],
    ]);
    expect([change.total, change.removed]).toEqual([3, []]);
    await world.observe('pl_b', { state: 'Stopped' });
    await world.call('PATCH', '/api/v1/pipelines/pl_b', { stop: 'immediate' });
    await world.call('DELETE', '/api/v1/pipelines/pl_b');
    await clock.pass(1_000);
    expect(reader.taken('changed').at(-1)).toMatchObject({
      changed: [],
      removed: ['pl_b'],
      total: 2,
    });
  });

  test('begins with all for an id that nobody here has written', async () => {
    await put('a', 'first');
    for (const id of ['', ' ', 'null', '-1', '1e3', '0x1']) {
      const path = `/api/v1/events?last_event_id=${encodeURIComponent(id)}`;
      const reader = (await EventReader.open(world, path)).follow();
      await clock.pass(1_000);
      expect(
        reader.all.map(({ event }) => event),
        id,
      ).toEqual(['summaries']);
      await reader.close();
    }
  });

  test('tells a reader that comes back only what it missed', async () => {
    await put('pl_a', 'a');
    await put('pl_b', 'b');
    const first = await open();
    await clock.pass(1_000);
    await first.close();
    await world.observe('pl_b', { state: 'Scheduling' });
    const second = await open('', first.lastId);
    await clock.pass(1_500);
    expect(second.taken('summaries')).toEqual([]);
    expect(second.taken('changed').map(({ changed }) => changed.map(({ id }: Json) => id))).toEqual(
      [['pl_b']],
    );
  });

  test('begins anew for a reader from another catalogue', async () => {
    await put('pl_a', 'a');
    const reader = await open('', '987654');
    await clock.pass(1_500);
    expect(reader.taken('summaries')).toHaveLength(1);
  });

  test('has nothing of previews', async () => {
    const reader = await open();
    await clock.pass(500);
    const { body } = await world.call('POST', '/api/v1/pipelines/preview', { query: EVENTS });
    await world.observe(body.id, { state: 'Running', generation: 1 });
    await clock.pass(3_000);
    expect(reader.all.map(({ event }) => event)).toEqual(['summaries']);
  });

  test('asks the leaders of the watched alone, a few at a time, and fills live', async () => {
    for (let at = 0; at < 120; at++) await put(`pl_${at}`, `p${at}`);
    for (let at = 0; at < 120; at++)
      await world.observe(`pl_${at}`, { state: 'Running', generation: 1 });
    let running = 0;
    let most = 0;
    const asked = new Set<string>();
    world.services.leaderStatus = async (id) => {
      asked.add(id);
      most = Math.max(most, ++running);
      await world.services.sleep(20);
      running--;
      return id === 'pl_3'
        ? null
        : ({
            generation: 1,
            metrics: [],
            rates: [
              { operator: 'source-1', subtask: 0, rowsIn: 5, rowsOut: 5, bytesIn: 0 },
              { operator: 'sink-2', subtask: 0, rowsIn: 2, rowsOut: 0, bytesIn: 0 },
            ],
            epoch: 7,
            committedEpoch: 6,
          } as unknown as LeaderStatus);
    };
    const watched = Array.from({ length: 100 }, (_, at) => `pl_${at}`);
    const reader = await open(watched.join(','));
    await clock.pass(5_000);
    expect(asked).toEqual(new Set(watched));
    expect(most).toBeLessThanOrEqual(8);
    const live = new Map<string, Json>();
    for (const { changed } of reader.taken('changed'))
      for (const summary of changed) {
        live.set(summary.id, summary.live);
        // The catalogue has not heard of the epoch yet.
        if (summary.live !== null) expect([summary.epoch, summary.committed_epoch]).toEqual([7, 6]);
      }
    expect(live.size).toBe(99);
    expect(live.get('pl_1')).toMatchObject({ rows_in_per_second: 5, rows_out_per_second: 2 });
    expect(live.get('pl_1').rates.length).toBeGreaterThan(0);
    const answer = await world.call('GET', `/api/v1/events?watch=${watched.join(',')},pl_100`);
    expect(answer.status).toBe(400);
  });

  test('of 2,000 pipelines looks at none of them while nothing changes', async () => {
    for (let at = 0; at < 2_000; at++) await put(`pl_${at}`, `p${at}`);
    const reader = await open();
    await clock.pass(1_000);
    expect(reader.taken('summaries')[0].data).toHaveLength(2_000);
    const asked: string[] = [];
    world.queried = (text) => asked.push(text);
    await clock.pass(10_000);
    expect(new Set(asked.map((text) => /from "(\w+)"/.exec(text)?.[1]))).toEqual(
      new Set(['changes']),
    );
    await world.observe('pl_7', { epoch: 3 });
    await clock.pass(1_000);
    expect(reader.taken('changed').map(({ changed }) => changed.length)).toEqual([1]);
  }, 30_000);
});
