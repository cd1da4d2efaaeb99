/**
 * Leaders of the simulated cluster: the production step behind a shell that may stop between any two effects.
 *
 * A reset leader keeps what it persisted; workflows it had begun go on asking the store, and nobody hears the end.
 */
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../../../src/leader/interface.ts';
import { stepLeader } from '../../../src/leader/leader.ts';
import { newLeader, type LeaderState, type PersistedLeader } from '../../../src/leader/state.ts';
import { leaderStatus } from '../../../src/leader/status.ts';
import { collectGarbage } from '../../../src/lineage/collect.ts';
import { completeCommit } from '../../../src/lineage/commit.ts';
import type { LineageContext } from '../../../src/lineage/context.ts';
import { fenceAndBegin } from '../../../src/lineage/fence.ts';
import { openLineage } from '../../../src/lineage/open.ts';
import { publishCheckpoint } from '../../../src/lineage/publish.ts';
import type { Incarnation } from '../../../src/lineage/types.ts';
import type {
  GenerationSpec,
  JobError,
  LeaderStatus,
  ReportAnswer,
  StopMode,
} from '../../../src/protocol/messages.ts';
import { PATHS } from './bucket.ts';
import type { LeaderCalls } from './controllers.ts';
import type { Hosts } from './hosts.ts';
import { CONTROLLER, hostNode, leaderNode } from './network.ts';
import type { World } from './world.ts';

const LATE_MAX_MS = 6_000;
/** How soon the end of a generation is told again when nobody has heard of it. */
const END_AGAIN_MS = 5_000;

export type LeaderCell = {
  generation: number;
  state: LeaderState;
  incarnation: Incarnation;
  alive: boolean;
  spec: GenerationSpec | null;
  persisted: PersistedLeader | null;
  alarmMs: number | null;
  skewMs: number;
  /** Incarnations of hosts with an open watch, by index. */
  watches: Map<number, string>;
};

export type Untimed = LeaderEvent extends infer Event
  ? Event extends { nowMs: number }
    ? Omit<Event, 'nowMs'>
    : never
  : never;

/** Asks a controller to look; `heard`: whether it did. */
export type Nudge = (heard: (ok: boolean) => void) => void;

export class Leaders implements LeaderCalls {
  readonly #world: World;
  readonly #hosts: Hosts;
  readonly #nudge: Nudge;
  readonly problems: JobError[] = [];
  readonly #cells = new Map<number, LeaderCell>();

  constructor(world: World, hosts: Hosts, nudge: Nudge) {
    this.#world = world;
    this.#hosts = hosts;
    this.#nudge = nudge;
  }

  /** A poll also makes up for a lost alarm. */
  poll(generation: number): LeaderStatus | null {
    const cell = this.#object(generation);
    this.feed(cell, { tag: 'tick' });
    return cell.alive ? leaderStatus(cell.state) : null;
  }

  start(generation: number, spec: GenerationSpec): boolean {
    const cell = this.#object(generation);
    this.feed(cell, { tag: 'start', spec });
    return cell.alive;
  }

  stop(generation: number, mode: StopMode, nonce: string): boolean {
    const cell = this.#object(generation);
    this.feed(cell, { tag: 'stop', mode, nonce });
    return cell.alive;
  }

  /** Objects come to be when they are first called. */
  #object(generation: number): LeaderCell {
    return this.#cells.get(generation) ?? this.create(generation, null);
  }

  get(generation: number): LeaderCell | undefined {
    return this.#cells.get(generation);
  }

  /** The object of the generation is constructed; `before` is what its storage holds. */
  create(generation: number, before: LeaderCell | null): LeaderCell {
    const incarnation = {
      objectId: before?.incarnation.objectId ?? `leader${generation}`,
      startNo: (before?.incarnation.startNo ?? 0) + 1,
      nonce: `n${this.#world.unique()}`,
    };
    const cell: LeaderCell = {
      generation,
      state: newLeader(),
      incarnation,
      alive: true,
      spec: before?.spec ?? null,
      persisted: before?.persisted ?? null,
      alarmMs: null,
      skewMs: before?.skewMs ?? 0,
      watches: new Map(),
    };
    this.#cells.set(generation, cell);
    this.feed(cell, { tag: 'woke', incarnation, spec: cell.spec, persisted: cell.persisted });
    return cell;
  }

  crash(cell: LeaderCell): void {
    if (!cell.alive) return;
    this.#world.say(`leader ${cell.generation} crashes in ${cell.state.phase}`);
    cell.alive = false;
    this.#world.later(
      () => this.create(cell.generation, cell),
      null,
      this.#world.prng.pick([0, 0, 3_000]),
    );
  }

  /** One step; null when there is nobody to answer. */
  feed(cell: LeaderCell, event: Untimed): ReportAnswer | null {
    if (!cell.alive) return null;
    const { nowMs } = this.#world.clock;
    const step = stepLeader(cell.state, { ...event, nowMs: nowMs + cell.skewMs } as LeaderEvent);
    cell.state = step.state;
    let answer: ReportAnswer = { tag: 'accepted' };
    for (const effect of step.effects) {
      if (this.#world.dice.strikes('leaderCut')) {
        this.crash(cell);
        return null;
      }
      if (effect.tag === 'reply') answer = effect.answer;
      else this.#perform(cell, effect);
    }
    return answer;
  }

  #perform(cell: LeaderCell, effect: Exclude<LeaderEffect, { tag: 'reply' }>): void {
    const world = this.#world;
    switch (effect.tag) {
      case 'persist':
        if (effect.spec !== null) cell.spec = effect.spec;
        cell.persisted = effect.persisted;
        return;
      case 'lineage':
        return this.#runLineage(cell, effect.id, effect.operation);
      case 'send':
        world.later(
          () => this.#send(cell, effect),
          null,
          world.dice.lateMs('commandLate', LATE_MAX_MS),
        );
        return;
      case 'watch':
        cell.watches.set(effect.index, effect.host);
        if (this.#hosts.get(cell.generation, effect.index)?.incarnation !== effect.host)
          world.later(() => this.hostLost(cell.generation, effect.index, effect.host), null);
        return;
      case 'wake-at':
        return this.#setAlarm(cell, effect.atMs - cell.skewMs);
      case 'nudge':
        // A generation that was never started is ended by whoever asks for it.
        if (cell.spec !== null) this.#tellEnd(cell.generation);
        return;
      case 'keep-problems':
        this.problems.push(...effect.problems);
        return;
      case 'ended':
        cell.alarmMs = null;
        world.say(`generation ${cell.generation} ended: ${JSON.stringify(cell.state.outcome)}`);
        return;
    }
  }

  /** Until a controller has heard; the alarm outlives resets. */
  #tellEnd(generation: number): void {
    const world = this.#world;
    const heard = (ok: boolean): void => {
      if (!ok) world.later(() => this.#tellEnd(generation), null, END_AGAIN_MS);
    };
    const reached =
      !world.dice.strikes('nudgeLost') && world.network.reaches(CONTROLLER, leaderNode(generation));
    if (reached) world.later(() => this.#nudge(heard), null);
    else heard(false);
  }

  #setAlarm(cell: LeaderCell, wantedMs: number): void {
    const { clock, dice } = this.#world;
    const atMs = Math.max(wantedMs, clock.nowMs + 1);
    cell.alarmMs = atMs;
    if (dice.strikes('alarmLost')) return;
    clock.at(atMs, () => {
      if (cell.alarmMs === atMs) this.feed(cell, { tag: 'tick' });
    });
  }

  #send(cell: LeaderCell, { index, envelope }: LeaderEffect & { tag: 'send' }): void {
    const world = this.#world;
    const broken = (): void =>
      world.later(
        () => this.feed(cell, { tag: 'host-lost', index, reason: 'the call broke' }),
        cell,
      );
    const lost = world.dice.strikes('commandLost');
    const reached = world.network.reaches(
      leaderNode(cell.generation),
      hostNode(cell.generation, index),
    );
    if (!reached || (lost && world.prng.chance(0.5))) return broken();
    // A message is data: whoever gets it holds nothing that its sender still has.
    const answer = this.#hosts.command(cell.generation, index, structuredClone(envelope));
    if (lost) return broken();
    if (answer === null) return;
    world.later(
      () => this.feed(cell, { tag: 'answer', index, sequence: envelope.sequence, answer }),
      cell,
    );
  }

  /** The watch on that incarnation of the host breaks. */
  hostLost(generation: number, index: number, incarnation: string): void {
    const cell = this.#cells.get(generation);
    if (cell?.alive !== true || cell.watches.get(index) !== incarnation) return;
    cell.watches.delete(index);
    this.feed(cell, { tag: 'host-lost', index, reason: 'reset' });
  }

  #runLineage(cell: LeaderCell, id: number, operation: LineageOperation): void {
    const ctx: LineageContext = {
      paths: PATHS,
      generation: cell.generation,
      me: cell.incarnation,
      nowMs: this.#world.clock.nowMs,
      nextWriteId: () => `w${this.#world.unique()}`,
    };
    const finish = (result: LineageResult): void => {
      this.feed(cell, { tag: 'lineage-done', id, result });
    };
    const { tag } = operation;
    switch (tag) {
      case 'open':
        return this.#world.drive(openLineage(ctx), cell, (outcome) => finish({ tag, outcome }));
      case 'complete-commit':
        return this.#world.drive(completeCommit(ctx, operation.tip), cell, (outcome) =>
          finish({ tag, outcome }),
        );
      case 'fence':
        return this.#world.drive(
          fenceAndBegin(ctx, operation.tip, operation.options),
          cell,
          (outcome) => finish({ tag, outcome }),
        );
      case 'publish':
        return this.#world.drive(
          publishCheckpoint(ctx, operation.tip, operation.draft),
          cell,
          (outcome) => finish({ tag, outcome }),
        );
      case 'collect':
        return this.#world.drive(
          collectGarbage(ctx, operation.tip, operation.keep),
          cell,
          (outcome) => finish({ tag, outcome }),
        );
    }
  }
}
