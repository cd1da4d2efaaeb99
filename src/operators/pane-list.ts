/**
 * The panes that are open, in order of time.
 *
 * Place in the walk: stage 6, inside `PaneWindows`. New panes mostly come last, old ones go first: what has gone is
 * closed up once in a while, so that a pane costs the same however many wait behind it.
 *
 * Invariants: starts grow; positions count from the oldest pane.
 */
import { assert } from '../base/assert.ts';

/** Places of panes that have gone are kept up to here. */
const GONE_MAX = 256;

export class PaneList<T extends { readonly start: number }> {
  readonly #panes: T[] = [];
  readonly #byStart = new Map<number, T>();
  /** Where the oldest pane is. */
  #first = 0;

  get length(): number {
    return this.#panes.length - this.#first;
  }

  get oldest(): T | undefined {
    return this.#panes[this.#first];
  }

  get newest(): T | undefined {
    return this.length === 0 ? undefined : this.#panes.at(-1);
  }

  at(position: number): T {
    const pane = this.#panes[this.#first + position];
    assert(pane !== undefined, 'a pane that is open');
    return pane;
  }

  startingAt(start: number): T | undefined {
    return this.#byStart.get(start);
  }

  all(): T[] {
    return this.#panes.slice(this.#first);
  }

  add(pane: T): void {
    this.#byStart.set(pane.start, pane);
    const at = this.#first + this.firstFrom(pane.start);
    if (at === this.#panes.length) this.#panes.push(pane);
    else this.#panes.splice(at, 0, pane);
  }

  dropOldest(): void {
    this.#byStart.delete(this.at(0).start);
    this.#first++;
    if (this.#first < GONE_MAX || this.#first * 2 < this.#panes.length) return;
    this.#panes.splice(0, this.#first);
    this.#first = 0;
  }

  /** The position of the first pane that starts at `start` or after it; the length when there is none. */
  firstFrom(start: number): number {
    let low = this.#first;
    let high = this.#panes.length;
    if (low === high || (this.#panes[high - 1] as T).start < start) return high - this.#first;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#panes[middle] as T).start < start) low = middle + 1;
      else high = middle;
    }
    return low - this.#first;
  }
}
