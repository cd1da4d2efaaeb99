/**
 * Every order in which the requests of some controllers and leaders can take effect, under a budget of faults.
 *
 * A state is: the bucket, what the oracle remembers, where each actor stands, and which requests are on their way. Three faults
 * cost no budget. A crash: a crashed actor is one that never moves again, and every state is checked, so each state stands
 * for the crash of any of its actors there. A zombie: it moves again at any later state. A read that fails: its workflow
 * asks again, so the history is one without the failure. Faults that cost budget: a request takes effect but its answer
 * is lost; a request is on its way and takes effect at any later time or never; half of a delete takes effect; a
 * leader dies while its call of the sink is on its way.
 *
 * In every state three promises about the future are checked (`healing.ts`): L1 and L3, one generation more and no more
 * faults, and epochs advance again; L2, a leader that lost ends within a bound.
 */
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { PATHS } from '../harness/lineage-leader.ts';
import { Actors, PROGRAMS } from './actors.ts';
import type { ActorPlan, Programs } from './actors.ts';
import { Buckets } from './bucket.ts';
import { Healing } from './healing.ts';
import { Oracle } from './oracle.ts';
import { search, Violation } from './search.ts';
import type { Emit, Report } from './search.ts';

export type Exploration = {
  actors: readonly ActorPlan[];
  /** Faults of each kind along one history. */
  losses: number;
  delays: number;
  /** Storage loses the record of one canonical epoch that is not the newest, against all that it promises. */
  decay?: boolean;
  /** Whether L1 to L3 are looked at in every state; a mutant may be shown without them. */
  future?: boolean;
  programs?: Programs;
  /** Stops, not exhausted, at this many states. */
  statesMax?: number;
};

/** On its way: a request (even: number × 2) or a call of the sink (odd: number × 2 + 1). */
type Flight = number;

type State = {
  bucket: number;
  memory: number;
  losses: number;
  delays: number;
  positions: number[];
  flights: Flight[];
};

/** The place of an actor that died. */
const DEAD = -1;
const NOTHING = -1;

export class Explorer {
  readonly #options: Exploration;
  readonly #programs: Programs;
  readonly #buckets = new Buckets();
  readonly #oracle: Oracle;
  readonly #actors: Actors;
  readonly #healing: Healing;
  #emit: Emit = () => {};
  #moved = false;

  constructor(options: Exploration) {
    this.#options = options;
    this.#programs = options.programs ?? PROGRAMS;
    this.#oracle = new Oracle(this.#buckets);
    this.#actors = new Actors(options.actors, this.#buckets, this.#programs);
    this.#healing = new Healing(this.#buckets, this.#oracle, this.#actors, this.#programs);
  }

  explore(): Report & { healed: number; bound: number; losing: number } {
    const report = search(
      {
        width: 4 + this.#options.actors.length + this.#options.delays,
        initial: this.#encode(this.#initial()),
        expand: (row, emit) => this.#expand(this.#decode(row), emit),
      },
      this.#options.statesMax,
    );
    const { healed, healingMax: bound, losingMax: losing } = this.#healing;
    return { ...report, healed, bound, losing };
  }

  #encode({ bucket, memory, losses, delays, positions, flights }: State): number[] {
    const row = [bucket, memory, losses, delays, ...positions, ...flights];
    while (row.length < 4 + positions.length + this.#options.delays) row.push(NOTHING);
    return row;
  }

  #decode(row: readonly number[]): State {
    const [bucket = 0, memory = 0, losses = 0, delays = 0] = row;
    const until = 4 + this.#options.actors.length;
    const flights = row.slice(until).filter((flight) => flight !== NOTHING);
    return { bucket, memory, losses, delays, positions: row.slice(4, until), flights };
  }

  /** Generation 1 is allocated, nobody has moved. */
  #initial(): State {
    let { empty: bucket } = this.#buckets;
    const workflow = allocateGeneration({ paths: PATHS, nowMs: 0, writeId: 'first' }, 0);
    for (let next = workflow.next(); next.done !== true;) {
      if (next.value.op === 'pause') throw new Error('no fault, no pause');
      const applied = this.#buckets.apply(bucket, this.#buckets.internOp(next.value));
      bucket = applied.bucket;
      next = workflow.next(this.#buckets.answer(applied.answer));
    }
    const { actors, losses, delays } = this.#options;
    return {
      bucket,
      memory: this.#oracle.empty,
      losses,
      delays,
      positions: actors.map((_, actor) => this.#actors.start(actor)),
      flights: [],
    };
  }

  #expand(state: State, emit: Emit): void {
    this.#emit = emit;
    this.#moved = false;
    if (this.#options.future !== false) this.#healing.watchHealing(state.memory, state.bucket);
    for (let actor = 0; actor < state.positions.length; actor++) this.#moveActor(state, actor);
    for (let index = 0; index < state.flights.length; index++) this.#land(state, index);
    if (!this.#moved) this.#watchEnd(state);
    if (this.#options.decay === true) this.#decay(state);
  }

  /** Losing the newest record would be the loss of its epoch; losing another leaves a hole that must be seen. */
  #decay(state: State): void {
    const { canonical, decayed } = this.#oracle.memory(state.memory);
    if (decayed !== null) return;
    for (const { epoch } of canonical.slice(0, -1)) {
      const op = this.#buckets.internOp({ op: 'delete', keys: [PATHS.record(epoch)] });
      const applied = this.#buckets.apply(state.bucket, op);
      if (applied.bucket === state.bucket) continue;
      const memory = this.#oracle.decay(state.memory, epoch);
      this.#add(() => `storage loses the record of epoch ${epoch}`, {
        ...state,
        bucket: applied.bucket,
        memory,
      });
    }
  }

  #moveActor(state: State, actor: number): void {
    const at = state.positions[actor] as number;
    if (at === DEAD || !this.#started(state, actor)) return;
    const position = this.#actors.position(at);
    const { intent } = position;
    const { name } = this.#plan(actor);
    if (intent.tag === 'threw') throw new Violation(`${name} throws: ${intent.message}`);
    if (intent.tag === 'ended') {
      const { decayed } = this.#oracle.memory(state.memory);
      if (position.state.phase === 'broken' && decayed === null)
        throw new Violation(`${name} finds a broken lineage: ${position.state.note}`);
      if (position.state.note === 'lost while mine')
        throw new Violation(`${name} lost a claim while it is the owner`);
      return;
    }
    if (this.#options.future !== false) this.#healing.watchLoser(at, state.bucket);
    if (intent.tag === 'sink') this.#callSink(state, actor, intent.call);
    else this.#request(state, actor, intent.op);
  }

  #started(state: State, actor: number): boolean {
    const { after } = this.#plan(actor);
    if (after === null) return true;
    const { intent, state: reached } = this.#actors.position(state.positions[after] as number);
    return intent.tag === 'ended' && reached.phase !== 'unavailable';
  }

  #request(state: State, actor: number, op: number): void {
    const plan = this.#plan(actor);
    const request = this.#buckets.op(op);
    if (plan.tag === 'leader') this.#oracle.watchIntent(request, plan.plan.me.nonce);
    const at = state.positions[actor] as number;
    const text = (): string => `${plan.name}: ${describe(request)}`;
    const applied = this.#buckets.apply(state.bucket, op);
    const memory = this.#oracle.watch(state.memory, request, state.bucket, applied.bucket);
    const after = { ...state, bucket: applied.bucket, memory };
    const answer = this.#buckets.answer(applied.answer);
    const next = this.#actors.advance(at, applied.answer);
    this.#watchOpened(memory, at, next);
    this.#add(() => `${text()} → ${answer.tag}`, place(after, actor, next));
    if (request.op !== 'put' && request.op !== 'delete') return;
    const unanswered = this.#actors.advance(at, null);
    if (state.losses > 0 && applied.bucket !== state.bucket) {
      this.#add(
        () => `${text()} → ${answer.tag}, answer lost`,
        place({ ...after, losses: state.losses - 1 }, actor, unanswered),
      );
    }
    if (state.losses > 0 && request.op === 'delete' && request.keys.length > 1)
      this.#deleteHalf(state, actor, request.keys, text);
    if (state.delays > 0) {
      const flights = [...state.flights, op * 2].sort((left, right) => left - right);
      this.#add(
        () => `${text()} → delayed`,
        place({ ...state, delays: state.delays - 1, flights }, actor, unanswered),
      );
    }
  }

  #watchOpened(memory: number, from: number, to: number): void {
    const { phase, tip } = this.#actors.position(to).state;
    const opened =
      this.#actors.position(from).state.phase === 'open' && (phase === 'redo' || phase === 'fence');
    if (opened && tip !== null) this.#oracle.watchOpened(memory, tip.epoch);
  }

  #deleteHalf(state: State, actor: number, keys: string[], text: () => string): void {
    const half = { op: 'delete', keys: keys.slice(0, keys.length >> 1) } as const;
    const { bucket } = this.#buckets.apply(state.bucket, this.#buckets.internOp(half));
    const memory = this.#oracle.watch(state.memory, half, state.bucket, bucket);
    this.#add(
      () => `${text()} → half done, dead`,
      place({ ...state, bucket, memory, losses: state.losses - 1 }, actor, DEAD),
    );
  }

  #callSink(state: State, actor: number, call: number): void {
    const plan = this.#plan(actor);
    const at = state.positions[actor] as number;
    const text = (): string => `${plan.name}: commit epoch ${this.#actors.call(call).epoch}`;
    const memory = this.#oracle.watchSink(
      state.memory,
      this.#actors.call(call),
      this.#programs.takes,
    );
    this.#add(text, place({ ...state, memory }, actor, this.#actors.acknowledge(at)));
    if (state.delays === 0) return;
    const flights = [...state.flights, call * 2 + 1].sort((left, right) => left - right);
    this.#add(
      () => `${text()} → delayed, dead`,
      place({ ...state, delays: state.delays - 1, flights }, actor, DEAD),
    );
  }

  #land(state: State, index: number): void {
    const flight = state.flights[index] as Flight;
    if (index > 0 && state.flights[index - 1] === flight) return;
    const flights = state.flights.toSpliced(index, 1);
    if (flight % 2 === 1) {
      const call = this.#actors.call((flight - 1) / 2);
      this.#add(() => `late: commit epoch ${call.epoch}`, {
        ...state,
        flights,
        memory: this.#oracle.watchSink(state.memory, call, this.#programs.takes),
      });
      return;
    }
    const request = this.#buckets.op(flight / 2);
    const applied = this.#buckets.apply(state.bucket, flight / 2);
    const memory = this.#oracle.watch(state.memory, request, state.bucket, applied.bucket);
    const { tag } = this.#buckets.answer(applied.answer);
    this.#add(() => `late: ${describe(request)} → ${tag}`, {
      ...state,
      flights,
      memory,
      bucket: applied.bucket,
    });
  }

  /** Nothing moves any more: the newest leader, unless it died, has done its work, and all of it is outside. */
  #watchEnd(state: State): void {
    const newest = this.#options.actors.length - 1;
    const plan = this.#plan(newest);
    const at = state.positions[newest] as number;
    if (plan.tag !== 'leader' || at === DEAD || !this.#started(state, newest)) return;
    const { phase, published, note } = this.#actors.position(at).state;
    if (this.#oracle.memory(state.memory).decayed !== null) return;
    if (phase !== 'write' || published !== plan.plan.epochs)
      throw new Violation(`L1: the newest leader ends as ${phase} ${note}`);
    const { canonical, lastEpoch, rows } = this.#oracle.memory(state.memory);
    const data = canonical.filter((each) => each.kind === 'data');
    if (lastEpoch !== data.at(-1)?.epoch || rows !== data.length)
      throw new Violation(`I4: ${rows} rows of ${data.length} epochs are committed`);
  }

  #plan(actor: number): ActorPlan {
    return this.#options.actors[actor] as ActorPlan;
  }

  #add(text: () => string, state: State): void {
    this.#moved = true;
    this.#emit(this.#encode(state), text);
  }
}

function place(state: State, actor: number, position: number): State {
  return { ...state, positions: state.positions.with(actor, position) };
}

function describe(op: { op: string; key?: string; keys?: string[]; prefix?: string }): string {
  return `${op.op} ${op.key ?? op.prefix ?? op.keys?.join(' ') ?? ''}`;
}
