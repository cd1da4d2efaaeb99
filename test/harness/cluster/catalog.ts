/**
 * The catalogue of the simulated cluster: one pipeline and its job, written with the guards of `src/catalog`.
 *
 * Like the statements of D1, each method takes effect whole.
 * `memory-catalog.test.ts` holds it against the real catalogue.
 */
import type { ErrorReport } from '../../../src/base/errors.ts';
import type { JobPatch } from '../../../src/catalog/jobs.ts';
import type { DesiredChange } from '../../../src/catalog/pipelines.ts';
import { type Job, type Pipeline, TERMINAL_STATES } from '../../../src/catalog/schema.ts';

export type NewRows = Pick<
  Pipeline,
  'graph' | 'parallelism' | 'checkpointIntervalMs' | 'settings' | 'createdMs'
>;

export class MemoryCatalog {
  pipeline: Pipeline;
  job: Job;
  readonly failures = new Map<number, ErrorReport>();
  /** Restarts without state that were asked for. */
  resetsAsked = 0;
  readonly #recorded: (before: Job, after: Job) => void;

  constructor(rows: NewRows, recorded: (before: Job, after: Job) => void = () => {}) {
    this.#recorded = recorded;
    this.pipeline = {
      ...rows,
      id: 'pl',
      name: 'test',
      query: '',
      planHash: 'plan',
      tags: {},
      udfs: [],
      watchedMs: null,
      desiredState: 'running',
      stopMode: null,
      stopNonce: null,
      restartNonce: null,
      restartMode: null,
      restartReset: false,
      nextPollMs: rows.createdMs,
      updatedMs: rows.createdMs,
      version: 1,
    };
    this.job = {
      id: 'job',
      pipelineId: 'pl',
      state: 'Created',
      generation: 0,
      reason: 'created',
      epoch: 0,
      committedEpoch: 0,
      restarts: 0,
      failure: null,
      startMs: null,
      finishMs: null,
      healthySinceMs: null,
      unreachableSinceMs: null,
      retryAtMs: null,
      restartDone: null,
      resetFrom: null,
      updatedMs: rows.createdMs,
      version: 1,
    };
  }

  get restartPending(): boolean {
    const { restartNonce } = this.pipeline;
    return restartNonce !== null && restartNonce !== this.job.restartDone;
  }

  /** The job is as it is wanted, and no controller has anything to do. */
  get atRest(): boolean {
    const { desiredState } = this.pipeline;
    const { state } = this.job;
    if (!TERMINAL_STATES.includes(state)) return false;
    return desiredState === 'stopped' || (state !== 'Stopped' && !this.restartPending);
  }

  record(seen: Job, patch: JobPatch, nowMs: number, pipelineVersion: number | null): boolean {
    const before = this.job;
    if (pipelineVersion !== null && pipelineVersion !== this.pipeline.version) return false;
    if (seen.version !== before.version || seen.generation !== before.generation) return false;
    const given = Object.fromEntries(
      Object.entries(patch).filter(([, value]) => value !== undefined),
    ) as JobPatch;
    const after: Job = {
      ...before,
      ...given,
      epoch: Math.max(before.epoch, patch.epoch ?? 0),
      committedEpoch: Math.max(before.committedEpoch, patch.committedEpoch ?? 0),
      updatedMs: nowMs,
      version: before.version + 1,
    };
    this.job = after;
    this.#recorded(before, after);
    return true;
  }

  recordFailure(generation: number, report: ErrorReport): void {
    if (!this.failures.has(generation)) this.failures.set(generation, report);
  }

  schedule(pipelineVersion: number, nextPollMs: number | null): void {
    if (this.pipeline.version === pipelineVersion) this.pipeline = { ...this.pipeline, nextPollMs };
  }

  want(change: DesiredChange, nowMs: number): void {
    const { version } = this.pipeline;
    const times = { nextPollMs: nowMs, updatedMs: nowMs, version: version + 1 };
    this.pipeline = { ...this.pipeline, ...this.#wanted(change), ...times };
    if (change.tag === 'restart' && change.reset) this.resetsAsked++;
  }

  #wanted(change: DesiredChange): Partial<Pipeline> {
    const { pipeline, restartPending } = this;
    const { state } = this.job;
    const over = state === 'Failed' || state === 'Finished';
    const running = { desiredState: 'running', stopMode: null, stopNonce: null } as const;
    switch (change.tag) {
      case 'run':
        return {
          ...running,
          restartReset: restartPending && pipeline.restartReset,
          ...(over ? { restartNonce: change.nonce } : {}),
        };
      case 'stop':
        return { desiredState: 'stopped', stopMode: change.mode, stopNonce: change.nonce };
      case 'restart':
        return {
          ...running,
          restartNonce: change.nonce,
          restartMode: change.mode,
          restartReset: change.reset || (restartPending && pipeline.restartReset),
        };
      case 'configure':
        return {
          parallelism: change.parallelism ?? pipeline.parallelism,
          checkpointIntervalMs: change.checkpointIntervalMs ?? pipeline.checkpointIntervalMs,
          ...(restartPending ? {} : { restartReset: false, restartMode: 'checkpoint' }),
          ...(pipeline.desiredState === 'running' && !over ? { restartNonce: change.nonce } : {}),
        };
      case 'describe':
        return { name: change.name ?? pipeline.name, tags: change.tags ?? pipeline.tags };
    }
  }
}
