/**
 * How long nothing new comes out after a crash: http → tumble(100 ms of event time) → preview and R2, parallelism 2,
 * a checkpoint every second, rows posted all the time.
 *
 * Every crash hits a pipeline of its own: one that crashes again and again is started again after growing pauses.
 * New is a live row of a window that nobody has seen before the crash; replayed windows do not count. After a host's
 * crash it must come from the new generation: what the other host still gives is no recovery. The next commit is the
 * first file in R2 of an epoch above the newest that was published before the crash.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Prng } from '../../src/base/prng.ts';
import { followOutput, type OutputRows } from '../../examples/output-stream.ts';
import { EVENTS_START_MS } from './events.ts';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const query = (path: string): string => `
CREATE TABLE events (ts TIMESTAMP NOT NULL, k TEXT NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE totals WITH (connector = 'r2', path = '${path}', format = 'json', type = 'sink');
CREATE VIEW counts AS SELECT k, window.start AS start, n FROM (
  SELECT k, tumble(interval '100 milliseconds') AS window, count(*) AS n FROM events GROUP BY k, window);
INSERT INTO totals SELECT * FROM counts;
SELECT start FROM counts;
`;

/** A request every 20 ms moves event time on by 100 ms: windows close all the time. */
const SEND_EVERY_MS = 20;
const ROW_STEP_MS = 10;
const ROWS_A_REQUEST = 10;
const WAIT_MS = 60_000;

type Seen = { start: number; generation: number; atMs: number };

/** The newest window seen by generation, and when. */
type Watch = Map<number, Seen>;

const newestOf = (watch: Watch): number =>
  Math.max(-1, ...[...watch.values()].map(({ start }) => start));

/** Posts rows until it is told to stop; a request that fails is sent again under its key. */
async function keepSending(
  instance: Instance,
  pipelineId: string,
  signal: AbortSignal,
): Promise<void> {
  const prng = new Prng('recovery');
  for (let request = 0; !signal.aborted; request++) {
    const rows = Array.from({ length: ROWS_A_REQUEST }, (_, index) => {
      const ts = new Date(
        EVENTS_START_MS + (request * ROWS_A_REQUEST + index) * ROW_STEP_MS,
      ).toISOString();
      return JSON.stringify({ ts, k: `key-${prng.below(8)}` });
    });
    for (let sent = false; !sent && !signal.aborted;) {
      sent = await instance
        .send(pipelineId, 'events', rows.join('\n'), rows.length, `request-${request}`)
        .then(
          () => true,
          () => false,
        );
      if (!sent) await pause(50);
    }
    await pause(SEND_EVERY_MS);
  }
}

async function until(reached: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await reached())) {
    if (performance.now() > deadline)
      throw new Error(`${what} did not come within ${WAIT_MS / 1000} s`);
    await pause(10);
  }
}

async function crashOnce(
  instance: Instance,
  pipelineId: string,
  path: string,
  target: 'host' | 'leader',
  watch: Watch,
): Promise<{ outputMs: number; commitMs: number }> {
  const before = await instance.api.job(pipelineId);
  const newest = newestOf(watch);
  const generation = before.run_id + (target === 'host' ? 1 : 0);
  const began = performance.now();
  await instance.api.crash(pipelineId, target, 0).catch(() => undefined);
  const isNew = ({ start, generation: from, atMs }: Seen): boolean =>
    from >= generation && start > newest && atMs > began;
  let outputMs = Number.NaN;
  const output = until(() => {
    const first = [...watch.values()].find(isNew);
    if (first === undefined) return false;
    outputMs = first.atMs - began;
    return true;
  }, 'new output');
  const isCommitted = async (): Promise<boolean> => {
    const files = await instance.api.objects(`${path}/`);
    return files.some(({ key }) => Number(/\/part-(\d+)-/.exec(key)?.[1]) > before.epoch);
  };
  await until(isCommitted, 'a commit');
  const commitMs = performance.now() - began;
  await output;
  return { outputMs, commitMs };
}

/** A pipeline that has run for `beforeMs`, is hit once, and is gone afterwards. */
async function measure(
  instance: Instance,
  path: string,
  target: 'host' | 'leader',
  beforeMs: number,
): Promise<{ outputMs: number; commitMs: number }> {
  const pipeline = await instance.create(query(path), 1_000, 2);
  const isRunning = (job: { state: string }): boolean => job.state === 'Running';
  const { id: jobId } = await instance.untilJob(pipeline.id, isRunning, WAIT_MS);
  const stop = new AbortController();
  const watch: Watch = new Map();
  const onRows = ({ rows, generation }: OutputRows): void => {
    const starts = rows.map((row) => Date.parse(`${String(row['start']).replace(/Z$/, '')}Z`));
    const start = Math.max(...starts);
    if (start > newestOf(watch))
      watch.set(generation, { start, generation, atMs: performance.now() });
  };
  const following = followOutput(instance.fetch, pipeline.id, jobId, stop.signal, onRows);
  const sending = keepSending(instance, pipeline.id, stop.signal);
  try {
    await until(() => watch.size > 0, 'the first output');
    await pause(beforeMs);
    return await crashOnce(instance, pipeline.id, path, target, watch);
  } finally {
    stop.abort();
    await Promise.all([following, sending]);
    await instance.stopAndDelete(pipeline.id);
  }
}

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const measured = {
    host: { output: [] as number[], commit: [] as number[] },
    leader: { output: [] as number[], commit: [] as number[] },
  };
  const prng = new Prng('crash moments');
  const instance = await Instance.start();
  try {
    for (const target of ['host', 'leader'] as const) {
      for (let index = 0; index < runs; index++) {
        const beforeMs = 3_000 + prng.below(1_000);
        const path = `recovery-${target}-${index}`;
        const { outputMs, commitMs } = await measure(instance, path, target, beforeMs);
        measured[target].output.push(outputMs);
        measured[target].commit.push(commitMs);
        log(
          `${target} ${index + 1}: new output after ${Math.round(outputMs)} ms, next commit after ${Math.round(commitMs)} ms`,
        );
      }
    }
  } finally {
    await instance.close();
  }
  const note =
    'parallelism 2, checkpoint every second, rows posted all the time; crash at a seeded moment, each of a pipeline of its own';
  return [
    { name: 'host killed → first new output row', unit: 'ms', values: measured.host.output, note },
    {
      name: 'host killed → next committed file in R2',
      unit: 'ms',
      values: measured.host.commit,
      note,
    },
    {
      name: 'leader killed → first new output row',
      unit: 'ms',
      values: measured.leader.output,
      note: `${note}; hosts go on without it`,
    },
    {
      name: 'leader killed → next committed file in R2',
      unit: 'ms',
      values: measured.leader.commit,
      note,
    },
  ];
}

export const recovery: Bench = {
  summary: 'time to new output and to the next commit after a killed host and a killed leader',
  run,
};
