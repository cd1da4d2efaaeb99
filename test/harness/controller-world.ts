/**
 * A controller's surroundings in memory: the real catalogue on SQLite, the real allocation over an object store in memory,
 * and leaders that do as they are told, one step at each poll.
 *
 * `beforeCall` sees every call that crosses a border, before and after it takes effect, and may delay it or throw.
 */
import type { Kysely } from 'kysely';
import { ERROR_CODES } from '../../src/base/errors.ts';
import type { ErrorCode } from '../../src/base/errors.ts';
import { controllerCatalog } from '../../src/catalog/jobs.ts';
import { createPipeline, getPipeline, updateDesired } from '../../src/catalog/pipelines.ts';
import type { DesiredChange } from '../../src/catalog/pipelines.ts';
import type { Database, Job, PipelineAndJob, StopMode } from '../../src/catalog/schema.ts';
import { reconcilePipeline } from '../../src/controller/reconcile.ts';
import type { ControllerPorts, LeaderPort } from '../../src/controller/reconcile.ts';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';
import type { GenerationSpec, LeaderStatus } from '../../src/protocol/messages.ts';
import { MemoryObjectStore } from './memory-object-store.ts';
import { memoryCatalog } from './sqlite-dialect.ts';

export const PIPELINE = 'pl_1';

/** A leader of one generation: started, it opens, then runs; stopped, it ends. */
export class ScriptedLeader {
  spec: GenerationSpec | null = null;
  starts = 0;
  stops: { mode: StopMode; nonce: string }[] = [];
  unreachable = false;
  /** Polls that a stop takes until the outcome is there. */
  stopTakes = 1;
  status: LeaderStatus;

  constructor() {
    this.status = {
      codeVersion: '1',
      generation: 0,
      incarnation: null,
      phase: 'new',
      outcome: null,
      epoch: 0,
      committedEpoch: 0,
      startedMs: 0,
      runningSinceMs: null,
      hosts: [],
      checkpoint: null,
      recent: [],
      metrics: [],
      errors: [],
      stopNonce: null,
    };
  }

  start(spec: GenerationSpec, nowMs: number): void {
    this.starts++;
    if (this.status.phase !== 'new') return;
    this.spec = spec;
    this.status = {
      ...this.status,
      generation: spec.generation,
      codeVersion: spec.codeVersion,
      phase: 'opening',
      startedMs: nowMs,
    };
  }

  stop(mode: StopMode, nonce: string): void {
    this.stops.push({ mode, nonce });
    if (this.status.outcome !== null) return;
    this.status = { ...this.status, stopNonce: nonce };
    if (this.status.phase === 'new' || mode === 'immediate')
      this.end({ tag: 'stopped', epoch: this.status.epoch });
  }

  end(outcome: NonNullable<LeaderStatus['outcome']>): void {
    const epoch = 'epoch' in outcome ? outcome.epoch : this.status.epoch;
    this.status = { ...this.status, phase: 'ended', outcome, epoch, committedEpoch: epoch };
  }

  fail(code: ErrorCode): void {
    this.end({
      tag: 'failed',
      report: { code, ...ERROR_CODES[code], message: `${code} for a test` },
    });
  }

  /** What the leader says now; saying it moves it on. */
  poll(nowMs: number): LeaderStatus {
    const said = this.status;
    if (said.outcome !== null || said.phase === 'new') return said;
    if (said.stopNonce !== null) {
      if (this.stopTakes-- <= 0) this.end({ tag: 'stopped', epoch: said.epoch + 1 });
    } else if (said.phase === 'opening') {
      this.status = { ...said, phase: 'running', runningSinceMs: nowMs, epoch: said.epoch + 1 };
    }
    return said;
  }
}

export class ControllerWorld {
  readonly db: Kysely<Database> = memoryCatalog();
  readonly store = new MemoryObjectStore();
  readonly leaders = new Map<number, ScriptedLeader>();
  nowMs = 1_000_000;
  calls: string[] = [];
  beforeCall: (call: string, moment: 'before' | 'after') => Promise<void> | void = () => {};
  /** Applied to each leader when it is first heard of. */
  prepare: (leader: ScriptedLeader, generation: number) => void = () => {};
  /** Of the controller's code. */
  codeVersion = '1';
  #writes = 0;

  async create(preview = false): Promise<void> {
    await createPipeline(this.db, {
      id: PIPELINE,
      jobId: 'job_1',
      name: 'test',
      query: '',
      parallelism: 2,
      checkpointIntervalMs: 10_000,
      planHash: 'p',
      graph: '{"version":1,"operators":[],"edges":[],"planHash":"p"}',
      settings: {},
      tags: {},
      preview,
      nowMs: this.nowMs,
    });
  }

  async want(change: DesiredChange): Promise<void> {
    await updateDesired(this.db, PIPELINE, change, this.nowMs);
  }

  async job(): Promise<Job> {
    const found = await this.found();
    if (found === null) throw new Error('no pipeline');
    return found.job;
  }

  /** Null once it is deleted. */
  async found(): Promise<PipelineAndJob | null> {
    return await getPipeline(this.db, PIPELINE);
  }

  /** The leader of the job's generation. */
  async current(): Promise<ScriptedLeader> {
    return this.leader((await this.job()).generation);
  }

  leader(generation: number): ScriptedLeader {
    let leader = this.leaders.get(generation);
    if (leader === undefined) {
      leader = new ScriptedLeader();
      this.prepare(leader, generation);
      this.leaders.set(generation, leader);
    }
    return leader;
  }

  async reconcile(): Promise<number | null> {
    return await reconcilePipeline(this.ports(), PIPELINE, this.nowMs);
  }

  /** Looks as often as controllers ask for it, until `done`, or until nobody has to look. Returns the states seen. */
  async settle(done: (job: Job) => boolean = () => false, looksMax = 60): Promise<string[]> {
    const states: string[] = [];
    for (let looks = 0; looks < looksMax; looks++) {
      const atMs = await this.reconcile();
      const job = await this.job();
      if (states.at(-1) !== job.state) states.push(job.state);
      if (atMs === null || done(job)) return states;
      this.nowMs = Math.max(this.nowMs, atMs);
    }
    throw new Error(`not settled: ${states.join(' ')}`);
  }

  ports(): ControllerPorts {
    const catalog = controllerCatalog(this.db);
    return {
      catalog: {
        load: (id) => this.#cross('load', () => catalog.load(id)),
        due: (nowMs, limit) => this.#cross('due', () => catalog.due(nowMs, limit)),
        record: (seen, patch, nowMs, pipelineVersion) =>
          this.#cross(`record ${patch.state ?? '-'}`, () =>
            catalog.record(seen, patch, nowMs, pipelineVersion),
          ),
        recordFailure: (job, generation, report, nowMs) =>
          this.#cross('record-failure', () =>
            catalog.recordFailure(job, generation, report, nowMs),
          ),
        schedule: (id, version, atMs) =>
          this.#cross('schedule', () => catalog.schedule(id, version, atMs)),
        removePreview: (id) => this.#cross('remove', () => catalog.removePreview(id)),
      },
      allocate: (pipeline, job, expected) =>
        this.#cross(`allocate ${expected}`, () => {
          const ctx = {
            paths: new LineagePaths(pipeline.id, job.id),
            nowMs: this.nowMs,
            writeId: `w${++this.#writes}`,
          };
          return driveSync(allocateGeneration(ctx, expected), (op) => this.store.answer(op));
        }),
      leader: (_pipeline, generation) => this.#leaderPort(generation),
      forget: (_pipeline, job) => this.#cross(`forget up to ${job.generation}`, () => undefined),
      codeVersion: this.codeVersion,
      jitter: () => 0,
    };
  }

  #leaderPort(generation: number): LeaderPort {
    const leader = this.leader(generation);
    const reach = <T>(call: string, act: () => T): Promise<T> =>
      this.#cross(`${call} ${generation}`, () => {
        if (leader.unreachable) throw new Error('the object does not answer');
        return act();
      });
    return {
      start: (spec) => reach('start', () => leader.start(structuredClone(spec), this.nowMs)),
      poll: () => reach('poll', () => structuredClone(leader.poll(this.nowMs))),
      stop: (mode, nonce) => reach('stop', () => leader.stop(mode, nonce)),
    };
  }

  async #cross<T>(call: string, act: () => T | Promise<T>): Promise<T> {
    await this.beforeCall(call, 'before');
    this.calls.push(call);
    const result = await act();
    await this.beforeCall(call, 'after');
    return result;
  }
}
