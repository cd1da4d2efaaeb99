/**
 * Instances of the leader's object for the machine model: the product's reducer with the product's workflows.
 *
 * An instance is plain data: the reducer's state and, for each workflow under way, the answers that it has had; the workflow's
 * next request is found by replaying them. Everything is interned and every transition computed once. Time stands
 * still but for deadlines, which pass when the explorer says so; times in the state are therefore set to 0.
 */
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../../src/leader/interface.ts';
import { stepLeader } from '../../src/leader/leader.ts';
import type { LeaderState } from '../../src/leader/state.ts';
import { collectGarbage } from '../../src/lineage/collect.ts';
import { completeCommit } from '../../src/lineage/commit.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import type { Lineage } from '../../src/lineage/store.ts';
import type { Incarnation } from '../../src/lineage/types.ts';
import { PATHS } from '../harness/lineage-leader.ts';
import type { Buckets } from './bucket.ts';
import { Interner } from './interning.ts';
import { HOST_RULES } from './machine-hosts.ts';
import type { HostRules } from './machine-hosts.ts';
import { Violation } from './search.ts';

type Flow = { id: number; operation: LineageOperation; answers: number[] };
export type Instance = { me: Incarnation; leader: LeaderState; flows: Flow[] };
export type Untimed<E> = E extends { nowMs: number } ? Omit<E, 'nowMs'> : never;
export type MachineEvent = Untimed<LeaderEvent>;

/** What runs; a mutant replaces a part. */
export type MachinePrograms = {
  workflow(ctx: LineageContext, operation: LineageOperation): Lineage<LineageResult>;
  step: typeof stepLeader;
  hosts: HostRules;
};

export function* workflowOf(
  ctx: LineageContext,
  operation: LineageOperation,
): Lineage<LineageResult> {
  switch (operation.tag) {
    case 'open':
      return { tag: 'open', outcome: yield* openLineage(ctx) };
    case 'fence':
      return { tag: 'fence', outcome: yield* fenceAndBegin(ctx, operation.tip, operation.options) };
    case 'publish': {
      const outcome = yield* publishCheckpoint(ctx, operation.tip, operation.draft);
      return { tag: 'publish', outcome };
    }
    case 'complete-commit':
      return { tag: 'complete-commit', outcome: yield* completeCommit(ctx, operation.tip) };
    case 'collect':
      return { tag: 'collect', outcome: yield* collectGarbage(ctx, operation.tip, operation.keep) };
  }
}

export const MACHINE: MachinePrograms = {
  workflow: workflowOf,
  step: stepLeader,
  hosts: HOST_RULES,
};

/** Where a workflow stands: a request, or its result. */
type Standing = { tag: 'request'; op: number } | { tag: 'done'; result: LineageResult };

export type Transition = { instance: number; effects: readonly LeaderEffect[] };

export class Machines {
  readonly #buckets: Buckets;
  readonly #programs: MachinePrograms;
  readonly #instances = new Interner<Instance>();
  readonly #standings = new Map<string, Standing>();
  readonly #transitions = new Map<string, Transition>();

  constructor(buckets: Buckets, programs: MachinePrograms) {
    this.#buckets = buckets;
    this.#programs = programs;
  }

  get size(): number {
    return this.#instances.size;
  }

  instance(number: number): Instance {
    return this.#instances.value(number);
  }

  create(me: Incarnation, leader: LeaderState): number {
    return this.#intern({ me, leader, flows: [] });
  }

  /** The request that workflow `at` waits for. */
  request(number: number, at: number): number {
    const { me, leader, flows } = this.instance(number);
    const flow = flows[at] as Flow;
    const standing = this.#standing(me, leader.spec?.generation ?? 0, flow);
    if (standing.tag === 'done') throw new Error('a workflow that is done is not under way');
    return standing.op;
  }

  /** After workflow `at` has had an answer: what it has become, and its result once it has ended. */
  answer(
    number: number,
    at: number,
    answer: number,
  ): { instance: number; done: { id: number; result: LineageResult } | null } {
    const { me, leader, flows } = this.instance(number);
    const old = flows[at] as Flow;
    const flow = { ...old, answers: [...old.answers, answer] };
    const standing = this.#standing(me, leader.spec?.generation ?? 0, flow);
    if (standing.tag === 'request')
      return { instance: this.#intern({ me, leader, flows: flows.with(at, flow) }), done: null };
    const instance = this.#intern({ me, leader, flows: flows.toSpliced(at, 1) });
    return { instance, done: { id: flow.id, result: standing.result } };
  }

  /** The reducer's step. `nowMs` is 0 but for a deadline that passes. */
  feed(number: number, event: MachineEvent, nowMs = 0): Transition {
    const key = `${number} ${nowMs} ${JSON.stringify(event)}`;
    const known = this.#transitions.get(key);
    if (known !== undefined) return known;
    const { me, leader, flows } = this.instance(number);
    const { state, effects } = this.#step(leader, { ...event, nowMs } as LeaderEvent);
    const begun: Flow[] = effects.flatMap((effect) =>
      effect.tag === 'lineage' ? [{ id: effect.id, operation: effect.operation, answers: [] }] : [],
    );
    const instance = this.#intern({ me, leader: timeless(state), flows: [...flows, ...begun] });
    const transition = { instance, effects };
    this.#transitions.set(key, transition);
    return transition;
  }

  #step(leader: LeaderState, event: LeaderEvent): ReturnType<typeof stepLeader> {
    try {
      return this.#programs.step(leader, event);
    } catch (thrown) {
      throw new Violation(`the leader throws: ${String(thrown)}`);
    }
  }

  #standing(me: Incarnation, generation: number, flow: Flow): Standing {
    const key = `${me.nonce} ${JSON.stringify(flow)}`;
    let standing = this.#standings.get(key);
    if (standing === undefined) {
      standing = this.#replay(me, generation, flow);
      this.#standings.set(key, standing);
    }
    return standing;
  }

  #replay(me: Incarnation, generation: number, flow: Flow): Standing {
    let writes = 0;
    const ctx: LineageContext = {
      paths: PATHS,
      generation,
      me,
      nowMs: 0,
      nextWriteId: () => `${me.nonce}-${flow.id}-${++writes}`,
    };
    const workflow = this.#programs.workflow(ctx, flow.operation);
    try {
      let next = workflow.next();
      let used = 0;
      while (next.done !== true) {
        if (next.value.op === 'pause') next = workflow.next({ tag: 'paused' });
        else if (used < flow.answers.length)
          next = workflow.next(this.#buckets.answer(flow.answers[used++] as number));
        else return { tag: 'request', op: this.#buckets.internOp(next.value) };
      }
      return { tag: 'done', result: next.value };
    } catch (thrown) {
      throw new Violation(`${me.nonce} throws: ${String(thrown)}`);
    }
  }

  #intern(instance: Instance): number {
    // The spec never changes and is the largest part.
    const { me, leader, flows } = instance;
    const text = JSON.stringify([me.nonce, leader.spec === null, { ...leader, spec: null }, flows]);
    return this.#instances.intern(text, () => instance);
  }
}

/** The state with its times at 0 and without what only people look at. */
function timeless(state: LeaderState): LeaderState {
  return {
    ...state,
    hosts: state.hosts.map((host) => ({ ...host, lastHeardMs: 0 })),
    startedMs: 0,
    runningSinceMs: null,
    settledMs: 0,
    wakeAtMs: null,
    recent: [],
    errors: [],
    epoch: state.phase === 'ended' ? state.epoch : (state.tip?.epoch ?? state.epoch),
  };
}
