/**
 * The open panes of aligned windows, and which windows have been emitted.
 *
 * Place in the walk: stage 6, inside `WindowAggregate`. One set of aggregates for each pane that has rows, in order of
 * time. A window that is one pane leaves as it is; else a `SlidingWindow` holds the panes of the window that was emitted
 * last, and moves on from window to window, past those that are empty.
 *
 *     pane:  held ──its first window ends──▶ in the window ──its last window ends──▶ forgotten
 *
 * Invariants: INV-62 a window is emitted at most once: ends of emitted windows grow; a pane is kept until the last window
 * that holds it was emitted. All times are positions of the grid.
 */
import { must } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { areFlat } from '../expr/accumulator.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import { allGroups } from '../state/group-index.ts';
import type { EvaluatedBatch, GroupedAggregates } from './group-aggregates.ts';
import { PaneList } from './pane-list.ts';
import { addGroups, canSubtract, SlidingTotals, type SlidingWindow } from './sliding-totals.ts';
import { SlidingStacks } from './sliding-stacks.ts';
import type { WindowGrid } from './window-grid.ts';
import type { WindowResults } from './window-rows.ts';

export type Pane = {
  start: number;
  groups: GroupedAggregates;
  /** A snapshot has told of it, and since then `takeChanged` tells what is new. */
  saved: boolean;
};

/** So many empty panes are kept, of so many keys at most. */
const SPARE_MAX = 1024;
const SPARE_KEYS_MAX = 64;

/** `start` and `end` are positions. */
export type EmitWindow = (start: number, end: number, rows: WindowResults) => void;

export class PaneWindows {
  readonly #grid: WindowGrid;
  readonly #make: () => GroupedAggregates;
  readonly #panes = new PaneList<Pane>();
  /** Panes that were forgotten, empty, to be taken again: what many panes of few keys cost is mostly being made. */
  readonly #spare: GroupedAggregates[] = [];
  #sliding: SlidingWindow | null = null;
  /** Panes that start before this have entered `#sliding`. */
  #enteredTo = -Infinity;
  /** Windows that end here or before have been emitted. */
  #emittedTo: number;

  constructor(grid: WindowGrid, make: () => GroupedAggregates, emittedTo: number) {
    this.#grid = grid;
    this.#make = make;
    this.#emittedTo = emittedTo;
  }

  get emittedTo(): number {
    return this.#emittedTo;
  }

  /** In order of time. */
  get panes(): readonly Pane[] {
    return this.#panes.all();
  }

  /** Rows `[from, to)` belong to the pane at `start`. */
  update(start: number, evaluated: EvaluatedBatch, from: number, to: number): void {
    const { groups } = this.#paneAt(start);
    groups.take(evaluated, from, to);
    if (start >= this.#enteredTo) return;
    // Rare: out of the watermark's bound, too late for some windows of the pane and in time for others.
    const rows = this.#make();
    rows.take(evaluated, from, to);
    this.#sliding?.amend(groups, rows);
  }

  /** Folds in partial states as `GroupedAggregates.stateColumns` gives them. */
  fold(start: number, states: readonly Column[], rows: number): void {
    const { groups } = this.#paneAt(start);
    groups.mergeNew(states, rows);
    if (start >= this.#enteredTo) return;
    const folded = this.#make();
    folded.merge(states, rows);
    this.#sliding?.amend(groups, folded);
  }

  /** Folds in rows of a snapshot, before anything was emitted: states without entries. */
  foldSaved(start: number, columns: readonly Column[], rows: number): void {
    this.#paneAt(start).groups.mergeSaved(columns, rows);
  }

  /** As `foldSaved`, entries of an accumulator: those of panes that are not there any more are left out. */
  foldEntries(start: number, accumulator: number, columns: readonly Column[], rows: number): void {
    this.#panes.startingAt(start)?.groups.mergeEntries(accumulator, columns, rows);
  }

  #paneAt(start: number): Pane {
    const known = this.#panes.startingAt(start);
    if (known !== undefined) return known;
    const pane = { start, groups: this.#spare.pop() ?? this.#make(), saved: false };
    // A pane has about as many keys as the one before; half of them cost a single growth and no more memory than they are worth.
    pane.groups.index.reserve((this.#panes.newest?.groups.count ?? 0) >> 1);
    this.#panes.add(pane);
    // A pane of its own between those that are in the window already.
    if (start < this.#enteredTo) this.#restart();
    return pane;
  }

  /** Forgets which panes are in the window: they enter again. */
  #restart(): void {
    this.#sliding = null;
    this.#enteredTo = -Infinity;
  }

  /** Emits the windows that end at `position` or before. */
  advance(position: number, emit: EmitWindow): void {
    for (;;) {
      const { oldest } = this.#panes;
      if (oldest === undefined) break;
      const from = Math.max(this.#emittedTo, oldest.start + this.#grid.pane - 1);
      const end = this.#grid.endAfter(from);
      if (end > position) break;
      this.#emit(this.#grid.startOf(end), end, emit);
      this.#emittedTo = end;
      this.#forget(end);
    }
    this.#emittedTo = Math.max(this.#emittedTo, position);
  }

  #emit(start: number, end: number, emit: EmitWindow): void {
    if (this.#grid.single) {
      emit(start, end, wholePane(must(this.#panes.oldest, 'an open pane').groups));
      return;
    }
    this.#sliding ??= this.#makeSliding();
    for (let at = this.#panes.firstFrom(this.#enteredTo); at < this.#panes.length; at++) {
      const pane = this.#panes.at(at);
      if (pane.start >= end) break;
      this.#sliding.enter(pane.groups);
    }
    this.#enteredTo = end;
    emit(start, end, this.#sliding);
  }

  #makeSliding(): SlidingWindow {
    const empty = this.#make();
    return this.#grid.cumulates || canSubtract(empty.accumulators)
      ? new SlidingTotals(empty)
      : new SlidingStacks(this.#make);
  }

  /** Drops the panes that no window after the one that ended at `end` holds. */
  #forget(end: number): void {
    let count = 0;
    for (;;) {
      const { oldest } = this.#panes;
      if (oldest === undefined || this.#grid.lastEndOf(oldest.start) > end) break;
      if (!this.#grid.cumulates) this.#sliding?.leave(oldest.groups);
      this.#panes.dropOldest();
      this.#keepSpare(oldest.groups);
      count++;
    }
    // The panes of a cumulating window go all at once.
    if (count > 0 && this.#grid.cumulates) this.#sliding = null;
  }

  /** A window that is one pane may be on its way out still, and one that cumulates refers to its panes. */
  #keepSpare(groups: GroupedAggregates): void {
    if (this.#grid.single || this.#grid.cumulates) return;
    if (groups.count > SPARE_KEYS_MAX || this.#spare.length === SPARE_MAX) return;
    if (!areFlat(groups.accumulators)) return;
    groups.clear();
    this.#spare.push(groups);
  }

  /** Hashes of keys, some more than once, with rows in windows that have closed. */
  closedHashes(): Uint32Array[] {
    const hashes = this.#sliding === null ? [] : [this.#sliding.hashes()];
    for (const { start, groups } of this.#panes
      .all()
      .slice(this.#panes.firstFrom(this.#enteredTo))) {
      if (start < this.#emittedTo) hashes.push(groups.index.hashesOf(allGroups(groups.count)));
    }
    return hashes;
  }

  /** How many windows hold rows and have not been emitted, and the position where the first of them ends. */
  open(): { count: number; firstEnd: number | null } {
    let count = 0;
    let firstEnd: number | null = null;
    let counted = this.#emittedTo;
    for (const { start } of this.#panes.all()) {
      const first = this.#grid.endAfter(Math.max(counted, start + this.#grid.pane - 1));
      const last = this.#grid.lastEndOf(start);
      if (last < first) continue;
      count += this.#grid.countOfEnds(first, last);
      firstEnd ??= first;
      counted = last;
    }
    return { count, firstEnd };
  }

  rows(): number {
    return this.#panes.all().reduce((sum, pane) => sum + pane.groups.count, 0);
  }

  bytes(): number {
    return this.#panes.all().reduce(
      (sum, pane) => sum + pane.groups.bytes(),
      this.#spare.reduce((sum, spare) => sum + spare.bytes(), this.#sliding?.bytes() ?? 0),
    );
  }
}

const wholePane = (pane: GroupedAggregates): WindowResults => ({
  groups: () => allGroups(pane.count),
  keyColumns: (groups) => pane.index.keyColumns(groups),
  results: (groups: Int32Array, errors: RowErrors) =>
    pane.accumulators.map((each) => each.results(groups, errors)),
  index: pane.index,
  addTo: (sums, first, groups) => addGroups(sums, first, pane.accumulators, groups),
});
