/**
 * Joins each left row with the last right row of its key that is not after it, or with the version valid at its time.
 *
 * Place in the walk: stage 6, behind a shuffle of both sides by their keys. A left row waits until event time has passed
 * it, for only then are all right rows up to it there; it comes out with its own event time. Of right rows with one key
 * and time the last to arrive counts. Right rows that are taken back are gone; where rows are versions of their key, one with
 * `retract` set is the end of the version before it, and rows behind event time are kept for left rows to come.
 *
 *     version:  a@1      a@4    end@6    a@9
 *     left row:     2→a@1    5→a@4    7→none
 *
 * State table `left`: the rows that wait; `right`: per key the last row that event time has passed, and later ones; the
 * end of a version has a match, which no row has.
 * Invariants: INV-68 what comes out depends on the rows and their times only. Not guaranteed: which of two right rows of
 * one key and time counts, when they come from different partitions.
 * Failure: rows that cannot be computed are errors; rows behind event time are late.
 */
import { must } from '../base/assert.ts';
import { RowLists } from '../state/row-lists.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { JoinSpec } from '../graph/graph.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { LIMITS } from '../base/limits.ts';
import { type KeyedBatch, JoinInputs } from './join-inputs.ts';
import { timeColumn } from './join-output.ts';
import { JoinSide } from './join-side.ts';
import { withoutLateRows } from './late-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { timeAt, timesOf } from './times.ts';

export class AsOfJoin implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #pads: boolean;
  readonly #strict: boolean;
  readonly #versions: boolean;
  readonly #schemas: readonly [Schema, Schema];
  readonly #inputs: readonly [JoinInputs, JoinInputs];
  readonly #lists: RowLists;
  readonly #left: JoinSide;
  readonly #right: JoinSide;
  #watermark: Watermark = -Infinity;
  #overdue = false;

  constructor(spec: JoinSpec, schemas: readonly [Schema, Schema]) {
    this.#pads = spec.kind === 'left';
    const { time } = spec;
    this.#strict = time.tag === 'as-of' && time.strict;
    this.#versions = time.tag === 'as-of' && time.versions === true;
    this.#schemas = schemas;
    const lists = new RowLists(spec.keys[0].map((key) => key.type));
    this.#lists = lists;
    this.#inputs = [
      new JoinInputs(spec.keys[0], spec.nullsMeet, schemas[0], lists),
      new JoinInputs(spec.keys[1], spec.nullsMeet, schemas[1], lists),
    ];
    this.#left = new JoinSide('left', schemas[0], spec.keys[0], lists, true);
    this.#right = new JoinSide('right', schemas[1], spec.keys[1], lists, true);
  }

  onBatch(port: number, batch: RecordBatch, output: Output): void {
    if (port === 1 && this.#versions) {
      this.#keepVersions(this.#inputs[1].evaluate(batch, output));
      return;
    }
    const at = port === 0 ? 0 : 1;
    const onTime = withoutLateRows(
      batch,
      this.#schemas[at],
      this.#watermark,
      this.#watermark,
      output,
    );
    const keyed = this.#inputs[at].evaluate(onTime, output);
    this.#keep(keyed, port === 0 ? this.#left : this.#right, port === 0 && this.#pads);
  }

  #keepVersions({ batch, keys, nulls }: KeyedBatch): void {
    const { columns, retract } = batch;
    const words = timesOf(batch);
    for (let row = 0; row < batch.rows; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      const time = timeAt(words, row);
      const key = keys[row] as number;
      if (time < this.#watermark && this.#isSuperseded(key, time)) continue;
      const isEnd = retract !== null && retract[row] === 1 ? 1 : 0;
      this.#right.insert(columns, row, key, time, isEnd);
    }
  }

  /** Whether event time has passed a version that is later than `time`. */
  #isSuperseded(key: number, time: number): boolean {
    const { rows } = this.#right;
    for (let at = rows.first(key); at >= 0; at = rows.next(at)) {
      const other = rows.timeOf(at);
      if (other > time && other < this.#watermark) return true;
    }
    return false;
  }

  /** @param nullsToo  also rows whose key meets nobody */
  #keep({ batch, keys, nulls }: KeyedBatch, side: JoinSide, nullsToo: boolean): void {
    const words = timesOf(batch);
    for (let row = 0; row < batch.rows; row++) {
      const isNull = nulls !== null && nulls[row] === 1;
      if (isNull && !nullsToo) continue;
      if (batch.retract !== null && batch.retract[row] === 1) {
        const first = side.rows.first(keys[row] as number);
        const gone = side.locate(first, batch.columns, row, timeAt(words, row));
        if (gone >= 0) side.remove(gone);
        continue;
      }
      const mark = isNull ? 1 : 0;
      side.insert(batch.columns, row, keys[row] as number, timeAt(words, row), mark);
    }
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark <= this.#watermark) return;
    this.#watermark = watermark;
    this.#emitPassed(output);
  }

  #emitPassed(output: Output): void {
    this.#overdue = false;
    const lefts: number[] = [];
    const rights: number[] = [];
    this.#left.expire(this.#watermark, (id) => {
      const version = this.#versionFor(id);
      if (version < 0 && !this.#pads) return;
      lefts.push(id);
      rights.push(version);
    });
    for (let from = 0; from < lefts.length; from += LIMITS.batchRowsDefault) {
      const to = from + LIMITS.batchRowsDefault;
      this.#emit(
        Int32Array.from(lefts.slice(from, to)),
        Int32Array.from(rights.slice(from, to)),
        output,
      );
    }
    this.#right.passed(this.#watermark, (id) => this.#dropOlder(id));
    this.#lists.tidy();
  }

  /** The right row that a left row meets; -1: none. */
  #versionFor(id: number): number {
    // A row whose key is NULL was marked when it came.
    if (this.#left.matchesOf(id) === 1) return -1;
    const time = this.#left.timeOf(id);
    let found = -1;
    let last = -Infinity;
    const first = this.#right.rows.first(this.#left.rows.keyOf(id));
    for (let at = first; at >= 0; at = this.#right.rows.next(at)) {
      const other = this.#right.timeOf(at);
      if (other > time || (this.#strict && other === time)) continue;
      // The newest comes first: it stands when times are equal.
      if (found >= 0 && (other < last || (other === last && !this.#right.isNewer(at, found))))
        continue;
      found = at;
      last = other;
    }
    return found >= 0 && this.#right.matchesOf(found) === 1 ? -1 : found;
  }

  /** Event time has passed right row `id`: earlier ones of its key will not be met any more. */
  #dropOlder(id: number): void {
    const time = this.#right.timeOf(id);
    const older: number[] = [];
    const first = this.#right.rows.first(this.#right.rows.keyOf(id));
    for (let at = first; at >= 0; at = this.#right.rows.next(at)) {
      const other = this.#right.timeOf(at);
      if (at === id || other > time) continue;
      if (other < time || this.#right.isNewer(id, at)) older.push(at);
    }
    for (const at of older) this.#right.remove(at);
    // Nothing is left for the end of a version to end.
    if (this.#right.matchesOf(id) === 1) this.#right.remove(id);
  }

  #emit(lefts: Int32Array, rights: Int32Array, output: Output): void {
    const rows = lefts.length;
    const times = Float64Array.from(lefts, (id) => this.#left.timeOf(id));
    output.emit({
      rows,
      columns: [...this.#left.gather(lefts), ...this.#right.gather(rights)],
      eventTime: timeColumn(times, 0, rows),
      retract: null,
    });
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#emitPassed(output);
  }

  onBarrier(_output: Output): void {}

  snapshot(kind: SnapshotKind): StateTable[] {
    return [...this.#left.snapshot(kind), ...this.#right.snapshot(kind)];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      const sides = [this.#left, this.#right];
      must(
        sides.find((side) => side.table === table.table),
        `state table ${table.table}`,
      ).restore(table);
    }
    this.#overdue = this.#left.hasBelow(this.#watermark);
  }

  stateBytes(): number {
    return this.#left.bytes() + this.#right.bytes() + this.#lists.bytes();
  }

  stateRows(): number {
    return this.#left.count + this.#right.count;
  }
}
