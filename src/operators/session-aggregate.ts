/**
 * GROUP BY session(gap): rows of a key that are less than the gap apart belong together.
 *
 * Place in the walk: stage 6. Each row is placed into an open session of its key, or begins one (`SessionSpans`); when it
 * bridges several, their accumulators are merged. A session lasts from its first row to its last row and the gap. When
 * event time reaches its end it leaves once, with event time end − 1 µs.
 *
 *     session:  ──first row──▶ open ──watermark ≥ last row + gap──▶ emitted and forgotten
 *
 * State table `sessions`: where it starts, keys, where it ends, accumulator states; no rows are kept. Snapshots of
 * changes name the sessions that changed, and those that left, merged or now start earlier.
 * Invariants: INV-62 a session is emitted at most once; INV-63 the result depends on the rows and on which of them came
 * too late, not on batches, order inside the watermark's bound or subtasks; open sessions end after the watermark.
 * Failure: a row is late when a session of its own would have ended by the watermark and no open one reaches it; rows
 * and results that cannot be computed are errors.
 */
import { assert } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { TIMESTAMP, type Field, type Schema } from '../batch/types.ts';
import type { Accumulator } from '../expr/accumulator.ts';
import { makeAccumulator } from '../expr/aggregate-registry.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { GroupInputs, type EvaluatedBatch } from './group-aggregates.ts';
import { lateRow } from './late-row.ts';
import type { OpenWindows, Operator, Output, RowProblem, Watermark } from './operator.ts';
import { SessionSpans } from './session-spans.ts';
import { timeAt, timesOf } from './times.ts';
import { timeColumn, WindowRows, type WindowAggregateSpec } from './window-rows.ts';

/** Slots that were left are swept when there are more of them than this and than open sessions. */
const LEFT_SLOTS_MAX = 1024;
/** Beyond so many sessions that have gone since the snapshot before, the next one tells everything. */
const REMOVED_MAX = 65_536;

export class SessionAggregate implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: WindowAggregateSpec;
  readonly #gap: number;
  readonly #inputSchema: Schema;
  readonly #inputs: GroupInputs;
  readonly #rows: WindowRows;
  #index: GroupIndex;
  #spans = new SessionSpans();
  /** Group g of each is slot g of `#spans`. */
  #accumulators: readonly Accumulator[];
  #watermark: Watermark = -Infinity;
  #isBehind = false;
  /** Of each slot, the start that the snapshot before knows it by; NaN: it does not. */
  #savedStart = new Float64Array(64).fill(NaN);
  /** 1: the snapshot before does not have the slot as it is. */
  #isUnsaved = new Uint8Array(64);
  /** Sessions that the snapshot before has and that are no more; null: too many to tell. */
  #removed: { group: number; start: number }[] | null = null;

  constructor(spec: WindowAggregateSpec, inputSchema: Schema, outputSchema: Schema) {
    assert(spec.window.tag === 'session' && spec.window.gapMicros > 0, 'a session has a gap');
    this.#spec = spec;
    this.#gap = spec.window.gapMicros;
    this.#inputSchema = inputSchema;
    this.#inputs = new GroupInputs(spec.keys, spec.aggregates, inputSchema);
    this.#rows = new WindowRows(spec.outputs, outputSchema);
    this.#index = new GroupIndex(spec.keys.map((key) => key.type));
    this.#accumulators = spec.aggregates.map(makeAccumulator);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#catchUp(output);
    this.#inputs.inParts(batch, output, (evaluated) => this.#take(evaluated, output));
  }

  #take(evaluated: EvaluatedBatch, output: Output): void {
    const { rows } = evaluated.batch;
    if (rows === 0) return;
    assert(evaluated.batch.retract === null, 'the planner keeps retractions away from sessions');
    const groups = new Int32Array(rows);
    this.#index.lookupOrInsert(evaluated.keys, 0, rows, groups);
    const slots = this.#place(evaluated.batch, groups, output);
    for (const [at, accumulator] of this.#accumulators.entries()) {
      const inputs = evaluated.aggregates[at] as EvaluatedBatch['aggregates'][number];
      const passing = inputs.passes === null ? slots : onlyPassing(slots, inputs.passes);
      accumulator.update(passing, rows, inputs.args, null);
    }
  }

  /** The session of each row; -1 for a late one, which is reported. */
  #place(batch: RecordBatch, groups: Int32Array, output: Output): Int32Array {
    const words = timesOf(batch);
    const slots = new Int32Array(batch.rows);
    const late: RowProblem[] = [];
    const merges = new Merges();
    for (let row = 0; row < batch.rows; row++) {
      const micros = timeAt(words, row);
      const end = micros + this.#gap;
      const slot = this.#placeSpan(groups[row] as number, micros, end, this.#watermark, merges);
      slots[row] = slot;
      if (slot < 0) late.push(lateRow(batch, this.#inputSchema, row, end, this.#watermark));
    }
    this.#merge(merges);
    if (merges.from.length > 0)
      for (let row = 0; row < slots.length; row++)
        if ((slots[row] as number) >= 0) slots[row] = this.#spans.resolve(slots[row] as number);
    if (late.length > 0) output.late(late);
    return slots;
  }

  #placeSpan(group: number, from: number, to: number, closed: number, merges: Merges): number {
    const slot = this.#spans.place(group, from, to, closed, merges.add);
    if (slot < 0) return slot;
    this.#makeRoom(slot);
    this.#isUnsaved[slot] = 1;
    const saved = this.#savedStart[slot] as number;
    if (saved > this.#spans.startOf(slot)) this.#forgetSaved(slot);
    return slot;
  }

  #makeRoom(slot: number): void {
    if (slot < this.#savedStart.length) return;
    const room = this.#savedStart.length * 2;
    const savedStart = new Float64Array(room).fill(NaN);
    savedStart.set(this.#savedStart);
    this.#savedStart = savedStart;
    const isUnsaved = new Uint8Array(room);
    isUnsaved.set(this.#isUnsaved);
    this.#isUnsaved = isUnsaved;
  }

  /** The row of a slot in the snapshot before is none any more. */
  #forgetSaved(slot: number): void {
    const start = this.#savedStart[slot] as number;
    if (Number.isNaN(start)) return;
    this.#savedStart[slot] = NaN;
    this.#removed?.push({ group: this.#spans.groupOf(slot), start });
    if (this.#removed !== null && this.#removed.length > REMOVED_MAX) this.#removed = null;
  }

  /** Folds the states of merged sessions into those they became part of. */
  #merge({ from }: Merges): void {
    for (const accumulator of this.#accumulators) accumulator.resize(this.#spans.count);
    if (from.length === 0) return;
    const slots = Int32Array.from(from);
    const into = slots.map((slot) => this.#spans.resolve(slot));
    for (const accumulator of this.#accumulators)
      accumulator.merge(into, into.length, accumulator.stateColumns(slots));
    for (const slot of slots) this.#forgetSaved(slot);
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark > this.#watermark) {
      this.#watermark = watermark;
      this.#emitEnded(output);
    } else this.#catchUp(output);
  }

  /** State came back that was due: former subtasks may have heard of time in another order. */
  #catchUp(output: Output): void {
    if (this.#isBehind) this.#emitEnded(output);
  }

  #emitEnded(output: Output): void {
    this.#isBehind = false;
    const ended = this.#spans.takeEnded(this.#watermark);
    for (let from = 0; from < ended.length; from += LIMITS.batchRowsDefault)
      this.#emit(ended.slice(from, from + LIMITS.batchRowsDefault), output);
    for (const slot of ended) this.#forgetSaved(slot);
    const left = this.#spans.count - this.#spans.open;
    if (left > LEFT_SLOTS_MAX && left > this.#spans.open) this.#compact();
  }

  #emit(ended: readonly number[], output: Output): void {
    const slots = Int32Array.from(ended);
    const errors = new RowErrors(slots.length);
    const results = this.#accumulators.map((each) => each.results(slots, errors));
    const keys = this.#index.keyColumns(slots.map((slot) => this.#spans.groupOf(slot)));
    const ends = Float64Array.from(slots, (slot) => this.#spans.endOf(slot));
    const times = {
      starts: timeColumn(Float64Array.from(slots, (slot) => this.#spans.startOf(slot))),
      ends: timeColumn(ends),
      eventTime: timeColumn(ends.map((end) => end - 1)),
    };
    this.#rows.emit(keys, results, times, errors, output);
  }

  /** Open sessions become slots 0, 1, 2, …; groups without any are forgotten, but for those the next snapshot names. */
  #compact(): void {
    const slots = this.#spans.openSlots();
    const named = new Uint8Array(this.#index.count);
    for (const { group } of this.#removed ?? []) named[group] = 1;
    const groups = allGroups(this.#index.count).filter(
      (group) => named[group] === 1 || this.#spans.hasOpen(group),
    );
    const renumbered = new Int32Array(this.#index.count).fill(-1);
    groups.forEach((group, at) => {
      renumbered[group] = at;
    });
    for (const removed of this.#removed ?? []) removed.group = renumbered[removed.group] as number;
    const states = this.#accumulators.map((each) => each.stateColumns(slots));
    this.#index = this.#index.retain(groups);
    this.#spans = this.#spans.compact(slots, renumbered);
    const all = allGroups(slots.length);
    this.#accumulators = this.#spec.aggregates.map(makeAccumulator);
    this.#accumulators.forEach((accumulator, at) => {
      accumulator.resize(slots.length);
      accumulator.merge(all, slots.length, states[at] ?? []);
    });
    const room = Math.max(64, slots.length);
    const savedStart = new Float64Array(room).fill(NaN);
    const isUnsaved = new Uint8Array(room);
    slots.forEach((slot, at) => {
      savedStart[at] = this.#savedStart[slot] as number;
      isUnsaved[at] = this.#isUnsaved[slot] as number;
    });
    this.#savedStart = savedStart;
    this.#isUnsaved = isUnsaved;
  }

  onTick(_nowMs: number, output: Output): void {
    this.#catchUp(output);
  }

  onBarrier(output: Output): void {
    this.#catchUp(output);
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    const open = this.#spans.openSlots();
    const removed = this.#removed;
    const whole = kind === 'whole' || removed === null || open.length === 0;
    const slots = whole ? open : open.filter((slot) => this.#isUnsaved[slot] === 1);
    for (const slot of slots) {
      this.#isUnsaved[slot] = 0;
      this.#savedStart[slot] = this.#spans.startOf(slot);
    }
    this.#removed = [];
    if (kind === 'whole' && open.length === 0) return [];
    const groups = slots.map((slot) => this.#spans.groupOf(slot));
    const starts = timeColumn(Float64Array.from(slots, (slot) => this.#spans.startOf(slot)));
    const ends = timeColumn(Float64Array.from(slots, (slot) => this.#spans.endOf(slot)));
    return [
      {
        table: 'sessions',
        schema: this.#stateSchema(),
        rows: slots.length,
        columns: [
          starts,
          ...this.#index.keyColumns(groups),
          ends,
          ...this.#accumulators.flatMap((each) => each.stateColumns(slots)),
        ],
        hashes: this.#index.hashesOf(groups),
        changes: whole
          ? null
          : {
              keyColumns: 1 + this.#spec.keys.length,
              removed: removed.length === 0 ? null : this.#removedRows(removed),
              droppedBelow: null,
            },
      },
    ];
  }

  #removedRows(removed: readonly { group: number; start: number }[]): {
    rows: number;
    columns: Column[];
    hashes: Uint32Array;
  } {
    const groups = Int32Array.from(removed, ({ group }) => group);
    const starts = timeColumn(removed.map(({ start }) => start));
    return {
      rows: removed.length,
      columns: [starts, ...this.#index.keyColumns(groups)],
      hashes: this.#index.hashesOf(groups),
    };
  }

  #stateSchema(): Schema {
    const time = (name: string): Field => ({ name, type: TIMESTAMP, nullable: false });
    return [
      time('session_start'),
      ...this.#spec.keys.map(({ type }, at): Field => ({ name: `key${at}`, type, nullable: true })),
      time('session_end'),
      ...this.#accumulators.flatMap((each, at) =>
        each.stateTypes.map((type, part): Field => ({
          name: `state${at}_${part}`,
          type,
          nullable: true,
        })),
      ),
    ];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      assert(table.table === 'sessions', `unknown state table ${table.table}`);
      this.#fold(table.columns, table.rows, -Infinity);
    }
    this.#isBehind = this.#spans.open > 0;
  }

  /** Start, keys, end, accumulator states. */
  #fold(columns: readonly Column[], rows: number, closed: number): number {
    const keyCount = this.#spec.keys.length;
    const starts = columns[0] as Int64Column;
    const ends = columns[1 + keyCount] as Int64Column;
    const groups = new Int32Array(rows);
    this.#index.lookupOrInsert(columns.slice(1, 1 + keyCount), 0, rows, groups);
    const merges = new Merges();
    const slots = groups.map((group, row) =>
      this.#placeSpan(group, timeAt(starts.words, row), timeAt(ends.words, row), closed, merges),
    );
    this.#merge(merges);
    const into = slots.map((slot) => (slot < 0 ? slot : this.#spans.resolve(slot)));
    let at = 2 + keyCount;
    for (const accumulator of this.#accumulators) {
      accumulator.merge(into, rows, columns.slice(at, at + accumulator.stateTypes.length));
      at += accumulator.stateTypes.length;
    }
    return into.filter((slot) => slot < 0).length;
  }

  openWindows(): OpenWindows {
    return { count: this.#spans.open, firstEnd: this.#spans.firstEnd() };
  }

  stateBytes(): number {
    return this.#accumulators.reduce(
      (sum, each) => sum + each.bytes(),
      this.#index.bytes() + this.#spans.bytes() + this.#savedStart.length * 9,
    );
  }

  stateRows(): number {
    return this.#spans.open;
  }
}

/** Sessions that became part of others while rows were placed. */
class Merges {
  readonly from: number[] = [];
  readonly add = (slot: number): void => {
    this.from.push(slot);
  };
}

function onlyPassing(slots: Int32Array, passes: Uint8Array): Int32Array {
  return slots.map((slot, row) => (passes[row] === 1 ? slot : -1));
}
