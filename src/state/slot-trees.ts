/**
 * A forest of treaps over slot numbers, in flat arrays.
 *
 * Place in the walk: stage 6, under the groups of `ordered-slots.ts` that are too large for a list. A tree is named by its
 * link: its root + 1, or 0 when it is empty; what changes a tree gives its new link.
 *
 * Invariants: in order of a tree its slots ascend; priorities are a hash of the slot number, so the shape depends on
 * nothing but the slots; `sizes` counts the slots below and including one.
 * Failure: none; a slot that is asked for must be in its tree.
 */
import { mix32 } from '../base/hash.ts';
import { grown, wider } from './growth.ts';

/** Negative, zero or positive as one slot goes before, with or after another. */
export type CompareSlots = (left: number, right: number) => number;

export class SlotTrees {
  readonly #compare: CompareSlots;
  /** Slot → child + 1; 0: none. */
  #left = new Int32Array(0);
  #right = new Int32Array(0);
  #sizes = new Int32Array(0);

  constructor(compare: CompareSlots) {
    this.#compare = compare;
  }

  /** Makes room for slots below this number. */
  resize(slots: number): void {
    if (slots <= this.#left.length) return;
    const room = grown(this.#left.length, slots);
    this.#left = wider(Int32Array, this.#left, room);
    this.#right = wider(Int32Array, this.#right, room);
    this.#sizes = wider(Int32Array, this.#sizes, room);
  }

  size(link: number): number {
    return link === 0 ? 0 : (this.#sizes[link - 1] as number);
  }

  #measure(slot: number): void {
    this.#sizes[slot] =
      1 + this.size(this.#left[slot] as number) + this.size(this.#right[slot] as number);
  }

  insert(link: number, slot: number): number {
    this.#left[slot] = 0;
    this.#right[slot] = 0;
    this.#sizes[slot] = 1;
    return this.#insertAt(link, slot);
  }

  /** The tree with the slot in it; recursion is as deep as the tree, which is logarithmic. */
  #insertAt(link: number, slot: number): number {
    if (link === 0) return slot + 1;
    const root = link - 1;
    if (this.#compare(slot, root) < 0) {
      const left = this.#insertAt(this.#left[root] as number, slot);
      this.#left[root] = left;
      if (mix32(left - 1) > mix32(root)) return this.#rotateRight(root);
    } else {
      const right = this.#insertAt(this.#right[root] as number, slot);
      this.#right[root] = right;
      if (mix32(right - 1) > mix32(root)) return this.#rotateLeft(root);
    }
    this.#measure(root);
    return link;
  }

  #rotateRight(root: number): number {
    const top = (this.#left[root] as number) - 1;
    this.#left[root] = this.#right[top] as number;
    this.#right[top] = root + 1;
    this.#measure(root);
    this.#measure(top);
    return top + 1;
  }

  #rotateLeft(root: number): number {
    const top = (this.#right[root] as number) - 1;
    this.#right[root] = this.#left[top] as number;
    this.#left[top] = root + 1;
    this.#measure(root);
    this.#measure(top);
    return top + 1;
  }

  remove(link: number, slot: number): number {
    const root = link - 1;
    if (root === slot) return this.#join(this.#left[root] as number, this.#right[root] as number);
    if (this.#compare(slot, root) < 0)
      this.#left[root] = this.remove(this.#left[root] as number, slot);
    else this.#right[root] = this.remove(this.#right[root] as number, slot);
    this.#measure(root);
    return link;
  }

  /** One tree of two, all of the first before all of the second. */
  #join(left: number, right: number): number {
    if (left === 0) return right;
    if (right === 0) return left;
    if (mix32(left - 1) > mix32(right - 1)) {
      this.#right[left - 1] = this.#join(this.#right[left - 1] as number, right);
      this.#measure(left - 1);
      return left;
    }
    this.#left[right - 1] = this.#join(left, this.#left[right - 1] as number);
    this.#measure(right - 1);
    return right;
  }

  /** The slot with `index` slots before it, which must exist. */
  at(link: number, index: number): number {
    let here = link;
    let rest = index;
    for (;;) {
      const slot = here - 1;
      const before = this.size(this.#left[slot] as number);
      if (rest === before) return slot;
      if (rest < before) here = this.#left[slot] as number;
      else {
        rest -= before + 1;
        here = this.#right[slot] as number;
      }
    }
  }

  /** The number of slots that come before all others and do not go behind `slot` in an order that the tree's own refines. */
  countUpTo(link: number, slot: number, compare: CompareSlots): number {
    let here = link;
    let count = 0;
    while (here !== 0) {
      const at = here - 1;
      if (compare(at, slot) <= 0) {
        count += this.size(this.#left[at] as number) + 1;
        here = this.#right[at] as number;
      } else here = this.#left[at] as number;
    }
    return count;
  }

  /** The link of the last slot that compares equal to `slot` in an order that the tree's own refines; 0: there is none. */
  lastEqual(link: number, slot: number, compare: CompareSlots): number {
    let here = link;
    let found = 0;
    while (here !== 0) {
      const at = here - 1;
      const order = compare(slot, at);
      if (order === 0) found = here;
      here = (order < 0 ? this.#left[at] : this.#right[at]) as number;
    }
    return found;
  }

  /** Slots `[from, to)` in order, to `out` from place `at` on; the place behind the last one. */
  copy(link: number, from: number, to: number, out: Int32Array, at: number): number {
    if (link === 0 || from >= to) return at;
    const slot = link - 1;
    const before = this.size(this.#left[slot] as number);
    let next = at;
    if (from < before)
      next = this.copy(this.#left[slot] as number, from, Math.min(to, before), out, next);
    if (from <= before && to > before) out[next++] = slot;
    if (to <= before + 1) return next;
    const start = Math.max(0, from - before - 1);
    return this.copy(this.#right[slot] as number, start, to - before - 1, out, next);
  }

  bytes(): number {
    return this.#left.byteLength * 3;
  }
}
