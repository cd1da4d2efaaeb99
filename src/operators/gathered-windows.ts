/**
 * Windows on their way out: several with few rows share a batch.
 *
 * Place in the walk: stage 6, between `PaneWindows` and `WindowRows`. A batch costs the operators behind it some
 * microseconds, whatever its rows: a window that slides by a second and has five keys would spend most of its time there.
 * States of such windows are put one behind the other; results and columns are made of all of them at once.
 *
 * Invariants: rows leave window by window, in the order in which windows were added; nothing waits once `flush` returns.
 * A window of many rows, and aggregates whose states are not copied at no cost, leave by themselves.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { TIMESTAMP } from '../batch/types.ts';
import { areFlat } from '../expr/accumulator.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { allGroups, type GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import type { GroupedAggregates } from './group-aggregates.ts';
import type { Output } from './operator.ts';
import type { WindowResults, WindowRows, WindowTimes } from './window-rows.ts';

/** A window with more rows gains nothing from company. */
const FEW = 256;

/** Rows of one window: those before `to` that no window before has. */
type Gathered = { start: number; end: number; to: number };

export class GatheredWindows {
  readonly #rows: WindowRows;
  /** Only its accumulators are used: group r is row r. */
  readonly #sums: GroupedAggregates;
  readonly #isFlat: boolean;
  readonly #windows: Gathered[] = [];
  #count = 0;
  /** Of each row: its group in the index that was the latest when it came. */
  #groups = new Int32Array(0);
  #index: GroupIndex | null = null;
  /** Rows from here on are of that index; keys of those before have been taken. */
  #indexFrom = 0;
  readonly #keys: Column[][] = [];

  constructor(rows: WindowRows, sums: GroupedAggregates) {
    this.#rows = rows;
    this.#sums = sums;
    this.#isFlat = areFlat(sums.accumulators);
  }

  /** Takes in the rows of a window, its times being instants; it leaves now or at the next `flush`. */
  add(start: number, end: number, from: WindowResults, output: Output): void {
    const groups = from.groups();
    if (!this.#isFlat || groups.length > FEW) {
      this.flush(output);
      this.#rows.emitWindow(start, end, from, groups, output);
      return;
    }
    if (groups.length === 0) return;
    if (this.#count + groups.length > LIMITS.batchRowsDefault) this.flush(output);
    if (from.index !== this.#index) {
      this.#takeKeys();
      this.#index = from.index;
    }
    const first = this.#count;
    const count = first + groups.length;
    if (count > this.#groups.length)
      this.#groups = wider(Int32Array, this.#groups, grown(this.#groups.length, count));
    this.#groups.set(groups, first);
    for (const sum of this.#sums.accumulators) sum.resize(count);
    from.addTo(this.#sums.accumulators, first, groups);
    this.#windows.push({ start, end, to: count });
    this.#count = count;
  }

  #takeKeys(): void {
    if (this.#index !== null && this.#indexFrom < this.#count)
      this.#keys.push(this.#index.keyColumns(this.#groups.slice(this.#indexFrom, this.#count)));
    this.#indexFrom = this.#count;
  }

  flush(output: Output): void {
    const count = this.#count;
    if (count === 0) return;
    this.#takeKeys();
    const [first, ...others] = this.#keys;
    const keys = must(first, 'keys of the rows').map((column, at) =>
      others.length === 0
        ? column
        : concatColumns([column, ...others.map((part) => must(part[at], 'a key column'))]),
    );
    const errors = new RowErrors(count);
    const rows = allGroups(count);
    const results = this.#sums.accumulators.map((sum) => sum.results(rows, errors));
    const times = this.#times();
    this.#sums.clearStates();
    this.#windows.length = 0;
    this.#keys.length = 0;
    this.#count = 0;
    this.#index = null;
    this.#indexFrom = 0;
    this.#rows.emit(keys, results, times, errors, output);
  }

  #times(): WindowTimes {
    const [starts, ends, eventTimes] = [0, 0, 0].map(() => new Int32Array(2 * this.#count));
    let from = 0;
    for (const { start, end, to } of this.#windows) {
      fillTimes(starts as Int32Array, start, from, to);
      fillTimes(ends as Int32Array, end, from, to);
      fillTimes(eventTimes as Int32Array, end - 1, from, to);
      from = to;
    }
    const column = (words: Int32Array | undefined): Int64Column => ({
      tag: 'timestamp',
      type: TIMESTAMP,
      length: this.#count,
      validity: null,
      words: must(words, 'times'),
    });
    return { starts: column(starts), ends: column(ends), eventTime: column(eventTimes) };
  }
}

/** The same time in rows `[from, to)`. */
function fillTimes(words: Int32Array, micros: number, from: number, to: number): void {
  const low = micros | 0;
  const high = Math.floor(micros / 4294967296);
  for (let row = from; row < to; row++) {
    words[2 * row] = low;
    words[2 * row + 1] = high;
  }
}
