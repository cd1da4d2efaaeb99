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
import { collectGarbage } from '../../../src/lineage/collect.ts';
import { completeCommit } from '../../../src/lineage/commit.ts';
import type { LineageContext } from '../../../src/lineage/context.ts';
import { fenceAndBegin } from '../../../src/lineage/fence.ts';
import { openLineage } from '../../../src/lineage/open.ts';
import { publishCheckpoint } from '../../../src/lineage/publish.ts';
import type { Lineage, StoreOp } from '../../../src/lineage/store.ts';
import type { Incarnation } from '../../../src/lineage/types.ts';
import type { GenerationSpec, ReportAnswer } from '../../../src/protocol/messages.ts';
import { PATHS } from './bucket.ts';
import type { Hosts } from './hosts.ts';
import type { World } from './world.ts';

const LATE_MAX_MS = 6_000;

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

export class Leaders {
  readonly #world: World;
  readonly #hosts: Hosts;
  readonly #nudge: (cell: LeaderCell) => void;
  readonly #cells = new Map<number, LeaderCell>();

  constructor(world: World, hosts: Hosts, nudge: (cell: LeaderCell) => void) {
    this.#world = world;
    this.#hosts = hosts;
    this.#nudge = nudge;
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
        if (!world.dice.strikes('nudgeLost')) world.later(() => this.#nudge(cell), null);
        return;
      case 'ended':
        cell.alarmMs = null;
        world.say(`generation ${cell.generation} ended: ${JSON.stringify(cell.state.outcome)}`);
        return;
    }
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
    if (lost && world.prng.chance(0.5)) return broken();
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
        return this.#drive(cell, openLineage(ctx), (outcome) => finish({ tag, outcome }));
      case 'complete-commit':
        return this.#drive(cell, completeCommit(ctx, operation.tip), (outcome) =>
          finish({ tag, outcome }),
        );
      case 'fence':
        return this.#drive(cell, fenceAndBegin(ctx, operation.tip, operation.options), (outcome) =>
          finish({ tag, outcome }),
        );
      case 'publish':
        return this.#drive(
          cell,
          publishCheckpoint(ctx, operation.tip, operation.draft),
          (outcome) => finish({ tag, outcome }),
        );
      case 'collect':
        return this.#drive(cell, collectGarbage(ctx, operation.tip, operation.keep), (outcome) =>
          finish({ tag, outcome }),
        );
    }
  }

  /** One store operation after the other, each sent and answered with a delay of its own. */
  #drive<T>(cell: LeaderCell, workflow: Lineage<T>, finish: (outcome: T) => void): void {
    const advance = (next: IteratorResult<StoreOp, T>): void => {
      if (next.done === true) return finish(next.value);
      const op = next.value;
      this.#world.later(
        () => {
          const answer = this.#world.bucket.answer(op);
          this.#world.later(() => advance(workflow.next(answer)), cell);
        },
        null,
        op.op === 'pause' ? op.ms : 0,
      );
    };
    advance(workflow.next());
  }
}
