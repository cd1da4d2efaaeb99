/**
 * What the panes of a moving window add up to, by adding the pane that enters and taking away the one that leaves.
 *
 * Place in the walk: stage 6, under hopping windows of aggregates that can give a partial state back (`subtract`), and
 * under cumulating windows, whose panes never leave one by one. A slide costs what its two panes hold.
 *
 * Invariants: a group has rows exactly while a pane in the window has its key; totals are exact, so that the order in
 * which panes come and go leaves no trace.
 */
import { must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { mergeGroups, subtractGroups, type Accumulator } from '../expr/accumulator.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { allGroups, firstGroups, type GroupIndex } from '../state/group-index.ts';
import type { GroupedAggregates } from './group-aggregates.ts';
import type { WindowResults } from './window-rows.ts';

/** What a window is made of: panes enter in order of time and leave in the same order. */
export interface SlidingWindow extends WindowResults {
  enter(pane: GroupedAggregates): void;
  /** The oldest pane leaves; it is as it was last shown. */
  leave(pane: GroupedAggregates): void;
  /** `rows` came to a pane that is in already. */
  amend(pane: GroupedAggregates, rows: GroupedAggregates): void;
  /** The routing hash of every key. */
  hashes(): Uint32Array;
  bytes(): number;
}

/** Groups without rows are swept when there are more of them than this and than of the others. */
const EMPTY_GROUPS_MAX = 1024;

export class SlidingTotals implements SlidingWindow {
  readonly #totals: GroupedAggregates;
  /** Of each pane's group: its group here. */
  readonly #groupsOf = new Map<GroupedAggregates, Int32Array>();
  /** In how many panes a group has rows. */
  #panes: Int32Array = new Int32Array(16);
  #emptyCount = 0;

  constructor(empty: GroupedAggregates) {
    this.#totals = empty;
  }

  enter(pane: GroupedAggregates): void {
    this.#groupsOf.set(pane, this.#add(pane));
  }

  #add(rows: GroupedAggregates): Int32Array {
    const before = this.#totals.count;
    const groups = this.#totals.mergeAllOf(rows);
    this.#emptyCount += this.#totals.count - before;
    this.#makeRoom();
    for (let at = 0; at < groups.length; at++) this.#countPane(groups[at] as number);
    return groups;
  }

  #makeRoom(): void {
    const { count } = this.#totals;
    if (count <= this.#panes.length) return;
    const wider = new Int32Array(Math.max(count, this.#panes.length * 2));
    wider.set(this.#panes);
    this.#panes = wider;
  }

  #countPane(group: number): void {
    if (this.#panes[group] === 0) this.#emptyCount--;
    this.#panes[group] = (this.#panes[group] as number) + 1;
  }

  leave(pane: GroupedAggregates): void {
    const groups = must(this.#groupsOf.get(pane), 'a pane that has entered');
    this.#groupsOf.delete(pane);
    const all = firstGroups(groups.length);
    this.#totals.accumulators.forEach((accumulator, at) => {
      const states = must(pane.accumulators[at], 'an accumulator');
      subtractGroups(accumulator, groups, groups.length, states, all);
    });
    const panes = this.#panes;
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      const left = (panes[group] as number) - 1;
      panes[group] = left;
      if (left === 0) this.#emptyCount++;
    }
    if (this.#emptyCount > EMPTY_GROUPS_MAX && this.#emptyCount * 2 > this.#totals.count)
      this.#sweep();
  }

  amend(pane: GroupedAggregates, rows: GroupedAggregates): void {
    const known = must(this.#groupsOf.get(pane), 'a pane that has entered');
    const before = this.#totals.count;
    this.#totals.mergeAllOf(rows);
    this.#emptyCount += this.#totals.count - before;
    this.#makeRoom();
    if (pane.count === known.length) return;
    const added = allGroups(pane.count).subarray(known.length);
    const groups = new Int32Array(pane.count);
    groups.set(known);
    const found = groups.subarray(known.length);
    this.#totals.index.lookupOrInsert(pane.index.keyColumns(added), 0, added.length, found);
    for (const group of found) this.#countPane(group);
    this.#groupsOf.set(pane, groups);
  }

  #sweep(): void {
    const kept = this.groups();
    const renumbered = new Int32Array(this.#totals.count).fill(-1);
    const panes = new Int32Array(kept.length);
    for (let at = 0; at < kept.length; at++) {
      const group = kept[at] as number;
      renumbered[group] = at;
      panes[at] = this.#panes[group] as number;
    }
    this.#totals.retain(kept);
    this.#panes = panes;
    for (const groups of this.#groupsOf.values())
      for (let at = 0; at < groups.length; at++)
        groups[at] = renumbered[groups[at] as number] as number;
    this.#emptyCount = 0;
  }

  groups(): Int32Array {
    const { count } = this.#totals;
    if (this.#emptyCount === 0) return allGroups(count);
    const panes = this.#panes;
    const groups = new Int32Array(count - this.#emptyCount);
    let at = 0;
    for (let group = 0; group < count; group++)
      if ((panes[group] as number) > 0) groups[at++] = group;
    return groups;
  }

  keyColumns(groups: Int32Array): Column[] {
    return this.#totals.index.keyColumns(groups);
  }

  get index(): GroupIndex {
    return this.#totals.index;
  }

  addTo(sums: readonly Accumulator[], first: number, groups: Int32Array): void {
    addGroups(sums, first, this.#totals.accumulators, groups);
  }

  results(groups: Int32Array, errors: RowErrors): Column[] {
    return this.#totals.accumulators.map((each) => each.results(groups, errors));
  }

  hashes(): Uint32Array {
    return this.#totals.index.hashesOf(this.groups());
  }

  bytes(): number {
    let bytes = this.#totals.bytes() + this.#panes.byteLength;
    for (const groups of this.#groupsOf.values()) bytes += groups.byteLength;
    return bytes;
  }
}

/** Whether totals of these aggregates can be kept by adding and taking away. */
export const canSubtract = (accumulators: readonly Accumulator[]): boolean =>
  accumulators.every((each) => each.subtract !== undefined);

/** Folds the states of `groups` into `sums`: the first into group `first`, and so on. */
export function addGroups(
  sums: readonly Accumulator[],
  first: number,
  from: readonly Accumulator[],
  groups: Int32Array,
): void {
  const count = groups.length;
  const into = firstGroups(first + count).subarray(first, first + count);
  for (let at = 0; at < sums.length; at++)
    mergeGroups(sums[at] as Accumulator, into, count, from[at] as Accumulator, groups);
}
