/**
 * OVER in the order of event time, over a window's rows, and ORDER BY: rows leave once, when the watermark passes them.
 *
 * Place in the walk: stage 6. A row waits until no earlier one can come; rows whose time has passed are then computed
 * together. In the form `closed` all rows of a partition share their event time, so a partition is complete and is
 * forgotten; in the form `timed` its counts, states and the rows that frames reach back to stay (`over-history.ts`).
 * Without calls this is ORDER BY: rows of one time leave in its order.
 *
 * State tables: `waiting` (`due-rows.ts`), and those of the history.
 * Invariants: INV-84 a row is emitted once, with results that no later row can change.
 * Failure: rows whose time had passed are late; a row whose result does not fit its type is an error. Both are reported.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, sliceBatch, takeBatch, takeColumn } from '../batch/take.ts';
import { timestampText } from '../batch/timestamp-text.ts';
import type { Schema } from '../batch/types.ts';
import { RowErrors } from '../expr/row-errors.ts';
import { GroupIndex } from '../state/group-index.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { DueRows, splitAt } from './due-rows.ts';
import type { Operator, Output, Watermark } from './operator.ts';
import { columnIndex } from './over-columns.ts';
import { evaluateCalls } from './over-functions.ts';
import { OverHistory } from './over-history.ts';
import { sortedRows } from './over-rows.ts';
import type { OverSpec } from './over-updating.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';
import type { KeyColumn } from './sort-approximation.ts';
import { timedOrder } from './timed-order.ts';
import { timeAt, timesOf } from './times.ts';

export class OverTimed implements Operator {
  readonly keepsChanges = true;
  readonly #spec: OverSpec;
  readonly #schema: Schema;
  readonly #partition: readonly number[];
  readonly #keys: readonly KeyColumn[];
  readonly #due: DueRows;
  /** Null: partitions are complete when they leave. */
  readonly #history: OverHistory | null;
  #watermark: Watermark = -Infinity;
  /** Rows came back that were due already: former subtasks may have heard of time in another order. */
  #overdue = false;

  constructor(spec: OverSpec, inputSchema: Schema) {
    this.#spec = spec;
    this.#schema = inputSchema;
    this.#partition = spec.partitionBy.map(columnIndex);
    this.#keys = spec.orderBy.map(({ expr, descending, nullsFirst }) => ({
      index: columnIndex(expr),
      descending,
      nullsFirst,
    }));
    this.#due = new DueRows(inputSchema);
    this.#history =
      spec.form === 'closed'
        ? null
        : new OverHistory(inputSchema, spec.partitionBy, spec.orderBy, spec.calls);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const [late, onTime] =
      this.#watermark === -Infinity ? [null, batch] : splitAt(batch, this.#watermark);
    if (late !== null && late.rows > 0) this.#reportLate(late, output);
    this.#due.add(onTime);
  }

  #reportLate(batch: RecordBatch, output: Output): void {
    const words = timesOf(batch);
    const reached =
      this.#watermark === Infinity
        ? 'the input had ended'
        : `event time had reached ${timestampText(BigInt(Math.round(this.#watermark)))}`;
    output.late(
      Array.from({ length: batch.rows }, (_, row) => ({
        row,
        code: 'LATE_ROW' as const,
        column: '',
        message: `late: rows of ${timestampText(BigInt(timeAt(words, row)))} had left, and ${reached}`,
        raw: rowJson(batch, this.#schema, row),
      })),
    );
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark <= this.#watermark) return;
    this.#watermark = watermark;
    this.#emitDue(output);
  }

  #emitDue(output: Output): void {
    this.#overdue = false;
    const due = this.#due.take(this.#watermark);
    if (due === null) return;
    const groups = this.#groupsOf(due);
    const order = timedOrder(due, groups, this.#keys);
    const batch = takeBatch(due, order, due.rows);
    const ordered = Int32Array.from(order, (row) => groups[row] as number);
    if (this.#history === null) this.#emitClosed(batch, ordered, output);
    else this.#emitTimed(batch, ordered, this.#history, output);
  }

  #groupsOf(batch: RecordBatch): Int32Array {
    if (this.#history !== null) return this.#history.groupsOf(batch.columns, batch.rows);
    const keys = this.#partition.map((index) => batch.columns[index] as Column);
    const groups = new Int32Array(batch.rows);
    new GroupIndex(keys.map((key) => key.type)).lookupOrInsert(keys, 0, batch.rows, groups);
    return groups;
  }

  #keyColumns(columns: readonly Column[]): { column: Column; descending: boolean }[] {
    return this.#keys.map(({ index, descending }) => ({
      column: columns[index] as Column,
      descending,
    }));
  }

  #emitClosed(batch: RecordBatch, groups: Int32Array, output: Output): void {
    const { rows, columns } = batch;
    const sorted = sortedRows(rows, columns, this.#keyColumns(columns), startsOf(groups));
    const errors = new RowErrors(rows);
    const results = evaluateCalls(this.#spec.calls, sorted, null, errors);
    this.#emit(batch, results, errors, output);
  }

  #emitTimed(batch: RecordBatch, groups: Int32Array, history: OverHistory, output: Output): void {
    const woven = weave(history, groups);
    const past = history.kept.store.gather(woven.slots);
    const columns = batch.columns.map((column, index) =>
      takeColumn(
        concatColumns([past[index] as Column, column]),
        woven.indices,
        woven.indices.length,
      ),
    );
    const rows = woven.indices.length;
    const sorted = sortedRows(rows, columns, this.#keyColumns(columns), startsOf(woven.groups));
    const carried = history.carried(woven.groups, woven.firstNew);
    const errors = new RowErrors(rows);
    const all = evaluateCalls(this.#spec.calls, sorted, carried, errors);
    const isNewGroup = new Uint8Array(batch.rows);
    woven.places.forEach((place, row) => {
      if (sorted.peerStarts[place] === place) isNewGroup[row] = 1;
    });
    history.remember(batch.columns, batch.rows, groups, isNewGroup, this.#watermark);
    const failed = new RowErrors(batch.rows);
    if (errors.failed)
      woven.places.forEach((place, row) => {
        const error = errors.list.find((each) => each.row === place);
        if (error !== undefined) failed.fail(row, error.code, error.message, error.column);
      });
    const results = all.map((column) => takeColumn(column, woven.places, batch.rows));
    this.#emit(batch, results, failed, output);
  }

  #emit(batch: RecordBatch, results: readonly Column[], errors: RowErrors, output: Output): void {
    if (errors.failed) output.fail(problemsOf(errors, (row) => rowJson(batch, this.#schema, row)));
    const whole = { ...batch, columns: [...batch.columns, ...results] };
    const good = errors.failed ? filterBatch(whole, survivors(batch.rows, errors)) : whole;
    for (let from = 0; from < good.rows; from += LIMITS.batchRowsDefault)
      output.emit(sliceBatch(good, from, Math.min(good.rows, from + LIMITS.batchRowsDefault)));
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#emitDue(output);
  }

  onBarrier(_output: Output): void {}

  snapshot(kind: SnapshotKind): StateTable[] {
    this.#history?.forgetPassed(this.#watermark);
    return [...this.#due.snapshot(this.#partition, kind), ...(this.#history?.snapshot(kind) ?? [])];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      if (table.table !== 'waiting') {
        must(this.#history, 'a history').restore(table);
        continue;
      }
      this.#due.restore(table);
      const times = table.columns.at(-1) as Int64Column;
      for (let row = 0; row < table.rows; row++)
        if (timeAt(times.words, row) < this.#watermark) this.#overdue = true;
    }
  }

  stateBytes(): number {
    return this.#due.bytes() + (this.#history?.bytes() ?? 0);
  }

  stateRows(): number {
    return this.#due.rows + (this.#history?.rows() ?? 0);
  }
}

/** Of each row the first of its partition. */
function startsOf(groups: Int32Array): Int32Array {
  const starts = new Int32Array(groups.length);
  for (let row = 1; row < groups.length; row++)
    starts[row] = groups[row] === groups[row - 1] ? (starts[row - 1] as number) : row;
  return starts;
}

/** Rows of the past and new ones, partition by partition. */
type Woven = {
  /** Slots of the rows of the past. */
  slots: Int32Array;
  /** Rows of the past are numbered first, then the new ones. */
  indices: Int32Array;
  groups: Int32Array;
  /** Of each row: the first new one of its partition. */
  firstNew: Int32Array;
  /** Where each new row stands. */
  places: Int32Array;
};

/** @param groups  of the new rows, equal ones together */
function weave(history: OverHistory, groups: Int32Array): Woven {
  const { order } = history.kept;
  const runs: { group: number; past: number; from: number; to: number }[] = [];
  let before = 0;
  for (let from = 0; from < groups.length;) {
    const group = groups[from] as number;
    let to = from + 1;
    while (to < groups.length && groups[to] === group) to++;
    runs.push({ group, past: order.size(group), from, to });
    before += order.size(group);
    from = to;
  }
  const slots = new Int32Array(before);
  const total = slots.length + groups.length;
  const woven: Woven = {
    slots,
    indices: new Int32Array(total),
    groups: new Int32Array(total),
    firstNew: new Int32Array(total),
    places: new Int32Array(groups.length),
  };
  let at = 0;
  let slot = 0;
  for (const { group, past, from, to } of runs) {
    const end = at + past + to - from;
    order.copy(group, 0, past, slots, slot);
    woven.groups.fill(group, at, end);
    woven.firstNew.fill(at + past, at, end);
    for (let row = 0; row < past; row++) woven.indices[at++] = slot++;
    for (let row = from; row < to; row++) {
      woven.places[row] = at;
      woven.indices[at++] = slots.length + row;
    }
  }
  return woven;
}
