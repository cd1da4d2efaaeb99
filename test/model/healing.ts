/**
 * What must come true from any state on: L1 and L3 after the last fault, one more generation runs and epochs advance; L2 a
 * leader that was replaced ends by itself, after a bounded number of requests.
 *
 * L1, L3. A new generation reads only O1, the records at or above the floor, and the tip's manifest and marker; what it writes
 * bears a nonce that nobody has used. So its life depends on these objects and on the sink alone, and it is run once
 * for each combination of them instead of once for each state. It must not throw, retire, call the lineage broken or need
 * a second generation; it must publish two epochs and leave every row of every epoch outside.
 *
 * L2. A loser is run by itself from every place and bucket in which O1 does not name it. Others may run between its steps,
 * but nothing that they do makes O1 name it again, and it never waits for them: each of its loops counts its attempts.
 */
import { sameIncarnation } from '../../src/lineage/derive.ts';
import type { Lineage, StoreOp } from '../../src/lineage/store.ts';
import { LEADER_START, PATHS } from '../harness/lineage-leader.ts';
import type { LeaderPlan, LeaderState } from '../harness/lineage-leader.ts';
import type { Actors, Programs } from './actors.ts';
import type { Buckets } from './bucket.ts';
import type { Oracle } from './oracle.ts';
import { demand } from './search.ts';

/** Requests within which a fresh generation has published two epochs. */
export const HEALING_REQUESTS_MAX = 60;
/** Requests within which a leader that was replaced has ended. */
export const LOSING_REQUESTS_MAX = 24;
const EPOCHS_AFTER = 2;

export class Healing {
  readonly #buckets: Buckets;
  readonly #oracle: Oracle;
  readonly #actors: Actors;
  readonly #programs: Programs;
  readonly #projections = new Map<number, string>();
  readonly #healed = new Set<string>();
  readonly #checked = new Set<number>();
  readonly #losing = new Map<number, number>();
  /** The longest of each, in requests. */
  healingMax = 0;
  losingMax = 0;

  constructor(buckets: Buckets, oracle: Oracle, actors: Actors, programs: Programs) {
    this.#buckets = buckets;
    this.#oracle = oracle;
    this.#actors = actors;
    this.#programs = programs;
  }

  /** Distinct situations from which a new generation was run. */
  get healed(): number {
    return this.#healed.size;
  }

  watchHealing(memory: number, bucket: number): void {
    if (this.#oracle.memory(memory).decayed !== null) return;
    const pair = memory * 2 ** 24 + bucket;
    if (this.#checked.has(pair)) return;
    this.#checked.add(pair);
    const situation = `${memory} ${this.#projection(bucket)}`;
    if (this.#healed.has(situation)) return;
    this.#healed.add(situation);
    this.#heal(memory, bucket);
  }

  /** Requests until the leader at this position has ended, 0 when O1 names it. */
  watchLoser(position: number, bucket: number): void {
    const { actor } = this.#actors.position(position);
    const plan = this.#actors.plans[actor];
    if (plan?.tag !== 'leader') return;
    const current = this.#oracle.owner(this.#buckets.objects(bucket));
    if (current === null || sameIncarnation(current.incarnation, plan.plan.me)) return;
    // Nobody has acquired yet: it is not a loser but the first.
    const { generation, me } = plan.plan;
    if (current.generation < generation) return;
    if (current.generation === generation && (current.incarnation?.startNo ?? 0) < me.startNo)
      return;
    const requests = this.#requestsToEnd(position, bucket, 0);
    demand(
      requests <= LOSING_REQUESTS_MAX,
      `L2: ${plan.name} goes on for ${requests} requests after it was replaced`,
    );
    this.losingMax = Math.max(this.losingMax, requests);
  }

  #requestsToEnd(position: number, bucket: number, depth: number): number {
    const { intent, state } = this.#actors.position(position);
    if (intent.tag === 'ended' || intent.tag === 'threw') {
      const done = state.phase === 'fenced' || state.phase === 'write';
      demand(
        done || intent.tag === 'threw',
        `L2: a replaced leader ends as ${state.phase} ${state.note}`,
      );
      return 0;
    }
    if (depth > LOSING_REQUESTS_MAX) return 1;
    const memo = position * 2 ** 24 + bucket;
    const known = this.#losing.get(memo);
    if (known !== undefined) return known;
    let rest: number;
    if (intent.tag === 'sink') {
      rest = this.#requestsToEnd(this.#actors.acknowledge(position), bucket, depth + 1);
    } else {
      const applied = this.#buckets.apply(bucket, intent.op);
      const next = this.#actors.advance(position, applied.answer);
      rest = this.#requestsToEnd(next, applied.bucket, depth + 1);
    }
    this.#losing.set(memo, rest + 1);
    return rest + 1;
  }

  #projection(bucket: number): string {
    let projection = this.#projections.get(bucket);
    if (projection === undefined) {
      const objects = this.#buckets.objects(bucket);
      const floor = this.#oracle.owner(objects)?.floor ?? 0;
      const parts: string[] = [String(objects.get(PATHS.current))];
      for (const [key, body] of objects) {
        const name = PATHS.parse(key);
        if (
          name === null ||
          name.tag === 'current' ||
          name.tag === 'generation' ||
          name.tag === 'file'
        )
          continue;
        // Manifests and markers of all retained epochs: more than the tip's, so that no adoption is missed.
        if (name.epoch >= floor) parts.push(`${key}=${body}`);
      }
      projection = parts.sort().join(' ');
      this.#projections.set(bucket, projection);
    }
    return projection;
  }

  #heal(memory: number, bucket: number): void {
    let at = { memory, bucket, requests: 0 };
    const perform = <T>(workflow: Lineage<T>): T => {
      let next = workflow.next();
      while (next.done !== true) {
        if (next.value.op === 'pause') {
          next = workflow.next({ tag: 'paused' });
          continue;
        }
        const op: Exclude<StoreOp, { op: 'pause' }> = next.value;
        const applied = this.#buckets.apply(at.bucket, this.#buckets.internOp(op));
        at = {
          memory: this.#oracle.watch(at.memory, op, at.bucket, applied.bucket),
          bucket: applied.bucket,
          requests: at.requests + 1,
        };
        next = workflow.next(this.#buckets.answer(applied.answer));
      }
      return next.value;
    };
    const before = this.#oracle.memory(memory).canonical.length;
    const expected = this.#oracle.owner(this.#buckets.objects(bucket))?.generation ?? 0;
    perform(this.#programs.allocate('healing', expected));
    const generation = expected + 1;
    const me = { objectId: 'healer', startNo: 1, nonce: 'healer' };
    const plan: LeaderPlan = { generation, me, epochs: EPOCHS_AFTER, keep: null };
    let state: LeaderState = LEADER_START;
    for (;;) {
      const work = this.#programs.work(plan, state);
      if (work.tag === 'ended') break;
      if (work.tag === 'store') state = perform(work.workflow());
      else {
        at.memory = this.#oracle.watchSink(at.memory, work.call, this.#programs.takes);
        state = work.then;
      }
      demand(
        at.requests <= HEALING_REQUESTS_MAX,
        `L1: a new generation has not recovered after ${at.requests} requests`,
      );
    }
    demand(
      state.phase === 'write' && state.published === EPOCHS_AFTER,
      `L3: a new generation ends as ${state.phase} ${state.note}`,
    );
    const { canonical, lastEpoch, rows } = this.#oracle.memory(at.memory);
    demand(
      canonical.length === before + 1 + EPOCHS_AFTER,
      `L1: epoch ${before} became ${canonical.length}`,
    );
    const data = canonical.filter((each) => each.kind === 'data');
    demand(
      lastEpoch === data.at(-1)?.epoch && rows === data.length,
      `I4: ${rows} rows of ${data.length} epochs are committed`,
    );
    this.healingMax = Math.max(this.healingMax, at.requests);
  }
}
