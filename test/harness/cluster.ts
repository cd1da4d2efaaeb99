/**
 * A whole pipeline in one process on the production step machines: controller (a small stand-in),
 * leaders, hosts, object store, files, logs and a virtual clock. Every delay and choice comes from one seed.
 *
 * A crashed object loses its memory and gets a new incarnation; what it had under way may still land.
 * Generations that were given up are left running, as zombies are. What may go wrong: `cluster/faults.ts`.
 */
import { must } from '../../src/base/assert.ts';
import { Prng } from '../../src/base/prng.ts';
import { newLeader, type LeaderState } from '../../src/leader/state.ts';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import type {
  GenerationSpec,
  Outcome,
  RuntimeSettings,
  StopMode,
} from '../../src/protocol/messages.ts';
import { PATHS, type Committed } from './cluster/bucket.ts';
import type { Faults } from './cluster/faults.ts';
import { Hosts } from './cluster/hosts.ts';
import { type LeaderCell, Leaders } from './cluster/leaders.ts';
import { type ClusterOptions, World } from './cluster/world.ts';
import type { MemoryObjectStore } from './memory-object-store.ts';

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

/** What is to be started after the generation that is being stopped. */
export type Restart = { parallelism: number; reset: boolean };

export class SimulatedCluster {
  readonly prng: Prng;
  readonly world: World;
  outcome: Outcome | null = null;
  generation = 0;
  parallelism: number;
  readonly #leaders: Leaders;
  readonly #hosts: Hosts;
  #resetFrom: number | null = null;
  #restart: Restart | null = null;
  /** Of the current generation; it is the same however often its leader is told. */
  #spec: GenerationSpec | null = null;
  #stops = 0;

  constructor(options: ClusterOptions) {
    this.parallelism = options.parallelism;
    this.prng = new Prng(options.seed);
    this.world = new World(options, this.prng);
    this.#hosts = new Hosts(this.world, {
      report: (envelope) => {
        const leader = must(this.#leaders.get(envelope.generation), 'leader');
        return this.#leaders.feed(leader, { tag: 'report', envelope });
      },
      hostLost: ({ generation, index, incarnation }) =>
        this.#leaders.hostLost(generation, index, incarnation),
      currentGeneration: () => this.generation,
    });
    this.#leaders = new Leaders(this.world, this.#hosts, (cell) =>
      this.#reconcile(cell.generation),
    );
    const { pollMs } = options;
    if (pollMs !== undefined) this.#poll(pollMs);
  }

  get trace(): string[] {
    return this.world.trace;
  }

  get store(): MemoryObjectStore {
    return this.world.bucket.store;
  }

  /** What commits made visible, in their order. */
  get committed(): readonly Committed[] {
    return this.world.bucket.committed;
  }

  get nowMs(): number {
    return this.world.clock.nowMs;
  }

  /** From here on only these faults happen. */
  setFaults(faults: Faults): void {
    this.world.dice.faults = faults;
  }

  /** Allocates the next generation and starts its leader. */
  startGeneration(reason: string): void {
    const allocated = driveSync(
      allocateGeneration(
        { paths: PATHS, nowMs: this.nowMs, writeId: `w${this.world.unique()}` },
        this.generation,
      ),
      (op) => this.store.answer(op),
    );
    if (allocated.tag !== 'allocated') throw new Error(`allocation ended with ${allocated.tag}`);
    this.generation = allocated.generation;
    this.#spec = this.#makeSpec(reason);
    if (this.generation > 1)
      this.world.say(`generation ${this.generation} of ${this.parallelism}: ${reason}`);
    for (let index = 0; index < this.parallelism; index++)
      this.#hosts.create(this.generation, index);
    const cell = this.#leaders.create(this.generation, null);
    this.#leaders.feed(cell, { tag: 'start', spec: this.#spec });
  }

  /** Runs until an outcome that is final, or throws after `steps` events. */
  runToOutcome(steps = 2_000_000): Outcome {
    for (let step = 0; step < steps; step++) {
      if (this.outcome !== null) return this.outcome;
      if (!this.world.clock.runNext()) throw new Error('nothing left to happen');
    }
    const { nowMs, startedMs } = this.world.clock;
    throw new Error(`no outcome after ${steps} events, at ${nowMs - startedMs} ms`);
  }

  /** Runs everything due within the next `ms`. */
  runFor(ms: number): void {
    const { clock } = this.world;
    const untilMs = clock.nowMs + ms;
    while (this.outcome === null && (clock.nextMs ?? Infinity) <= untilMs) clock.runNext();
    clock.nowMs = Math.max(clock.nowMs, untilMs);
  }

  /** Rows of the committed sink objects, as lines; of one sink when it is named. */
  rows(sink?: string): string[] {
    return this.committed
      .filter((object) => sink === undefined || object.sink === sink)
      .flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  }

  crashHost(index: number): void {
    const cell = this.#hosts.get(this.generation, index);
    if (cell !== undefined) this.#hosts.crash(cell);
  }

  crashLeader(): void {
    const cell = this.#leaders.get(this.generation);
    if (cell !== undefined) this.#leaders.crash(cell);
  }

  /** The controller takes the leader for dead: a new generation beside the old one. */
  splitBrain(): void {
    this.world.say('controller starts another generation');
    this.startGeneration('split brain');
  }

  /** Asks for a stop; with `restart`, for a start after it. */
  stop(mode: StopMode, restart: Restart | null = null): void {
    const cell = this.#leaders.get(this.generation);
    if (cell?.alive !== true) return;
    this.world.say(`stop ${mode}${restart === null ? '' : `, then ${JSON.stringify(restart)}`}`);
    this.#restart = restart;
    this.#leaders.feed(cell, { tag: 'stop', mode, nonce: `stop${this.#stops++}` });
  }

  /** The clock of the leader, or of a host, jumps: forwards or back. */
  jumpClock(index: number | null, ms: number): void {
    const cell =
      index === null ? this.#leaders.get(this.generation) : this.#hosts.get(this.generation, index);
    if (cell === undefined) return;
    this.world.say(
      `the clock of ${index === null ? 'the leader' : `host ${index}`} jumps by ${ms} ms`,
    );
    cell.skewMs += ms;
  }

  status(): LeaderState {
    return this.#leaders.get(this.generation)?.state ?? newLeader();
  }

  #makeSpec(reason: string): GenerationSpec {
    const { graph, checkpointIntervalMs, settings } = this.world.options;
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
      pipelineCreatedMs: this.world.clock.startedMs,
      reason,
      reset: this.#resetFrom !== null,
      ...(this.#resetFrom === null ? {} : { resetFrom: this.#resetFrom }),
      codeVersion: 'test',
    };
  }

  /** The controller's poll: it makes up for lost alarms, starts and nudges. */
  #poll(everyMs: number): void {
    this.world.clock.at(this.nowMs + everyMs, () => {
      this.#poll(everyMs);
      const cell = this.#leaders.get(this.generation);
      if (cell?.alive !== true || this.outcome !== null) return;
      if (cell.spec === null)
        this.#leaders.feed(cell, { tag: 'start', spec: must(this.#spec, 'spec') });
      this.#leaders.feed(cell, { tag: 'tick' });
      this.#reconcile(cell.generation);
    });
  }

  #reconcile(generation: number): void {
    const cell: LeaderCell | undefined = this.#leaders.get(generation);
    if (generation !== this.generation || this.outcome !== null || cell?.alive !== true) return;
    const { outcome } = cell.state;
    // What was not stored is not told to anybody.
    if (outcome === null || cell.persisted?.outcome === null) return;
    const restart = this.#restart;
    if (outcome.tag === 'failed' && outcome.report.retry === 'backoff') {
      return this.startGeneration(`recovery: ${outcome.report.code}`);
    }
    if (outcome.tag === 'stopped' && restart !== null) {
      this.#restart = null;
      this.parallelism = restart.parallelism;
      if (restart.reset) this.#resetFrom = generation + 1;
      return this.startGeneration('restart');
    }
    this.outcome = outcome;
  }
}
