/**
 * Duration of checkpoints with 10 MB of state: http → tumble(1 day) by 80,000 keys, so the window stays open and the
 * state stays; a few rows a second keep changing it. Read from the checkpoint summaries of the API.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { EVENTS_START_MS } from './events.ts';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const QUERY = `
CREATE TABLE events (ts TIMESTAMP NOT NULL, k TEXT NOT NULL, v BIGINT, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE totals WITH (connector = 'r2', path = 'checkpoint', format = 'json', type = 'sink');
INSERT INTO totals SELECT k, window.start, n, total, low, high FROM (
  SELECT k, tumble(interval '1 day') AS window, count(*) AS n, sum(v) AS total, min(v) AS low, max(v) AS high FROM events GROUP BY k, window);
`;

const STATE_BYTES = 10_000_000;
const BATCH_KEYS = 5_000;
const KEYS_MAX = 400_000;
const WAIT_MS = 120_000;

type Checkpoint = { epoch: number; start_time: number; finish_time: number | null; bytes: number };

const keyOf = (index: number): string => `key-${String(index).padStart(60, '0')}`;

const rowsFrom = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      ts: new Date(EVENTS_START_MS + 1).toISOString(),
      k: keyOf(from + index),
      v: from + index,
    }),
  ).join('\n');

async function checkpointsOf(
  instance: Instance,
  pipelineId: string,
  jobId: string,
): Promise<Checkpoint[]> {
  const { data } = await instance.getJson<{ data: Checkpoint[] }>(
    `/api/v1/pipelines/${pipelineId}/jobs/${jobId}/checkpoints`,
  );
  return data.toSorted((left, right) => left.epoch - right.epoch);
}

/** Adds keys until a checkpoint holds the wanted bytes; answers its epoch. */
async function fill(instance: Instance, pipelineId: string, jobId: string): Promise<Checkpoint> {
  for (let keys = 0; keys < KEYS_MAX; keys += BATCH_KEYS) {
    await instance.send(
      pipelineId,
      'events',
      rowsFrom(keys, BATCH_KEYS),
      BATCH_KEYS,
      `fill-${keys}`,
    );
    const { epoch } = (await checkpointsOf(instance, pipelineId, jobId)).at(-1) ?? { epoch: 0 };
    const deadline = performance.now() + WAIT_MS;
    // Two epochs on: the second began after these rows were stored.
    for (;;) {
      const last = (await checkpointsOf(instance, pipelineId, jobId)).at(-1);
      if (last !== undefined && last.bytes >= STATE_BYTES) return last;
      if (last !== undefined && last.epoch >= epoch + 2) break;
      if (performance.now() > deadline) throw new Error('no further checkpoint');
      await pause(50);
    }
  }
  throw new Error(`${KEYS_MAX} keys do not make ${STATE_BYTES} bytes of state`);
}

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const values: number[] = [];
  let bytes = 0;
  const instance = await Instance.start();
  try {
    const pipeline = await instance.create(QUERY, 1_000);
    const { id: jobId } = await instance.untilJob(
      pipeline.id,
      (job) => job.state === 'Running',
      30_000,
    );
    const full = await fill(instance, pipeline.id, jobId);
    bytes = full.bytes;
    const seen = new Set([full.epoch]);
    for (let request = 0; values.length < runs; request++) {
      await instance.send(pipeline.id, 'events', rowsFrom(request, 10), 10, `change-${request}`);
      for (const { epoch, start_time, finish_time, bytes: size } of await checkpointsOf(
        instance,
        pipeline.id,
        jobId,
      )) {
        if (seen.has(epoch) || epoch < full.epoch || finish_time === null || values.length === runs)
          continue;
        seen.add(epoch);
        values.push((finish_time - start_time) / 1000);
        log(`epoch ${epoch}: ${Math.round(values.at(-1) ?? 0)} ms, ${size} bytes`);
      }
      await pause(200);
    }
  } finally {
    await instance.close();
  }
  const note = `one host, ${(bytes / 1e6).toFixed(1)} MB of state files a checkpoint, one every second; barrier to published manifest, as the API reports it`;
  return [{ name: 'checkpoint with 10 MB of state', unit: 'ms', values, note }];
}

export const checkpoint: Bench = { summary: 'duration of checkpoints with 10 MB of state', run };
