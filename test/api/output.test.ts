import { beforeEach, describe, expect, test } from 'vitest';
import type { TailPage } from '../../src/api/services.ts';
import { EVENTS, World } from './world.ts';

let world: World;
let id: string;
let path: string;

async function pipeline(parallelism: number): Promise<void> {
  id = (await world.create(EVENTS, { parallelism })).id;
  path = `/api/v1/pipelines/${id}/jobs/${await world.jobId(id)}/output`;
}

beforeEach(async () => {
  world = new World();
  await pipeline(1);
});

/** What hosts have shown, by `generation/host`. */
const shown = new Map<string, string[]>();
const page = (rows: string[], after: number): TailPage => ({
  first: after,
  next: rows.length,
  rows: rows.slice(after),
});

type Event = {
  operator_id: string;
  subtask_idx: number;
  generation: number;
  timestamps: number[];
  start_id: number;
  batch: string;
};

/** Reads events until `enough` says so or the stream ends. */
async function read(
  response: Response,
  enough: (events: Event[]) => boolean = () => false,
): Promise<{ events: Event[]; text: string; ended: boolean }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    text += value ?? '';
    const events = text
      .split('\n\n')
      .slice(0, -1)
      .filter((part) => part.includes('data: '))
      .map((part) => JSON.parse(/^data: (.*)$/m.exec(part)![1]!) as Event);
    if (done || enough(events)) {
      await reader.cancel();
      return { events, text, ended: done };
    }
  }
}

beforeEach(() => {
  shown.clear();
  world.tail = async ({ generation, host }, after) =>
    page(shown.get(`${generation}/${host}`) ?? [], after);
});

describe('output', () => {
  test('is a stream of events whose rows keep their very text (U02)', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    const rows = [
      '{"id":9007199254740993,"x":1.10}',
      '{"id":-9223372036854775808,"x":1e400}',
      '{"msg":"a\u2028b \\"q\\""}',
    ];
    shown.set('1/0', rows);
    const response = await world.fetch(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const { events, text } = await read(response, (seen) => seen.length === 1);
    expect(text).not.toMatch(/[\u2028\u2029\r]/);
    expect(events[0]).toMatchObject({
      operator_id: 'sink-2',
      subtask_idx: 0,
      generation: 1,
      start_id: 0,
      batch: `[${rows.join(',')}]`,
    });
    expect(events[0]!.timestamps).toEqual(rows.map(() => world.nowMs * 1000));
    expect(text.split('\n').filter((line) => line.startsWith('data: '))).toHaveLength(1);
  });

  test('comes from every subtask, each row once', async () => {
    await pipeline(3);
    await world.observe(id, { state: 'Running', generation: 1 });
    for (let host = 0; host < 3; host++) shown.set(`1/${host}`, [`{"h":${host}}`]);
    const reading = read(await world.fetch(path), (events) => events.length >= 6);
    await new Promise((resolve) => setTimeout(resolve, 30));
    for (let host = 0; host < 3; host++) shown.get(`1/${host}`)!.push(`{"h":${host},"more":1}`);
    const { events } = await reading;
    for (let host = 0; host < 3; host++) {
      expect(
        events
          .filter((event) => event.subtask_idx === host)
          .map(({ start_id: start, batch }) => [start, batch]),
      ).toEqual([
        [0, `[{"h":${host}}]`],
        [1, `[{"h":${host},"more":1}]`],
      ]);
    }
  });

  test('goes on across a lost host and a change of generation, and ends with the job', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    shown.set('1/0', ['1', '2']);
    const reading = read(await world.fetch(path));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const alive = world.tail;
    world.tail = async (target, after) => {
      if (target.generation === 1) throw new Error('reset');
      return await alive(target, after);
    };
    await world.observe(id, { state: 'Recovering' });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await world.observe(id, { state: 'Running', generation: 2 });
    shown.set('2/0', ['3']);
    await new Promise((resolve) => setTimeout(resolve, 30));
    shown.get('2/0')!.push('4');
    await world.observe(id, { state: 'Finished' });
    const { events, ended } = await reading;
    expect(ended).toBe(true);
    const rows = (generation: number): string =>
      events
        .filter((event) => event.generation === generation)
        .map((event) => event.batch.slice(1, -1))
        .join(',');
    expect([rows(1), rows(2)]).toEqual(['1,2', '3,4']);
  });

  test('of a job at rest is what its hosts still have', async () => {
    await world.observe(id, { state: 'Finished', generation: 1 });
    shown.set('1/0', ['1', '2']);
    const { events, ended } = await read(await world.fetch(path));
    expect(ended).toBe(true);
    expect(events.map((event) => event.batch)).toEqual(['[1,2]']);
  });

  test('keeps quiet connections open', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    const reading = read(await world.fetch(path));
    await new Promise((resolve) => setTimeout(resolve, 10));
    world.nowMs += 20_000;
    await new Promise((resolve) => setTimeout(resolve, 10));
    await world.observe(id, { state: 'Stopped' });
    expect((await reading).text).toContain(': keep-alive\n\n');
  });

  test('stops asking when the reader has gone', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    let asked = 0;
    world.tail = async (_, after) => {
      asked++;
      return { first: after, next: after + 1, rows: ['1'] };
    };
    await read(await world.fetch(path), (events) => events.length > 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(asked).toBe(before);
  });

  test('waits for a slow reader instead of piling rows up', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    let asked = 0;
    world.tail = async (_, after) => {
      asked++;
      return { first: after, next: after + 1, rows: [JSON.stringify('x'.repeat(100_000))] };
    };
    const response = await world.fetch(path);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(6);
    expect((await read(response, (events) => events.length > 20)).events.length).toBeGreaterThan(
      20,
    );
  });

  test('goes on while the catalogue is down', async () => {
    await world.observe(id, { state: 'Running', generation: 1 });
    shown.set('1/0', ['1']);
    const reading = read(await world.fetch(path), (events) => events.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    world.catalogDown = true;
    await new Promise((resolve) => setTimeout(resolve, 20));
    shown.get('1/0')!.push('2');
    expect((await reading).events.map((event) => event.batch)).toEqual(['[1]', '[2]']);
  });

  test('is refused when the query has no preview sink', async () => {
    const { id: other } = await world.create(
      "CREATE TABLE i WITH (connector = 'impulse', event_rate = 1); CREATE TABLE b WITH (connector = 'blackhole', type = 'sink'); INSERT INTO b SELECT counter FROM i;",
    );
    const answer = await world.call(
      'GET',
      `/api/v1/pipelines/${other}/jobs/${await world.jobId(other)}/output`,
    );
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', error: 'the job has no preview sink' },
    });
  });
});
