/**
 * What the runtime's memory comes to at worst: rows posted as fast as they are taken, and more keys than a host may hold.
 *
 * The peak is that of the workerd process, with everything in it: its own 60 megabytes or so, the log, hosts, leader and buckets.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const FLOOD_ROWS = 2_000_000;
const BLOCK_ROWS = 40_000;
const KEYS = 10_000_000;
const WAIT_MS = 240_000;

const FLOOD = `
CREATE TABLE events (id BIGINT NOT NULL, note TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE kept WITH (connector = 'r2', path = 'kept', format = 'json', type = 'sink');
INSERT INTO kept SELECT id, note FROM events WHERE id % 10 = 0;
`;

/** One key a row, all in one window, until all have come. */
const MANY_KEYS = `
CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 100000000, message_count = ${KEYS}, type = 'source');
CREATE TABLE counts WITH (connector = 'blackhole', type = 'sink');
INSERT INTO counts SELECT n FROM (SELECT counter, tumble(interval '10 days') AS window, count(*) AS n FROM ticks GROUP BY counter, window);
`;

async function flood(log: (line: string) => void): Promise<number> {
  const instance = await Instance.start();
  try {
    const { id } = await instance.create(FLOOD, 1_000);
    await instance.untilJob(id, ({ state }) => state === 'Running', WAIT_MS);
    let refused = 0;
    for (let from = 0; from < FLOOD_ROWS; from += BLOCK_ROWS) {
      const rows = Array.from(
        { length: BLOCK_ROWS },
        (_, at) => `{"id":${from + at},"note":"a note of some length, as notes are ${at}"}`,
      );
      while (!(await instance.trySend(id, 'events', rows.join('\n'), `b${from}`))) {
        refused++;
        await pause(200);
      }
    }
    log(`${FLOOD_ROWS} rows taken, ${refused} requests told to come back later`);
    return instance.peakRssBytes() / 1e6;
  } finally {
    await instance.close();
  }
}

async function manyKeys(log: (line: string) => void): Promise<{ peak: number; outcome: string }> {
  const instance = await Instance.start();
  try {
    const { id } = await instance.create(MANY_KEYS, 10_000);
    const job = await instance.untilOver(id, WAIT_MS);
    const outcome = job.state === 'Failed' ? (job.failure_reason?.code ?? 'Failed') : job.state;
    log(`${KEYS} keys: ${outcome}`);
    return { peak: instance.peakRssBytes() / 1e6, outcome };
  } finally {
    await instance.close();
  }
}

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const floods: number[] = [];
  const keys: number[] = [];
  let outcome = '';
  for (let index = 0; index < runs; index++) {
    floods.push(await flood(log));
    const many = await manyKeys(log);
    keys.push(many.peak);
    outcome = many.outcome;
  }
  return [
    {
      name: 'peak memory of workerd, rows as fast as they are taken',
      unit: 'MB',
      values: floods,
      note: `${FLOOD_ROWS / 1e6} M rows posted in requests of ${BLOCK_ROWS} → http → filter → r2`,
    },
    {
      name: 'peak memory of workerd, 10 M keys in one window',
      unit: 'MB',
      values: keys,
      note: `tumbling count on one host; ends in ${outcome}`,
    },
  ];
}

export const memory: Bench = { summary: 'peak memory under a flood of rows and of keys', run };
