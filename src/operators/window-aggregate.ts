/**
 * GROUP BY with a tumbling, hopping or cumulating window over rows that stay.
 *
 * Place in the walk: stage 6. A row belongs to every window that holds its event time (`WindowGrid`); it is aggregated
 * once, in its pane, and windows are made of panes (`PaneWindows`). When event time reaches a window's end, its rows
 * leave once, with event time end − 1 µs.
 *
 *     window:  open ──first row──▶ held ──watermark ≥ end──▶ emitted
 *
 * State tables: `panes`: where the pane starts, keys, accumulator states; `progress`, where windows have several panes:
 * up to where the windows of a key's hash have been emitted, for former subtasks may differ in it. The watermark is
 * restored by the driver. What accumulators keep as entries is in tables of its own (`entry-tables.ts`). Snapshots of changes name the groups that changed and the panes that are gone.
 * Invariants: INV-62 a window is emitted at most once; INV-63 the result depends on the rows and on which of them came
 * after their window had closed, not on batches, order inside the watermark's bound or subtasks.
 * Not guaranteed: the order of rows within a window.
 * Failure: a row all of whose windows have closed is late; rows that cannot be computed are errors, and so is a result
 * row whose aggregate does not fit its type. All three are reported and counted, never dropped silently. A row that lies
 * between windows (a slide longer than the width) belongs to none.
 */
import { assert, must } from '../base/assert.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, sliceBatch, takeBatch, takeColumn } from '../batch/take.ts';
import { TIMESTAMP, type Schema } from '../batch/types.ts';
import { allGroups } from '../state/group-index.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { entriesOf, entryTables } from './entry-tables.ts';
import { GroupedAggregates, GroupInputs } from './group-aggregates.ts';
import { GatheredWindows } from './gathered-windows.ts';
import { lateRow } from './late-row.ts';
import type { OpenWindows, Operator, Output, RowProblem, Watermark } from './operator.ts';
import { PaneWindows, type Pane } from './pane-windows.ts';
import { constantTime, measureTimes, timeAt, timesOf, timeSpan } from './times.ts';
import { PARTIAL_COLUMNS, partialSchema, rowsOfPartial } from './window-combiner.ts';
import { WindowGrid } from './window-grid.ts';
import { WindowRows, type WindowAggregateSpec } from './window-rows.ts';

/** Beyond this many runs of equal panes, a batch is brought into their order first. */
const RUNS_MAX = 8;

const PROGRESS: Schema = [{ name: 'emitted_to', type: TIMESTAMP, nullable: false }];

export class WindowAggregate implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly partialStates: Schema;
  readonly #spec: WindowAggregateSpec;
  readonly #inputSchema: Schema;
  readonly #inputs: GroupInputs;
  readonly #grid: WindowGrid;
  readonly #leaving: GatheredWindows;
  #windows: PaneWindows;
  /** State that came back, by how far its windows had been emitted; empty again once it has caught up. */
  #restored: PaneWindows[] = [];
  #watermark: Watermark = -Infinity;
  /** Every row at this instant or later lies in a window that is open, or in none. */
  #openFrom = -Infinity;

  constructor(spec: WindowAggregateSpec, inputSchema: Schema, outputSchema: Schema) {
    assert(spec.window.tag !== 'session', 'sessions have their own operator');
    this.#spec = spec;
    this.partialStates = partialSchema(spec);
    this.#inputSchema = inputSchema;
    this.#inputs = new GroupInputs(spec.keys, spec.aggregates, inputSchema);
    this.#grid = new WindowGrid(spec.window);
    this.#leaving = new GatheredWindows(
      new WindowRows(spec.outputs, outputSchema),
      this.#makeGroups(),
    );
    this.#windows = this.#makeWindows(-Infinity);
  }

  #makeGroups(): GroupedAggregates {
    return new GroupedAggregates(this.#spec.keys, this.#spec.aggregates);
  }

  #makeWindows(emittedTo: number): PaneWindows {
    return new PaneWindows(this.#grid, () => this.#makeGroups(), emittedTo);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#catchUp(output);
    if (this.#takesWhole(batch, output)) return;
    const onTime = this.#withoutLate(batch, output);
    if (onTime.rows === 0) return;
    this.#inputs.inParts(this.#nearlyOrdered(onTime), output, (evaluated) =>
      this.#forEachRun(evaluated.batch, (start, from, to) => {
        if (this.#grid.lastEndOf(start) > start) this.#windows.update(start, evaluated, from, to);
      }),
    );
  }

  /** As `onBatch`, over rows that were aggregated by pane and key where they came from. */
  onPartial(partial: RecordBatch, output: Output): void {
    this.#catchUp(output);
    const { words } = partial.columns[0] as Int64Column;
    for (let from = 0; from < partial.rows;) {
      const start = timeAt(words, from);
      let to = from + 1;
      while (to < partial.rows && timeAt(words, to) === start) to++;
      const part = sliceBatch(partial, from, to);
      const end = this.#grid.instantOf(this.#grid.lastEndOf(start));
      if (end <= this.#watermark) output.late(this.#latePartial(part, start, end));
      else this.#windows.fold(start, part.columns.slice(PARTIAL_COLUMNS), part.rows);
      from = to;
    }
  }

  /** One problem for each row that went into partial states of a pane all of whose windows have closed. */
  #latePartial(partial: RecordBatch, start: number, end: number): RowProblem[] {
    const { keys } = this.#spec;
    const schema = this.partialStates.slice(PARTIAL_COLUMNS, PARTIAL_COLUMNS + keys.length);
    const columns = partial.columns.slice(PARTIAL_COLUMNS, PARTIAL_COLUMNS + keys.length);
    const eventTime = constantTime(this.#grid.instantOf(start), partial.rows);
    const rows: RecordBatch = { ...partial, columns, eventTime };
    const problems: RowProblem[] = [];
    for (let row = 0; row < partial.rows; row++) {
      const count = rowsOfPartial(sliceBatch(partial, row, row + 1));
      const problem = lateRow(rows, schema, row, end, this.#watermark);
      for (let each = 0; each < count; each++) problems.push(problem);
    }
    return problems;
  }

  /** Takes in a batch that lies in one open pane, as most do; false when it does not. */
  #takesWhole(batch: RecordBatch, output: Output): boolean {
    measureTimes(timesOf(batch), batch.rows);
    const { first, last } = timeSpan;
    if (first < this.#openFrom) return false;
    const start = this.#grid.paneOfInstant(first);
    if (last >= this.#grid.instantOf(start + this.#grid.pane)) return false;
    if (this.#grid.lastEndOf(start) <= start) return true;
    this.#inputs.inParts(batch, output, (evaluated) => {
      const { rows } = evaluated.batch;
      if (rows > 0) this.#windows.update(start, evaluated, 0, rows);
    });
    return true;
  }

  /** Reports rows whose windows have all closed; the batch itself when there are none. */
  #withoutLate(batch: RecordBatch, output: Output): RecordBatch {
    const words = timesOf(batch);
    let keep: Uint8Array | null = null;
    const late: RowProblem[] = [];
    for (let row = 0; row < batch.rows; row++) {
      const micros = timeAt(words, row);
      if (micros >= this.#openFrom) continue;
      const start = this.#grid.paneOfInstant(micros);
      const end = this.#grid.lastEndOf(start);
      if (end <= start) continue;
      keep ??= new Uint8Array(batch.rows).fill(1);
      keep[row] = 0;
      const closed = this.#grid.instantOf(end);
      late.push(lateRow(batch, this.#inputSchema, row, closed, this.#watermark));
    }
    if (keep === null) return batch;
    output.late(late);
    return filterBatch(batch, keep);
  }

  /** The same rows with few runs of equal panes; the order within a pane is kept. */
  #nearlyOrdered(batch: RecordBatch): RecordBatch {
    let runs = 0;
    let newest = -Infinity;
    let isOrdered = true;
    this.#forEachRun(batch, (start) => {
      if (start <= newest) isOrdered = false;
      newest = start;
      runs++;
    });
    if (isOrdered || runs <= RUNS_MAX) return batch;
    const words = timesOf(batch);
    const rowsByPane = new Map<number, number[]>();
    for (let row = 0; row < batch.rows; row++) {
      const start = this.#grid.paneOfInstant(timeAt(words, row));
      const rows = rowsByPane.get(start);
      if (rows === undefined) rowsByPane.set(start, [row]);
      else rows.push(row);
    }
    if (rowsByPane.size === runs) return batch;
    const indices = Int32Array.from([...rowsByPane.values()].flat());
    return takeBatch(batch, indices, batch.rows);
  }

  /** Calls `visit(start, from, to)` for each stretch of rows of one pane: one division per run, not per row. */
  #forEachRun(batch: RecordBatch, visit: (start: number, from: number, to: number) => void): void {
    const words = timesOf(batch);
    let from = 0;
    while (from < batch.rows) {
      const start = this.#grid.paneOfInstant(timeAt(words, from));
      const first = this.#grid.instantOf(start);
      const end = this.#grid.instantOf(start + this.#grid.pane);
      let to = from + 1;
      while (to < batch.rows) {
        const micros = timeAt(words, to);
        if (micros < first || micros >= end) break;
        to++;
      }
      visit(start, from, to);
      from = to;
    }
  }

  onWatermark(watermark: Watermark, output: Output): void {
    this.#catchUp(output);
    if (watermark <= this.#watermark) return;
    this.#watermark = watermark;
    const position = this.#grid.positionOf(watermark);
    this.#openFrom = this.#grid.instantOf(this.#grid.startOf(this.#grid.endAfter(position)));
    this.#advance(this.#windows, position, output);
  }

  #advance(windows: PaneWindows, position: number, output: Output): void {
    windows.advance(position, (start, end, rows) =>
      this.#leaving.add(this.#grid.instantOf(start), this.#grid.instantOf(end), rows, output),
    );
    this.#leaving.flush(output);
  }

  /** What was due when the state came back leaves now; from then on all of it stands where the foremost part stood. */
  #catchUp(output: Output): void {
    const [first, ...others] = this.#restored;
    if (first === undefined) return;
    const position = Math.max(
      this.#grid.positionOf(this.#watermark),
      ...this.#restored.map((part) => part.emittedTo),
    );
    this.#restored = [];
    this.#windows = first;
    this.#advance(first, position, output);
    for (const other of others) {
      this.#advance(other, position, output);
      for (const { start, groups } of other.panes)
        first.fold(start, groups.stateColumns(allGroups(groups.count)), groups.count);
    }
  }

  onTick(_nowMs: number, output: Output): void {
    this.#catchUp(output);
  }

  onBarrier(output: Output): void {
    this.#catchUp(output);
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    assert(this.#restored.length === 0, 'onBarrier comes before a snapshot');
    const { panes, emittedTo } = this.#windows;
    const parts = panes.map((pane) => takeUnsaved(pane, kind));
    const tables: StateTable[] = [];
    if (kind === 'changes' || parts.length > 0) tables.push(...this.#paneTables(parts, kind));
    if (!this.#grid.single && emittedTo > -Infinity && emittedTo < Infinity)
      tables.push(progressTable(this.#windows.closedHashes(), emittedTo));
    return tables;
  }

  #paneTables(parts: readonly UnsavedPane[], kind: SnapshotKind): StateTable[] {
    const { keys } = this.#spec;
    const empty = this.#makeGroups();
    const none = new Int32Array(0);
    const columnsOf = (start: number, from: GroupedAggregates, groups: Int32Array): Column[] => [
      constantTime(start, groups.length),
      ...from.savedColumns(groups),
    ];
    const written = parts.filter(({ groups }) => groups.length > 0);
    const columns = written.map(({ pane, groups }) => columnsOf(pane.start, pane.groups, groups));
    if (columns.length === 0) columns.push(columnsOf(0, empty, none));
    const hashes = concatHashes(
      written.map(({ pane, groups }) => pane.groups.index.hashesOf(groups)),
    );
    const schema: Schema = [
      { name: 'pane_start', type: TIMESTAMP, nullable: false },
      ...empty.savedSchema(),
    ];
    const { emittedTo } = this.#windows;
    const droppedBelow = this.#grid.startOf(this.#grid.endAfter(emittedTo));
    // With no pane left there is nothing that changes could be laid over.
    const whole = kind === 'whole' || parts.length === 0;
    const dropped = Number.isFinite(droppedBelow) ? droppedBelow : null;
    const panes: StateTable = {
      table: 'panes',
      schema,
      rows: hashes.length,
      columns: schema.map((_, at) =>
        concatColumns(columns.map((part) => must(part[at], 'a state column'))),
      ),
      hashes,
      changes: whole ? null : { keyColumns: 1 + keys.length, removed: null, droppedBelow: dropped },
    };
    const entries = parts.map(({ pane, all }) => ({ groups: pane.groups, start: pane.start, all }));
    if (entries.length === 0) entries.push({ groups: empty, start: 0, all: true });
    return [panes, ...entryTables(empty, entries, whole, dropped)];
  }

  restore(tables: readonly StateTable[]): void {
    const emittedTo = new Map<number, number>();
    for (const table of tables) {
      if (table.table !== 'progress') continue;
      const { words } = table.columns[0] as Int64Column;
      for (let row = 0; row < table.rows; row++)
        emittedTo.set(table.hashes[row] as number, timeAt(words, row));
    }
    const parts = new Map<number, PaneWindows>();
    for (const table of tables) {
      if (table.table === 'progress' || entriesOf(table) >= 0) continue;
      assert(table.table === 'panes', `unknown state table ${table.table}`);
      this.#restorePanes(table, (hash) => emittedTo.get(hash) ?? -Infinity, parts, foldSaved);
    }
    for (const table of tables) {
      const at = entriesOf(table);
      if (at < 0) continue;
      const fold: FoldRows = (windows, start, columns, rows) =>
        windows.foldEntries(start, at, columns, rows);
      this.#restorePanes(table, (hash) => emittedTo.get(hash) ?? -Infinity, parts, fold);
    }
    this.#restored = [...parts.values()];
  }

  #restorePanes(
    table: StateTable,
    emittedToOf: (hash: number) => number,
    parts: Map<number, PaneWindows>,
    fold: FoldRows,
  ): void {
    const starts = table.columns[0] as Int64Column;
    const byPart = new Map<number, Map<number, number[]>>();
    for (let row = 0; row < table.rows; row++) {
      const emittedTo = emittedToOf(table.hashes[row] as number);
      const rowsByStart = byPart.get(emittedTo) ?? new Map<number, number[]>();
      byPart.set(emittedTo, rowsByStart);
      const start = timeAt(starts.words, row);
      const rows = rowsByStart.get(start);
      if (rows === undefined) rowsByStart.set(start, [row]);
      else rows.push(row);
    }
    for (const [emittedTo, rowsByStart] of byPart) {
      const part = parts.get(emittedTo) ?? this.#makeWindows(emittedTo);
      parts.set(emittedTo, part);
      for (const [start, rows] of rowsByStart) {
        const indices = Int32Array.from(rows);
        const states = table.columns
          .slice(1)
          .map((column) => takeColumn(column, indices, rows.length));
        fold(part, start, states, rows.length);
      }
    }
  }

  openWindows(): OpenWindows {
    const parts = [this.#windows, ...this.#restored].map((part) => part.open());
    const ends = parts.flatMap(({ firstEnd }) =>
      firstEnd === null ? [] : [this.#grid.instantOf(firstEnd)],
    );
    return {
      // Parts that came back lie over each other until the first row: the largest is nearest to the truth.
      count: Math.max(...parts.map(({ count }) => count)),
      firstEnd: ends.length === 0 ? null : Math.min(...ends),
    };
  }

  stateBytes(): number {
    return this.#all().reduce((sum, windows) => sum + windows.bytes(), 0);
  }

  stateRows(): number {
    return this.#all().reduce((sum, windows) => sum + windows.rows(), 0);
  }

  #all(): readonly PaneWindows[] {
    return [this.#windows, ...this.#restored];
  }
}

/** Folds rows of a state table into the pane at `start`. */
type FoldRows = (
  windows: PaneWindows,
  start: number,
  columns: readonly Column[],
  rows: number,
) => void;

const foldSaved: FoldRows = (windows, start, columns, rows) =>
  windows.foldSaved(start, columns, rows);

/** The groups that the snapshot before does not have as they are now. */
function takeUnsaved(pane: Pane, kind: SnapshotKind): UnsavedPane {
  const changed = pane.groups.takeChanged();
  const all = kind === 'whole' || !pane.saved;
  pane.saved = true;
  return { pane, groups: all ? allGroups(pane.groups.count) : changed, all };
}

/** `all`: the snapshot before knows nothing of the pane. */
type UnsavedPane = { pane: Pane; groups: Int32Array; all: boolean };

function concatHashes(parts: readonly Uint32Array[]): Uint32Array {
  const hashes = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    hashes.set(part, at);
    at += part.length;
  }
  return hashes;
}

function progressTable(parts: readonly Uint32Array[], emittedTo: number): StateTable {
  const hashes = Uint32Array.from(new Set(parts.flatMap((part) => [...part])));
  return {
    table: 'progress',
    schema: PROGRESS,
    rows: hashes.length,
    columns: [constantTime(emittedTo, hashes.length)],
    hashes,
    changes: null,
  };
}
