/**
 * Aligned barriers of one stage (asynchronous barrier snapshotting after Chandy and Lamport).
 *
 * A stage has inputs: one per channel, and one called `sources` when it reads sources itself. An
 * input that delivered its barrier is blocked until every other input did; then the stage's state is
 * exactly the effect of everything before the barrier, and the snapshot is taken.
 *
 * Invariants: INV-40 a barrier (epoch, attempt) is honoured only when it is higher than every one
 * honoured before, a lower one is ignored; INV-41 an ended input counts as aligned for ever.
 * Failure: none; an alignment that never completes is given up by the leader with a higher attempt.
 */
import { assert } from '../base/assert.ts';

export type BarrierId = { epoch: number; attempt: number };

export const isHigher = (left: BarrierId, right: BarrierId): boolean =>
  left.epoch > right.epoch || (left.epoch === right.epoch && left.attempt > right.attempt);

export const sameBarrier = (left: BarrierId, right: BarrierId): boolean =>
  left.epoch === right.epoch && left.attempt === right.attempt;

export class BarrierAligner {
  readonly #inputs: ReadonlySet<string>;
  readonly #ended = new Set<string>();
  readonly #arrived = new Set<string>();
  #current: BarrierId | null = null;
  #last: BarrierId = { epoch: -1, attempt: 0 };

  constructor(inputs: Iterable<string>) {
    this.#inputs = new Set(inputs);
  }

  /** The barrier being aligned, or null. */
  get current(): BarrierId | null {
    return this.#current;
  }

  /** Notes the barrier at `input`; true when it completes the alignment. A lower barrier is ignored. */
  arrive(input: string, barrier: BarrierId): boolean {
    assert(this.#inputs.has(input), `unknown input ${input}`);
    if (!this.#raise(barrier)) return false;
    this.#arrived.add(input);
    return this.#complete();
  }

  /** Notes that the leader began `barrier`: completes a stage whose inputs have all ended. */
  announce(barrier: BarrierId): boolean {
    if (!this.#raise(barrier)) return false;
    return this.#complete();
  }

  /** Notes that `input` gives nothing more; true when that completes the alignment under way. */
  end(input: string): boolean {
    this.#ended.add(input);
    return this.#current !== null && this.#complete();
  }

  /** Whether rows of `input` must wait for the alignment under way. */
  isBlocked(input: string): boolean {
    return this.#current !== null && this.#arrived.has(input);
  }

  /** Called after the snapshot: inputs flow again. */
  release(): void {
    assert(this.#current !== null, 'release without alignment');
    this.#last = this.#current;
    this.#current = null;
    this.#arrived.clear();
  }

  /** Makes `barrier` the current one unless it is lower than what is known; false: ignore it. */
  #raise(barrier: BarrierId): boolean {
    if (this.#current !== null) {
      if (isHigher(this.#current, barrier)) return false;
      if (isHigher(barrier, this.#current)) {
        this.#arrived.clear();
        this.#current = barrier;
      }
      return true;
    }
    if (!isHigher(barrier, this.#last)) return false;
    this.#current = barrier;
    return true;
  }

  #complete(): boolean {
    for (const input of this.#inputs) {
      if (!this.#arrived.has(input) && !this.#ended.has(input)) return false;
    }
    return true;
  }
}
