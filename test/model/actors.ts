/**
 * The actors of the model: controllers and leaders, running the product's own workflows.
 *
 * A generator cannot be copied, so a position is the list of answers that led to it: a tree of positions grows as
 * answers are seen, and each is reached once by replaying its answers. Between two workflows a leader's knowledge is plain
 * data, so that histories that taught it the same meet again.
 */
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import type { Lineage, StoreAnswer } from '../../src/lineage/store.ts';
import { LEADER_START, nextWork, PATHS } from '../harness/lineage-leader.ts';
import type { LeaderPlan, LeaderState, SinkCall, Work } from '../harness/lineage-leader.ts';
import type { BucketOp, Buckets } from './bucket.ts';
import { Interner } from './interning.ts';

/** `after`: starts once the controller with this number has allocated, or at once when null. */
export type ActorPlan =
  | { tag: 'controller'; name: string; after: number | null; expected: number }
  | { tag: 'leader'; name: string; after: number | null; plan: LeaderPlan };

/** What an actor would do next. */
export type Intent =
  | { tag: 'request'; op: number }
  | { tag: 'sink'; call: number }
  | { tag: 'ended' }
  /** An assertion of the product failed. */
  | { tag: 'threw'; message: string };

export type Position = {
  actor: number;
  state: LeaderState;
  answers: StoreAnswer[];
  intent: Intent;
  children: Map<number, number>;
};

export type Programs = {
  /** Whether the sink's target takes an epoch after it has taken `lastEpoch`. */
  takes(epoch: number, lastEpoch: number): boolean;
  work(plan: LeaderPlan, state: LeaderState): Work;
  allocate(name: string, expected: number): Lineage<LeaderState>;
};

/** The product as it is; a mutant replaces a part. */
export const PROGRAMS: Programs = {
  takes: (epoch, lastEpoch) => epoch > lastEpoch,
  work: nextWork,
  *allocate(name, expected) {
    const outcome = yield* allocateGeneration({ paths: PATHS, nowMs: 0, writeId: name }, expected);
    if (outcome.tag === 'allocated')
      return { ...LEADER_START, phase: 'write', note: `generation ${outcome.generation}` };
    return { ...LEADER_START, phase: outcome.tag, note: outcome.report.message };
  },
};

const LOST = -1;

export class Actors {
  readonly plans: readonly ActorPlan[];
  readonly #buckets: Buckets;
  readonly #programs: Programs;
  readonly #positions: Position[] = [];
  readonly #roots = new Map<string, number>();
  readonly #calls = new Interner<SinkCall>();

  constructor(plans: readonly ActorPlan[], buckets: Buckets, programs: Programs) {
    this.plans = plans;
    this.#buckets = buckets;
    this.#programs = programs;
  }

  get size(): number {
    return this.#positions.length;
  }

  position(number: number): Position {
    return this.#positions[number] as Position;
  }

  call(number: number): SinkCall {
    return this.#calls.value(number);
  }

  start(actor: number): number {
    return this.#root(actor, LEADER_START, false);
  }

  /** The position after the answer with this number, or after a request whose answer got lost. */
  advance(from: number, answer: number | null): number {
    const position = this.position(from);
    const edge = answer ?? LOST;
    let next = position.children.get(edge);
    if (next === undefined) {
      const given = answer === null ? this.#lostAnswer(position) : this.#buckets.answer(answer);
      next = this.#replay(position, given);
      position.children.set(edge, next);
    }
    return next;
  }

  /** The position after the sink has acknowledged. */
  acknowledge(from: number): number {
    const position = this.position(from);
    let next = position.children.get(LOST);
    if (next === undefined) {
      const work = this.#work(position.actor, position.state, false);
      if (work.tag !== 'sink') throw new Error('no call of the sink is open');
      next = this.#root(position.actor, work.then, true);
      position.children.set(LOST, next);
    }
    return next;
  }

  #lostAnswer(position: Position): StoreAnswer {
    if (position.intent.tag !== 'request') throw new Error('no request is open');
    const op = this.#buckets.op(position.intent.op);
    return op.op === 'put'
      ? { tag: 'unknown', message: 'lost' }
      : { tag: 'failed', message: 'lost' };
  }

  #work(actor: number, state: LeaderState, begun: boolean): Work {
    const plan = this.plans[actor] as ActorPlan;
    if (plan.tag === 'leader') return this.#programs.work(plan.plan, state);
    if (begun) return { tag: 'ended' };
    return { tag: 'store', workflow: () => this.#programs.allocate(plan.name, plan.expected) };
  }

  #root(actor: number, state: LeaderState, begun: boolean): number {
    const text = `${actor} ${begun} ${JSON.stringify(state)}`;
    const known = this.#roots.get(text);
    if (known !== undefined) return known;
    const work = this.#work(actor, state, begun);
    let number: number;
    if (work.tag === 'store') {
      number = this.#run(actor, state, [], work.workflow());
    } else {
      const intent: Intent =
        work.tag === 'ended'
          ? { tag: 'ended' }
          : { tag: 'sink', call: this.#internCall(work.call) };
      number = this.#add({ actor, state, answers: [], intent, children: new Map() });
    }
    this.#roots.set(text, number);
    return number;
  }

  #replay(position: Position, answer: StoreAnswer): number {
    const work = this.#work(position.actor, position.state, false);
    if (work.tag !== 'store') throw new Error('no request is open');
    return this.#run(
      position.actor,
      position.state,
      [...position.answers, answer],
      work.workflow(),
    );
  }

  #run(
    actor: number,
    state: LeaderState,
    answers: StoreAnswer[],
    workflow: Lineage<LeaderState>,
  ): number {
    try {
      let next = workflow.next();
      let used = 0;
      while (next.done !== true) {
        if (next.value.op === 'pause') {
          next = workflow.next({ tag: 'paused' });
          continue;
        }
        if (used === answers.length) return this.#waiting(actor, state, answers, next.value);
        next = workflow.next(answers[used++] as StoreAnswer);
      }
      return this.#root(actor, next.value, true);
    } catch (thrown) {
      const intent: Intent = {
        tag: 'threw',
        message: thrown instanceof Error ? thrown.message : String(thrown),
      };
      return this.#add({ actor, state, answers, intent, children: new Map() });
    }
  }

  #waiting(actor: number, state: LeaderState, answers: StoreAnswer[], op: BucketOp): number {
    const intent: Intent = { tag: 'request', op: this.#buckets.internOp(op) };
    return this.#add({ actor, state, answers, intent, children: new Map() });
  }

  #internCall(call: SinkCall): number {
    return this.#calls.intern(JSON.stringify(call), () => call);
  }

  #add(position: Position): number {
    this.#positions.push(position);
    return this.#positions.length - 1;
  }
}
