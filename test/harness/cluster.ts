/**
 * A whole pipeline in one process on the production step machines: controllers,
 * leaders, hosts, catalogue, object store, files, logs, network and a virtual clock. Every delay and choice comes from one seed.
 *
 * A crashed object loses its memory and gets a new incarnation; what it had under way may still land.
 * Generations that were given up are left running, as zombies are. What may go wrong: `cluster/faults.ts`.
 */
import { LIMITS } from '../../src/base/limits.ts';
import { Prng } from '../../src/base/prng.ts';
import type { DesiredChange } from '../../src/catalog/pipelines.ts';
import type { Job } from '../../src/catalog/schema.ts';
import { newLeader, type LeaderState } from '../../src/leader/state.ts';
import type {
  JobError,
  LeaderStatus,
  Outcome,
  RuntimeSettings,
  StopMode,
} from '../../src/protocol/messages.ts';
import type { Committed } from './cluster/bucket.ts';
import { MemoryCatalog } from './cluster/catalog.ts';
import { Controllers } from './cluster/controllers.ts';
import type { Faults } from './cluster/faults.ts';
import { Hosts } from './cluster/hosts.ts';
import { Leaders } from './cluster/leaders.ts';
import { CONTROLLER, hostNode, leaderNode } from './cluster/network.ts';
import { JobWatch } from './cluster/watch.ts';
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

/** A change as the API makes it; the nonce is the cluster's. */
export type Wanted = DesiredChange extends infer Change
  ? Change extends unknown
    ? Omit<Change, 'nonce'>
    : never
  : never;

export class SimulatedCluster {
  readonly prng: Prng;
  readonly world: World;
  readonly catalog: MemoryCatalog;
  readonly watch = new JobWatch({
    outcomeOf: (generation) => this.#leaders.get(generation)?.state.outcome ?? null,
    resetsAsked: () => this.catalog.resetsAsked,
  });
  readonly #leaders: Leaders;
  readonly #hosts: Hosts;
  readonly #controllers: Controllers;

  constructor(options: ClusterOptions) {
    this.prng = new Prng(options.seed);
    this.world = new World(options, this.prng);
    this.catalog = new MemoryCatalog(
      {
        graph: JSON.stringify(options.graph),
        parallelism: options.parallelism,
        checkpointIntervalMs: options.checkpointIntervalMs,
        settings: { ...TEST_SETTINGS, ...options.settings },
        createdMs: this.world.clock.startedMs,
      },
      (before, after) => this.#recorded(before, after),
    );
    this.#hosts = new Hosts(this.world, {
      report: (envelope) => {
        const leader = this.#leaders.get(envelope.generation);
        return leader === undefined
          ? null
          : this.#leaders.feed(leader, { tag: 'report', envelope });
      },
      hostLost: ({ generation, index, incarnation }) =>
        this.#leaders.hostLost(generation, index, incarnation),
      currentGeneration: () => this.generation,
    });
    this.#leaders = new Leaders(this.world, this.#hosts, (heard) => this.#controllers.nudge(heard));
    this.#controllers = new Controllers(this.world, this.catalog, this.#leaders);
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

  /** What the leader of the running generation tells whoever asks. */
  get leaderStatus(): LeaderStatus | null {
    return this.generation === 0 ? null : this.#leaders.poll(this.generation);
  }

  get nowMs(): number {
    return this.world.clock.nowMs;
  }

  get generation(): number {
    return this.catalog.job.generation;
  }

  /** That is wanted. Set, it is that of the next generation, whatever that is for. */
  get parallelism(): number {
    return this.catalog.pipeline.parallelism;
  }

  set parallelism(parallelism: number) {
    const { pipeline } = this.catalog;
    this.catalog.pipeline = { ...pipeline, parallelism, version: pipeline.version + 1 };
  }

  /** How the job ended; null while it has not, or is about to start again. */
  get outcome(): Outcome | null {
    if (!this.catalog.atRest) return null;
    const { state, epoch, failure } = this.catalog.job;
    if (state === 'Finished') return { tag: 'finished', epoch };
    if (state === 'Failed' && failure !== null) return { tag: 'failed', report: failure };
    return { tag: 'stopped', epoch };
  }

  /** From here on only these faults happen. */
  setFaults(faults: Faults): void {
    this.world.dice.faults = faults;
  }

  /** A controller looks for this reason: at a pipeline that was just created it starts the first generation. */
  startGeneration(reason: string): void {
    this.world.say(`a controller looks: ${reason}`);
    this.#controllers.nudge();
  }

  /** Runs until the job is at rest, or throws after `steps` events or `ms` milliseconds. */
  runToOutcome(steps = 2_000_000, ms = Infinity): Outcome {
    const { clock } = this.world;
    const untilMs = clock.nowMs + ms;
    let step = 0;
    for (; step < steps && clock.nowMs <= untilMs; step++) {
      const { outcome } = this;
      if (outcome !== null) return outcome;
      if (!clock.runNext()) throw new Error('nothing left to happen');
    }
    const { job } = this.catalog;
    throw new Error(
      `no outcome after ${step} events, at ${clock.nowMs - clock.startedMs} ms, but ${JSON.stringify(job)}`,
    );
  }

  /** Runs everything due within the next `ms`. */
  runFor(ms: number): void {
    const { clock } = this.world;
    const untilMs = clock.nowMs + ms;
    while ((clock.nextMs ?? Infinity) <= untilMs) clock.runNext();
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

  /** Asks for a checkpoint now. */
  flush(): void {
    const cell = this.#leaders.get(this.generation);
    if (cell === undefined) return;
    this.world.say('a checkpoint is asked for');
    this.#leaders.feed(cell, { tag: 'flush' });
  }

  /** Rows that went wrong, as leaders were told to keep them. */
  get problems(): readonly JobError[] {
    return this.#leaders.problems;
  }

  crashLeader(): void {
    const cell = this.#leaders.get(this.generation);
    if (cell !== undefined) this.#leaders.crash(cell);
  }

  /** Controllers could not reach the leader for so long that the next one takes it for dead: a new generation beside the old one. */
  splitBrain(): void {
    const { job } = this.catalog;
    if (job.generation === 0 || this.outcome !== null) return;
    this.world.say('controllers have not reached the leader for long');
    this.world.network.cut(CONTROLLER, leaderNode(job.generation), LIMITS.leaderSilentMs);
    const unreachableSinceMs = this.nowMs - LIMITS.leaderSilentMs * 2;
    this.catalog.job = { ...job, unreachableSinceMs, version: job.version + 1 };
    this.#controllers.nudge();
  }

  /** Cuts the leader off from controllers for `ms`; with an index, from that host. */
  cutLeader(index: number | null, ms: number): void {
    const { generation } = this;
    const other = index === null ? CONTROLLER : hostNode(generation, index);
    this.#cut(leaderNode(generation), other, ms);
  }

  cutHosts(left: number, right: number, ms: number): void {
    this.#cut(hostNode(this.generation, left), hostNode(this.generation, right), ms);
  }

  #cut(left: string, right: string, ms: number): void {
    this.world.say(`${left} and ${right} do not reach each other for ${ms} ms`);
    this.world.network.cut(left, right, ms);
  }

  /** Newer code is deployed; with `beside`, what is older runs on for a while. */
  deploy(beside: boolean): void {
    const { versions } = this.#controllers;
    const version = String.fromCharCode((versions.at(-1) ?? '1').charCodeAt(0) + 1);
    this.world.say(`code ${version} is deployed${beside ? ' beside the older' : ''}`);
    this.#controllers.versions = beside ? [...versions, version] : [version];
  }

  /** Nobody is cut off any more, and only the newest code runs. */
  heal(): void {
    this.setFaults({});
    this.world.network.heal();
    this.#controllers.versions = this.#controllers.versions.slice(-1);
  }

  /** What a user asks for: written, and looked at at once. */
  want(change: Wanted): void {
    const nonce = `n${this.world.unique()}`;
    this.world.say(`wanted: ${JSON.stringify(change)}`);
    this.catalog.want({ ...change, nonce } as DesiredChange, this.nowMs);
    if (!this.world.dice.strikes('nudgeLost')) this.#controllers.nudge();
  }

  /** Asks for a stop; with `restart`, for a start after it. */
  stop(mode: StopMode, restart: Restart | null = null): void {
    if (restart === null) return this.want({ tag: 'stop', mode });
    this.parallelism = restart.parallelism;
    this.want({ tag: 'restart', mode, reset: restart.reset });
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

  #recorded(before: Job, after: Job): void {
    const { generation, reason, state } = after;
    if (generation !== before.generation)
      this.world.say(`generation ${generation} of ${this.parallelism}: ${reason}`);
    if (state !== before.state) this.world.say(`the job is ${state}`);
    this.watch.see(before, after);
  }

  status(): LeaderState {
    return this.#leaders.get(this.generation)?.state ?? newLeader();
  }
}
