/**
 * Controllers of the simulated cluster: runs of the production rounds, any number at once, each call of which is late,
 * lost, done without an answer, or the last thing that its controller does.
 *
 * They look when they are nudged and once a minute, as in production, and with the code that is deployed, or with older
 * code that still is.
 */
import { must } from '../../../src/base/assert.ts';
import {
  type ControllerAnswer,
  type ControllerCall,
  type ControllerRun,
  reconcileRounds,
} from '../../../src/controller/rounds.ts';
import { allocateGeneration } from '../../../src/lineage/allocate.ts';
import type { GenerationSpec, LeaderStatus, StopMode } from '../../../src/protocol/messages.ts';
import { PATHS } from './bucket.ts';
import type { MemoryCatalog } from './catalog.ts';
import { CONTROLLER, leaderNode } from './network.ts';
import type { World } from './world.ts';

const CRON_MS = 60_000;
/** How long a run that was asked for goes on looking. */
const FOLLOW_MS = 25_000;
const LEADER_ANSWER_MS = 10_000;
const LATE_MAX_MS = 8_000;
const SKEW_MAX_MS = 2_000;

/** False, or null: the object is gone in the middle of it. */
export type LeaderCalls = {
  poll(generation: number): LeaderStatus | null;
  start(generation: number, spec: GenerationSpec): boolean;
  stop(generation: number, mode: StopMode, nonce: string): boolean;
};

/** What a rejected call throws in a controller; whatever else is thrown there is a bug. */
class CallBroken extends Error {}

type Life = { alive: boolean };
type Settle = { answer(value: ControllerAnswer): void; reject(): void };

export class Controllers {
  /** Code versions that run now, the newest last. */
  versions = ['1'];
  readonly #world: World;
  readonly #catalog: MemoryCatalog;
  readonly #leaders: LeaderCalls;

  constructor(world: World, catalog: MemoryCatalog, leaders: LeaderCalls) {
    this.#world = world;
    this.#catalog = catalog;
    this.#leaders = leaders;
    this.#cron();
  }

  /** Looks now, and again whenever that is due soon. `heard`: whether the first look came to its end. */
  nudge(heard: (ok: boolean) => void = () => {}): void {
    const { clock } = this.#world;
    const untilMs = clock.nowMs + FOLLOW_MS;
    const follow = (nextMs: number | null): void => {
      if (nextMs === null || nextMs >= untilMs) return;
      clock.at(Math.max(clock.nowMs + 50, nextMs), () => this.#look(follow, () => {}));
    };
    this.#look(
      (nextMs) => {
        heard(true);
        follow(nextMs);
      },
      () => heard(false),
    );
  }

  #cron(): void {
    const { clock, dice, options } = this.#world;
    const everyMs = options.pollMs ?? CRON_MS;
    const afterMs = everyMs + dice.lateMs('cronLate', everyMs / 2);
    clock.at(clock.nowMs + afterMs, () => {
      this.#cron();
      if (dice.strikes('cronLost')) return;
      for (let runs = dice.strikes('cronDoubled') ? 2 : 1; runs > 0; runs--) this.#lookIfDue();
    });
  }

  #lookIfDue(): void {
    const { nextPollMs } = this.#catalog.pipeline;
    if (nextPollMs === null || nextPollMs > this.#world.clock.nowMs) return;
    this.#look(
      () => {},
      () => {},
    );
  }

  /** One run. A controller that dies calls neither. */
  #look(done: (nextMs: number | null) => void, broken: () => void): void {
    const { prng, dice, clock } = this.#world;
    const skewMs = dice.strikes('controllerSkew') ? prng.below(2 * SKEW_MAX_MS) - SKEW_MAX_MS : 0;
    const codeVersion = must(prng.pick(this.versions), 'version');
    const run = reconcileRounds(
      { codeVersion, jitter: () => prng.below(1_000) / 1_000 },
      'pl',
      clock.nowMs + skewMs,
    );
    const life: Life = { alive: true };
    const move = (step: () => IteratorResult<ControllerCall, number | null>): void => {
      let next: IteratorResult<ControllerCall, number | null>;
      try {
        next = step();
      } catch (thrown) {
        if (!(thrown instanceof CallBroken)) throw thrown;
        return broken();
      }
      if (next.done === true) return done(next.value);
      this.#call(next.value, life, run, move);
    };
    move(() => run.next());
  }

  #call(
    call: ControllerCall,
    life: Life,
    run: ControllerRun<number | null>,
    move: (step: () => IteratorResult<ControllerCall, number | null>) => void,
  ): void {
    const world = this.#world;
    const cut = world.dice.strikes('controllerCut');
    if (cut) world.say(`a controller dies at ${call.call}`);
    if (cut && world.prng.chance(0.5)) return;
    // What it asked for still happens; nobody hears of it.
    if (cut) life.alive = false;
    const settle: Settle = {
      answer: (value) => world.later(() => move(() => run.next(value)), life),
      reject: () =>
        world.later(() => move(() => run.throw(new CallBroken(`${call.call} broke`))), life),
    };
    world.later(
      () => this.#perform(call, settle),
      null,
      world.dice.lateMs('controllerSlow', LATE_MAX_MS),
    );
  }

  #perform(call: ControllerCall, settle: Settle): void {
    switch (call.call) {
      case 'load':
        return this.#load(settle);
      case 'record':
        return this.#write(settle, () =>
          this.#catalog.record(call.seen, call.patch, call.nowMs, call.pipelineVersion),
        );
      case 'record-failure':
        return this.#write(settle, () => this.#catalog.recordFailure(call.generation, call.report));
      case 'schedule':
        return this.#write(settle, () => this.#catalog.schedule(call.pipelineVersion, call.atMs));
      case 'allocate': {
        const world = this.#world;
        const context = {
          paths: PATHS,
          nowMs: world.clock.nowMs,
          writeId: `w${world.unique()}`,
        };
        return world.drive(allocateGeneration(context, call.expected), null, settle.answer);
      }
      case 'poll':
        return this.#ask(settle, call.generation, () => this.#leaders.poll(call.generation));
      case 'start':
        return this.#ask(settle, call.generation, () =>
          this.#leaders.start(call.generation, call.spec) ? undefined : null,
        );
      case 'forget':
        throw new Error('no pipeline of the cluster is a preview');
      case 'stop':
        return this.#ask(settle, call.generation, () =>
          this.#leaders.stop(call.generation, call.mode, call.nonce) ? undefined : null,
        );
    }
  }

  /** Two statements, as in `getPipeline`; anything may happen between them. */
  #load(settle: Settle): void {
    if (this.#world.dice.strikes('catalogFailed')) return settle.reject();
    const { job } = this.#catalog;
    this.#world.later(() => settle.answer({ pipeline: this.#catalog.pipeline, job }), null);
  }

  #write(settle: Settle, write: () => boolean | void): void {
    const { dice } = this.#world;
    if (dice.strikes('catalogFailed')) return settle.reject();
    const answer = write();
    if (dice.strikes('catalogAnswerLost')) return settle.reject();
    settle.answer(answer === undefined ? undefined : answer);
  }

  #ask(settle: Settle, generation: number, act: () => LeaderStatus | undefined | null): void {
    const { dice, network, prng } = this.#world;
    const lost = dice.strikes('leaderCallLost');
    const cut = !network.reaches(CONTROLLER, leaderNode(generation));
    const answer = cut || (lost && prng.chance(0.5)) ? null : act();
    if (answer !== null && !lost) return settle.answer(answer);
    this.#world.later(settle.reject, null, dice.strikes('leaderCallHangs') ? LEADER_ANSWER_MS : 0);
  }
}
