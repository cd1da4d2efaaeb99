/**
 * Shell of one generation's leader: keeps its start number and state in SQLite, feeds the step
 * machine, carries out its effects in order. It decides nothing.
 *
 * Each construction of the object is a new incarnation: start number and nonce are stored before
 * anything is done with them, and because every outgoing call waits for storage (output gate), before
 * anybody hears of them.
 */
import { DurableObject } from 'cloudflare:workers';
import { must } from '../src/base/assert.ts';
import { reportOf } from '../src/base/errors.ts';
import { hostName } from '../src/base/ids.ts';
import { stagedEpoch, stagedPrefix, stagesObjects } from '../src/connectors/two-phase-sink.ts';
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../src/leader/interface.ts';
import { historyOperators, LeaderHistory, type SavedHistory } from '../src/leader/history.ts';
import { nextEpoch } from '../src/leader/epochs.ts';
import { LeaderSeries } from '../src/leader/series.ts';
import { stepLeader } from '../src/leader/leader.ts';
import { newLeader, type LeaderState, type PersistedLeader } from '../src/leader/state.ts';
import { leaderStatus } from '../src/leader/status.ts';
import { collectGarbage } from '../src/lineage/collect.ts';
import { collectStaged } from '../src/lineage/collect-staged.ts';
import { completeCommit } from '../src/lineage/commit.ts';
import type { LineageContext } from '../src/lineage/context.ts';
import { fenceAndBegin } from '../src/lineage/fence.ts';
import { openLineage } from '../src/lineage/open.ts';
import { LineagePaths } from '../src/lineage/paths.ts';
import { publishCheckpoint } from '../src/lineage/publish.ts';
import type { Incarnation } from '../src/lineage/types.ts';
import { CrashTrigger } from '../src/platform/crash-trigger.ts';
import {
  type ControllerCalls,
  type CrashPoint,
  type Env,
  hosts,
  isLocal,
  type LeaderCalls,
} from '../src/platform/env.ts';
import { ProblemStore } from '../src/platform/problem-store.ts';
import { sqlStorage } from '../src/platform/sql-storage.ts';
import { driveLineage } from '../src/platform/r2-store.ts';
import type {
  GenerationSpec,
  HistoryPoints,
  LeaderStatus,
  ProblemPage,
  ReportAnswer,
  ReportEnvelope,
  StopMode,
  SubtaskPoints,
} from '../src/protocol/messages.ts';

const WATCH_MS = 20_000;
/** An end that the controller has not heard of is told again after so long, until it has. */
const END_AGAIN_MS = 5_000;

const INCARNATION = 'incarnation';
const SPEC = 'spec';
/** The generation of a leader whose pipeline was deleted: all that stays of it, so that nobody gets its id again. */
const DELETED = 'deleted';
const STATE = 'state';
/** Followed by the number of a full slab of the history. */
const HISTORY = 'history/';
/** What was heard is stored so often at least; with checkpoints, whose row it is part of, it is stored anyway. */
const HISTORY_SAVE_MS = 60_000;

type StoredLeader = PersistedLeader & { history?: SavedHistory };

/** An event before the shell adds the time. */
type Untimed = LeaderEvent extends infer Event
  ? Event extends { nowMs: number }
    ? Omit<Event, 'nowMs'>
    : never
  : never;

export class PipelineLeader extends DurableObject<Env> implements LeaderCalls {
  readonly #incarnation: Incarnation;
  readonly #watches = new Set<string>();
  readonly #crashPoint = new CrashTrigger(this.ctx);
  #state: LeaderState = newLeader();
  #history: LeaderHistory | null = null;
  readonly #series = new LeaderSeries();
  #persisted: PersistedLeader | null = null;
  #storedMs = 0;
  #ended = false;
  /** 0: not deleted. */
  readonly #deletedGeneration: number;
  #nudged: Promise<boolean> = Promise.resolve(false);
  readonly #problems = new ProblemStore(sqlStorage(this.ctx.storage));

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { kv } = ctx.storage;
    const before = kv.get<Incarnation>(INCARNATION);
    this.#incarnation = {
      objectId: before?.objectId ?? crypto.randomUUID(),
      startNo: (before?.startNo ?? 0) + 1,
      nonce: crypto.randomUUID().replaceAll('-', ''),
    };
    kv.put(INCARNATION, this.#incarnation);
    this.#deletedGeneration = kv.get<number>(DELETED) ?? 0;
    const spec = kv.get<GenerationSpec>(SPEC) ?? null;
    const persisted = this.#restored(spec);
    this.#feed({ tag: 'woke', incarnation: this.#incarnation, spec, persisted });
  }

  async start(spec: GenerationSpec): Promise<{ tag: 'accepted' }> {
    // A start that comes late finds its pipeline deleted.
    if (this.#deletedGeneration === 0) this.#feed({ tag: 'start', spec });
    return { tag: 'accepted' };
  }

  /** A poll also makes up for a lost alarm. */
  async poll(): Promise<LeaderStatus> {
    this.#feed({ tag: 'tick' });
    const status = leaderStatus(this.#state);
    return this.#deletedGeneration === 0
      ? status
      : { ...status, generation: this.#deletedGeneration };
  }

  async stop(mode: StopMode, nonce: string): Promise<{ tag: 'accepted' }> {
    this.#feed({ tag: 'stop', mode, nonce });
    return { tag: 'accepted' };
  }

  async flush(): Promise<number | null> {
    this.#feed({ tag: 'flush' });
    return nextEpoch(this.#state);
  }

  async problems(after: number, limit: number): Promise<ProblemPage> {
    return this.#problems.read(after, limit);
  }

  async report(envelope: ReportEnvelope): Promise<ReportAnswer> {
    const answer = this.#feed({ tag: 'report', envelope }) ?? { tag: 'accepted' };
    if (envelope.report.tag === 'heartbeat') this.#remember();
    return answer;
  }

  async history(fromMs: number, toMs: number, stepMs: number): Promise<HistoryPoints | null> {
    const { spec, startedMs } = this.#state;
    if (spec === null || this.#history === null) return null;
    const { generation, reason } = spec;
    // Before the start there is nothing that a coarser point could speak for.
    const points = this.#history.read(Math.max(fromMs, startedMs), toMs, stepMs);
    return { ...points, generation, reason, startedMs, commits: this.#history.commits(fromMs) };
  }

  async series(): Promise<SubtaskPoints[]> {
    return this.#series.read(Date.now());
  }

  async destroy(): Promise<void> {
    const generation = this.#state.spec?.generation ?? this.#deletedGeneration;
    await this.ctx.storage.deleteAll();
    if (generation > 0) this.ctx.storage.kv.put(DELETED, generation);
    await this.ctx.storage.sync();
    this.ctx.abort('deleted');
  }

  async crash(at: CrashPoint): Promise<void> {
    if (isLocal(this.env)) this.#crashPoint.arm(at);
  }

  override async alarm(): Promise<void> {
    if (this.#state.phase === 'ended') await this.#untilHeard(this.#nudge());
    else this.#feed({ tag: 'tick' });
  }

  /** One step; the answer to a report, if this was one. */
  #feed(event: Untimed): ReportAnswer | null {
    const step = stepLeader(this.#state, { ...event, nowMs: Date.now() } as LeaderEvent);
    this.#state = step.state;
    let reply: ReportAnswer | null = null;
    for (const effect of step.effects) {
      if (effect.tag === 'reply') reply = effect.answer;
      else this.#perform(effect);
    }
    return reply;
  }

  #perform(effect: Exclude<LeaderEffect, { tag: 'reply' }>): void {
    this.#crashPoint.reach(labelOf(effect));
    switch (effect.tag) {
      case 'persist':
        if (effect.spec !== null) this.#begin(effect.spec);
        this.#history?.take(this.#state);
        this.#store(effect.persisted);
        return;
      case 'lineage':
        void this.#runLineage(effect.id, effect.operation);
        return;
      case 'send':
        void this.#send(effect.index, effect.envelope);
        return;
      case 'watch':
        void this.#watch(effect.index, effect.host);
        return;
      case 'wake-at':
        void this.ctx.storage.setAlarm(Math.max(effect.atMs, Date.now() + 1));
        return;
      case 'nudge':
        this.#nudged = this.#nudge();
        return;
      case 'keep-problems':
        this.#problems.add(effect.problems);
        return;
      case 'ended':
        this.#ended = true;
        void this.#untilHeard(this.#nudged);
        return;
    }
  }

  #begin(spec: GenerationSpec): void {
    this.ctx.storage.kv.put(SPEC, spec);
    this.#history ??= new LeaderHistory(historyOperators(spec.graph));
  }

  /** The history is part of the leader's own row: it costs no row more. */
  #store(persisted: PersistedLeader): void {
    this.#persisted = persisted;
    this.#storedMs = Date.now();
    const stored: StoredLeader =
      this.#history === null ? persisted : { ...persisted, history: this.#history.save() };
    this.ctx.storage.kv.put(STATE, stored);
  }

  /** What storage holds of an earlier start. */
  #restored(spec: GenerationSpec | null): PersistedLeader | null {
    const { kv } = this.ctx.storage;
    const stored = kv.get<StoredLeader>(STATE);
    if (spec === null || stored === undefined) return stored ?? null;
    const { history, ...persisted } = stored;
    this.#history = new LeaderHistory(historyOperators(spec.graph));
    this.#persisted = persisted;
    if (history === undefined) return persisted;
    const slabs = [...kv.list<Float32Array>({ prefix: HISTORY })];
    this.#history.restore(
      history,
      slabs.map(([key, values]) => ({ index: Number(key.slice(HISTORY.length)), values })),
    );
    return persisted;
  }

  /** A heartbeat came. */
  #remember(): void {
    if (this.#history === null || this.#state.phase === 'ended') return;
    this.#history.take(this.#state);
    this.#series.take(this.#state);
    const nowMs = Date.now();
    const { slabs, keptFrom } = this.#history.takeFull(nowMs);
    const { kv } = this.ctx.storage;
    for (const { index, values } of slabs) kv.put(`${HISTORY}${index}`, values);
    // Numbers of slabs are of one length, so their keys are in order.
    if (slabs.length > 0)
      for (const [key] of kv.list({ prefix: HISTORY, end: `${HISTORY}${keptFrom}` }))
        kv.delete(key);
    if (this.#persisted !== null && nowMs - this.#storedMs >= HISTORY_SAVE_MS)
      this.#store(this.#persisted);
  }

  #spec(): GenerationSpec {
    return must(this.#state.spec, 'spec of a started leader');
  }

  async #runLineage(id: number, operation: LineageOperation): Promise<void> {
    const { pipelineId, jobId, generation } = this.#spec();
    const context: LineageContext = {
      paths: new LineagePaths(pipelineId, jobId),
      generation,
      me: this.#incarnation,
      nowMs: Date.now(),
      nextWriteId: () => crypto.randomUUID(),
    };
    let result: LineageResult;
    try {
      result = await this.#lineageResult(context, operation);
    } catch (thrown) {
      // A broken assertion in the protocol: abandon this incarnation, the next one starts from what is durable.
      this.ctx.abort(`lineage ${operation.tag}: ${reportOf(thrown).message}`);
      return;
    }
    this.#crashPoint.reach(`lineage:${operation.tag}:after`);
    this.#feed({ tag: 'lineage-done', id, result });
  }

  async #lineageResult(
    context: LineageContext,
    operation: LineageOperation,
  ): Promise<LineageResult> {
    const bucket = this.env.BUCKET;
    switch (operation.tag) {
      case 'open':
        return { tag: 'open', outcome: await driveLineage(bucket, openLineage(context)) };
      case 'complete-commit':
        return {
          tag: 'complete-commit',
          outcome: await driveLineage(bucket, completeCommit(context, operation.tip)),
        };
      case 'fence':
        return {
          tag: 'fence',
          outcome: await driveLineage(
            bucket,
            fenceAndBegin(context, operation.tip, operation.options),
          ),
        };
      case 'publish':
        return {
          tag: 'publish',
          outcome: await driveLineage(
            bucket,
            publishCheckpoint(context, operation.tip, operation.draft),
          ),
        };
      case 'collect': {
        const { tip, keep } = operation;
        const outcome = await driveLineage(bucket, collectGarbage(context, tip, keep));
        const { pipelineId, graph } = this.#spec();
        if (outcome.tag === 'collected' && stagesObjects(graph)) {
          const names = { prefix: stagedPrefix(pipelineId), epochOf: stagedEpoch };
          // What stays behind is found by the next collection.
          await driveLineage(bucket, collectStaged(context, tip, outcome.floor, names));
        }
        return { tag: 'collect', outcome };
      }
    }
  }

  #host(index: number): ReturnType<ReturnType<typeof hosts>['getByName']> {
    const { pipelineId, generation } = this.#spec();
    return hosts(this.env).getByName(hostName(pipelineId, generation, index));
  }

  async #send(
    index: number,
    envelope: (LeaderEffect & { tag: 'send' })['envelope'],
  ): Promise<void> {
    try {
      const answer = await this.#host(index).command(envelope);
      this.#feed({ tag: 'answer', index, sequence: envelope.sequence, answer });
    } catch (thrown) {
      this.#feed({ tag: 'host-lost', index, reason: reportOf(thrown).message });
    }
  }

  /** Holds a call open on the host; it breaks at once when the host's object is reset. */
  async #watch(index: number, host: string): Promise<void> {
    if (this.#watches.has(host)) return;
    this.#watches.add(host);
    try {
      while (!this.#ended) {
        const seen = await this.#host(index).watch(WATCH_MS);
        if (seen.incarnation !== host) throw new Error('the host was re-created');
      }
    } catch (thrown) {
      if (!this.#ended) this.#feed({ tag: 'host-lost', index, reason: reportOf(thrown).message });
    } finally {
      this.#watches.delete(host);
    }
  }

  /** False when the controller could not look. Cron looks too, but perhaps a minute later. */
  async #nudge(): Promise<boolean> {
    const { spec } = this.#state;
    // A generation that was never started is ended by whoever asks for it.
    if (spec === null) return true;
    const exports = this.ctx.exports as unknown as { Controller: ControllerCalls };
    return await exports.Controller.nudge(spec.pipelineId).then(
      () => true,
      () => false,
    );
  }

  /** The alarm outlives a reset and is dropped last: the end of a generation is not forgotten. */
  async #untilHeard(nudged: Promise<boolean>): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + END_AGAIN_MS);
    if (await nudged) await this.ctx.storage.deleteAlarm();
  }
}

/** The name of an effect as a crash point has it. */
function labelOf(effect: LeaderEffect): string {
  if (effect.tag === 'lineage') return `lineage:${effect.operation.tag}`;
  if (effect.tag === 'send') return `send:${effect.envelope.command.tag}`;
  return effect.tag;
}
