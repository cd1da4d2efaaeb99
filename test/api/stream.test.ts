/** The stream of a pipeline's page: what is sent, what is not sent again, and where a reader that comes back goes on. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { TailPage } from '../../src/api/services.ts';
import { getPipeline } from '../../src/catalog/pipelines.ts';
import type { JobError, LeaderStatus } from '../../src/protocol/messages.ts';
import { Clock, EventReader, quiet } from './event-reader.ts';
import { EVENTS, World } from './world.ts';

let world: World;
let clock: Clock;
let id: string;

/** A leader that runs and has heard `rows` rows read. */
const leading = (rows: number, more: Partial<LeaderStatus> = {}): LeaderStatus => ({
  generation: 1,
  codeVersion: 'test',
  incarnation: null,
  phase: 'running',
  outcome: null,
  epoch: 3,
  committedEpoch: 3,
  startedMs: 1,
  runningSinceMs: 2,
  hosts: [{ index: 0, incarnation: 'h', lastHeardMs: 5 }],
  checkpoint: null,
  recent: [],
  metrics: [
    {
      operator: 'source-1',
      subtask: 0,
      rowsIn: rows,
      rowsOut: rows,
      bytesIn: 0,
      bytesOut: 0,
      batchesIn: 0,
      batchesOut: 0,
      errors: 0,
      late: 0,
      filtered: 0,
      watermark: null,
      stateBytes: 0,
      stateRows: 0,
      backpressure: 0,
    },
  ],
  errors: [],
  stopNonce: null,
  ...more,
});

/** Hosts that keep their newest rows; row n of generation g on host h is {"g":g,"h":h,"n":n}. */
class Hosts {
  readonly kept: number;
  readonly ends = new Map<string, number>();
  asked = 0;
  constructor(kept = Infinity) {
    this.kept = kept;
  }
  produce(generation: number, host: number, count: number): void {
    const key = `${generation}/${host}`;
    this.ends.set(key, (this.ends.get(key) ?? 0) + count);
  }
  read(generation: number, host: number, after: number): TailPage {
    const end = this.ends.get(`${generation}/${host}`) ?? 0;
    const oldest = Math.max(0, end - this.kept);
    const first = Math.max(oldest, Math.min(after, end));
    const next = Math.min(end, first + 50);
    const rows = Array.from(
      { length: next - first },
      (_, index) => `{"g":${generation},"h":${host},"n":${first + index}}`,
    );
    return { first, next, rows };
  }
}

let hosts: Hosts;

async function fresh(parallelism: number): Promise<void> {
  world = new World();
  clock = new Clock(world);
  hosts = new Hosts();
  id = (await world.create(EVENTS, { parallelism })).id;
  world.services.tail = async ({ generation, host }, after, waitMs) => {
    hosts.asked++;
    const page = hosts.read(generation, host, after);
    if (page.rows.length > 0 || waitMs === 0) return page;
    await world.services.sleep(Math.min(waitMs, 100));
    return hosts.read(generation, host, after);
  };
}

beforeEach(() => fresh(1));

const open = async (topics: string, lastId = ''): Promise<EventReader> =>
  (
    await EventReader.open(world, `/api/v1/pipelines/${id}/events?topics=${topics}`, lastId)
  ).follow();

const numbers = (reader: EventReader): number[] =>
  reader.taken('output').flatMap(({ batch }) => JSON.parse(batch).map(({ n }: { n: number }) => n));

describe('topics', () => {
  test('are sent at once, each with an id, and again only when they have changed', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.status = leading(1);
    const reader = await open('status,health,history,lineage,errors,output');
    await clock.pass(10_000);
    expect(reader.taken('status')).toHaveLength(1);
    expect(reader.taken('health')).toHaveLength(1);
    expect(reader.taken('lineage')).toHaveLength(1);
    expect(reader.taken('status')[0]).toMatchObject({ pipeline_id: id, totals: { rows_in: 1 } });
    expect(reader.taken('lineage')[0]).toMatchObject({ generation: null, epochs: [] });
    expect(reader.all.every((event) => event.id !== '')).toBe(true);
    world.status = leading(2);
    await clock.pass(1_000);
    expect(reader.taken('status').map(({ totals }) => totals.rows_in)).toEqual([1, 2]);
    await world.observe(id, { state: 'Recovering' });
    await clock.pass(1_000);
    expect(reader.taken('status').at(-1).state).toBe('Recovering');
  });

  test('that the reader has are not sent to it when it comes back', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.status = leading(1);
    const first = await open('status,health,lineage');
    await clock.pass(1_000);
    await first.close();
    const second = await open('status,health,lineage', first.lastId);
    await clock.pass(3_000);
    expect(second.all).toEqual([]);
    world.status = leading(2);
    await clock.pass(1_000);
    expect(second.taken('status')).toHaveLength(1);
  });

  test('that nobody asked for cost no call', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    const reader = await open('status');
    hosts.asked = 0;
    await clock.pass(5_000);
    expect(hosts.asked).toBe(0);
    expect(new Set(reader.all.map(({ event }) => event))).toEqual(new Set(['status']));
  });

  test('one leader is asked once a second, whatever the topics', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    let asked = 0;
    world.services.leaderStatus = async () => {
      asked++;
      return leading(1);
    };
    await open('status,health,errors,lineage,history,output');
    await clock.pass(10_000);
    expect(asked).toBeGreaterThanOrEqual(10);
    expect(asked).toBeLessThanOrEqual(11);
  });

  test('a mistyped one is refused with those there are', async () => {
    const answer = await world.call('GET', `/api/v1/pipelines/${id}/events?topics=staus`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('status');
  });

  test('history comes whole first, then only what is new', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.status = leading(1);
    world.histories.set(1, ({ fromMs, toMs, stepMs }) => {
      const points = Math.max(0, Math.floor((toMs - fromMs) / stepMs));
      return {
        generation: 1,
        reason: 'created',
        startedMs: 0,
        firstMs: fromMs,
        stepMs,
        points,
        operators: ['source-1'],
        values: new Float32Array(points * 8),
        commits: [],
      };
    });
    const reader = await open('history');
    await clock.pass(500);
    const [whole] = reader.taken('history');
    expect(whole.append).toBeUndefined();
    expect(whole.times.length).toBeGreaterThan(250);
    await clock.pass(6_000);
    const all = reader.taken('history');
    expect(all.length).toBeGreaterThan(2);
    expect(all.slice(1).every(({ append }) => append)).toBe(true);
    const times = all.flatMap((event) => event.times);
    expect(new Set(times).size).toBe(times.length);
    expect(times).toEqual(times.toSorted((left: number, right: number) => left - right));
    const again = await open('history', reader.lastId);
    await clock.pass(4_000);
    expect(again.taken('history').every(({ append }) => append)).toBe(true);
    expect(again.taken('history')[0].times[0]).toBe(times.at(-1) + 1_000_000);
  });
});

describe('output', () => {
  test('comes from every subtask at most five times a second', async () => {
    id = (await world.create(EVENTS, { parallelism: 2 })).id;
    await world.observe(id, { state: 'Running', generation: 1 });
    const reader = await open('output');
    for (let tick = 0; tick < 100; tick++) {
      hosts.produce(1, 0, 3);
      hosts.produce(1, 1, 1);
      await clock.pass(30);
    }
    for (const host of [0, 1]) {
      const events = reader.taken('output').filter((event) => event.subtask_idx === host);
      expect(events.length).toBeLessThanOrEqual(16);
      expect(events.length).toBeGreaterThan(10);
    }
  });

  test('goes on exactly where a reader stopped, however often it breaks and the generation changes (property)', async () => {
    const seed = 20261130;
    const step = fc.oneof(
      fc.record({ tag: fc.constant('rows' as const), count: fc.integer({ min: 1, max: 90 }) }),
      fc.record({ tag: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 1500 }) }),
      fc.record({ tag: fc.constant('break' as const), awayMs: fc.integer({ min: 0, max: 3000 }) }),
      fc.constant({ tag: 'generation' as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        await fresh(2);
        let before = '';
        let generation = 1;
        await world.observe(id, { state: 'Running', generation });
        let reader = await open('output,status');
        const got: string[] = [];
        const collect = (): void => {
          for (const { batch } of reader.taken('output'))
            got.push(...JSON.parse(batch).map((row: object) => JSON.stringify(row)));
        };
        for (const each of steps) {
          if (each.tag === 'rows') {
            hosts.produce(generation, 0, each.count);
            hosts.produce(generation, 1, each.count >> 1);
          } else if (each.tag === 'pass') await clock.pass(each.ms);
          else if (each.tag === 'generation')
            await world.observe(id, { state: 'Running', generation: ++generation });
          else {
            await reader.close();
            collect();
            const { lastId } = reader;
            await clock.pass(each.awayMs);
            reader = await open('output,status', lastId === '' ? before : lastId);
          }
          if (reader.lastId !== '') before = reader.lastId;
        }
        await clock.pass(20_000);
        await reader.close();
        collect();
        // A generation whose rows nobody had asked for when it ended is not gone back to.
        const seen = new Set(got);
        expect(seen.size, 'a row came twice').toBe(got.length);
        for (const [key, end] of hosts.ends) {
          const [g = '', h = ''] = key.split('/');
          const ofHost = got.filter((row) => row.startsWith(`{"g":${g},"h":${h},`));
          if (ofHost.length > 0 || Number(g) === generation) expect(ofHost.length).toBe(end);
        }
      }),
      { seed, numRuns: 25 },
    );
  }, 60_000);

  test('that a host forgot while the reader was slow is counted, and memory does not grow', async () => {
    hosts = new Hosts(100);
    await world.observe(id, { state: 'Running', generation: 1 });
    const wide = hosts.read.bind(hosts);
    hosts.read = (generation, host, after) => {
      const page = wide(generation, host, after);
      return {
        ...page,
        rows: page.rows.map((row) => row.replace('}', `,"x":"${'x'.repeat(5_000)}"}`)),
      };
    };
    const reader = await EventReader.open(world, `/api/v1/pipelines/${id}/events?topics=output`);
    for (let tick = 0; tick < 200; tick++) {
      hosts.produce(1, 0, 50);
      await clock.pass(200);
    }
    const asked = hosts.asked;
    expect(asked).toBeLessThan(8);
    reader.follow();
    await clock.pass(5_000);
    const output = reader.taken('output');
    const rows = numbers(reader);
    const dropped = output.reduce((sum, event) => sum + event.dropped, 0);
    expect(dropped).toBeGreaterThan(1_000);
    expect(rows.length + dropped).toBe(10_000);
    expect(rows).toEqual(rows.toSorted((left, right) => left - right));
    await reader.close();
  });

  test('of a job at rest is what is left, once', async () => {
    hosts.produce(1, 0, 70);
    await world.observe(id, { state: 'Finished', generation: 1 });
    const first = await open('output');
    await clock.pass(2_000);
    expect(numbers(first)).toHaveLength(70);
    expect(first.ended).toBe(false);
    const second = await open('output', first.lastId);
    await clock.pass(2_000);
    expect(numbers(second)).toEqual([]);
  });

  test.each(['', 'nonsense', 'output=1/sink-2/0:zz zz', 'status', 'output=,,:', 'history=💥'])(
    'a place that nobody here has written is the beginning (%s)',
    async (place) => {
      hosts.produce(1, 0, 5);
      await world.observe(id, { state: 'Running', generation: 1 });
      const reader = (
        await EventReader.open(
          world,
          `/api/v1/pipelines/${id}/events?topics=output&last_event_id=${encodeURIComponent(place)}`,
        )
      ).follow();
      await clock.pass(1_000);
      expect(numbers(reader)).toEqual([0, 1, 2, 3, 4]);
    },
  );
});

describe('the end', () => {
  test('of a pipeline is told, and ends the stream', async () => {
    const reader = await open('status');
    await clock.pass(100);
    await world.observe(id, { state: 'Stopped' });
    await world.call('PATCH', `/api/v1/pipelines/${id}`, { stop: 'immediate' });
    expect((await world.call('DELETE', `/api/v1/pipelines/${id}`)).status).toBe(200);
    await clock.pass(1_000);
    expect(reader.taken('gone')).toEqual([{ pipeline_id: id }]);
    expect(reader.ended).toBe(true);
    expect((await world.call('GET', `/api/v1/pipelines/${id}/events`)).status).toBe(404);
  });

  test('of the reader ends all questions', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    let asked = 0;
    world.services.leaderStatus = async () => {
      asked++;
      return leading(asked);
    };
    const reader = await open('status,output');
    await clock.pass(3_000);
    await reader.close();
    await quiet();
    const before = [asked, hosts.asked];
    await clock.pass(20_000);
    expect(asked).toBe(before[0]);
    expect(hosts.asked).toBeLessThanOrEqual((before[1] as number) + 1);
  });

  test('comes ahead of the limit on calls, at a place to go on from', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.services.leaderStatus = async () => leading(1);
    const reader = await open('output,status');
    for (let tick = 0; tick < 2_500 && !reader.ended; tick++) {
      hosts.produce(1, 0, 1);
      await clock.pass(2_000);
    }
    expect(reader.ended).toBe(true);
    const again = await open('output,status', reader.lastId);
    await clock.pass(5_000);
    const rows = [...numbers(reader), ...numbers(again)];
    expect(rows).toEqual(Array.from({ length: rows.length }, (_, n) => n));
  }, 60_000);

  test('does not come while the catalogue is down', async () => {
    const reader = await open('status');
    await clock.pass(500);
    world.catalogDown = true;
    await clock.pass(30_000);
    expect(reader.ended).toBe(false);
    expect(reader.comments).toBeGreaterThan(0);
    world.catalogDown = false;
    await world.observe(id, { state: 'Running', generation: 1 });
    await clock.pass(1_000);
    expect(reader.taken('status').at(-1).state).toBe('Running');
  });
});

describe('rows that went wrong', () => {
  const problem = (number: number): JobError & { number: number } => ({
    number,
    atMs: world.nowMs,
    operator: 'project-2',
    subtask: 0,
    message: `m${number}`,
    detail: '',
    code: 'DIVISION_BY_ZERO',
    domain: 'user',
    row: { column: 'x', reason: `r${number}`, raw: '{}', rawSha256: null, partition: null },
  });

  const errorsOf = (count: number): LeaderStatus => {
    const status = leading(10);
    return { ...status, metrics: status.metrics.map((each) => ({ ...each, errors: count })) };
  };

  test('are told once, also to a reader that comes back', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.problems.set(1, [problem(1), problem(2)]);
    world.status = errorsOf(2);
    const reader = await open('errors');
    await clock.pass(4_000);
    expect(
      reader
        .taken('errors')
        .flatMap(({ data }) => data.map((row: { reason: string }) => row.reason)),
    ).toEqual(['r1', 'r2']);
    await world.call('POST', `/api/v1/pipelines/${id}/tables/ev/rows`, '{"netuid":"x"}\n');
    world.problems.get(1)?.push(problem(3));
    world.status = errorsOf(3);
    await clock.pass(4_000);
    const later = reader
      .taken('errors')
      .slice(1)
      .flatMap(({ data }) => data);
    expect(later.map(({ code }) => code).toSorted()).toEqual(['DIVISION_BY_ZERO', 'TYPE_MISMATCH']);
    const again = await open('errors', reader.lastId);
    await clock.pass(6_000);
    expect(again.taken('errors')).toEqual([]);
  });

  test('of the last moments of a generation that had none before are told behind the next one', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.status = errorsOf(0);
    const reader = await open('errors');
    await clock.pass(4_000);
    world.problems.set(1, [problem(1)]);
    await world.observe(id, { state: 'Running', generation: 2 });
    await clock.pass(4_000);
    const told = reader.taken('errors').flatMap(({ data }) => data);
    expect(told.map(({ reason, generation }) => [reason, generation])).toEqual([['r1', 1]]);
  });

  test('are told to a reader that claims to have more than there is, from then on', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    world.problems.set(1, [problem(1)]);
    world.status = errorsOf(1);
    const reader = await open('errors', 'errors=g1:zzzz');
    await clock.pass(4_000);
    world.problems.get(1)?.push(problem(2));
    world.status = errorsOf(2);
    await clock.pass(4_000);
    const told = reader.taken('errors').flatMap(({ data }) => data);
    expect(told.map(({ reason }) => reason)).toEqual(['r2']);
  });
});

describe('a preview', () => {
  test('is touched while it is looked at, every ten seconds', async () => {
    const { body } = await world.call('POST', '/api/v1/pipelines/preview', { query: EVENTS });
    expect(body.preview).toBe(true);
    expect((await world.call('GET', '/api/v1/pipelines')).body.data).toHaveLength(1);
    expect((await world.call('GET', '/api/v1/pipelines/summaries')).body.total).toBe(1);
    id = body.id;
    const touched = async (): Promise<number> =>
      world.nowMs - ((await getPipeline(world.database, id))?.pipeline.watchedMs ?? 0);
    await clock.pass(30_000);
    expect(await touched()).toBe(30_000);
    const reader = await open('status');
    for (let second = 0; second < 40; second++) {
      await clock.pass(1_000);
      expect(await touched()).toBeLessThanOrEqual(11_000);
    }
    await reader.close();
    await clock.pass(30_000);
    expect(await touched()).toBeGreaterThan(29_000);
  });

  test('that is deleted is as if nobody had looked for long', async () => {
    const { body } = await world.call('POST', '/api/v1/pipelines/preview', { query: EVENTS });
    expect((await world.call('DELETE', `/api/v1/pipelines/${body.id}`)).status).toBe(200);
    const watched = async () => (await getPipeline(world.database, body.id))?.pipeline.watchedMs;
    expect(await watched()).toBe(0);
    id = body.id;
    await open('status');
    await clock.pass(15_000);
    expect(await watched(), 'whoever still looks does not bring it back').toBe(0);
  });
});
