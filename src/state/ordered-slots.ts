/**
 * Rows of many groups, each group in order: a forest of treaps over slot numbers, in flat arrays.
 *
 * Place in the walk: stage 6, under Top-N and OVER. A slot is a row's place in a `RowStore`; the order is the
 * caller's comparison of two slots, which must be total: no two slots of one group compare equal.
 *
 * Invariants: in order of a tree its slots ascend; priorities are a hash of the slot number, so the shape depends on
 * nothing but the slots; `sizes` counts the slots below and including one.
 * Failure: none; a slot that is asked for must be in its group.
 */
import { mix32 } from '../base/hash.ts';
import { grown, wider } from './growth.ts';

/** No slot. */
export const NONE = -1;

export type CompareSlots = (left: number, right: number) => number;

export class OrderedSlots {
  readonly #compare: CompareSlots;
  /** Group → its root + 1; 0: the group is empty. */
  #roots = new Int32Array(16);
  /** Slot → child + 1; 0: none. */
  #left = new Int32Array(16);
  #right = new Int32Array(16);
  #sizes = new Int32Array(16);

  constructor(compare: CompareSlots) {
    this.#compare = compare;
  }

  /** Makes room for groups and slots below these numbers. */
  resize(groups: number, slots: number): void {
    if (groups > this.#roots.length)
      this.#roots = wider(Int32Array, this.#roots, grown(this.#roots.length, groups));
    if (slots <= this.#left.length) return;
    const room = grown(this.#left.length, slots);
    this.#left = wider(Int32Array, this.#left, room);
    this.#right = wider(Int32Array, this.#right, room);
    this.#sizes = wider(Int32Array, this.#sizes, room);
  }

  size(group: number): number {
    return this.#sizeOf(this.#roots[group] as number);
  }

  #sizeOf(link: number): number {
    return link === 0 ? 0 : (this.#sizes[link - 1] as number);
  }

  #measure(slot: number): void {
    this.#sizes[slot] =
      1 + this.#sizeOf(this.#left[slot] as number) + this.#sizeOf(this.#right[slot] as number);
  }

  insert(group: number, slot: number): void {
    this.#left[slot] = 0;
    this.#right[slot] = 0;
    this.#sizes[slot] = 1;
    this.#roots[group] = this.#insertAt(this.#roots[group] as number, slot);
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

  remove(group: number, slot: number): void {
    this.#roots[group] = this.#removeAt(this.#roots[group] as number, slot);
  }

  #removeAt(link: number, slot: number): number {
    const root = link - 1;
    if (root === slot) return this.#join(this.#left[root] as number, this.#right[root] as number);
    if (this.#compare(slot, root) < 0)
      this.#left[root] = this.#removeAt(this.#left[root] as number, slot);
    else this.#right[root] = this.#removeAt(this.#right[root] as number, slot);
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

  /** The last slot of a group; `NONE` when it is empty. */
  last(group: number): number {
    let link = this.#roots[group] as number;
    if (link === 0) return NONE;
    for (let next = link; next !== 0; next = this.#right[next - 1] as number) link = next;
    return link - 1;
  }

  /** The slot with `index` slots before it, which must exist. */
  at(group: number, index: number): number {
    let link = this.#roots[group] as number;
    let rest = index;
    for (;;) {
      const slot = link - 1;
      const before = this.#sizeOf(this.#left[slot] as number);
      if (rest === before) return slot;
      if (rest < before) link = this.#left[slot] as number;
      else {
        rest -= before + 1;
        link = this.#right[slot] as number;
      }
    }
  }

  /** The number of slots of a group for which `isBefore` holds; these must come first. */
  countBefore(group: number, isBefore: (slot: number) => boolean): number {
    let link = this.#roots[group] as number;
    let count = 0;
    while (link !== 0) {
      const slot = link - 1;
      if (isBefore(slot)) {
        count += this.#sizeOf(this.#left[slot] as number) + 1;
        link = this.#right[slot] as number;
      } else link = this.#left[slot] as number;
    }
    return count;
  }

  /**
   * The last slot of a group that compares equal to `slot`, which need not be in it; `NONE`: there is none.
   * @param compare  an order that the group's own refines
   */
  lastEqual(group: number, slot: number, compare: CompareSlots): number {
    let link = this.#roots[group] as number;
    let found = NONE;
    while (link !== 0) {
      const at = link - 1;
      const order = compare(slot, at);
      if (order === 0) found = at;
      link = (order < 0 ? this.#left[at] : this.#right[at]) as number;
    }
    return found;
  }

  /** Slots `[from, to)` of a group in order, written to `out`; returns how many there were. */
  slots(group: number, from: number, to: number, out: number[]): void {
    this.#walk(this.#roots[group] as number, from, to, out);
  }

  #walk(link: number, from: number, to: number, out: number[]): void {
    if (link === 0 || from >= to) return;
    const slot = link - 1;
    const before = this.#sizeOf(this.#left[slot] as number);
    if (from < before) this.#walk(this.#left[slot] as number, from, Math.min(to, before), out);
    if (from <= before && to > before) out.push(slot);
    if (to > before + 1)
      this.#walk(this.#right[slot] as number, Math.max(0, from - before - 1), to - before - 1, out);
  }

  /** Drops every group but these, which become groups 0, 1, 2, … in their order. */
  retain(groups: Int32Array): void {
    const roots = new Int32Array(grown(0, groups.length));
    for (let at = 0; at < groups.length; at++)
      roots[at] = this.#roots[groups[at] as number] as number;
    this.#roots = roots;
  }

  bytes(): number {
    return this.#roots.byteLength + this.#left.byteLength * 3;
  }
}
