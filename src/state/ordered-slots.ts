/**
 * Slot numbers of many groups, each group in order.
 *
 * Place in the walk: stage 6, under Top-N and OVER. A slot is a row's place in a `RowStore`. The order is that of a number a
 * slot, `near`, then the caller's comparison of two slots; it must be total: no two slots of one group compare equal.
 *
 * Most groups have few rows: they are lists in one arena, with their numbers beside them, so that a row finds its place by
 * walking up from the end over neighbours in memory, which is short for rows that come about in order. A group that outgrows
 * the longest list is a tree until it is empty.
 *
 *     empty ──▶ list of 1, 4, 12, 32, 96 places ──▶ tree ──▶ empty
 *
 * Invariants: a list that is empty has no places; places given back wait in the chain of their size.
 * Failure: none; a slot that is asked for must be in its group.
 */
import { grown, wider } from './growth.ts';
import { SlotTrees, type CompareSlots } from './slot-trees.ts';

export type { CompareSlots } from './slot-trees.ts';

/** No slot. */
export const NONE = -1;

/** Places of lists, by their kind; kind 0 is the empty one. */
const ROOMS = [0, 1, 4, 12, 32, 96] as const;
const KIND_MAX = ROOMS.length - 1;
/** The kind of a group that is a tree. */
const TREE = ROOMS.length;

export class OrderedSlots {
  readonly #compare: CompareSlots;
  readonly #trees: SlotTrees;
  /** Slot → what it is ordered by first; whoever makes a slot sets it. */
  near = new Float64Array(16);
  #kinds = new Uint8Array(16);
  /** Group → where its list begins; of a tree its link. */
  #starts = new Int32Array(16);
  /** Group → slots of its list. */
  #counts = new Int32Array(16);
  /** The lists: slots, and the numbers they are ordered by. */
  #slots = new Int32Array(16);
  #nears = new Float64Array(16);
  #used = 0;
  /** Kind → the first of the lists given back, each of which names the next one; -1: none. */
  readonly #free = new Int32Array(ROOMS.length).fill(-1);
  #slotLimit = 0;
  #treeCount = 0;

  /** @param compare  the order of two slots with one number */
  constructor(compare: CompareSlots) {
    this.#compare = compare;
    this.#trees = new SlotTrees((left, right) => this.#order(left, right));
  }

  #order(left: number, right: number): number {
    const here = this.near[left] as number;
    const there = this.near[right] as number;
    if (here !== there) return here < there ? -1 : 1;
    return this.#compare(left, right);
  }

  /** Makes room for groups and slots below these numbers. */
  resize(groups: number, slots: number): void {
    if (groups > this.#starts.length) {
      const room = grown(this.#starts.length, groups);
      this.#kinds = wider(Uint8Array, this.#kinds, room);
      this.#starts = wider(Int32Array, this.#starts, room);
      this.#counts = wider(Int32Array, this.#counts, room);
    }
    this.#slotLimit = Math.max(this.#slotLimit, slots);
    if (slots > this.near.length)
      this.near = wider(Float64Array, this.near, grown(this.near.length, slots));
    if (this.#treeCount > 0) this.#trees.resize(slots);
  }

  size(group: number): number {
    return this.#kinds[group] === TREE
      ? this.#trees.size(this.#starts[group] as number)
      : (this.#counts[group] as number);
  }

  insert(group: number, slot: number): void {
    const count = this.#counts[group] as number;
    const kind = this.#kinds[group] as number;
    if (kind === TREE) {
      this.#starts[group] = this.#trees.insert(this.#starts[group] as number, slot);
      return;
    }
    if (count === ROOMS[kind]) {
      if (kind === KIND_MAX) {
        this.#plant(group);
        this.#starts[group] = this.#trees.insert(this.#starts[group] as number, slot);
        return;
      }
      this.#move(group, kind + 1);
    }
    this.#insertInto(this.#starts[group] as number, count, slot);
    this.#counts[group] = count + 1;
  }

  #insertInto(start: number, count: number, slot: number): void {
    const slots = this.#slots;
    const nears = this.#nears;
    const near = this.near[slot] as number;
    let at = start + count;
    for (; at > start; at--) {
      const before = nears[at - 1] as number;
      if (before < near) break;
      if (before === near && this.#compare(slot, slots[at - 1] as number) >= 0) break;
      nears[at] = before;
      slots[at] = slots[at - 1] as number;
    }
    nears[at] = near;
    slots[at] = slot;
  }

  /** Gives a group a list of another kind. */
  #move(group: number, kind: number): void {
    const from = this.#starts[group] as number;
    const count = this.#counts[group] as number;
    const to = this.#allocate(kind);
    for (let at = 0; at < count; at++) {
      this.#slots[to + at] = this.#slots[from + at] as number;
      this.#nears[to + at] = this.#nears[from + at] as number;
    }
    this.#giveBack(group);
    this.#kinds[group] = kind;
    this.#starts[group] = to;
  }

  #allocate(kind: number): number {
    const given = this.#free[kind] as number;
    if (given >= 0) {
      this.#free[kind] = this.#slots[given] as number;
      return given;
    }
    const start = this.#used;
    this.#used += ROOMS[kind] as number;
    if (this.#used > this.#slots.length) {
      const room = grown(this.#slots.length, this.#used);
      this.#slots = wider(Int32Array, this.#slots, room);
      this.#nears = wider(Float64Array, this.#nears, room);
    }
    return start;
  }

  /** The group has no list any more. */
  #giveBack(group: number): void {
    const kind = this.#kinds[group] as number;
    if (kind === 0) return;
    const start = this.#starts[group] as number;
    this.#slots[start] = this.#free[kind] as number;
    this.#free[kind] = start;
    this.#kinds[group] = 0;
  }

  /** Makes a tree of a list. */
  #plant(group: number): void {
    this.#treeCount++;
    this.#trees.resize(this.#slotLimit);
    const start = this.#starts[group] as number;
    const count = this.#counts[group] as number;
    let link = 0;
    for (let at = start; at < start + count; at++)
      link = this.#trees.insert(link, this.#slots[at] as number);
    this.#giveBack(group);
    this.#counts[group] = 0;
    this.#kinds[group] = TREE;
    this.#starts[group] = link;
  }

  remove(group: number, slot: number): void {
    const start = this.#starts[group] as number;
    if (this.#kinds[group] === TREE) {
      const link = this.#trees.remove(start, slot);
      this.#starts[group] = link;
      if (link === 0) this.#kinds[group] = 0;
      return;
    }
    const slots = this.#slots;
    const nears = this.#nears;
    const last = start + (this.#counts[group] as number) - 1;
    let at = last;
    while (slots[at] !== slot) at--;
    for (; at < last; at++) {
      slots[at] = slots[at + 1] as number;
      nears[at] = nears[at + 1] as number;
    }
    this.#counts[group] = last - start;
    if (last === start) this.#giveBack(group);
  }

  /** The last slot of a group; `NONE` when it is empty. */
  last(group: number): number {
    const size = this.size(group);
    return size === 0 ? NONE : this.at(group, size - 1);
  }

  /** The slot with `index` slots before it, which must exist. */
  at(group: number, index: number): number {
    const start = this.#starts[group] as number;
    return this.#kinds[group] === TREE
      ? this.#trees.at(start, index)
      : (this.#slots[start + index] as number);
  }

  /** The number of slots of a group up to the last that compares equal to `slot`, in an order that the group's own refines. */
  countUpTo(group: number, slot: number, compare: CompareSlots): number {
    const start = this.#starts[group] as number;
    if (this.#kinds[group] === TREE) return this.#trees.countUpTo(start, slot, compare);
    let count = this.#counts[group] as number;
    while (count > 0 && compare(this.#slots[start + count - 1] as number, slot) > 0) count--;
    return count;
  }

  /**
   * The last slot of a group that compares equal to `slot`, which need not be in it; `NONE`: there is none.
   * @param compare  an order of two slots with one number, which the group's own refines
   */
  lastEqual(group: number, slot: number, compare: CompareSlots): number {
    const start = this.#starts[group] as number;
    if (this.#kinds[group] === TREE) {
      const found = this.#trees.lastEqual(start, slot, compare);
      return found === 0 ? NONE : found - 1;
    }
    const near = this.near[slot] as number;
    let at = start + (this.#counts[group] as number) - 1;
    while (at >= start && (this.#nears[at] as number) > near) at--;
    for (; at >= start && this.#nears[at] === near; at--) {
      const order = compare(slot, this.#slots[at] as number);
      if (order === 0) return this.#slots[at] as number;
      if (order > 0) return NONE;
    }
    return NONE;
  }

  /** Slots `[from, to)` of a group in order, to `out` from place `at` on; the place behind the last one. */
  copy(group: number, from: number, to: number, out: Int32Array, at: number): number {
    const start = this.#starts[group] as number;
    if (this.#kinds[group] === TREE) return this.#trees.copy(start, from, to, out, at);
    const end = Math.min(to, this.#counts[group] as number);
    let next = at;
    for (let index = from; index < end; index++) out[next++] = this.#slots[start + index] as number;
    return next;
  }

  /** All slots of a group in order. */
  slotsOf(group: number): Int32Array {
    const size = this.size(group);
    const slots = new Int32Array(size);
    this.copy(group, 0, size, slots, 0);
    return slots;
  }

  /** Forgets every group but these, which become groups 0, 1, 2, … in their order; those forgotten are empty. */
  retain(groups: Int32Array): void {
    this.#kinds = Uint8Array.from(groups, (group) => this.#kinds[group] as number);
    this.#starts = Int32Array.from(groups, (group) => this.#starts[group] as number);
    this.#counts = Int32Array.from(groups, (group) => this.#counts[group] as number);
  }

  bytes(): number {
    const lists = this.#slots.byteLength + this.#nears.byteLength;
    return this.#starts.byteLength * 3 + lists + this.near.byteLength + this.#trees.bytes();
  }
}
