/**
 * The groups of all windows that end at one time, and what of them is out downstream.
 *
 * Place in the walk: stage 6, inside `BucketedWindowAggregate`. Rows may be retractions; a group without rows is no
 * row of the result.
 * Invariants: INV-64 rows emitted less those retracted are at most one row per group and window; a retraction equals
 * what was emitted, which is kept for that.
 * Failure: a group whose result does not fit its type keeps its last good row, if it has one.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { nullColumn } from '../batch/column-builder.ts';
import { bitAt, bitmapBytes, setBit, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { takeColumn } from '../batch/take.ts';
import { BOOLEAN, FLOAT64, type Field, type Schema } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups } from '../state/group-index.ts';
import { GroupedAggregates, type EvaluatedBatch } from './group-aggregates.ts';

/** Rows that leave: keys and results side by side, old rows before the new rows of the same groups. */
export type Changes = {
  /** Neither keys nor results need to have columns. */
  rows: number;
  keys: readonly Column[];
  results: readonly Column[];
  retract: Uint8Array | null;
  errors: RowErrors | null;
};

export class WindowBucket {
  readonly #calls: readonly AggregateCall[];
  readonly #grouped: GroupedAggregates;
  /** Whether rows that are out may be taken back. */
  readonly #updated: boolean;
  /** Rows in each group, appends less retractions. */
  #rowCounts = new Float64Array(8);
  /** 1: the group's row in `#emitted` is out. */
  #isOut = new Uint8Array(8);
  readonly #emitted: readonly ColumnStore[];
  /** 1: what is out may not be what the group holds. */
  #isDirty = new Uint8Array(8);
  #dirty: number[] = [];
  /** 1: the snapshot before does not have the group as it is. */
  #isUnsaved = new Uint8Array(8);

  constructor(keys: readonly Expr[], calls: readonly AggregateCall[], updated: boolean) {
    this.#calls = calls;
    this.#grouped = new GroupedAggregates(keys, calls);
    this.#updated = updated;
    this.#emitted = updated ? calls.map((call) => makeColumnStore(call.type)) : [];
  }

  get count(): number {
    return this.#grouped.count;
  }

  add(evaluated: EvaluatedBatch, from: number, to: number): void {
    const groups = this.#grouped.groupsOf(evaluated, from, to);
    this.#makeRoom();
    const { retract } = evaluated.batch;
    for (let row = from; row < to; row++) {
      const group = groups[row - from] as number;
      const step = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#rowCounts[group] = (this.#rowCounts[group] as number) + step;
      this.#touch(group);
    }
    this.#grouped.update(evaluated, from, to, groups);
  }

  #touch(group: number): void {
    this.#isUnsaved[group] = 1;
    if (this.#isDirty[group] === 1) return;
    this.#isDirty[group] = 1;
    this.#dirty.push(group);
  }

  #makeRoom(): void {
    const { count } = this.#grouped;
    if (count > this.#rowCounts.length) {
      const room = Math.max(count, this.#rowCounts.length * 2);
      const rowCounts = new Float64Array(room);
      rowCounts.set(this.#rowCounts);
      this.#rowCounts = rowCounts;
      this.#isOut = wider(this.#isOut, room);
      this.#isDirty = wider(this.#isDirty, room);
      this.#isUnsaved = wider(this.#isUnsaved, room);
    }
    this.#emitted.forEach((store, at) => {
      const absent = nullColumn(must(this.#calls[at], 'an aggregate').type, 1);
      while (store.length < count) store.append(absent, 0);
    });
  }

  /** Hands what has changed since the last time to `emit`, a batch at a time. */
  flush(emit: (changes: Changes) => void): void {
    const dirty = Int32Array.from(this.#dirty);
    this.#dirty = [];
    const step = LIMITS.batchRowsDefault >> 1;
    for (let from = 0; from < dirty.length; from += step) {
      const groups = dirty.subarray(from, from + step);
      for (const group of groups) {
        this.#isDirty[group] = 0;
        this.#isUnsaved[group] = 1;
      }
      emit(this.#updated ? this.#changes(groups) : this.#rows(groups));
    }
  }

  /** The rows of a window that leaves once. */
  #rows(dirty: Int32Array): Changes {
    const groups = dirty.filter((group) => (this.#rowCounts[group] as number) > 0);
    const errors = new RowErrors(groups.length);
    const results = this.#grouped.accumulators.map((each) => each.results(groups, errors));
    const keys = this.#grouped.index.keyColumns(groups);
    return {
      rows: groups.length,
      keys,
      results,
      retract: null,
      errors: errors.failed ? errors : null,
    };
  }

  #changes(groups: Int32Array): Changes {
    const count = groups.length;
    const errors = new RowErrors(count);
    const results = this.#grouped.accumulators.map((each) => each.results(groups, errors));
    const before = this.#emitted.map((store) => store.gather(groups));
    // Index i < count is the old row of groups[i], count + i its new one.
    const picked: number[] = [];
    for (let at = 0; at < count; at++) {
      const group = groups[at] as number;
      const alive = (this.#rowCounts[group] as number) > 0;
      const wasOut = this.#isOut[group] === 1;
      if (alive && errors.hasFailed(at)) {
        picked.push(-1 - at);
        continue;
      }
      const same = (store: ColumnStore, part: number): boolean =>
        store.equals(group, must(results[part], 'a result'), at);
      if (wasOut && alive && this.#emitted.every(same)) continue;
      if (wasOut) picked.push(at);
      if (alive) picked.push(count + at);
      this.#isOut[group] = alive ? 1 : 0;
      if (alive)
        this.#emitted.forEach((store, part) => {
          store.set(group, must(results[part], 'a result'), at);
        });
    }
    return this.#picked(groups, before, results, picked, errors);
  }

  /** Rows that failed are named by what is below 0; they are reported as they would have been. */
  #picked(
    groups: Int32Array,
    before: readonly Column[],
    after: readonly Column[],
    picked: readonly number[],
    failed: RowErrors,
  ): Changes {
    const count = groups.length;
    const rows = picked.length;
    const indices = Int32Array.from(picked, (index) => (index < 0 ? count - 1 - index : index));
    const keys = this.#grouped.index.keyColumns(
      indices.map((index) => groups[index % count] as number),
    );
    const results = before.map((old, at) =>
      takeColumn(concatColumns([old, must(after[at], 'a result')]), indices, rows),
    );
    const retract = Uint8Array.from(indices, (index) => (index < count ? 1 : 0));
    if (!failed.failed) return { rows, keys, results, retract, errors: null };
    const errors = new RowErrors(rows);
    const rowOf = new Map(picked.flatMap((index, row) => (index < 0 ? [[-1 - index, row]] : [])));
    for (const error of failed.list) {
      const row = rowOf.get(error.row);
      if (row !== undefined) errors.fail(row, error.code, error.message, error.column);
    }
    return { rows, keys, results, retract, errors };
  }

  /** Keys, states, rows; where rows may be taken back also what is out. */
  stateSchema(): Schema {
    const emitted = this.#calls.map((call, at): Field => ({
      name: `emitted${at}`,
      type: call.type,
      nullable: true,
    }));
    return [
      ...this.#grouped.stateSchema(),
      { name: 'rows', type: FLOAT64, nullable: false },
      ...(this.#updated ? [{ name: 'out', type: BOOLEAN, nullable: false }, ...emitted] : []),
    ];
  }

  stateColumns(groups: Int32Array): Column[] {
    const rows = groups.length;
    const values = Float64Array.from(groups, (group) => this.#rowCounts[group] as number);
    const bits = new Uint8Array(bitmapBytes(rows));
    groups.forEach((group, row) => {
      if (this.#isOut[group] === 1) setBit(bits, row);
    });
    const counts: Column = { tag: 'float64', type: FLOAT64, length: rows, validity: null, values };
    const out: Column = { tag: 'boolean', type: BOOLEAN, length: rows, validity: null, bits };
    return [
      ...this.#grouped.stateColumns(groups),
      counts,
      ...(this.#updated ? [out, ...this.#emitted.map((store) => store.gather(groups))] : []),
    ];
  }

  /** The groups whose state the snapshot before does not have; from now on it has all. */
  takeUnsaved(all: boolean): Int32Array {
    const groups = allGroups(this.count);
    const unsaved = all ? groups : groups.filter((group) => this.#isUnsaved[group] === 1);
    this.#isUnsaved.fill(0);
    return unsaved;
  }

  hashesOf(groups: Int32Array): Uint32Array {
    return this.#grouped.index.hashesOf(groups);
  }

  /** Rows as `stateColumns` gave them; what had not left then leaves at the next flush. */
  restore(columns: readonly Column[], rows: number): void {
    const emittedFrom = columns.length - this.#emitted.length;
    const countsAt = this.#updated ? emittedFrom - 2 : emittedFrom - 1;
    const groups = this.#grouped.merge(columns.slice(0, countsAt), rows);
    this.#makeRoom();
    const counts = columns[countsAt] as Column & { tag: 'float64' };
    const out = columns[countsAt + 1] as (Column & { tag: 'boolean' }) | undefined;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      this.#rowCounts[group] = (this.#rowCounts[group] as number) + (counts.values[row] as number);
      const isOut = out !== undefined && bitAt(out.bits, row);
      if (isOut) this.#isOut[group] = 1;
      else this.#touch(group);
      this.#emitted.forEach((store, at) => {
        store.set(group, must(columns[emittedFrom + at], 'an emitted column'), row);
      });
    }
  }

  bytes(): number {
    const flat = this.#rowCounts.byteLength + 3 * this.#isOut.byteLength;
    return this.#emitted.reduce((sum, store) => sum + store.bytes(), this.#grouped.bytes() + flat);
  }
}

function wider(array: Uint8Array<ArrayBuffer>, room: number): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(room);
  result.set(array);
  return result;
}
