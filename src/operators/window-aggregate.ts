/**
 * GROUP BY with a tumbling window: one group index with accumulators per open window.
 *
 * Place in the walk: stage 6. A row belongs to the window that holds its event time. Windows start where
 * (start − offset) is a multiple of the width. When event time reaches a window's end, its rows leave once, with event
 * time end − 1 µs, which lies in the same window again, so that a further aggregation by the window column adds up.
 *
 *     window:  open ──first row──▶ held ──watermark ≥ end──▶ emitted and forgotten
 *
 * State table `windows`: window start, keys, accumulator states; the watermark is restored by the driver.
 * Invariants: INV-62 a window is emitted at most once; INV-63 the result depends on the rows and on which of them came
 * after their window had closed, not on batches, order inside the watermark's bound or subtasks.
 * Not guaranteed: the order of rows within a window.
 * Failure: rows whose window has closed are late; rows that cannot be computed are errors, and so is a result row whose
 * aggregate does not fit its type. All three are reported and counted, never dropped silently.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, takeBatch, takeColumn } from '../batch/take.ts';
import { timestampText } from '../batch/timestamp-text.ts';
import { TIMESTAMP, WINDOW, type Schema } from '../batch/types.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { allGroups } from '../state/group-index.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { GroupedAggregates, GroupInputs, type EvaluatedBatch } from './group-aggregates.ts';
import type { Operator, Output, RowProblem, Watermark } from './operator.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { constantTime, measureTimes, timeAt, timesOf, timeSpan } from './times.ts';

export type WindowAggregateSpec = OperatorSpec & { tag: 'window-aggregate' };

/** Beyond this many runs of equal windows, a batch is brought into window order first. */
const RUNS_MAX = 8;

export class WindowAggregate implements Operator {
  readonly #spec: WindowAggregateSpec;
  readonly #inputSchema: Schema;
  readonly #outputSchema: Schema;
  readonly #inputs: GroupInputs;
  /** By window start in microseconds. */
  readonly #windows = new Map<number, GroupedAggregates>();
  #watermark: Watermark = -Infinity;
  /** State came back that was due already: former subtasks may have heard of time in another order. */
  #overdue = false;

  constructor(spec: WindowAggregateSpec, inputSchema: Schema, outputSchema: Schema) {
    assert(spec.window.widthMicros > 0, 'a window has a width');
    this.#spec = spec;
    this.#inputSchema = inputSchema;
    this.#outputSchema = outputSchema;
    this.#inputs = new GroupInputs(spec.keys, spec.aggregates, inputSchema);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    measureTimes(timesOf(batch), batch.rows);
    const { first, last } = timeSpan;
    const start = this.#startOf(first);
    const end = start + this.#spec.window.widthMicros;
    if (last < end && end > this.#watermark) {
      const evaluated = this.#inputs.evaluate(batch, output);
      if (evaluated.batch.rows > 0) this.#update(start, evaluated, 0, evaluated.batch.rows);
      return;
    }
    const onTime = this.#withoutLate(batch, output);
    if (onTime.rows === 0) return;
    const evaluated = this.#inputs.evaluate(this.#nearlyOrdered(onTime), output);
    this.#forEachRun(evaluated.batch, (start, from, to) =>
      this.#update(start, evaluated, from, to),
    );
  }

  #startOf(micros: number): number {
    const { widthMicros, offsetMicros } = this.#spec.window;
    const since = micros - offsetMicros;
    return since - modulo(since, widthMicros) + offsetMicros;
  }

  /** Reports rows whose window has closed; the batch itself when there are none. */
  #withoutLate(batch: RecordBatch, output: Output): RecordBatch {
    const words = timesOf(batch);
    let keep: Uint8Array | null = null;
    const late: RowProblem[] = [];
    // Everything at or after this lies in a window that is still open.
    const open = Number.isFinite(this.#watermark)
      ? this.#startOf(this.#watermark)
      : this.#watermark;
    for (let row = 0; row < batch.rows; row++) {
      const micros = timeAt(words, row);
      if (micros >= open) continue;
      const end = this.#startOf(micros) + this.#spec.window.widthMicros;
      if (end > this.#watermark) continue;
      keep ??= new Uint8Array(batch.rows).fill(1);
      keep[row] = 0;
      late.push({
        row,
        code: 'LATE_ROW',
        column: '',
        message: lateMessage(micros, end, this.#watermark),
        raw: rowJson(batch, this.#inputSchema, row),
      });
    }
    if (keep === null) return batch;
    output.late(late);
    return filterBatch(batch, keep);
  }

  /** The same rows with few runs of equal windows; the order within a window is kept. */
  #nearlyOrdered(batch: RecordBatch): RecordBatch {
    let runs = 0;
    this.#forEachRun(batch, () => runs++);
    if (runs <= RUNS_MAX) return batch;
    const words = timesOf(batch);
    const rowsByWindow = new Map<number, number[]>();
    for (let row = 0; row < batch.rows; row++) {
      const start = this.#startOf(timeAt(words, row));
      const rows = rowsByWindow.get(start);
      if (rows === undefined) rowsByWindow.set(start, [row]);
      else rows.push(row);
    }
    if (rowsByWindow.size === runs) return batch;
    const indices = Int32Array.from([...rowsByWindow.values()].flat());
    return takeBatch(batch, indices, batch.rows);
  }

  /** Calls `visit(start, from, to)` for each stretch of rows of one window: one division per run, not per row. */
  #forEachRun(batch: RecordBatch, visit: (start: number, from: number, to: number) => void): void {
    const words = timesOf(batch);
    const width = this.#spec.window.widthMicros;
    let from = 0;
    while (from < batch.rows) {
      const start = this.#startOf(timeAt(words, from));
      const end = start + width;
      let to = from + 1;
      while (to < batch.rows) {
        const micros = timeAt(words, to);
        if (micros < start || micros >= end) break;
        to++;
      }
      visit(start, from, to);
      from = to;
    }
  }

  #update(start: number, evaluated: EvaluatedBatch, from: number, to: number): void {
    const window = this.#windowAt(start);
    window.update(evaluated, from, to, window.groupsOf(evaluated, from, to));
  }

  #windowAt(start: number): GroupedAggregates {
    let window = this.#windows.get(start);
    if (window === undefined) {
      window = new GroupedAggregates(this.#spec.keys, this.#spec.aggregates);
      this.#windows.set(start, window);
    }
    return window;
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark <= this.#watermark) return;
    this.#watermark = watermark;
    this.#emitClosed(output);
  }

  #emitClosed(output: Output): void {
    this.#overdue = false;
    const { widthMicros } = this.#spec.window;
    const closed = [...this.#windows.keys()].filter(
      (start) => start + widthMicros <= this.#watermark,
    );
    for (const start of closed.sort((left, right) => left - right)) {
      const window = must(this.#windows.get(start), 'an open window');
      this.#windows.delete(start);
      this.#emit(start, window, output);
    }
  }

  #emit(start: number, window: GroupedAggregates, output: Output): void {
    const all = allGroups(window.count);
    for (let from = 0; from < all.length; from += LIMITS.batchRowsDefault)
      this.#emitGroups(start, window, all.subarray(from, from + LIMITS.batchRowsDefault), output);
  }

  #emitGroups(start: number, window: GroupedAggregates, groups: Int32Array, output: Output): void {
    const rows = groups.length;
    const errors = new RowErrors(rows);
    const keys = window.index.keyColumns(groups);
    const results = window.accumulators.map((accumulator) => accumulator.results(groups, errors));
    const end = start + this.#spec.window.widthMicros;
    const columns = this.#spec.outputs.map((source): Column => {
      if (source.tag === 'key') return must(keys[source.index], 'a key column');
      if (source.tag === 'aggregate') return must(results[source.index], 'an aggregate column');
      return windowColumn(start, end, rows);
    });
    const batch: RecordBatch = {
      rows,
      columns,
      eventTime: constantTime(end - 1, rows),
      retract: null,
    };
    if (!errors.failed) {
      output.emit(batch);
      return;
    }
    output.fail(problemsOf(errors, (row) => rowJson(batch, this.#outputSchema, row)));
    output.emit(filterBatch(batch, survivors(rows, errors)));
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#emitClosed(output);
  }

  onBarrier(_output: Output): void {}

  snapshot(_kind: SnapshotKind): StateTable[] {
    const open = [...this.#windows].filter(([, window]) => window.count > 0);
    const [first] = open;
    if (first === undefined) return [];
    const parts = open.map(([start, window]) => {
      const groups = allGroups(window.count);
      return {
        columns: [constantTime(start, groups.length), ...window.stateColumns(groups)],
        hashes: window.index.hashesOf(groups),
      };
    });
    const rows = parts.reduce((sum, part) => sum + part.hashes.length, 0);
    const hashes = new Uint32Array(rows);
    let at = 0;
    for (const part of parts) {
      hashes.set(part.hashes, at);
      at += part.hashes.length;
    }
    const schema: Schema = [
      { name: 'window_start', type: TIMESTAMP, nullable: false },
      ...first[1].stateSchema(),
    ];
    const columns = schema.map((_, column) =>
      concatColumns(parts.map((part) => must(part.columns[column], 'a state column'))),
    );
    return [{ table: 'windows', schema, rows, columns, hashes, changes: null }];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      assert(table.table === 'windows', `unknown state table ${table.table}`);
      const starts = table.columns[0] as Int64Column;
      const rowsByStart = new Map<number, number[]>();
      for (let row = 0; row < table.rows; row++) {
        const start = timeAt(starts.words, row);
        const rows = rowsByStart.get(start);
        if (rows === undefined) rowsByStart.set(start, [row]);
        else rows.push(row);
      }
      for (const [start, rows] of rowsByStart) {
        const indices = Int32Array.from(rows);
        const columns = table.columns
          .slice(1)
          .map((column) => takeColumn(column, indices, rows.length));
        this.#windowAt(start).merge(columns, rows.length);
        if (start + this.#spec.window.widthMicros <= this.#watermark) this.#overdue = true;
      }
    }
  }

  stateBytes(): number {
    let bytes = 0;
    for (const window of this.#windows.values()) bytes += window.bytes();
    return bytes;
  }

  stateRows(): number {
    let rows = 0;
    for (const window of this.#windows.values()) rows += window.count;
    return rows;
  }
}

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

function windowColumn(start: number, end: number, rows: number): Column {
  assert(WINDOW.tag === 'struct', 'a window is a struct');
  return {
    tag: 'struct',
    type: WINDOW,
    length: rows,
    validity: null,
    children: [constantTime(start, rows), constantTime(end, rows)],
  };
}

function lateMessage(micros: number, end: number, watermark: Watermark): string {
  const windowEnd = `its window ended at ${timestampText(BigInt(end))}`;
  if (watermark === Infinity) return `late: ${windowEnd}, and the input had ended`;
  const lateByMs = (watermark - micros) / 1000;
  return `late by ${lateByMs} ms: ${windowEnd}, and event time had reached ${timestampText(BigInt(Math.round(watermark)))}`;
}
