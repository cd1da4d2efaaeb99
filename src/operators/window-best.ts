/**
 * Of each window the rows whose value is the greatest, or the least, of the window.
 *
 * Place in the walk: stage 6. The planner puts it where a query joins rows back to the extreme value of their window. Rows
 * are compared as they come, and those that cannot be the best any more are dropped at once; the others leave when the
 * watermark passes the end of their window, as they came. Before a shuffle it stands once more: what is the best of all is
 * the best of its subtask. There nothing is held over a barrier, so that rows never come back to another subtask, whose
 * time may have gone further.
 *
 * State table `kept`: the rows and their event times; their windows follow from them. It is small, so always whole.
 * Invariants: INV-88 what leaves depends on the rows of a window only, not on how they came in batches. A NULL is never the best.
 * Failure: a row whose window had ended is late, and reported.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { isValid, type Column, type Int64Column } from '../batch/column.ts';
import { concatBatches } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { hashRows } from '../batch/row-hash.ts';
import { sliceBatch, takeBatch } from '../batch/take.ts';
import { TIMESTAMP, type Schema } from '../batch/types.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import type { StateTable } from '../state/state-table.ts';
import { lateRow } from './late-row.ts';
import type { OpenWindows, Operator, Output, Watermark } from './operator.ts';
import { timeAt, timesOf } from './times.ts';
import { WindowGrid } from './window-grid.ts';

export type WindowBestSpec = OperatorSpec & { tag: 'window-best' };

/** What is known of an open window: the best value, as the words of a 64-bit number, and the rows that have it. */
type Best = { high: number; low: number; parts: RecordBatch[] };

/** Batches held apart; more are joined. */
const PARTS_MAX = 64;

export class WindowBest implements Operator {
  readonly copiesRows = true;
  readonly #spec: WindowBestSpec;
  readonly #schema: Schema;
  /** Null: a column tells the window of a row. */
  readonly #grid: WindowGrid | null;
  /** By the end of the window. */
  readonly #open = new Map<number, Best>();
  #watermark: Watermark = -Infinity;
  /** Rows came back whose windows had ended: former subtasks may have heard of time in another order. */
  #overdue = false;
  #rows = 0;

  constructor(spec: WindowBestSpec, inputSchema: Schema) {
    this.#spec = spec;
    this.#schema = inputSchema;
    this.#grid =
      spec.windowColumn === undefined && spec.window.tag !== 'session'
        ? new WindowGrid(spec.window)
        : null;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#takeIn(batch, output);
  }

  /** @param output  null: no row is late, for all of them were in time before */
  #takeIn(batch: RecordBatch, output: Output | null): void {
    const windows = this.#grid === null ? this.#windowsOf(batch) : timesOf(batch);
    for (let from = 0; from < batch.rows;) {
      const end = this.#endOf(windows, from);
      const to =
        this.#grid === null
          ? runOfEqual(windows, from, batch.rows)
          : this.#runBefore(windows, from, batch.rows, end);
      if (output !== null && end <= this.#watermark) this.#reportLate(batch, from, to, end, output);
      else this.#compare(batch, from, to, end);
      from = to;
    }
  }

  /** The ends of the rows' windows. */
  #windowsOf(batch: RecordBatch): Int32Array {
    const column = must(batch.columns[must(this.#spec.windowColumn, 'a column')], 'the window');
    const end = column.tag === 'struct' ? column.children[1] : undefined;
    return must(end?.tag === 'timestamp' ? end.words : undefined, 'the end of a window');
  }

  #endOf(windows: Int32Array, row: number): number {
    const time = timeAt(windows, row);
    return this.#grid === null ? time : this.#grid.endAfter(time);
  }

  /** Behind the rows from `from` on that lie in the window with this end. */
  #runBefore(times: Int32Array, from: number, rows: number, end: number): number {
    const start = must(this.#grid, 'a grid').startOf(end);
    let to = from + 1;
    for (; to < rows; to++) {
      const time = timeAt(times, to);
      if (time < start || time >= end) break;
    }
    return to;
  }

  #reportLate(batch: RecordBatch, from: number, to: number, end: number, output: Output): void {
    output.late(
      Array.from({ length: to - from }, (_, at) =>
        lateRow(batch, this.#schema, from + at, end, this.#watermark),
      ),
    );
  }

  /** Rows `[from, to)` of one window beside the best of it so far. */
  #compare(batch: RecordBatch, from: number, to: number, end: number): void {
    const column = must(batch.columns[this.#spec.column], 'the compared column');
    const pairs = column.tag !== 'int32';
    const words = wordsOf(column);
    const sign = this.#spec.greatest ? 1 : -1;
    const known = this.#open.get(end);
    let high = known?.high ?? 0;
    let low = known?.low ?? 0;
    let found = known !== undefined;
    let count = 0;
    let picked = new Int32Array(4);
    for (let row = from; row < to; row++) {
      if (column.validity !== null && !isValid(column, row)) continue;
      const above = (pairs ? words[row * 2 + 1] : words[row]) as number;
      const below = pairs ? (words[row * 2] as number) >>> 0 : 0;
      const order = found ? sign * (above === high ? below - low : above - high) : 1;
      if (order < 0) continue;
      if (order > 0) {
        found = true;
        high = above;
        low = below;
        count = 0;
      }
      if (count === picked.length) picked = wider(picked);
      picked[count++] = row;
    }
    if (count > 0) this.#keep(takeBatch(batch, picked, count), end, high, low);
  }

  #keep(batch: RecordBatch, end: number, high: number, low: number): void {
    let best = this.#open.get(end);
    if (best === undefined) {
      best = { high, low, parts: [] };
      this.#open.set(end, best);
    } else if (best.high !== high || best.low !== low) {
      for (const part of best.parts) this.#rows -= part.rows;
      best.high = high;
      best.low = low;
      best.parts = [];
    }
    this.#rows += batch.rows;
    best.parts.push(batch);
    if (best.parts.length > PARTS_MAX) best.parts = [concatBatches(best.parts)];
  }

  onWatermark(watermark: Watermark, output: Output): void {
    this.#watermark = Math.max(this.#watermark, watermark);
    this.#emitDue(output);
  }

  #emitDue(output: Output): void {
    this.#overdue = false;
    const due = [...this.#open.keys()].filter((end) => end <= this.#watermark);
    for (const end of due.toSorted((left, right) => left - right)) {
      this.#emit(must(this.#open.get(end), 'an open window'), output);
      this.#open.delete(end);
    }
  }

  /** What is known of the best value stays known. */
  #emit(best: Best, output: Output): void {
    if (best.parts.length === 0) return;
    const batch = concatBatches(best.parts);
    best.parts = [];
    this.#rows -= batch.rows;
    for (let from = 0; from < batch.rows; from += LIMITS.batchRowsDefault)
      output.emit(sliceBatch(batch, from, Math.min(batch.rows, from + LIMITS.batchRowsDefault)));
  }

  onTick(_nowMs: number, output: Output): void {
    if (this.#overdue) this.#emitDue(output);
  }

  onBarrier(output: Output): void {
    if (this.#spec.local === true) for (const best of this.#open.values()) this.#emit(best, output);
  }

  snapshot(): StateTable[] {
    if (this.#rows === 0) return [];
    const batch = concatBatches([...this.#open.values()].flatMap(({ parts }) => parts));
    const { windowColumn } = this.#spec;
    const hashes = new Uint32Array(batch.rows);
    const keys =
      windowColumn === undefined ? [] : [must(batch.columns[windowColumn], 'the window')];
    hashRows(keys, batch.rows, hashes);
    const schema: Schema = [
      ...this.#schema.map((field, index) => ({ ...field, name: `c${index}` })),
      { name: 'event_time', type: TIMESTAMP, nullable: false },
    ];
    const columns = [...batch.columns, must(batch.eventTime, 'event times')];
    return [{ table: 'kept', schema, rows: batch.rows, columns, hashes, changes: null }];
  }

  restore(tables: readonly StateTable[]): void {
    for (const { rows, columns } of tables) {
      const eventTime = columns.at(-1) as Int64Column;
      this.#takeIn({ rows, columns: columns.slice(0, -1), eventTime, retract: null }, null);
    }
    for (const end of this.#open.keys()) if (end <= this.#watermark) this.#overdue = true;
  }

  stateBytes(): number {
    return this.#rows * (8 + 16 * this.#schema.length);
  }

  stateRows(): number {
    return this.#rows;
  }

  openWindows(): OpenWindows {
    const ends = [...this.#open.keys()].filter((end) => end > this.#watermark);
    return { count: ends.length, firstEnd: ends.length === 0 ? null : Math.min(...ends) };
  }
}

function wordsOf(column: Column): Int32Array {
  if (column.tag === 'int32') return column.values;
  assert(column.tag === 'int64' || column.tag === 'timestamp', 'values that compare as words');
  return column.words;
}

/** Behind the values from `from` on that equal the first of them. */
function runOfEqual(words: Int32Array, from: number, rows: number): number {
  const low = words[from * 2];
  const high = words[from * 2 + 1];
  let to = from + 1;
  while (to < rows && words[to * 2] === low && words[to * 2 + 1] === high) to++;
  return to;
}

function wider(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const more = new Int32Array(values.length * 4);
  more.set(values);
  return more;
}
