/** Runs `flights.sql` on a Thalweg that is up, feeds it the flights and checks what it committed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiClient, type Fetch, type PipelineView } from '../../src/cli/api-client.ts';
import { followOutput } from '../output-stream.ts';
import {
  type Comparison,
  compareDelays,
  computeDelays,
  type FlightRow,
  heartbeatAfter,
  type HourlyDelays,
  parseDelays,
  readFlights,
} from './data.ts';

export type FeedOptions = {
  rows: number;
  /** Rows a second. */
  rate: number;
  parallelism: number;
  /** Never go on with a pipeline that is there. */
  fresh: boolean;
};

/** What happens on the way, for whoever shows it. */
export type FeedEvent =
  | { tag: 'pipeline'; id: string; created: boolean; path: string }
  | { tag: 'sent'; rows: number; of: number; replayed: boolean }
  | { tag: 'live'; rows: HourlyDelays[] }
  | { tag: 'committed'; epoch: number; rows: number; of: number };

export type FeedResult = {
  pipelineId: string;
  path: string;
  files: { key: string; size: number }[];
  rowsSent: number;
  /** Sum of `flights` over the committed rows. */
  rowsCounted: number;
  committedRows: number;
  comparison: Comparison;
};

const BATCH_ROWS = 250;
const POLL_MS = 200;
const PATIENCE_MS = 60_000;

/** Null when the rows are sent but the bucket cannot be read through the API: it is not on one's own machine. */
export async function feedFlights(
  fetchPath: Fetch,
  options: FeedOptions,
  onEvent: (event: FeedEvent) => void,
): Promise<FeedResult | null> {
  const api = new ApiClient(patient(fetchPath));
  const rows = await readFlights(options.rows);
  const expected = computeDelays(rows);
  const { pipeline, created, path } = await findOrCreate(api, fetchPath, options);
  onEvent({ tag: 'pipeline', id: pipeline.id, created, path });
  const job = await untilRunning(api, pipeline.id);
  const watching = new AbortController();
  const live = followOutput(fetchPath, pipeline.id, job, watching.signal, (output) =>
    onEvent({ tag: 'live', rows: output.rows.map(parseDelays) }),
  );
  try {
    if (!(await bucketIsReadable(fetchPath))) {
      await send(fetchPath, pipeline.id, rows, options, onEvent);
      return null;
    }
    let sentAtMs = Number.POSITIVE_INFINITY;
    const sending = send(fetchPath, pipeline.id, rows, options, onEvent).then(
      () => {
        sentAtMs = Date.now();
      },
      (error: unknown) => {
        // Nothing more is worth waiting for.
        sentAtMs = 0;
        throw error;
      },
    );
    const committing = untilCommitted(
      api,
      pipeline.id,
      path,
      expected.length,
      () => sentAtMs + PATIENCE_MS,
      onEvent,
    );
    const [{ files, committed }] = await Promise.all([committing, sending]);
    return {
      pipelineId: pipeline.id,
      path,
      files,
      rowsSent: rows.length,
      rowsCounted: committed.reduce((sum, row) => sum + row.flights, 0),
      committedRows: committed.length,
      comparison: compareDelays(committed, expected),
    };
  } finally {
    watching.abort();
    await live;
  }
}

async function bucketIsReadable(fetchPath: Fetch): Promise<boolean> {
  const response = await fetchPath('/api/v1/local/objects?prefix=flights/');
  await response.body?.cancel();
  return response.status !== 404;
}

/** Reads are repeated while the server is away: what is watched survives that, so does the watcher. */
function patient(fetchPath: Fetch): Fetch {
  return async (path, init) => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        const response = await fetchPath(path, init);
        if (response.status < 500 || init?.method !== undefined || Date.now() > deadline)
          return response;
        await response.body?.cancel();
      } catch (error) {
        if (init?.method !== undefined || Date.now() > deadline) throw error;
      }
      await pause(POLL_MS);
    }
  };
}

type Tagged = PipelineView & { tags?: Record<string, string> };

/** A pipeline of an earlier, perhaps interrupted, walk over the same rows is taken up again: its keys make that safe. */
async function findOrCreate(
  api: ApiClient,
  fetchPath: Fetch,
  options: FeedOptions,
): Promise<{ pipeline: PipelineView; created: boolean; path: string }> {
  const wanted = {
    example: 'flights',
    rows: String(options.rows),
    parallelism: String(options.parallelism),
  };
  const found = options.fresh
    ? undefined
    : (await api.list()).find(
        ({ tags, stop }: Tagged) =>
          stop === 'none' &&
          Object.entries(wanted).every(([name, value]) => tags?.[name] === value),
      );
  if (found !== undefined) return { pipeline: found, created: false, path: pathOf(found) };
  // Every pipeline gets a folder of its own, so that two walks do not mix their files.
  const path = `flights/delays-${Date.now().toString(36)}`;
  const sql = await readFile(join(import.meta.dirname, 'flights.sql'), 'utf8');
  const query = sql.replace("path = 'flights/delays'", `path = '${path}'`);
  const pipeline = await post<PipelineView>(fetchPath, '/api/v1/pipelines', {
    name: 'flights',
    query,
    parallelism: options.parallelism,
    checkpoint_interval_micros: 2_000_000,
    tags: wanted,
  });
  return { pipeline, created: true, path };
}

function pathOf(pipeline: PipelineView): string {
  const sink = pipeline.sinks.find(({ connector }) => connector === 'r2');
  if (sink?.path === undefined || sink.path === null)
    throw new Error(`pipeline ${pipeline.id} has no r2 sink`);
  return sink.path;
}

async function post<T>(fetchPath: Fetch, path: string, body: unknown): Promise<T> {
  const response = await fetchPath(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path}: HTTP ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Answers the id of the job. */
async function untilRunning(api: ApiClient, pipelineId: string): Promise<string> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const job = await api.job(pipelineId);
    if (job.state === 'Running') return job.id;
    if (job.state === 'Failed')
      throw new Error(`the pipeline failed: ${JSON.stringify(job.failure_reason)}`);
    if (Date.now() > deadline) throw new Error(`the pipeline is ${job.state} and does not run`);
    await pause(POLL_MS);
  }
}

async function send(
  fetchPath: Fetch,
  pipelineId: string,
  rows: readonly FlightRow[],
  options: FeedOptions,
  onEvent: (event: FeedEvent) => void,
): Promise<void> {
  const path = `/api/v1/pipelines/${pipelineId}/tables/flights/rows`;
  const started = performance.now();
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    const dueMs = (at / options.rate) * 1000 - (performance.now() - started);
    if (dueMs > 0) await pause(dueMs);
    const batch = rows.slice(at, at + BATCH_ROWS);
    const { accepted, replayed } = await sendBatch(
      fetchPath,
      path,
      batch,
      `flights-${options.rows}-${at}`,
    );
    if (accepted !== batch.length)
      throw new Error(`only ${accepted} of ${batch.length} rows were accepted`);
    onEvent({ tag: 'sent', rows: at + batch.length, of: rows.length, replayed });
  }
  await sendBatch(fetchPath, path, [heartbeatAfter(rows)], `flights-${options.rows}-heartbeat`);
}

/** Tries again when the answer is lost or the server asks for patience: with the same key nothing is stored twice. */
async function sendBatch(
  fetchPath: Fetch,
  path: string,
  batch: readonly object[],
  key: string,
): Promise<{ accepted: number; replayed: boolean }> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const response = await fetchPath(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
        body: batch.map((row) => JSON.stringify(row)).join('\n'),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as { accepted: number; replayed: boolean };
      if (response.status < 500 && response.status !== 429)
        throw new RefusedError(`HTTP ${response.status}: ${text}`);
    } catch (error) {
      if (error instanceof RefusedError || Date.now() > deadline) throw error;
    }
    await pause(POLL_MS);
  }
}

class RefusedError extends Error {}

/** The committed files and their rows, once there are `count` rows or nothing more comes before the deadline. */
async function untilCommitted(
  api: ApiClient,
  pipelineId: string,
  path: string,
  count: number,
  deadline: () => number,
  onEvent: (event: FeedEvent) => void,
): Promise<{ files: FeedResult['files']; committed: HourlyDelays[] }> {
  const read = new Map<string, HourlyDelays[]>();
  for (let epoch = -1; ;) {
    const job = await api.job(pipelineId);
    if (job.committed_epoch > epoch) {
      epoch = job.committed_epoch;
      const files = await api.objects(`${path}/`);
      for (const { key } of files) if (!read.has(key)) read.set(key, await readRows(api, key));
      const committed = [...read.values()].flat();
      onEvent({ tag: 'committed', epoch, rows: committed.length, of: count });
      if (committed.length >= count || Date.now() > deadline()) return { files, committed };
    }
    if (job.state === 'Failed')
      throw new Error(`the pipeline failed: ${JSON.stringify(job.failure_reason)}`);
    if (Date.now() > deadline())
      throw new Error(
        `no further commit within ${PATIENCE_MS / 1000} s; the pipeline is ${job.state}`,
      );
    await pause(POLL_MS);
  }
}

async function readRows(api: ApiClient, key: string): Promise<HourlyDelays[]> {
  const bytes = await api.object(key);
  const lines = new TextDecoder().decode(bytes ?? new Uint8Array()).split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => parseDelays(JSON.parse(line) as Record<string, unknown>));
}
