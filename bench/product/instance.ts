/** A Thalweg of its own for a measurement, on temporary state, driven over HTTP like anybody's. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { peakRssBytes } from '../child.ts';
import { ApiClient, type JobView, type PipelineView } from '../../src/cli/api-client.ts';
import { workerdProcesses } from '../../src/cli/processes.ts';
import { spawnRuntime, type RuntimeProcess } from '../../src/cli/runtime-process.ts';

const CRON_MS = 1_000;

export class Instance {
  readonly api: ApiClient;
  readonly #stateDir: string;
  readonly #runtime: RuntimeProcess;
  readonly #cron: ReturnType<typeof setInterval>;

  private constructor(stateDir: string, runtime: RuntimeProcess) {
    this.#stateDir = stateDir;
    this.#runtime = runtime;
    this.api = new ApiClient((path, init) => runtime.fetch(path, init));
    this.#cron = setInterval(() => void runtime.runScheduled().catch(() => undefined), CRON_MS);
  }

  static async start(): Promise<Instance> {
    const stateDir = await mkdtemp(join(tmpdir(), 'thalweg-bench-'));
    return new Instance(stateDir, await spawnRuntime({ stateDir, onLog: () => undefined }));
  }

  async close(): Promise<void> {
    clearInterval(this.#cron);
    await this.#runtime.stop();
    await rm(this.#stateDir, { recursive: true, force: true });
  }

  readonly fetch = (path: string, init?: RequestInit): Promise<Response> =>
    this.#runtime.fetch(path, init);

  async create(
    query: string,
    checkpointIntervalMs: number,
    parallelism = 1,
  ): Promise<PipelineView> {
    return await this.api.create({
      name: 'bench',
      query,
      parallelism,
      checkpoint_interval_micros: checkpointIntervalMs * 1000,
    });
  }

  /** Stores NDJSON rows; throws unless every row is accepted. */
  async send(
    pipelineId: string,
    table: string,
    ndjson: string,
    rows: number,
    key: string,
  ): Promise<void> {
    const response = await this.#runtime.fetch(
      `/api/v1/pipelines/${pipelineId}/tables/${table}/rows`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
        body: ndjson,
      },
    );
    const text = await response.text();
    const accepted = response.ok ? (JSON.parse(text) as { accepted: number }).accepted : -1;
    if (accepted !== rows)
      throw new Error(`rows were not accepted: HTTP ${response.status}: ${text.slice(0, 500)}`);
  }

  /** Stores NDJSON rows; false when the log is full and the rows are to be sent again later. */
  async trySend(pipelineId: string, table: string, ndjson: string, key: string): Promise<boolean> {
    const response = await this.#runtime.fetch(
      `/api/v1/pipelines/${pipelineId}/tables/${table}/rows`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
        body: ndjson,
      },
    );
    const text = await response.text();
    if (response.status === 429 && response.headers.has('retry-after')) return false;
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 500)}`);
    return true;
  }

  /** Peak resident memory of the workerd process, in bytes. */
  peakRssBytes(): number {
    return Math.max(...workerdProcesses(this.#stateDir).map(peakRssBytes));
  }

  /** The job when it has failed or ended. */
  async untilOver(pipelineId: string, timeoutMs: number): Promise<JobView> {
    const over = new Set(['Failed', 'Finished', 'Stopped']);
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const job = await this.api.job(pipelineId);
      if (over.has(job.state)) return job;
      if (performance.now() > deadline) throw new Error(`timed out at ${JSON.stringify(job)}`);
      await pause(100);
    }
  }

  /** The job as soon as `reached` holds. */
  async untilJob(
    pipelineId: string,
    reached: (job: JobView) => boolean,
    timeoutMs: number,
  ): Promise<JobView> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const job = await this.api.job(pipelineId);
      if (reached(job)) return job;
      if (job.state === 'Failed')
        throw new Error(`the pipeline failed: ${JSON.stringify(job.failure_reason)}`);
      if (performance.now() > deadline) throw new Error(`timed out at ${JSON.stringify(job)}`);
      await pause(20);
    }
  }

  /** Rows of the committed NDJSON files under a prefix. */
  async committedRows(prefix: string, known: Map<string, string[]>): Promise<string[]> {
    for (const { key } of await this.api.objects(prefix)) {
      if (known.has(key)) continue;
      const bytes = await this.api.object(key);
      if (bytes !== null)
        known.set(
          key,
          new TextDecoder()
            .decode(bytes)
            .split('\n')
            .filter((line) => line !== ''),
        );
    }
    return [...known.values()].flat();
  }

  async getJson<T>(path: string): Promise<T> {
    const response = await this.#runtime.fetch(path);
    const text = await response.text();
    if (!response.ok)
      throw new Error(`GET ${path}: HTTP ${response.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as T;
  }

  async stopAndDelete(pipelineId: string): Promise<void> {
    await this.api.patch(pipelineId, { stop: 'immediate' });
    await this.untilJob(
      pipelineId,
      (job) => job.state === 'Stopped' || job.state === 'Finished',
      30_000,
    );
    await (
      await this.#runtime.fetch(`/api/v1/pipelines/${pipelineId}`, { method: 'DELETE' })
    ).text();
  }
}
