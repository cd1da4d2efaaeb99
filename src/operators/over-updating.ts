/**
 * OVER on rows that may be taken back, or whose results change as later rows come.
 *
 * Place in the walk: stage 6. All rows are kept. Every `flushMs`, at barriers and at the end of the input the partitions
 * that changed are computed again, and rows whose results are others than those that are out are replaced.
 *
 * State table `rows`: see `kept-rows.ts`; added are whether the row is out downstream and with which results.
 * Invariants: INV-83 the rows emitted less those taken back are all rows with their results as of the last flush.
 * Failure: a row whose result does not fit its type is an error and is not out; so is a retraction of a row that never came.
 */
import { LIMITS } from '../base/limits.ts';
import { bitAt, bitmapBytes, setBit, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { BOOLEAN, type Field, type Schema } from '../batch/types.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import { NONE } from '../state/ordered-slots.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { KeptRows } from './kept-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { columnsRead } from './over-columns.ts';
import { evaluateCalls } from './over-functions.ts';
import { sortedRows } from './over-rows.ts';
import { nothingToRetract, problemsOf, rowJson } from './row-json.ts';

export type OverSpec = OperatorSpec & { tag: 'over' };

/** Rows that are computed at a time, unless a partition has more. */
const ROWS_AT_ONCE = LIMITS.batchRowsDefault;

/** Rows of those that were computed. */
type OverChanges = { gone: Int32Array; added: Int32Array };

export class OverUpdating implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: OverSpec;
  readonly #inputSchema: Schema;
  readonly #rows: KeptRows;
  /** Of each slot: 1 when it is out downstream, with the results in `#emitted`. */
  #isOut = new Uint8Array(16);
  readonly #emitted: readonly ColumnStore[];
  /** Of each column of the input: whether keys or calls read it. */
  readonly #isRead: boolean[] = [];
  #isDirty = new Uint8Array(16);
  #dirty: number[] = [];
  /** Rows that are out and in no order any more. */
  #leaving: number[] = [];
  #flushedMs: number | null = null;

  constructor(spec: OverSpec, inputSchema: Schema) {
    this.#spec = spec;
    this.#inputSchema = inputSchema;
    this.#rows = new KeptRows(inputSchema, spec.partitionBy, spec.orderBy);
    this.#emitted = spec.calls.map((call) => makeColumnStore(call.type));
    for (const key of this.#rows.keys) this.#isRead[key.index] = true;
    for (const index of columnsRead(spec.calls)) this.#isRead[index] = true;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const rows = this.#rows;
    const groups = rows.groupsOf(batch.columns, batch.rows);
    const approximations = rows.approximate(batch.columns, batch.rows);
    const all = allGroups(batch.rows);
    const slots = rows.stage(batch.columns, all, batch.rows, groups, approximations);
    this.#makeRoom();
    for (let row = 0; row < batch.rows; row++) {
      const slot = slots[row] as number;
      this.#markDirty(groups[row] as number);
      if (batch.retract === null || batch.retract[row] !== 1) rows.insert(slot);
      else if (!this.#takeBack(slot))
        output.fail([nothingToRetract(batch, this.#inputSchema, row)]);
    }
  }

  #makeRoom(): void {
    const { groups, store } = this.#rows;
    if (store.limit > this.#isOut.length)
      this.#isOut = wider(Uint8Array, this.#isOut, grown(this.#isOut.length, store.limit));
    if (groups > this.#isDirty.length)
      this.#isDirty = wider(Uint8Array, this.#isDirty, grown(this.#isDirty.length, groups));
    for (const results of this.#emitted) results.reach(store.limit);
  }

  #markDirty(group: number): void {
    if (this.#isDirty[group] === 1) return;
    this.#isDirty[group] = 1;
    this.#dirty.push(group);
  }

  #takeBack(slot: number): boolean {
    const rows = this.#rows;
    const found = rows.find(slot);
    rows.release(slot);
    if (found === NONE) return false;
    rows.remove(found);
    if (this.#isOut[found] === 1) this.#leaving.push(found);
    else rows.release(found);
    return true;
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark === Infinity) this.#flush(output);
  }

  onTick(nowMs: number, output: Output): void {
    this.#flushedMs ??= nowMs;
    if (Math.abs(nowMs - this.#flushedMs) < this.#spec.flushMs) return;
    this.#flushedMs = nowMs;
    this.#flush(output);
  }

  onBarrier(output: Output): void {
    this.#flush(output);
  }

  #flush(output: Output): void {
    if (this.#dirty.length === 0) return;
    this.#settleLeaving(output);
    const dirty = this.#dirty;
    this.#dirty = [];
    const { order } = this.#rows;
    for (let from = 0; from < dirty.length;) {
      let rows = 0;
      let to = from;
      for (; to < dirty.length && rows < ROWS_AT_ONCE; to++)
        rows += order.size(dirty[to] as number);
      const slots = new Int32Array(rows);
      const starts = new Int32Array(rows);
      let at = 0;
      for (; from < to; from++) {
        const group = dirty[from] as number;
        this.#isDirty[group] = 0;
        const start = at;
        at = order.copy(group, 0, order.size(group), slots, at);
        starts.fill(start, start, at);
      }
      this.#compute(slots, starts, output);
    }
  }

  /** Rows that left are taken back, unless an equal one came in their place: that one is then out already. */
  #settleLeaving(output: Output): void {
    const rows = this.#rows;
    const gone: number[] = [];
    for (const slot of this.#leaving) {
      this.#isOut[slot] = 0;
      const equal = rows.find(slot);
      if (equal === NONE || this.#isOut[equal] === 1) {
        gone.push(slot);
        continue;
      }
      this.#isOut[equal] = 1;
      const from = Int32Array.of(slot);
      for (const results of this.#emitted) results.set(equal, results.gather(from), 0);
      rows.touch(equal);
    }
    for (let from = 0; from < gone.length; from += LIMITS.batchRowsDefault) {
      const slots = Int32Array.from(gone.slice(from, from + LIMITS.batchRowsDefault));
      const results = this.#emitted.map((store) => store.gather(slots));
      emitRows(rows, slots, results, new Uint8Array(slots.length).fill(1), output);
    }
    for (const slot of this.#leaving) rows.release(slot);
    this.#leaving = [];
  }

  /** Computes partitions again and replaces what is out where it differs. */
  #compute(slots: Int32Array, starts: Int32Array, output: Output): void {
    const count = slots.length;
    if (count === 0) return;
    const { keys, store } = this.#rows;
    const columns = this.#inputSchema.map((_, index) =>
      this.#isRead[index] === true ? store.gatherColumn(index, slots) : null,
    );
    const sorted = sortedRows(
      count,
      columns,
      keys.map(({ index, descending }) => ({ column: columns[index] as Column, descending })),
      starts,
    );
    const errors = new RowErrors(count);
    const after = evaluateCalls(this.#spec.calls, sorted, null, errors);
    const changes = this.#changesOf(slots, after, errors);
    const all = changes.added.length === count && count <= LIMITS.batchRowsDefault;
    // Rows that all come anew are out as they lie here.
    if (all && changes.gone.length === 0) {
      for (let at = 0; at < after.length; at++)
        this.#emitted[at]?.put(slots, after[at] as Column, changes.added, count);
      const rows = columns.map((column, index) => column ?? store.gatherColumn(index, slots));
      output.emit({ rows: count, columns: [...rows, ...after], eventTime: null, retract: null });
    } else this.#emit(slots, after, changes, output);
    if (!errors.failed) return;
    const batch: RecordBatch = {
      rows: count,
      columns: store.gather(slots),
      eventTime: null,
      retract: null,
    };
    output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
  }

  /** Which rows, by their places, are to be taken back and which come; from now on they have. */
  #changesOf(slots: Int32Array, after: readonly Column[], errors: RowErrors): OverChanges {
    const gone = new Int32Array(slots.length);
    const added = new Int32Array(slots.length);
    let [goneCount, addedCount] = [0, 0];
    for (let row = 0; row < slots.length; row++) {
      const slot = slots[row] as number;
      const wasOut = this.#isOut[slot] === 1;
      const failed = errors.failed && errors.hasFailed(row);
      if (wasOut && !failed && this.#isSame(slot, after, row)) continue;
      if (wasOut) gone[goneCount++] = row;
      if (!failed) added[addedCount++] = row;
      this.#isOut[slot] = failed ? 0 : 1;
      this.#rows.touch(slot);
    }
    return { gone: gone.subarray(0, goneCount), added: added.subarray(0, addedCount) };
  }

  #isSame(slot: number, results: readonly Column[], row: number): boolean {
    const emitted = this.#emitted;
    for (let at = 0; at < emitted.length; at++)
      if (!(emitted[at] as ColumnStore).equals(slot, results[at] as Column, row)) return false;
    return true;
  }

  /** Rows to take back first, so that a place is free before it is taken again. */
  #emit(
    slots: Int32Array,
    after: readonly Column[],
    { gone, added }: OverChanges,
    output: Output,
  ): void {
    const total = gone.length + added.length;
    const chosen = new Int32Array(total);
    // Rows of the results that were, then of those that are.
    const picked = new Int32Array(total);
    for (let at = 0; at < gone.length; at++) {
      chosen[at] = slots[gone[at] as number] as number;
      picked[at] = at;
    }
    for (let at = 0; at < added.length; at++) {
      const row = added[at] as number;
      chosen[gone.length + at] = slots[row] as number;
      picked[gone.length + at] = gone.length + row;
    }
    const leaving = chosen.subarray(0, gone.length);
    const coming = chosen.subarray(gone.length);
    const both = this.#emitted.map((store, at) => {
      const old = store.gather(leaving);
      store.put(coming, after[at] as Column, added, added.length);
      return concatColumns([old, after[at] as Column]);
    });
    for (let from = 0; from < total; from += LIMITS.batchRowsDefault) {
      const to = Math.min(total, from + LIMITS.batchRowsDefault);
      const part = picked.subarray(from, to);
      const retract = new Uint8Array(to - from).fill(1, 0, Math.max(0, gone.length - from));
      const results = both.map((column) => takeColumn(column, part, to - from));
      emitRows(this.#rows, chosen.subarray(from, to), results, retract, output);
    }
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    const fields = [
      { name: 'out', type: BOOLEAN, nullable: false },
      ...this.#spec.calls.map((call, at): Field => ({
        name: `result${at}`,
        type: call.type,
        nullable: true,
      })),
    ];
    const tables = this.#rows.snapshot(kind, fields, (slots) => {
      const bits = new Uint8Array(bitmapBytes(slots.length));
      slots.forEach((slot, at) => {
        if (this.#isOut[slot] === 1) setBit(bits, at);
      });
      return [
        { tag: 'boolean', type: BOOLEAN, length: slots.length, validity: null, bits },
        ...this.#emitted.map((results) => results.gather(slots)),
      ];
    });
    if (this.#rows.sweep(() => false) !== null) this.#isDirty = new Uint8Array(this.#rows.groups);
    return tables;
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      const { slots, added } = this.#rows.restore(table);
      const [out, ...results] = added;
      this.#makeRoom();
      for (let row = 0; row < table.rows; row++)
        this.#isOut[slots[row] as number] = out?.tag === 'boolean' && bitAt(out.bits, row) ? 1 : 0;
      this.#emitted.forEach((store, at) =>
        store.put(slots, results[at] as Column, allGroups(table.rows), table.rows),
      );
    }
  }

  stateBytes(): number {
    const results = this.#emitted.reduce((sum, store) => sum + store.bytes(), 0);
    return this.#rows.bytes() + results + this.#isOut.byteLength;
  }

  stateRows(): number {
    return this.#rows.rows;
  }
}

function emitRows(
  rows: KeptRows,
  slots: Int32Array,
  results: readonly Column[],
  retract: Uint8Array,
  output: Output,
): void {
  output.emit({
    rows: slots.length,
    columns: [...rows.store.gather(slots), ...results],
    eventTime: null,
    retract,
  });
}
