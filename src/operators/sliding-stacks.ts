/**
 * What the panes of a moving window add up to, for aggregates that cannot take away: two stacks for each key.
 *
 * Place in the walk: stage 6, under hopping windows of min, max, sums of DOUBLE and the like. Panes that entered are
 * summed up in `#back`. When a pane has to leave and none is in front, all of them turn over into the front: there, each
 * pane's entry of a key holds the sum of that pane and all later ones up to the turn, so that leaving is forgetting the
 * oldest entry. A window is front entry + back. Every entry is merged three times in its life: a slide costs, spread
 * out, what its panes hold, and nothing depends on how many panes a window has.
 *
 * Invariants: as `SlidingTotals`. A row that comes to a pane in front makes everything turn over again.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import type { Accumulator } from '../expr/accumulator.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { allGroups } from '../state/group-index.ts';
import type { GroupedAggregates } from './group-aggregates.ts';
import type { SlidingWindow } from './sliding-totals.ts';

/** A pane in the window, and where its groups are. */
type Entered = { pane: GroupedAggregates; groups: Int32Array };

export class SlidingStacks implements SlidingWindow {
  readonly #make: () => GroupedAggregates;
  /** Every key of the window; the sums of the panes at the back. */
  #back: GroupedAggregates;
  #backPanes: Entered[] = [];
  /** Entries of the panes in front, the newest pane's first. */
  #front: readonly Accumulator[];
  #frontPanes: (Entered & { firstEntry: number })[] = [];
  /** Of each group: its oldest entry in front; -1: none. */
  #oldest = new Int32Array(0);
  /** Of each entry: the next newer one of its group; -1: none. */
  #newer = new Int32Array(0);
  /** In how many panes a group has rows. */
  #panes = new Int32Array(0);
  #stale = false;

  constructor(make: () => GroupedAggregates) {
    this.#make = make;
    this.#back = make();
    this.#front = make().accumulators;
  }

  enter(pane: GroupedAggregates): void {
    const groups = this.#back.merge(statesOf(pane), pane.count);
    this.#makeRoom();
    for (const group of groups) this.#panes[group] = (this.#panes[group] as number) + 1;
    this.#backPanes.push({ pane, groups });
  }

  #makeRoom(): void {
    const { count } = this.#back;
    if (count <= this.#panes.length) return;
    const room = Math.max(count, this.#panes.length * 2);
    const panes = new Int32Array(room);
    panes.set(this.#panes);
    this.#panes = panes;
    const oldest = new Int32Array(room).fill(-1);
    oldest.set(this.#oldest);
    this.#oldest = oldest;
  }

  leave(pane: GroupedAggregates): void {
    if (this.#stale || this.#frontPanes.length === 0) this.#turnOver();
    const oldest = must(this.#frontPanes.shift(), 'a pane that has entered');
    assert(oldest.pane === pane, 'panes leave in the order in which they entered');
    const { groups, firstEntry } = oldest;
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      this.#oldest[group] = this.#newer[firstEntry + at] as number;
      this.#panes[group] = (this.#panes[group] as number) - 1;
    }
  }

  amend(pane: GroupedAggregates, rows: GroupedAggregates): void {
    const known = this.#backPanes.find((each) => each.pane === pane);
    if (this.#stale || known === undefined) {
      this.#stale = true;
      return;
    }
    this.#back.merge(statesOf(rows), rows.count);
    this.#makeRoom();
    const before = known.groups.length;
    if (pane.count === before) return;
    const groups = new Int32Array(pane.count);
    groups.set(known.groups);
    const added = allGroups(pane.count).subarray(before);
    const found = groups.subarray(before);
    this.#back.index.lookupOrInsert(pane.index.keyColumns(added), 0, added.length, found);
    for (const group of found) this.#panes[group] = (this.#panes[group] as number) + 1;
    known.groups = groups;
  }

  /** Everything becomes front; keys that no pane has any more are forgotten. */
  #turnOver(): void {
    const all = [...this.#frontPanes, ...this.#backPanes];
    this.#stale = false;
    this.#back = this.#make();
    this.#backPanes = [];
    this.#panes = new Int32Array(0);
    this.#oldest = new Int32Array(0);
    const entries = all.reduce((sum, { pane }) => sum + pane.count, 0);
    this.#newer = new Int32Array(entries);
    this.#front = this.#make().accumulators;
    for (const accumulator of this.#front) accumulator.resize(entries);
    this.#frontPanes = [];
    let firstEntry = 0;
    for (const { pane } of all.reverse()) {
      const groups = new Int32Array(pane.count);
      const keys = pane.index.keyColumns(allGroups(pane.count));
      this.#back.index.lookupOrInsert(keys, 0, pane.count, groups);
      this.#makeRoom();
      this.#stack(pane, groups, firstEntry);
      this.#frontPanes.push({ pane, groups, firstEntry });
      firstEntry += pane.count;
    }
    this.#frontPanes.reverse();
    for (const accumulator of this.#back.accumulators) accumulator.resize(this.#back.count);
  }

  /** Puts a pane that is older than all others in front: its own states, and what was on top for the same keys. */
  #stack(pane: GroupedAggregates, groups: Int32Array, firstEntry: number): void {
    const { count } = pane;
    const own = new Int32Array(count);
    const before: number[] = [];
    const above: number[] = [];
    for (let at = 0; at < count; at++) {
      const group = groups[at] as number;
      const entry = firstEntry + at;
      const newer = this.#oldest[group] as number;
      own[at] = entry;
      this.#newer[entry] = newer;
      this.#oldest[group] = entry;
      this.#panes[group] = (this.#panes[group] as number) + 1;
      if (newer < 0) continue;
      before.push(newer);
      above.push(entry);
    }
    const all = allGroups(count);
    const [from, to] = [Int32Array.from(before), Int32Array.from(above)];
    this.#front.forEach((accumulator, at) => {
      const states = must(pane.accumulators[at], 'an accumulator').stateColumns(all);
      accumulator.merge(own, count, states);
      if (to.length > 0) accumulator.merge(to, to.length, accumulator.stateColumns(from));
    });
  }

  groups(): Int32Array {
    if (this.#stale) this.#turnOver();
    return allGroups(this.#back.count).filter((group) => (this.#panes[group] as number) > 0);
  }

  keyColumns(groups: Int32Array): Column[] {
    return this.#back.index.keyColumns(groups);
  }

  results(groups: Int32Array, errors: RowErrors): Column[] {
    const rows = allGroups(groups.length);
    const inFront = rows.filter((row) => (this.#oldest[groups[row] as number] as number) >= 0);
    const entries = inFront.map((row) => this.#oldest[groups[row] as number] as number);
    return this.#make().accumulators.map((sum, at) => {
      const front = must(this.#front[at], 'an accumulator');
      const back = must(this.#back.accumulators[at], 'an accumulator');
      sum.resize(groups.length);
      if (inFront.length > 0) sum.merge(inFront, inFront.length, front.stateColumns(entries));
      if (this.#backPanes.length > 0) sum.merge(rows, groups.length, back.stateColumns(groups));
      return sum.results(rows, errors);
    });
  }

  hashes(): Uint32Array {
    return this.#back.index.hashesOf(this.groups());
  }

  bytes(): number {
    const front = this.#front.reduce((sum, each) => sum + each.bytes(), 0);
    const flat = this.#panes.byteLength + this.#oldest.byteLength + this.#newer.byteLength;
    return this.#back.bytes() + front + flat;
  }
}

const statesOf = (rows: GroupedAggregates): Column[] => rows.stateColumns(allGroups(rows.count));
