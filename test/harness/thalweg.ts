/**
 * Thalweg in real workerd, as a test sees it: started on a temporary state directory, driven over HTTP,
 * killed and started again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, type JobView, type PipelineView } from '../../src/cli/api-client.ts';
import { type RuntimeProcess, spawnRuntime } from '../../src/cli/runtime-process.ts';

export type IngestAnswer = {
  accepted: number;
  rejected: number;
  replayed: boolean;
  errors: { index: number; code: string; column: string; message: string }[];
  warnings: { index: number; code: string; column: string }[];
};

const POLL_MS = 50;

export class Thalweg {
  readonly stateDir: string;
  readonly api: ApiClient;
  #runtime: RuntimeProcess | null = null;
  #port = 0;
  #cron: ReturnType<typeof setInterval> | null = null;

  constructor(stateDir: string) {
    this.stateDir = stateDir;
    this.api = new ApiClient((path, init) => this.fetch(path, init));
  }

  /** `cronMs` null: cron ticks only when `runScheduled` is called. */
  static async start(options: { cronMs?: number | null } = {}): Promise<Thalweg> {
    const thalweg = new Thalweg(await mkdtemp(join(tmpdir(), 'thalweg-test-')));
    await thalweg.startProcess();
    if (options.cronMs === null) return thalweg;
    thalweg.#cron = setInterval(
      () => void thalweg.#runtime?.runScheduled().catch(() => undefined),
      options.cronMs ?? 1_000,
    );
    return thalweg;
  }

  async startProcess(): Promise<void> {
    this.#runtime = await spawnRuntime({
      stateDir: this.stateDir,
      ...(this.#port === 0 ? {} : { port: this.#port }),
      onLog: () => undefined,
    });
    this.#port = Number(new URL(this.#runtime.url).port);
  }

  /** SIGKILL to everything, and a start on the same state. */
  async killProcess(): Promise<void> {
    await this.#runtime?.kill();
    await this.startProcess();
  }

  /** SIGKILL to everything; `startProcess` starts it again. */
  async stopAtOnce(): Promise<void> {
    await this.#runtime?.kill();
  }

  async runScheduled(): Promise<void> {
    if (this.#runtime === null) throw new Error('not started');
    await this.#runtime.runScheduled();
  }

  async killWorkerd(): Promise<void> {
    await this.#runtime?.killWorkerd();
  }

  /** Where it listens; the same after it was killed. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async close(): Promise<void> {
    if (this.#cron !== null) clearInterval(this.#cron);
    await this.#runtime?.stop();
    await rm(this.stateDir, { recursive: true, force: true });
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    if (this.#runtime === null) throw new Error('not started');
    return await this.#runtime.fetch(path, init);
  }

  async create(query: string, extra: Record<string, unknown> = {}): Promise<PipelineView> {
    return await this.api.create({
      name: 'test',
      query,
      parallelism: 1,
      checkpoint_interval_micros: 1_000_000,
      ...extra,
    });
  }

  /** Sends rows until they are accepted, with one key for all tries: a lost answer does no harm. */
  async send(
    pipeline: string,
    table: string,
    rows: readonly unknown[],
    key: string,
  ): Promise<IngestAnswer> {
    const body = rows.map((row) => JSON.stringify(row)).join('\n');
    return await patiently(async () => {
      const response = await this.fetch(`/api/v1/pipelines/${pipeline}/tables/${table}/rows`, {
        method: 'POST',
        headers: { 'idempotency-key': key, 'content-type': 'application/x-ndjson' },
        body,
      });
      const text = await response.text();
      if (response.status !== 200 && response.status !== 207)
        throw new Error(`HTTP ${response.status}: ${text}`);
      return JSON.parse(text) as IngestAnswer;
    });
  }

  /** The job once `reached` holds; an error that shows its last view after `timeoutMs`. */
  async waitForJob(
    pipeline: string,
    reached: (job: JobView) => boolean,
    timeoutMs = 30_000,
  ): Promise<JobView> {
    const deadline = Date.now() + timeoutMs;
    let last: unknown = null;
    while (Date.now() < deadline) {
      try {
        const job = await this.api.job(pipeline);
        last = job;
        if (reached(job)) return job;
        if (job.state === 'Failed') throw new Error(`the job failed: ${JSON.stringify(job)}`);
      } catch (thrown) {
        if (thrown instanceof Error && thrown.message.startsWith('the job failed')) throw thrown;
        last = thrown;
      }
      await pause(POLL_MS);
    }
    throw new Error(
      `timed out; last seen: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
    );
  }

  /** Lines of every object under the prefix. */
  async lines(prefix: string): Promise<string[]> {
    const lines: string[] = [];
    for (const { key } of await patiently(() => this.api.objects(prefix))) {
      const bytes = await patiently(() => this.api.object(key));
      if (bytes !== null)
        lines.push(
          ...new TextDecoder()
            .decode(bytes)
            .split('\n')
            .filter((line) => line !== ''),
        );
    }
    return lines;
  }

  /** The lines once there are `count` or more. */
  async waitForLines(prefix: string, count: number, timeoutMs = 30_000): Promise<string[]> {
    const deadline = Date.now() + timeoutMs;
    let lines: string[] = [];
    while (Date.now() < deadline) {
      lines = await this.lines(prefix);
      if (lines.length >= count) return lines;
      await pause(POLL_MS);
    }
    throw new Error(`only ${lines.length} of ${count} lines under ${prefix}`);
  }

  /** Names of the epoch records that are kept, oldest first: read from R2, without asking the leader or D1 for them. */
  async records(pipeline: string): Promise<string[]> {
    const objects = await patiently(() => this.api.objects(`${pipeline}/`));
    return objects.map((object) => object.key).filter((key) => key.endsWith('.record'));
  }

  /** Waits until R2 has a record of `epoch` or a later one. */
  async waitForEpoch(pipeline: string, epoch: number, timeoutMs = 30_000): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const newest = (await this.records(pipeline)).at(-1);
      if (newest !== undefined && Number(/(\d+)\.record$/.exec(newest)?.[1]) >= epoch) return;
      if (Date.now() > deadline)
        throw new Error(`no record of epoch ${epoch}; the newest is ${newest}`);
      await pause(POLL_MS);
    }
  }

  /** Resets an object now, or when it reaches the crash point `at`; of a log, `table` names whose. */
  async crash(
    pipeline: string,
    target: 'leader' | 'host' | 'log',
    at = 'now',
    index = 0,
    table?: string,
  ): Promise<void> {
    const response = await this.fetch(`/api/v1/local/pipelines/${pipeline}/crash`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target, index, at, ...(table === undefined ? {} : { table }) }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`no ${target} was reset: ${answer}`);
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Repeats a call that fails while the runtime is down. */
export async function patiently<T>(call: () => Promise<T>, timeoutMs = 30_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await call();
    } catch (thrown) {
      if (Date.now() > deadline) throw thrown;
      await pause(POLL_MS);
    }
  }
}
