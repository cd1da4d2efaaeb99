/**
 * A bench for scenarios: one bucket, one sink, and actors whose requests the test lets through one at a time.
 */
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import type { Lineage, StoreAnswer, StoreOp } from '../../src/lineage/store.ts';
import { driveSync } from '../../src/lineage/drive.ts';
import type { Incarnation } from '../../src/lineage/types.ts';
import { incarnation, LEADER_START, nextWork, PATHS } from './lineage-leader.ts';
import type { LeaderPlan, LeaderState, SinkCall } from './lineage-leader.ts';
import { MemoryObjectStore } from './memory-object-store.ts';
import type { Fate } from './memory-object-store.ts';

/** The target of a two-phase sink: its last committed epoch moves in the same unit as its rows. */
export class ExternalLog {
  readonly rows: number[] = [];
  lastEpoch = 0;

  commit(call: SinkCall): void {
    if (call.epoch <= this.lastEpoch) return;
    this.lastEpoch = call.epoch;
    this.rows.push(...call.rows);
  }
}

/** One workflow whose requests are let through one at a time. */
export class Actor<T> {
  readonly #store: MemoryObjectStore;
  readonly #workflow: Lineage<T>;
  #next: IteratorResult<StoreOp, T>;

  constructor(store: MemoryObjectStore, workflow: Lineage<T>) {
    this.#store = store;
    this.#workflow = workflow;
    this.#next = workflow.next();
    this.#passPauses();
  }

  /** The request it waits for, null when it has ended. */
  get op(): StoreOp | null {
    return this.#next.done === true ? null : this.#next.value;
  }

  get result(): T {
    if (this.#next.done !== true)
      throw new Error(`still waits for ${JSON.stringify(this.#next.value.op)}`);
    return this.#next.value;
  }

  step(fate: Fate = 'apply'): StoreAnswer {
    if (this.#next.done === true) throw new Error('has ended');
    const answer = this.#store.answer(this.#next.value, fate);
    this.#next = this.#workflow.next(answer);
    this.#passPauses();
    return answer;
  }

  /** Steps until it waits for a request that fits, without letting that one through. */
  stepTo(fits: (op: StoreOp) => boolean): this {
    while (this.#next.done !== true && !fits(this.#next.value)) this.step();
    if (this.#next.done === true) throw new Error('ended before such a request');
    return this;
  }

  finish(): T {
    while (this.#next.done !== true) this.step();
    return this.#next.value;
  }

  #passPauses(): void {
    while (this.#next.done !== true && this.#next.value.op === 'pause') {
      this.#next = this.#workflow.next(this.#store.answer(this.#next.value));
    }
  }
}

/** A whole leader on the bench; one step is one request to the bucket or one call of the sink. */
export class BenchLeader {
  readonly #bench: Bench;
  readonly #plan: LeaderPlan;
  #actor: Actor<LeaderState> | null = null;
  #state: LeaderState = LEADER_START;

  constructor(bench: Bench, plan: LeaderPlan) {
    this.#bench = bench;
    this.#plan = plan;
    this.#begin();
  }

  get state(): LeaderState {
    return this.#state;
  }

  get ended(): boolean {
    return nextWork(this.#plan, this.#state).tag === 'ended';
  }

  /** What it is about to do: a request, a call of the sink, or nothing more. */
  get next(): StoreOp | { op: 'sink'; call: SinkCall } | null {
    if (this.#actor !== null) return this.#actor.op;
    const work = nextWork(this.#plan, this.#state);
    return work.tag === 'sink' ? { op: 'sink', call: work.call } : null;
  }

  step(fate: Fate = 'apply'): void {
    if (this.#actor !== null) {
      this.#actor.step(fate);
      this.#settle();
      return;
    }
    const work = nextWork(this.#plan, this.#state);
    if (work.tag !== 'sink') throw new Error('has ended');
    this.#bench.log.commit(work.call);
    this.#state = work.then;
    this.#begin();
  }

  stepTo(fits: (op: NonNullable<BenchLeader['next']>) => boolean): this {
    for (;;) {
      const { next } = this;
      if (next === null)
        throw new Error(`ended as ${this.#state.phase} ${this.#state.note} before such a request`);
      if (fits(next)) return this;
      this.step();
    }
  }

  finish(): LeaderState {
    while (!this.ended) this.step();
    return this.#state;
  }

  #begin(): void {
    const work = nextWork(this.#plan, this.#state);
    this.#actor = work.tag === 'store' ? new Actor(this.#bench.store, work.workflow()) : null;
    this.#settle();
  }

  #settle(): void {
    if (this.#actor === null || this.#actor.op !== null) return;
    this.#state = this.#actor.result;
    this.#begin();
  }
}

export class Bench {
  readonly store: MemoryObjectStore;
  readonly log = new ExternalLog();

  constructor(options: { pageSize?: number } = {}) {
    this.store = new MemoryObjectStore(options);
  }

  run<T>(workflow: Lineage<T>): T {
    return driveSync(workflow, (op) => this.store.answer(op));
  }

  start<T>(workflow: Lineage<T>): Actor<T> {
    return new Actor(this.store, workflow);
  }

  /** Generation `expected` + 1, allocated without a fault. */
  allocate(expected: number): number {
    const writeId = `controller-${expected}`;
    const outcome = this.run(allocateGeneration({ paths: PATHS, nowMs: 0, writeId }, expected));
    if (outcome.tag !== 'allocated') throw new Error(outcome.report.message);
    return outcome.generation;
  }

  leader(
    generation: number,
    epochs: number,
    options: { startNo?: number; keep?: number } = {},
  ): BenchLeader {
    const me: Incarnation = incarnation(generation, options.startNo ?? 1);
    return new BenchLeader(this, { generation, me, epochs, keep: options.keep ?? null });
  }

  /** The reference of each epoch's record, by epoch. */
  canonical(): Map<number, string> {
    const refs = new Map<number, string>();
    for (const key of this.store.keys()) {
      const name = PATHS.parse(key);
      if (name?.tag !== 'record') continue;
      const record = JSON.parse(new TextDecoder().decode(this.store.objects.get(key)!.body)) as {
        checkpoint: { ref: string };
      };
      refs.set(name.epoch, record.checkpoint.ref);
    }
    return refs;
  }

  /** Damages an object in place. */
  corrupt(key: string, text: string): void {
    if (!this.store.objects.has(key)) throw new Error(`no ${key}`);
    this.store.objects.set(key, { body: new TextEncoder().encode(text), etag: `corrupt-${text}` });
  }
}

/** Requests by what they touch, for `stepTo`. */
export const isRecordPut = (epoch: number) => (op: { op: string }) =>
  isPut(op) && op.key === PATHS.record(epoch);
export const isRecordList = (op: { op: string; prefix?: string }): boolean =>
  op.op === 'list' && op.prefix === PATHS.epochs;
export const isCurrentGet = (op: { op: string; key?: string }): boolean =>
  op.op === 'get' && op.key === PATHS.current;
export const isCurrentPut = (op: { op: string }): boolean => isPut(op) && op.key === PATHS.current;
export const isSink = (epoch: number) => (op: { op: string; call?: SinkCall }) =>
  op.op === 'sink' && op.call?.epoch === epoch;

function isPut(op: { op: string }): op is Extract<StoreOp, { op: 'put' }> {
  return op.op === 'put';
}
