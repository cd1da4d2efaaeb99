/**
 * A whole pipeline in one process on the production step machines: controller (a small stand-in),
 * leaders, hosts, object store, files and a virtual clock. Every delay and choice comes from one seed.
 *
 * A crashed object loses its memory and gets a new incarnation; what it had under way may still land.
 * Generations that were given up are left running, as zombies are.
 */
import { must } from '../../src/base/assert.ts';
import { Prng } from '../../src/base/prng.ts';
import type { ReadRequest, ReadResult, StagedObject } from '../../src/connectors/connector.ts';
import type { PhysicalGraph } from '../../src/graph/graph.ts';
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../../src/leader/interface.ts';
import { stepLeader } from '../../src/leader/leader.ts';
import { newLeader, type LeaderState, type PersistedLeader } from '../../src/leader/state.ts';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { collectGarbage } from '../../src/lineage/collect.ts';
import { completeCommit } from '../../src/lineage/commit.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import type { Lineage } from '../../src/lineage/store.ts';
import type { Incarnation } from '../../src/lineage/types.ts';
import type {
  GenerationSpec,
  HostReport,
  Outcome,
  ReportAnswer,
  RuntimeSettings,
} from '../../src/protocol/messages.ts';
import type { HostEffect, HostEvent } from '../../src/subtask/host-events.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';
import { MemoryObjectStore } from './memory-object-store.ts';

export const TEST_SETTINGS: RuntimeSettings = {
  batchRows: 64,
  lingerMs: 10,
  heartbeatIntervalMs: 1_000,
  heartbeatTimeoutMs: 10_000,
  startTimeoutMs: 20_000,
  checkpointTimeoutMs: 10_000,
  publishTimeoutMs: 20_000,
  commitTimeoutMs: 20_000,
  redoTimeoutMs: 20_000,
  leaderAlarmMs: 5_000,
  checkpointsKept: 2,
  stateBytesMax: 64 * 1024 * 1024,
};

export type ClusterOptions = {
  seed: number | string;
  graph: PhysicalGraph;
  parallelism: number;
  /** Contents of the objects that sources read, by path. */
  files: Record<string, string>;
  checkpointIntervalMs: number;
  settings?: Partial<RuntimeSettings>;
  /** Bytes one read of a file gives at most: small ones make a run long enough for faults to hit it. */
  readBytesMax?: number;
  /** Longest delay of a message, in milliseconds. */
  delayMaxMs?: number;
};

type Task = { atMs: number; order: number; run: () => void };

type HostCell = {
  machine: HostMachine;
  incarnation: string;
  alive: boolean;
  index: number;
  generation: number;
  reports: HostReport[];
  reporting: boolean;
  sequence: number;
  runAtMs: number;
};

type LeaderCell = {
  generation: number;
  state: LeaderState;
  incarnation: Incarnation;
  alive: boolean;
  spec: GenerationSpec | null;
  persisted: PersistedLeader | null;
};

type Untimed = LeaderEvent extends infer Event
  ? Event extends { nowMs: number }
    ? Omit<Event, 'nowMs'>
    : never
  : never;

export class SimulatedCluster {
  readonly store = new MemoryObjectStore();
  readonly prng: Prng;
  /** What happened, one line a fact; equal seeds give equal logs. */
  readonly trace: string[] = [];
  /** Committed sink objects in the order of their commit. */
  readonly committed: { key: string; text: string }[] = [];
  nowMs = 1_700_000_000_000;
  outcome: Outcome | null = null;
  generation = 0;
  parallelism: number;
  readonly #options: ClusterOptions;
  readonly #leaders = new Map<number, LeaderCell>();
  readonly #hosts = new Map<string, HostCell>();
  readonly #uploads = new Map<string, { key: string; bytes: Uint8Array }>();
  readonly #completed = new Map<string, number>();
  #tasks: Task[] = [];
  #order = 0;
  #unique = 0;
  readonly #startedMs: number;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.parallelism = options.parallelism;
    this.prng = new Prng(options.seed);
    this.#startedMs = this.nowMs;
  }

  /** Allocates the next generation and starts its leader. */
  startGeneration(reason: string): void {
    const paths = new LineagePaths('pl', 'job');
    const allocated = driveSync(
      allocateGeneration(
        { paths, nowMs: this.nowMs, writeId: `w${this.#unique++}` },
        this.generation,
      ),
      (op) => this.store.answer(op),
    );
    if (allocated.tag !== 'allocated') throw new Error(`allocation ended with ${allocated.tag}`);
    this.generation = allocated.generation;
    for (let index = 0; index < this.parallelism; index++) this.#newHost(this.generation, index);
    const cell = this.#newLeader(this.generation, null, null, null);
    this.#feedLeader(cell, { tag: 'start', spec: this.#spec(reason) });
  }

  /** Runs until an outcome that is final, or throws after `steps` events. */
  runToOutcome(steps = 2_000_000): Outcome {
    for (let step = 0; step < steps; step++) {
      if (this.outcome !== null) return this.outcome;
      if (!this.#runNext()) throw new Error('nothing left to happen');
    }
    throw new Error(`no outcome after ${steps} events, at ${this.nowMs - this.#startedMs} ms`);
  }

  /** Runs everything due within the next `ms`. */
  runFor(ms: number): void {
    const until = this.nowMs + ms;
    while (this.outcome === null && this.#tasks.some((task) => task.atMs <= until)) this.#runNext();
    if (this.nowMs < until) this.nowMs = until;
  }

  /** Rows of the committed sink objects, as lines. */
  rows(): string[] {
    return this.committed.flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  }

  crashHost(index: number): void {
    const cell = this.#hosts.get(`${this.generation}/${index}`);
    if (cell === undefined) return;
    this.#say(`host ${index} crashes`);
    cell.alive = false;
    this.#newHost(this.generation, index);
    // The leader's watch breaks.
    const leader = this.#leaders.get(this.generation);
    if (leader !== undefined)
      this.#later(
        () => this.#feedLeader(leader, { tag: 'host-lost', index, reason: 'reset' }),
        leader,
      );
  }

  crashLeader(): void {
    const cell = this.#leaders.get(this.generation);
    if (cell === undefined) return;
    this.#say('leader crashes');
    cell.alive = false;
    this.#later(
      () => this.#newLeader(cell.generation, cell.incarnation, cell.spec, cell.persisted),
      null,
    );
  }

  /** The controller takes the leader for dead: a new generation beside the old one. */
  splitBrain(): void {
    this.#say('controller starts another generation');
    this.startGeneration('split brain');
  }

  stop(mode: 'checkpoint' | 'graceful' | 'immediate'): void {
    const cell = this.#leaders.get(this.generation);
    if (cell?.alive === true) this.#feedLeader(cell, { tag: 'stop', mode, nonce: 'stop' });
  }

  status(): LeaderState {
    return must(this.#leaders.get(this.generation), 'leader').state;
  }

  #spec(reason: string): GenerationSpec {
    const { graph, checkpointIntervalMs, settings } = this.#options;
    return {
      protocol: 1,
      pipelineId: 'pl',
      jobId: 'job',
      name: 'test',
      generation: this.generation,
      graph,
      parallelism: this.parallelism,
      checkpointIntervalMs,
      settings: { ...TEST_SETTINGS, ...settings },
      pipelineCreatedMs: this.#startedMs,
      reason,
      reset: false,
      codeVersion: 'test',
    };
  }

  #say(fact: string): void {
    this.trace.push(`${this.nowMs - this.#startedMs} ${fact}`);
  }

  /** Does something after a drawn delay, unless its owner has crashed by then. */
  #later(run: () => void, owner: { alive: boolean } | null, afterMs = 0): void {
    const delayMs = afterMs + this.prng.below((this.#options.delayMaxMs ?? 20) + 1);
    this.#tasks.push({
      atMs: this.nowMs + delayMs,
      order: this.#order++,
      run: () => {
        if (owner === null || owner.alive) run();
      },
    });
  }

  #runNext(): boolean {
    let best = -1;
    for (let index = 0; index < this.#tasks.length; index++) {
      const task = this.#tasks[index] as Task;
      const known = this.#tasks[best];
      if (
        known === undefined ||
        task.atMs < known.atMs ||
        (task.atMs === known.atMs && task.order < known.order)
      )
        best = index;
    }
    const task = this.#tasks[best];
    if (task === undefined) return false;
    this.#tasks[best] = this.#tasks[this.#tasks.length - 1] as Task;
    this.#tasks.pop();
    this.nowMs = Math.max(this.nowMs, task.atMs);
    task.run();
    return true;
  }

  #newHost(generation: number, index: number): void {
    const incarnation = `h${generation}x${index}x${this.#unique++}`;
    this.#hosts.set(`${generation}/${index}`, {
      machine: new HostMachine(incarnation),
      incarnation,
      alive: true,
      index,
      generation,
      reports: [],
      reporting: false,
      sequence: 0,
      runAtMs: Infinity,
    });
  }

  #newLeader(
    generation: number,
    before: Incarnation | null,
    spec: GenerationSpec | null,
    persisted: PersistedLeader | null,
  ): LeaderCell {
    const incarnation = {
      objectId: before?.objectId ?? `leader${generation}`,
      startNo: (before?.startNo ?? 0) + 1,
      nonce: `n${this.#unique++}`,
    };
    const cell: LeaderCell = {
      generation,
      state: newLeader(),
      incarnation,
      alive: true,
      spec,
      persisted,
    };
    this.#leaders.set(generation, cell);
    this.#feedLeader(cell, { tag: 'woke', incarnation, spec, persisted });
    return cell;
  }

  #feedLeader(cell: LeaderCell, event: Untimed): ReportAnswer {
    const step = stepLeader(cell.state, { ...event, nowMs: this.nowMs } as LeaderEvent);
    cell.state = step.state;
    let answer: ReportAnswer = { tag: 'accepted' };
    for (const effect of step.effects) {
      if (effect.tag === 'reply') answer = effect.answer;
      else this.#performLeader(cell, effect);
    }
    return answer;
  }

  #performLeader(cell: LeaderCell, effect: Exclude<LeaderEffect, { tag: 'reply' }>): void {
    switch (effect.tag) {
      case 'persist':
        if (effect.spec !== null) cell.spec = effect.spec;
        cell.persisted = effect.persisted;
        return;
      case 'lineage':
        this.#runLineage(cell, effect.id, effect.operation);
        return;
      case 'send':
        this.#later(() => this.#command(cell, effect), null);
        return;
      case 'watch':
        return;
      case 'wake-at':
        this.#tasks.push({
          atMs: effect.atMs,
          order: this.#order++,
          run: () => cell.alive && this.#feedLeader(cell, { tag: 'tick' }),
        });
        return;
      case 'nudge':
        this.#later(() => this.#reconcile(cell), null);
        return;
      case 'ended':
        this.#say(`generation ${cell.generation} ended: ${JSON.stringify(cell.state.outcome)}`);
        return;
    }
  }

  #reconcile(cell: LeaderCell): void {
    if (cell.generation !== this.generation || this.outcome !== null) return;
    const { outcome } = cell.state;
    if (outcome === null) return;
    if (outcome.tag === 'failed' && outcome.report.retry === 'backoff')
      this.startGeneration(`recovery: ${outcome.report.code}`);
    else this.outcome = outcome;
  }

  #command(cell: LeaderCell, effect: LeaderEffect & { tag: 'send' }): void {
    const host = must(this.#hosts.get(`${cell.generation}/${effect.index}`), 'host');
    const { effects } = this.#feedHost(host, {
      tag: 'command',
      envelope: effect.envelope,
      requestId: 1,
    });
    const answered = effects.find((candidate) => candidate.tag === 'answer');
    if (answered?.tag !== 'answer') return;
    this.#later(
      () =>
        this.#feedLeader(cell, {
          tag: 'answer',
          index: effect.index,
          sequence: effect.envelope.sequence,
          answer: answered.answer,
        }),
      cell,
    );
  }

  #runLineage(cell: LeaderCell, id: number, operation: LineageOperation): void {
    const context: LineageContext = {
      paths: new LineagePaths('pl', 'job'),
      generation: cell.generation,
      me: cell.incarnation,
      nowMs: this.nowMs,
      nextWriteId: () => `w${this.#unique++}`,
    };
    const finish = (result: LineageResult): void => {
      this.#feedLeader(cell, { tag: 'lineage-done', id, result });
    };
    switch (operation.tag) {
      case 'open':
        return this.#drive(cell, openLineage(context), (outcome) =>
          finish({ tag: 'open', outcome }),
        );
      case 'complete-commit':
        return this.#drive(cell, completeCommit(context, operation.tip), (outcome) =>
          finish({ tag: 'complete-commit', outcome }),
        );
      case 'fence':
        return this.#drive(
          cell,
          fenceAndBegin(context, operation.tip, operation.options),
          (outcome) => finish({ tag: 'fence', outcome }),
        );
      case 'publish':
        return this.#drive(
          cell,
          publishCheckpoint(context, operation.tip, operation.draft),
          (outcome) => finish({ tag: 'publish', outcome }),
        );
      case 'collect':
        return this.#drive(
          cell,
          collectGarbage(context, operation.tip, operation.keep),
          (outcome) => finish({ tag: 'collect', outcome }),
        );
    }
  }

  /** One store operation after the other, each sent and answered with a delay of its own. */
  #drive<T>(cell: LeaderCell, workflow: Lineage<T>, finish: (outcome: T) => void): void {
    const advance = (next: IteratorResult<Parameters<MemoryObjectStore['answer']>[0], T>): void => {
      if (next.done === true) {
        finish(next.value);
        return;
      }
      const op = next.value;
      const pauseMs = op.op === 'pause' ? op.ms : 0;
      this.#later(
        () => {
          const answer = this.store.answer(op);
          this.#later(() => advance(workflow.next(answer)), cell);
        },
        null,
        pauseMs,
      );
    };
    advance(workflow.next());
  }

  #feedHost(host: HostCell, event: HostEvent): { effects: HostEffect[] } {
    const step = host.machine.handle(event, this.nowMs);
    for (const effect of step.effects) this.#performHost(host, effect);
    if (step.busy) this.#scheduleRun(host, this.nowMs);
    else if (step.wakeAtMs !== null) this.#scheduleRun(host, step.wakeAtMs);
    return step;
  }

  #scheduleRun(host: HostCell, atMs: number): void {
    if (host.runAtMs <= atMs && host.runAtMs >= this.nowMs) return;
    host.runAtMs = atMs;
    this.#tasks.push({
      atMs,
      order: this.#order++,
      run: () => {
        if (!host.alive || host.runAtMs !== atMs) return;
        host.runAtMs = Infinity;
        this.#feedHost(host, { tag: 'run' });
      },
    });
  }

  #performHost(host: HostCell, effect: HostEffect): void {
    switch (effect.tag) {
      case 'report':
        if (effect.report.tag === 'failed')
          this.#say(`host ${host.index} failed: ${effect.report.report.message}`);
        host.reports.push(effect.report);
        this.#sendReports(host);
        return;
      case 'deliver':
        this.#later(() => this.#deliver(host, effect), null);
        return;
      case 'answer-delivery':
        this.#answerDelivery(host, effect);
        return;
      case 'read':
        this.#later(
          () =>
            this.#feedHost(host, {
              tag: 'read',
              operator: effect.operator,
              partition: effect.partition,
              result: this.#read(effect.request),
            }),
          host,
        );
        return;
      case 'get-file':
        this.#later(() => {
          const { body } = must(this.store.objects.get(effect.key), `state file ${effect.key}`);
          this.#feedHost(host, {
            tag: 'file-read',
            requestId: effect.requestId,
            bytes: body.slice(),
          });
        }, host);
        return;
      case 'put-file':
        this.#later(() => {
          this.store.answer({
            op: 'put',
            key: effect.key,
            body: effect.bytes,
            condition: { tag: 'absent' },
          });
          this.#later(
            () => this.#feedHost(host, { tag: 'file-put', requestId: effect.requestId }),
            host,
          );
        }, null);
        return;
      case 'stage':
        this.#later(() => {
          const uploadId = `u${this.#unique++}`;
          const { key, bytes, rows } = effect.request;
          this.#uploads.set(uploadId, { key, bytes });
          const staged: StagedObject = {
            key,
            uploadId,
            etag: uploadId,
            size: bytes.byteLength,
            rows,
          };
          this.#later(
            () => this.#feedHost(host, { tag: 'staged', requestId: effect.requestId, staged }),
            host,
          );
        }, null);
        return;
      case 'commit':
        this.#later(() => {
          for (const item of effect.items)
            this.#complete(item.payload as unknown as StagedObject, effect.epoch);
          this.#later(
            () => this.#feedHost(host, { tag: 'committed', requestId: effect.requestId }),
            host,
          );
        }, null);
        return;
      case 'answer':
      case 'preview':
      case 'trim':
      case 'released':
        return;
    }
  }

  /** Completes an upload; a second time is a no-op, as with R2. */
  #complete(item: StagedObject, epoch: number): void {
    const uploadId = must(item.uploadId, 'upload id');
    if (this.#completed.has(uploadId)) return;
    this.#completed.set(uploadId, epoch);
    const { key, bytes } = must(this.#uploads.get(uploadId), 'upload');
    if (this.committed.some((object) => object.key === key))
      throw new Error(`${key} was committed twice`);
    this.#say(`committed ${key}`);
    this.committed.push({ key, text: new TextDecoder().decode(bytes) });
  }

  #read(request: ReadRequest): ReadResult {
    if (request.tag !== 'object') throw new Error('only objects are read here');
    const text = this.#options.files[request.path];
    if (text === undefined) return { tag: 'missing', path: request.path };
    const bytes = new TextEncoder().encode(text);
    const end =
      request.offset + Math.min(request.length, this.#options.readBytesMax ?? request.length);
    return { tag: 'object', bytes: bytes.slice(request.offset, end), size: bytes.byteLength };
  }

  #sendReports(host: HostCell): void {
    if (host.reporting || host.reports.length === 0) return;
    host.reporting = true;
    const report = host.reports[0] as HostReport;
    this.#later(() => {
      const leader = must(this.#leaders.get(host.generation), 'leader');
      const again = (): void => {
        host.reporting = false;
        this.#sendReports(host);
      };
      const { identity } = host.machine;
      if (!leader.alive || identity === null) {
        this.#later(again, host, 100);
        return;
      }
      const { pipelineId, generation, index } = identity;
      this.#feedLeader(leader, {
        tag: 'report',
        envelope: {
          pipelineId,
          generation,
          leader: identity.leader,
          index,
          host: host.incarnation,
          sequence: host.sequence,
          report,
        },
      });
      host.sequence++;
      host.reports.shift();
      this.#later(again, host);
    }, host);
  }

  readonly #waitingDeliveries = new Map<string, { from: HostCell; edge: string; to: number }>();

  #deliver(from: HostCell, effect: HostEffect & { tag: 'deliver' }): void {
    const target = must(this.#hosts.get(`${from.generation}/${effect.to}`), 'host');
    const requestId = this.#unique++;
    this.#waitingDeliveries.set(`${target.incarnation}/${requestId}`, {
      from,
      edge: effect.edge,
      to: effect.to,
    });
    const { edge, sequence, frames } = effect;
    this.#feedHost(target, {
      tag: 'delivery',
      requestId,
      delivery: {
        pipelineId: 'pl',
        generation: from.generation,
        edge,
        from: from.index,
        to: effect.to,
        fromHost: from.incarnation,
        sequence,
        frames,
      },
    });
  }

  #answerDelivery(host: HostCell, effect: HostEffect & { tag: 'answer-delivery' }): void {
    const waiting = must(
      this.#waitingDeliveries.get(`${host.incarnation}/${effect.requestId}`),
      'delivery',
    );
    this.#later(
      () =>
        this.#feedHost(waiting.from, {
          tag: 'delivered',
          edge: waiting.edge,
          to: waiting.to,
          answer: effect.answer,
        }),
      waiting.from,
    );
  }
}
