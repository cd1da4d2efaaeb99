/**
 * GROUP BY a window whose rows come from a window before, may be taken back, or leave more than once.
 *
 * Place in the walk: stage 6. The window of a row is read from a column, or follows from its event time; then the row is
 * added to every open window that holds it, each window for itself. Groups are kept by the end of their window.
 *
 *     window:  open ──watermark ≥ end──▶ out ──watermark ≥ end + lateness──▶ forgotten
 *
 * Without early results and lateness the rows of a window leave once, as of its end. With them the result is updated:
 * changes leave at the window's end, when it is forgotten, at barriers, and every `earlyMs` (or second), those of open
 * windows only with early results: the old row is taken back, the new one added.
 *
 * State table `windows`: window end, keys (the window's start among them when it is read from a column), accumulator
 * states, number of rows, what is out. Snapshots of changes name the groups that changed and the windows that are gone.
 * Invariants: INV-62, INV-63 as `WindowAggregate`, for the rows that remain in the end; INV-64 as `UpdatingAggregate`.
 * Failure: rows all of whose windows are forgotten are late; results that do not fit are errors of their rows.
 */
import { assert, must } from '../base/assert.ts';
import type { Column, Int64Column, StructColumn } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, takeBatch, takeColumn } from '../batch/take.ts';
import { TIMESTAMP, type Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { GroupInputs, type EvaluatedBatch } from './group-aggregates.ts';
import { lateRow } from './late-row.ts';
import type { OpenWindows, Operator, Output, RowProblem, Watermark } from './operator.ts';
import { constantTime, timeAt, timesOf } from './times.ts';
import { WindowBucket } from './window-bucket.ts';
import { WindowGrid } from './window-grid.ts';
import { timeColumn, WindowRows, type WindowAggregateSpec } from './window-rows.ts';

/** Changes of windows that are out leave this often. */
const FLUSH_MS = 1_000;

export class BucketedWindowAggregate implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: WindowAggregateSpec;
  readonly #inputSchema: Schema;
  readonly #keys: readonly Expr[];
  readonly #inputs: GroupInputs;
  /** Null: the window is read from a column. */
  readonly #grid: WindowGrid | null;
  readonly #rows: WindowRows;
  readonly #updated: boolean;
  readonly #lateness: number;
  /** By window end. */
  readonly #buckets = new Map<number, WindowBucket>();
  #watermark: Watermark = -Infinity;
  #isBehind = false;
  #flushedMs: number | null = null;

  constructor(spec: WindowAggregateSpec, inputSchema: Schema, outputSchema: Schema) {
    const { window, windowColumn, keys } = spec;
    this.#spec = spec;
    this.#inputSchema = inputSchema;
    this.#keys = windowColumn === undefined ? keys : [...keys, startOf(windowColumn, inputSchema)];
    this.#inputs = new GroupInputs(this.#keys, spec.aggregates, inputSchema);
    assert(windowColumn !== undefined || window.tag !== 'session', 'a session is read');
    this.#grid =
      windowColumn !== undefined || window.tag === 'session' ? null : new WindowGrid(window);
    this.#rows = new WindowRows(spec.outputs, outputSchema);
    this.#lateness = window.latenessMicros ?? 0;
    this.#updated = this.#lateness > 0 || window.earlyMs !== undefined;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#catchUp(output);
    const onTime = this.#inOrder(this.#withoutLate(batch, output));
    if (onTime.rows === 0) return;
    this.#inputs.inParts(onTime, output, (evaluated) =>
      forEachRun(this.#timesBy(evaluated.batch), evaluated.batch.rows, (time, from, to) =>
        this.#add(time, evaluated, from, to),
      ),
    );
  }

  /** What tells the windows of a row: where its pane starts, or the end in its window column. */
  #timesBy(batch: RecordBatch): (row: number) => number {
    const { windowColumn } = this.#spec;
    const grid = this.#grid;
    if (grid === null) {
      const [, ends] = (batch.columns[windowColumn as number] as StructColumn).children;
      const { words } = ends as Int64Column;
      return (row) => timeAt(words, row);
    }
    const words = timesOf(batch);
    return (row) => grid.paneOfInstant(timeAt(words, row));
  }

  /** When the last window of a row with this time ends. */
  #lastEnd(time: number): number {
    return this.#grid === null ? time : this.#grid.instantOf(this.#grid.lastEndOf(time));
  }

  #withoutLate(batch: RecordBatch, output: Output): RecordBatch {
    const timeOf = this.#timesBy(batch);
    let keep: Uint8Array | null = null;
    const late: RowProblem[] = [];
    for (let row = 0; row < batch.rows; row++) {
      const time = timeOf(row);
      const end = this.#lastEnd(time);
      const isIn = this.#grid === null || this.#grid.lastEndOf(time) > time;
      if (isIn && end + this.#lateness > this.#watermark) continue;
      keep ??= new Uint8Array(batch.rows).fill(1);
      keep[row] = 0;
      if (isIn) late.push(lateRow(batch, this.#inputSchema, row, end, this.#watermark));
    }
    if (keep === null) return batch;
    if (late.length > 0) output.late(late);
    return filterBatch(batch, keep);
  }

  /** The same rows with those of equal times side by side. */
  #inOrder(batch: RecordBatch): RecordBatch {
    const timeOf = this.#timesBy(batch);
    const rowsByTime = new Map<number, number[]>();
    let runs = 0;
    forEachRun(timeOf, batch.rows, (time, from, to) => {
      runs++;
      const rows = rowsByTime.get(time) ?? [];
      for (let row = from; row < to; row++) rows.push(row);
      rowsByTime.set(time, rows);
    });
    if (rowsByTime.size === runs) return batch;
    return takeBatch(batch, Int32Array.from([...rowsByTime.values()].flat()), batch.rows);
  }

  #add(time: number, evaluated: EvaluatedBatch, from: number, to: number): void {
    if (this.#grid === null) {
      this.#bucketAt(time).add(evaluated, from, to);
      return;
    }
    const grid = this.#grid;
    grid.forEachWindowOf(time, (_, end) => {
      const instant = grid.instantOf(end);
      if (instant + this.#lateness > this.#watermark)
        this.#bucketAt(instant).add(evaluated, from, to);
    });
  }

  #bucketAt(end: number): WindowBucket {
    const known = this.#buckets.get(end);
    if (known !== undefined) return known;
    const bucket = new WindowBucket(this.#keys, this.#spec.aggregates, this.#updated);
    this.#buckets.set(end, bucket);
    return bucket;
  }

  onWatermark(watermark: Watermark, output: Output): void {
    if (watermark > this.#watermark) {
      const before = this.#watermark;
      this.#watermark = watermark;
      this.#advance(before, output);
    } else this.#catchUp(output);
  }

  /** State came back that was due: former subtasks may have heard of time in another order. */
  #catchUp(output: Output): void {
    if (this.#isBehind) this.#advance(-Infinity, output);
  }

  #advance(before: Watermark, output: Output): void {
    const from = this.#isBehind ? -Infinity : before;
    this.#isBehind = false;
    const ends = [...this.#buckets.keys()].filter((end) => end <= this.#watermark);
    for (const end of ends.sort((left, right) => left - right)) {
      const isOver = end + this.#lateness <= this.#watermark;
      if (isOver || end > from) this.#flush(end, output);
      if (isOver) this.#buckets.delete(end);
    }
  }

  #flush(end: number, output: Output): void {
    const bucket = must(this.#buckets.get(end), 'a window');
    bucket.flush(({ rows, keys, results, retract, errors }) => {
      const starts =
        this.#grid === null ? (keys.at(-1) as Int64Column) : this.#startsOf(end, rows, this.#grid);
      const times = {
        starts,
        ends: constantTime(end, starts.length),
        eventTime: constantTime(end - 1, starts.length),
      };
      if (starts.length > 0) this.#rows.emit(keys, results, times, errors, output, retract);
    });
  }

  #startsOf(end: number, rows: number, grid: WindowGrid): Int64Column {
    return constantTime(grid.instantOf(grid.startOf(grid.positionOf(end))), rows);
  }

  onTick(nowMs: number, output: Output): void {
    this.#catchUp(output);
    this.#flushedMs ??= nowMs;
    if (Math.abs(nowMs - this.#flushedMs) < (this.#spec.window.earlyMs ?? FLUSH_MS)) return;
    this.#flushedMs = nowMs;
    this.#flushOut(output);
  }

  onBarrier(output: Output): void {
    this.#catchUp(output);
    this.#flushOut(output);
  }

  #flushOut(output: Output): void {
    if (!this.#updated) return;
    const early = this.#spec.window.earlyMs !== undefined;
    for (const end of this.#buckets.keys())
      if (early || end <= this.#watermark) this.#flush(end, output);
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    if (this.#buckets.size === 0 && kind === 'whole') return [];
    const whole = kind === 'whole' || this.#buckets.size === 0;
    const empty = new WindowBucket(this.#keys, this.#spec.aggregates, this.#updated);
    const schema: Schema = [
      { name: 'window_end', type: TIMESTAMP, nullable: false },
      ...empty.stateSchema(),
    ];
    const ends: number[] = [];
    const hashes: number[] = [];
    const parts: (readonly Column[])[] = [empty.stateColumns(new Int32Array(0))];
    for (const [end, bucket] of this.#buckets) {
      const groups = bucket.takeUnsaved(whole);
      if (groups.length === 0) continue;
      parts.push(bucket.stateColumns(groups));
      for (const hash of bucket.hashesOf(groups)) {
        ends.push(end);
        hashes.push(hash);
      }
    }
    const columns = schema
      .slice(1)
      .map((_, at) => concatColumns(parts.map((part) => must(part[at], 'a state column'))));
    const closed = this.#watermark - this.#lateness;
    return [
      {
        table: 'windows',
        schema,
        rows: ends.length,
        columns: [timeColumn(ends), ...columns],
        hashes: Uint32Array.from(hashes),
        changes: whole
          ? null
          : {
              keyColumns: 1 + this.#keys.length,
              removed: null,
              // Windows that end at the watermark are gone too.
              droppedBelow: Number.isFinite(closed) ? Math.floor(closed) + 1 : null,
            },
      },
    ];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      assert(table.table === 'windows', `unknown state table ${table.table}`);
      const { words } = table.columns[0] as Int64Column;
      const rowsByEnd = new Map<number, number[]>();
      for (let row = 0; row < table.rows; row++) {
        const end = timeAt(words, row);
        const rows = rowsByEnd.get(end);
        if (rows === undefined) rowsByEnd.set(end, [row]);
        else rows.push(row);
      }
      for (const [end, rows] of rowsByEnd) {
        const indices = Int32Array.from(rows);
        const columns = table.columns
          .slice(1)
          .map((column) => takeColumn(column, indices, rows.length));
        this.#bucketAt(end).restore(columns, rows.length);
      }
    }
    this.#isBehind = this.#buckets.size > 0;
  }

  openWindows(): OpenWindows {
    let count = 0;
    let firstEnd: number | null = null;
    for (const end of this.#buckets.keys()) {
      if (end <= this.#watermark) continue;
      count++;
      if (firstEnd === null || end < firstEnd) firstEnd = end;
    }
    return { count, firstEnd };
  }

  stateBytes(): number {
    let bytes = 0;
    for (const bucket of this.#buckets.values()) bytes += bucket.bytes();
    return bytes;
  }

  stateRows(): number {
    let rows = 0;
    for (const bucket of this.#buckets.values()) rows += bucket.count;
    return rows;
  }
}

/** `window.start` of the window in a column. */
function startOf(windowColumn: number, schema: Schema): Expr {
  const { type } = must(schema[windowColumn], 'the window column');
  assert(type.tag === 'struct', 'a window is a struct');
  return {
    tag: 'field',
    input: { tag: 'column', index: windowColumn, type },
    index: 0,
    type: must(type.fields[0], 'its start').type,
  };
}

/** Calls `visit` for each stretch of rows of one time. */
function forEachRun(
  timeOf: (row: number) => number,
  rows: number,
  visit: (time: number, from: number, to: number) => void,
): void {
  let from = 0;
  while (from < rows) {
    const time = timeOf(from);
    let to = from + 1;
    while (to < rows && timeOf(to) === time) to++;
    visit(time, from, to);
    from = to;
  }
}
