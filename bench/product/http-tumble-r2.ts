/**
 * Rows a second through one host: http source → tumble(10 s) by 100 keys → R2 files.
 *
 * Drained: the rows lie in the table's log already while the pipeline is stopped; the clock runs from the request to
 * start it until the last result is committed, so it includes starting a generation and waiting for a checkpoint.
 * End to end: from the first POST into the running pipeline until the last result is committed.
 */
import { EVENTS_START_MS, eventLines, markerLine } from './events.ts';
import { Instance } from './instance.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const ROWS = 2_000_000;
const KEYS = 100;
const STEP_MS = 1;
const WINDOW_MS = 10_000;
const BATCH_ROWS = 5_000;
/** Requests under way at a time. */
const SENDERS = 4;
const TIMEOUT_MS = 300_000;

const query = (path: string): string => `
CREATE TABLE events (ts TIMESTAMP NOT NULL, k TEXT NOT NULL, v BIGINT, x DOUBLE, WATERMARK FOR ts AS ts - interval '60 seconds')
  WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE totals WITH (connector = 'r2', path = '${path}', format = 'json', type = 'sink');
INSERT INTO totals SELECT k, window.start, n, total, mean FROM (
  SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n, sum(v) AS total, avg(x) AS mean FROM events GROUP BY k, window);
`;

type Request = { body: string; rows: number };

/** Made before any clock starts. */
function requestsOf(rows: number): Request[] {
  const options = { seed: 'http-tumble-r2', keys: KEYS, stepMs: STEP_MS };
  return Array.from({ length: Math.ceil(rows / BATCH_ROWS) }, (_, index) => {
    const from = index * BATCH_ROWS;
    const count = Math.min(BATCH_ROWS, rows - from);
    return { body: eventLines(options, from, count), rows: count };
  });
}

async function sendAll(
  instance: Instance,
  pipelineId: string,
  requests: readonly Request[],
  rows: number,
): Promise<void> {
  // Senders overtake each other by a few batches, 5 s of event time each: the watermark waits for 60 s.
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const request = requests[index] as Request;
      await instance.send(pipelineId, 'events', request.body, request.rows, `batch-${index}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await instance.send(
    pipelineId,
    'events',
    markerLine(EVENTS_START_MS + rows * STEP_MS + 120_000),
    1,
    'marker',
  );
}

/** Rows in every window: what the committed counts must add up to. */
async function untilAllCommitted(instance: Instance, path: string, rows: number): Promise<void> {
  const known = new Map<string, string[]>();
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const lines = await instance.committedRows(`${path}/`, known);
    const counted = lines.reduce((sum, line) => sum + (JSON.parse(line) as { n: number }).n, 0);
    if (counted === rows) return;
    if (counted > rows) throw new Error(`${counted} rows were counted, ${rows} were sent`);
    if (performance.now() > deadline)
      throw new Error(`only ${counted} of ${rows} rows were counted`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function drained(
  instance: Instance,
  requests: readonly Request[],
  rows: number,
  path: string,
): Promise<number> {
  const pipeline = await instance.create(query(path), 1_000);
  await instance.untilJob(pipeline.id, (job) => job.state === 'Running', 30_000);
  await instance.api.patch(pipeline.id, { stop: 'checkpoint' });
  await instance.untilJob(pipeline.id, (job) => job.state === 'Stopped', 30_000);
  await sendAll(instance, pipeline.id, requests, rows);
  const began = performance.now();
  await instance.api.patch(pipeline.id, { stop: 'none' });
  await untilAllCommitted(instance, path, rows);
  const seconds = (performance.now() - began) / 1000;
  await instance.stopAndDelete(pipeline.id);
  return rows / seconds;
}

async function endToEnd(
  instance: Instance,
  requests: readonly Request[],
  rows: number,
  path: string,
): Promise<number> {
  const pipeline = await instance.create(query(path), 1_000);
  await instance.untilJob(pipeline.id, (job) => job.state === 'Running', 30_000);
  const began = performance.now();
  await sendAll(instance, pipeline.id, requests, rows);
  await untilAllCommitted(instance, path, rows);
  const seconds = (performance.now() - began) / 1000;
  await instance.stopAndDelete(pipeline.id);
  return rows / seconds;
}

async function run({ rows: given, runs, log }: BenchOptions): Promise<Measurement[]> {
  const rows = given ?? ROWS;
  const drainedRates: number[] = [];
  const postedRates: number[] = [];
  const requests = requestsOf(rows);
  const instance = await Instance.start();
  try {
    for (let index = 0; index < runs; index++) {
      drainedRates.push(await drained(instance, requests, rows, `drained-${index}`));
      postedRates.push(await endToEnd(instance, requests, rows, `posted-${index}`));
      log(
        `run ${index + 1}: drained ${Math.round(drainedRates.at(-1) ?? 0)}, posted ${Math.round(postedRates.at(-1) ?? 0)} rows/s`,
      );
    }
  } finally {
    await instance.close();
  }
  const size = `${rows.toLocaleString('en-US')} rows of about 75 bytes, ${KEYS} keys, tumble(${WINDOW_MS / 1000} s)`;
  return [
    {
      name: 'http → tumble → R2, one host: log drained',
      unit: 'rows/s',
      values: drainedRates,
      note: `${size}; from the request to start until everything is committed`,
    },
    {
      name: 'http → tumble → R2, one host: POST to commit',
      unit: 'rows/s',
      values: postedRates,
      note: `${size}; ${SENDERS} senders of ${BATCH_ROWS} rows a request; from the first POST until everything is committed`,
    },
  ];
}

export const httpTumbleR2: Bench = { summary: 'rows/s through one host: http → tumble → R2', run };
