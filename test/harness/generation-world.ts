/**
 * A whole pipeline without a machine: real leaders over the real lineage protocol, model hosts, model sinks, and a world
 * that delays, repeats and reorders what they say to each other, resets them, and lets two generations run at once.
 *
 * The model pipeline copies `rowsPerPartition` rows of each partition to two sinks. A sink commits a token (sink, epoch) at
 * most once, in order; whether every row arrived exactly once is for the test to say. One seed decides everything.
 */
import { LIMITS } from '../../src/base/limits.ts';
import { Prng } from '../../src/base/prng.ts';
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../../src/leader/interface.ts';
import { stepLeader } from '../../src/leader/leader.ts';
import { newLeader } from '../../src/leader/state.ts';
import type { LeaderState, PersistedLeader } from '../../src/leader/state.ts';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { collectGarbage } from '../../src/lineage/collect.ts';
import { completeCommit } from '../../src/lineage/commit.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import type { Lineage, StoreAnswer } from '../../src/lineage/store.ts';
import type { Incarnation, SinkItem } from '../../src/lineage/types.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  GenerationSpec,
  HostReport,
  StopMode,
} from '../../src/protocol/messages.ts';
import { specFor } from './leader-script.ts';
import { MemoryObjectStore } from './memory-object-store.ts';

const PARTITIONS = 4;
export const SINKS = ['a', 'b'] as const;

type Untimed<E> = E extends { nowMs: number } ? Omit<E, 'nowMs'> : never;

export class GenerationWorld {
  readonly prng: Prng;
  readonly store = new MemoryObjectStore();
  readonly paths = new LineagePaths('pl_1', 'job_1');
  readonly rowsPerPartition: number;
  nowMs = 0;
  /** While true, requests fail, messages are repeated and objects are reset. */
  faulty = true;
  generation = 0;
  finished = false;
  readonly leaders = new Map<number, LeaderObject>();
  readonly hosts = new Map<string, ModelHost>();
  readonly committed = new Map<string, { epoch: number; rows: string[] }>(
    SINKS.map((sink) => [sink, { epoch: 0, rows: [] }]),
  );
  readonly trace: string[] = [];
  /** What may happen next, in any order. */
  readonly #tasks: (() => void)[] = [];
  #ids = 0;

  constructor(seed: number, rowsPerPartition = 40) {
    this.prng = new Prng(seed);
    this.rowsPerPartition = rowsPerPartition;
  }

  nextId(prefix: string): string {
    return `${prefix}${++this.#ids}`;
  }

  note(text: string): void {
    this.trace.push(`${this.nowMs} ${text}`);
  }

  later(task: () => void): void {
    this.#tasks.push(task);
    if (this.faulty && this.prng.chance(0.02)) this.#tasks.push(task);
  }

  /** Like `later`, but never repeated: what a machine does inside. */
  laterOnce(task: () => void): void {
    this.#tasks.push(task);
  }

  /** One turn of the world: a little time, one message or request, some work, perhaps a fault. */
  turn(): void {
    this.nowMs += 10 + this.prng.below(40);
    if (this.#tasks.length > 0) {
      const at = this.prng.chance(0.7) ? 0 : this.prng.below(this.#tasks.length);
      this.#tasks.splice(at, 1)[0]?.();
    }
    for (const host of this.hosts.values()) host.work();
    for (const leader of this.leaders.values()) leader.tick();
    if (this.store.delayed.length > 0 && this.prng.chance(0.05))
      this.store.land(this.prng.below(this.store.delayed.length));
    if (this.prng.chance(0.2)) this.#control();
    if (this.faulty) this.#fault();
  }

  commit(epoch: number, items: readonly SinkItem[]): void {
    for (const sink of new Set(items.map((item) => item.sink))) {
      const target = this.committed.get(sink);
      if (target === undefined || epoch <= target.epoch) continue;
      target.epoch = epoch;
      for (const item of items)
        if (item.sink === sink) target.rows.push(...(item.payload as string[]));
      this.note(`sink ${sink} committed epoch ${epoch}`);
    }
  }

  /** One request of a workflow, under the fate of the moment. */
  answer(op: Parameters<MemoryObjectStore['answer']>[0]): StoreAnswer {
    if (op.op === 'pause' || !this.faulty || !this.prng.chance(0.04)) return this.store.answer(op);
    const fates =
      op.op === 'put'
        ? (['lose-answer', 'delay', 'throttle', 'fail'] as const)
        : (['throttle', 'fail'] as const);
    return this.store.answer(op, this.prng.pick(fates));
  }

  host(generation: number, index: number): ModelHost {
    const name = `${generation}/${index}`;
    const host = this.hosts.get(name) ?? new ModelHost(this, generation, index);
    this.hosts.set(name, host);
    return host;
  }

  /** The model's controller: one generation after the other until the input is finished. */
  #control(): void {
    const current = this.leaders.get(this.generation);
    const outcome = current?.instance.state.outcome ?? null;
    if (outcome?.tag === 'finished') this.finished = true;
    else if (current === undefined || outcome !== null) this.startNext(outcome?.tag ?? 'created');
  }

  startNext(reason: string): void {
    const ctx = { paths: this.paths, nowMs: this.nowMs, writeId: this.nextId('w') };
    const allocated = driveSync(allocateGeneration(ctx, this.generation), (op) =>
      this.store.answer(op),
    );
    if (allocated.tag !== 'allocated') throw new Error(allocated.report.message);
    this.generation = allocated.generation;
    const spec = specFor({
      generation: this.generation,
      parallelism: 1 + this.prng.below(3),
      checkpointIntervalMs: 1_000,
      reason,
    });
    this.note(`generation ${this.generation} with ${spec.parallelism} hosts, after ${reason}`);
    const leader = new LeaderObject(this, {
      ...spec,
      settings: { ...spec.settings, checkpointsKept: 2, checkpointTimeoutMs: 20_000 },
    });
    this.leaders.set(this.generation, leader);
  }

  #fault(): void {
    const current = this.leaders.get(this.generation);
    if (current === undefined || !this.prng.chance(0.012)) return;
    switch (this.prng.below(5)) {
      case 0: {
        const host = this.prng.pick([...this.hosts.values()]);
        if (host === undefined) return;
        this.note(`host ${host.generation}/${host.index} crashes`);
        return host.crash();
      }
      case 1:
      case 2:
        return current.reset(this.prng.chance(0.4));
      case 3:
        return current.stop(this.prng.pick<StopMode>(['checkpoint', 'graceful', 'immediate']));
      case 4:
        return this.startNext('a second controller');
    }
  }
}

/** One construction of a leader object; replaced by the next, it may live on for a while. */
type Instance = { state: LeaderState; incarnation: Incarnation; alive: boolean };

class LeaderObject {
  readonly #world: GenerationWorld;
  readonly spec: GenerationSpec;
  readonly #objectId: string;
  #startNo = 0;
  #storedSpec: GenerationSpec | null = null;
  #persisted: PersistedLeader | null = null;
  instance: Instance;

  constructor(world: GenerationWorld, spec: GenerationSpec) {
    this.#world = world;
    this.spec = spec;
    this.#objectId = world.nextId('leader');
    this.instance = this.#construct();
    this.#feed(this.instance, { tag: 'start', spec });
  }

  tick(): void {
    const { wakeAtMs, phase } = this.instance.state;
    if (wakeAtMs !== null && wakeAtMs <= this.#world.nowMs && phase !== 'ended')
      this.#feed(this.instance, { tag: 'tick' });
  }

  stop(mode: StopMode): void {
    this.#world.note(`stop ${mode} of generation ${this.spec.generation}`);
    this.#feed(this.instance, { tag: 'stop', mode, nonce: this.#world.nextId('stop') });
  }

  /** The object is constructed anew; a zombie lives until the platform notices it, at its next write. */
  reset(zombie: boolean): void {
    this.#world.note(
      `leader ${this.spec.generation} is reset${zombie ? ', its old instance lives on' : ''}`,
    );
    this.instance.alive = zombie;
    this.instance = this.#construct();
  }

  report(index: number, host: string, leader: string, sequence: number, report: HostReport): void {
    const { pipelineId, generation } = this.spec;
    this.#feed(this.instance, {
      tag: 'report',
      envelope: { pipelineId, generation, leader, index, host, sequence, report },
    });
  }

  hostLost(index: number): void {
    this.#feed(this.instance, { tag: 'host-lost', index, reason: 'its object was reset' });
  }

  #construct(): Instance {
    const incarnation = {
      objectId: this.#objectId,
      startNo: ++this.#startNo,
      nonce: this.#world.nextId('n'),
    };
    const instance: Instance = { state: newLeader(), incarnation, alive: true };
    this.instance = instance;
    this.#feed(instance, {
      tag: 'woke',
      incarnation,
      spec: this.#storedSpec,
      persisted: this.#persisted,
    });
    if (this.#storedSpec === null && this.#startNo > 1)
      this.#feed(instance, { tag: 'start', spec: this.spec });
    return instance;
  }

  #feed(instance: Instance, event: Untimed<LeaderEvent>): void {
    if (!instance.alive) return;
    const before = instance.state.outcome;
    const step = stepLeader(instance.state, { ...event, nowMs: this.#world.nowMs } as LeaderEvent);
    instance.state = step.state;
    const { outcome } = step.state;
    if (before === null && outcome !== null)
      this.#world.note(`generation ${this.spec.generation}: ${JSON.stringify(outcome)}`);
    for (const effect of step.effects) {
      this.#perform(instance, effect);
      if (!instance.alive) return;
    }
  }

  #perform(instance: Instance, effect: LeaderEffect): void {
    if (effect.tag === 'persist') {
      if (instance !== this.instance) instance.alive = false;
      else {
        this.#storedSpec = effect.spec ?? this.#storedSpec;
        this.#persisted = structuredClone(effect.persisted);
      }
    } else if (effect.tag === 'lineage') this.#runWorkflow(instance, effect.id, effect.operation);
    else if (effect.tag === 'send') this.#send(instance, effect.index, effect.envelope);
  }

  #send(instance: Instance, index: number, envelope: CommandEnvelope): void {
    const host = this.#world.host(this.spec.generation, index);
    const command = structuredClone(envelope);
    this.#world.later(() => {
      const answer = host.obey(command);
      this.#world.later(() =>
        this.#feed(instance, { tag: 'answer', index, sequence: envelope.sequence, answer }),
      );
    });
  }

  /** One request at a time; the workflow of a dead instance goes on, as a request on its way does. */
  #runWorkflow(instance: Instance, id: number, operation: LineageOperation): void {
    const ctx: LineageContext = {
      paths: this.#world.paths,
      generation: this.spec.generation,
      me: instance.incarnation,
      nowMs: this.#world.nowMs,
      nextWriteId: () => this.#world.nextId('w'),
    };
    const workflow: Lineage<LineageResult> = workflowOf(ctx, operation);
    const proceed = (answer: StoreAnswer | null): void => {
      const next = answer === null ? workflow.next() : workflow.next(answer);
      if (next.done === true) this.#feed(instance, { tag: 'lineage-done', id, result: next.value });
      else this.#world.laterOnce(() => proceed(this.#world.answer(next.value)));
    };
    proceed(null);
  }
}

function* workflowOf(ctx: LineageContext, operation: LineageOperation): Lineage<LineageResult> {
  switch (operation.tag) {
    case 'open':
      return { tag: 'open', outcome: yield* openLineage(ctx) };
    case 'fence':
      return { tag: 'fence', outcome: yield* fenceAndBegin(ctx, operation.tip, operation.options) };
    case 'publish':
      return {
        tag: 'publish',
        outcome: yield* publishCheckpoint(ctx, operation.tip, operation.draft),
      };
    case 'complete-commit':
      return { tag: 'complete-commit', outcome: yield* completeCommit(ctx, operation.tip) };
    case 'collect':
      return { tag: 'collect', outcome: yield* collectGarbage(ctx, operation.tip, operation.keep) };
  }
}

type Cut = { epoch: number; attempt: number; rows: string[] };

/** A host that owns the partitions whose number fits its index, and keeps rows until their checkpoint is settled. */
export class ModelHost {
  readonly #world: GenerationWorld;
  readonly generation: number;
  readonly index: number;
  #incarnation: string;
  #phase: 'empty' | 'ready' | 'running' | 'stopped' = 'empty';
  #leader = '';
  #sequence = 0;
  #ledBy = { start: 0, sequence: 0 };
  #deployedBy = '';
  #offsets = new Map<number, number>();
  #open = true;
  #rows: string[] = [];
  #cuts: Cut[] = [];
  #drainReported = false;
  #heartbeatMs = 0;
  #lastBarrier = { epoch: 0, attempt: 0 };

  constructor(world: GenerationWorld, generation: number, index: number) {
    this.#world = world;
    this.generation = generation;
    this.index = index;
    this.#incarnation = world.nextId('h');
  }

  crash(): void {
    this.#incarnation = this.#world.nextId('h');
    this.#phase = 'empty';
    this.#world.laterOnce(() => this.#world.leaders.get(this.generation)?.hostLost(this.index));
  }

  get #drained(): boolean {
    return (
      this.#phase !== 'empty' &&
      [...this.#offsets.values()].every((offset) => offset >= this.#world.rowsPerPartition)
    );
  }

  work(): void {
    if (this.#phase === 'ready' || this.#phase === 'running') this.#heartbeat();
    if (this.#phase !== 'running') return;
    if (this.#open && this.#world.prng.chance(0.3)) {
      const left = [...this.#offsets].filter(([, offset]) => offset < this.#world.rowsPerPartition);
      const next = left.length === 0 ? null : this.#world.prng.pick(left);
      if (next !== null) {
        this.#rows.push(`${next[0]}:${next[1]}`);
        this.#offsets.set(next[0], next[1] + 1);
      }
    }
    if (this.#drained && !this.#drainReported) {
      this.#drainReported = true;
      this.#report({ tag: 'drained' });
    }
  }

  #heartbeat(): void {
    if (this.#world.nowMs - this.#heartbeatMs < LIMITS.heartbeatIntervalMs) return;
    this.#heartbeatMs = this.#world.nowMs;
    this.#report({ tag: 'heartbeat', metrics: [], problems: [] });
  }

  #report(report: HostReport): void {
    const { generation, index } = this;
    const [host, leader, sequence] = [this.#incarnation, this.#leader, ++this.#sequence];
    this.#world.later(() =>
      this.#world.leaders
        .get(generation)
        ?.report(index, host, leader, sequence, structuredClone(report)),
    );
  }

  obey(envelope: CommandEnvelope): CommandAnswer {
    const { command, host, leader, sequence } = envelope;
    const mine = host === this.#incarnation || (host === null && command.tag === 'deploy');
    if (!mine || (this.#phase === 'empty' && command.tag !== 'deploy'))
      return { tag: 'unknown-incarnation', incarnation: this.#incarnation };
    if (command.tag === 'deploy' && this.#deployedBy === `${leader}/${sequence}`)
      return { tag: 'accepted' };
    const { start, sequence: last } = this.#ledBy;
    if (envelope.leaderStart < start || (envelope.leaderStart === start && sequence < last))
      return { tag: 'stale-leader' };
    if (command.tag === 'deploy' || command.tag === 'adopt') {
      this.#leader = leader;
      this.#ledBy = { start: envelope.leaderStart, sequence };
    } else if (leader !== this.#leader) return { tag: 'stale-leader' };
    if (this.#phase === 'stopped') return { tag: 'accepted' };
    switch (command.tag) {
      case 'deploy':
        this.#deployedBy = `${leader}/${sequence}`;
        this.#deploy(
          command.spec,
          command.checkpoint?.broadcast.map((entry) => entry.value as [number, number][]) ?? [],
        );
        break;
      case 'adopt':
        this.#reportDeployed();
        break;
      case 'begin':
        this.#phase = 'running';
        break;
      case 'barrier':
        this.#cut(command.epoch, command.attempt, command.stopping);
        break;
      case 'commit':
        this.#world.later(() => {
          this.#world.commit(command.epoch, command.items);
          this.#report({
            tag: 'committed',
            epoch: command.epoch,
            sinks: [...new Set(command.items.map((item) => item.sink))],
          });
        });
        break;
      case 'settled':
        this.#cuts = this.#cuts.filter(
          (cut) =>
            cut.epoch > command.epoch ||
            (cut.epoch === command.epoch && cut.attempt > command.attempt),
        );
        break;
      case 'stop':
        this.#phase = 'stopped';
        this.#report({ tag: 'stopped' });
        break;
    }
    return { tag: 'accepted' };
  }

  #reportDeployed(): void {
    this.#report({ tag: 'deployed', drained: this.#drained, answers: this.#ledBy.sequence });
  }

  #deploy(spec: GenerationSpec, offsets: [number, number][][]): void {
    this.#phase = 'ready';
    this.#offsets = new Map();
    const known = new Map(offsets.flat());
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (partition % spec.parallelism === this.index)
        this.#offsets.set(partition, known.get(partition) ?? 0);
    }
    this.#rows = [];
    this.#cuts = [];
    this.#open = true;
    this.#drainReported = false;
    this.#lastBarrier = { epoch: 0, attempt: 0 };
    this.#reportDeployed();
  }

  #cut(epoch: number, attempt: number, stopping: boolean): void {
    const last = this.#lastBarrier;
    if (epoch < last.epoch || (epoch === last.epoch && attempt <= last.attempt)) return;
    this.#lastBarrier = { epoch, attempt };
    if (stopping) this.#open = false;
    this.#cuts.push({ epoch, attempt, rows: this.#rows });
    this.#rows = [];
    const rows = this.#cuts.flatMap((cut) => cut.rows);
    const items: SinkItem[] =
      rows.length === 0
        ? []
        : SINKS.map((sink) => ({ sink, subtask: this.index, index: 0, payload: rows }));
    const broadcast = [
      {
        operator: 'source',
        table: 'offsets',
        subtask: this.index,
        value: [...this.#offsets].map((entry) => [...entry]),
      },
    ];
    const times = { alignMs: 0, snapshotMs: 0, uploadMs: 0 };
    this.#report({
      tag: 'checkpointed',
      epoch,
      attempt,
      files: [],
      broadcast,
      inputs: [],
      items,
      drained: this.#drained,
      ...times,
    });
  }
}
