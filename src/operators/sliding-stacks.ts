/**
 * What the panes of a moving window add up to, for aggregates that cannot take away: two stacks for each key.
 *
 * Place in the walk: stage 6, under hopping windows of min, max and the like. Panes that entered are
 * summed up in `#back`. When a pane has to leave and none is in front, all of them turn over into the front: there, each
 * pane's entry of a key holds the sum of that pane and all later ones up to the turn, so that leaving is forgetting the
 * oldest entry. A window is front entry + back. Every entry is merged three times in its life: a slide costs, spread
 * out, what its panes hold, and nothing depends on how many panes a window has.
 *
 * Invariants: as `SlidingTotals`. A row that comes to a pane in front makes everything turn over again. Keys keep their
 * groups when the panes turn over, unless most of them have no rows any more.
 */
import { assert, must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { mergeGroups, type Accumulator } from '../expr/accumulator.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { allGroups, firstGroups, type GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import type { GroupedAggregates } from './group-aggregates.ts';
import type { SlidingWindow } from './sliding-totals.ts';

/** A pane in the window, where its groups are, and in front the first of its entries. */
type Entered = { pane: GroupedAggregates; groups: Int32Array; firstEntry: number };

/** Groups without rows are swept at a turn when there are more of them than this and than of the others. */
const EMPTY_GROUPS_MAX = 16;

export class SlidingStacks implements SlidingWindow {
  /** Every key of the window; the sums of the panes at the back. */
  readonly #back: GroupedAggregates;
  #backPanes: Entered[] = [];
  /** Entries of the panes in front, the newest pane's first. */
  readonly #front: GroupedAggregates;
  #frontPanes: Entered[] = [];
  /** Where results are summed up. */
  readonly #sums: GroupedAggregates;
  /** Of each group: its oldest entry in front; -1: none. */
  #oldest = new Int32Array(0);
  /** Of each entry: the next newer one of its group; -1: none. */
  #newer = new Int32Array(0);
  /** In how many panes a group has rows. */
  #panes = new Int32Array(0);
  /** How many groups are in none. */
  #emptyCount = 0;
  #stale = false;
  /** Lists of groups and entries at work. */
  #into = new Int32Array(0);
  #from = new Int32Array(0);

  constructor(make: () => GroupedAggregates) {
    this.#back = make();
    this.#front = make();
    this.#sums = make();
  }

  get index(): GroupIndex {
    return this.#back.index;
  }

  enter(pane: GroupedAggregates): void {
    const before = this.#back.count;
    const groups = this.#back.mergeAllOf(pane);
    this.#makeRoom(before);
    for (let at = 0; at < groups.length; at++) this.#countPane(groups[at] as number);
    this.#backPanes.push({ pane, groups, firstEntry: -1 });
  }

  /** Room for groups that came since there were `before`. */
  #makeRoom(before: number): void {
    const { count } = this.#back;
    this.#emptyCount += count - before;
    if (count <= this.#panes.length) return;
    const known = this.#panes.length;
    const room = grown(known, count);
    this.#panes = wider(Int32Array, this.#panes, room);
    this.#oldest = wider(Int32Array, this.#oldest, room).fill(-1, known);
  }

  #countPane(group: number): void {
    if (this.#panes[group] === 0) this.#emptyCount--;
    this.#panes[group] = (this.#panes[group] as number) + 1;
  }

  leave(pane: GroupedAggregates): void {
    if (this.#stale || this.#frontPanes.length === 0) this.#turnOver();
    const oldest = must(this.#frontPanes.shift(), 'a pane that has entered');
    assert(oldest.pane === pane, 'panes leave in the order in which they entered');
    const { groups, firstEntry } = oldest;
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      this.#oldest[group] = this.#newer[firstEntry + at] as number;
      const left = (this.#panes[group] as number) - 1;
      this.#panes[group] = left;
      if (left === 0) this.#emptyCount++;
    }
  }

  amend(pane: GroupedAggregates, rows: GroupedAggregates): void {
    const inBack = this.#backPanes.find((each) => each.pane === pane);
    const entered = inBack ?? this.#frontPanes.find((each) => each.pane === pane);
    const known = must(entered, 'a pane that has entered');
    if (inBack === undefined) this.#stale = true;
    const groupsBefore = this.#back.count;
    if (!this.#stale) this.#back.mergeAllOf(rows);
    const before = known.groups.length;
    if (pane.count > before) {
      const added = allGroups(pane.count).subarray(before);
      const groups = wider(Int32Array, known.groups, pane.count);
      const found = groups.subarray(before);
      this.#back.index.lookupOrInsert(pane.index.keyColumns(added), 0, added.length, found);
      known.groups = groups;
    }
    this.#makeRoom(groupsBefore);
    for (let at = before; at < pane.count; at++) this.#countPane(known.groups[at] as number);
  }

  /** Everything becomes front. */
  #turnOver(): void {
    const all = [...this.#frontPanes, ...this.#backPanes];
    this.#stale = false;
    const empty = this.#emptyCount;
    if (empty > EMPTY_GROUPS_MAX && empty * 2 > this.#back.count) this.#sweep(all);
    this.#back.clearStates();
    this.#oldest.fill(-1);
    const entries = all.reduce((sum, { groups }) => sum + groups.length, 0);
    if (this.#newer.length < entries)
      this.#newer = new Int32Array(grown(this.#newer.length, entries));
    this.#front.clearStates(entries);
    let firstEntry = 0;
    for (let at = all.length - 1; at >= 0; at--) {
      const entered = all[at] as Entered;
      entered.firstEntry = firstEntry;
      this.#stack(entered);
      firstEntry += entered.groups.length;
    }
    this.#backPanes = [];
    this.#frontPanes = all;
  }

  /** Forgets keys that no pane has any more. */
  #sweep(entered: readonly Entered[]): void {
    const kept = this.groups();
    const renumbered = new Int32Array(this.#back.count);
    const panes = this.#panes;
    for (let at = 0; at < kept.length; at++) {
      const group = kept[at] as number;
      renumbered[group] = at;
      panes[at] = panes[group] as number;
    }
    panes.fill(0, kept.length);
    this.#back.retain(kept);
    for (const { groups } of entered)
      for (let at = 0; at < groups.length; at++)
        groups[at] = renumbered[groups[at] as number] as number;
    this.#emptyCount = 0;
  }

  /** Puts a pane that is older than all others in front: its own states, and what was on top for the same keys. */
  #stack({ pane, groups, firstEntry }: Entered): void {
    const count = groups.length;
    this.#makeLists(count);
    const own = this.#into;
    const above = this.#from;
    for (let at = 0; at < count; at++) {
      const group = groups[at] as number;
      const entry = firstEntry + at;
      const newer = this.#oldest[group] as number;
      own[at] = entry;
      above[at] = newer;
      this.#newer[entry] = newer;
      this.#oldest[group] = entry;
    }
    const all = firstGroups(count);
    this.#front.accumulators.forEach((accumulator, at) => {
      const states = must(pane.accumulators[at], 'an accumulator');
      mergeGroups(accumulator, own, count, states, all);
      mergeGroups(accumulator, own, count, accumulator, above);
    });
  }

  #makeLists(count: number): void {
    if (count <= this.#into.length) return;
    const room = grown(this.#into.length, count);
    this.#into = new Int32Array(room);
    this.#from = new Int32Array(room);
  }

  groups(): Int32Array {
    if (this.#stale) this.#turnOver();
    const { count } = this.#back;
    if (this.#emptyCount === 0) return allGroups(count);
    const groups = new Int32Array(count - this.#emptyCount);
    let at = 0;
    for (let group = 0; group < count; group++)
      if ((this.#panes[group] as number) > 0) groups[at++] = group;
    return groups;
  }

  keyColumns(groups: Int32Array): Column[] {
    return this.#back.index.keyColumns(groups);
  }

  addTo(sums: readonly Accumulator[], first: number, groups: Int32Array): void {
    const count = groups.length;
    this.#makeLists(count);
    const into = this.#into;
    const oldest = this.#from;
    for (let at = 0; at < count; at++) {
      into[at] = first + at;
      oldest[at] = this.#oldest[groups[at] as number] as number;
    }
    for (let at = 0; at < sums.length; at++) {
      const sum = sums[at] as Accumulator;
      mergeGroups(sum, into, count, this.#front.accumulators[at] as Accumulator, oldest);
      if (this.#backPanes.length > 0)
        mergeGroups(sum, into, count, this.#back.accumulators[at] as Accumulator, groups);
    }
  }

  results(groups: Int32Array, errors: RowErrors): Column[] {
    this.#sums.clearStates(groups.length);
    const { accumulators } = this.#sums;
    this.addTo(accumulators, 0, groups);
    const rows = allGroups(groups.length);
    return accumulators.map((sum) => sum.results(rows, errors));
  }

  hashes(): Uint32Array {
    return this.#back.index.hashesOf(this.groups());
  }

  bytes(): number {
    const flat = this.#panes.byteLength + this.#oldest.byteLength + this.#newer.byteLength;
    return this.#back.bytes() + this.#front.bytes() + this.#sums.bytes() + flat;
  }
}
