/**
 * GROUP BY without a window: keeps every group, for ever or for its time to live, and emits its changes.
 *
 * Place in the walk: stage 6. Changes are gathered and emitted every `flushMs`, at barriers and at the end of the
 * input: for each changed group first the retraction of the row emitted before, then the new row; nothing when both are
 * equal. Input rows may be retractions, when all accumulators can take rows back.
 *
 * State table `groups`, by key: number of rows, whether a row is out, that row's values, since a retraction must equal
 * what was emitted even if computing it again would differ in the last bit, and accumulator states. Snapshots of changes
 * hold the groups that rows have come for, and name those that were swept.
 * Values that accumulators need all of are in tables of their own (`entry-tables.ts`).
 * With a time to live a key has a group for each of its lives (`group-lives.ts`), named by one more key column; when a life
 * is over its last result leaves and the group is forgotten, without a retraction.
 * Invariants: INV-64 at any time, the rows emitted less those retracted are one row per group; INV-65 after the last
 * flush that row is the result over all rows so far, whatever the batches, flushes and subtasks were.
 * Failure: rows that cannot be computed are errors; a group whose result does not fit its type keeps its last good row.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { bitAt, bitmapBytes, type Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { gatherFloats } from '../batch/index-run.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch, takeColumn } from '../batch/take.ts';
import { BOOLEAN, FLOAT64, TIMESTAMP, type Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups, hashesOfKeys } from '../state/group-index.ts';
import { hashedLater } from '../state/hashed-later.ts';
import type { SnapshotKind, StateChanges, StateTable } from '../state/state-table.ts';
import { entriesOf, entryTables } from './entry-tables.ts';
import { GroupedAggregates, GroupInputs, type EvaluatedBatch } from './group-aggregates.ts';
import { asTimes, GroupLives, LATE, timesColumn } from './group-lives.ts';
import { lateForgotten } from './late-rows.ts';
import type { Operator, Output, RowProblem, Watermark } from './operator.ts';
import { rowJson } from './row-json.ts';

export type UpdatingAggregateSpec = OperatorSpec & { tag: 'updating-aggregate' };

/** Groups with no row out are swept when there are more of them than this and than the others. */
const DEAD_GROUPS_MAX = 1024;

export class UpdatingAggregate implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #spec: UpdatingAggregateSpec;
  readonly #inputSchema: Schema;
  readonly #outputSchema: Schema;
  readonly #inputs: GroupInputs;
  /** Null: groups are kept for ever. */
  readonly #lives: GroupLives | null;
  /** Columns of the group index: the keys, and with lives the name of the life. */
  readonly #keyCount: number;
  readonly #grouped: GroupedAggregates;
  /** Rows in each group, appends less retractions. */
  #rowCounts = new Float64Array(16);
  /** 1: the group's row in `#emitted` is out downstream. */
  #isOut = new Uint8Array(16);
  #emitted: readonly ColumnStore[];
  #isDirty = new Uint8Array(16);
  #dirty: number[] = [];
  /** Groups whose row is out. */
  #outCount = 0;
  #flushedMs: number | null = null;
  /** Keys of groups that were swept since the last snapshot. */
  #swept: { columns: readonly Column[]; hashes: Uint32Array }[] = [];

  constructor(spec: UpdatingAggregateSpec, inputSchema: Schema, outputSchema: Schema) {
    this.#spec = spec;
    this.#outputSchema = outputSchema;
    this.#inputs = new GroupInputs(spec.keys, spec.aggregates, inputSchema);
    this.#inputSchema = inputSchema;
    const ttl = spec.keys.length === 0 ? null : (spec.ttlMicros ?? null);
    const types = spec.keys.map((key) => key.type);
    this.#lives = ttl === null ? null : new GroupLives(types, ttl);
    const keys: Expr[] =
      ttl === null ? [...spec.keys] : [...spec.keys, { tag: 'row-time', type: TIMESTAMP }];
    this.#keyCount = keys.length;
    this.#grouped = new GroupedAggregates(keys, spec.aggregates);
    this.#emitted = this.#emptyStores();
  }

  #emptyStores(): ColumnStore[] {
    return this.#spec.aggregates.map((call) => makeColumnStore(call.type));
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    if (this.#lives === null) this.#fold(this.#inputs.evaluate(batch, output));
    else this.#foldLives(this.#inputs.evaluate(batch, output), this.#lives, output);
  }

  #fold(evaluated: EvaluatedBatch): void {
    const { rows, retract } = evaluated.batch;
    if (rows === 0) return;
    assert(
      retract === null || this.#grouped.accumulators.every((each) => each.invertible),
      'the planner keeps retractions away from aggregates that cannot take rows back',
    );
    const groups = this.#grouped.groupsOf(evaluated, 0, rows);
    this.#makeRoom();
    this.#count(evaluated, groups);
    this.#grouped.update(evaluated, 0, rows, groups);
  }

  /** As `#fold`, each row into the group of its life. */
  #foldLives(evaluated: EvaluatedBatch, lives: GroupLives, output: Output): void {
    const assigned = lives.assign(evaluated.keys, evaluated.batch);
    const kept = assigned.filter((life) => life >= 0);
    if (kept.length === 0) return this.#refuseLate(evaluated.batch, assigned, output);
    const given =
      kept.length === assigned.length
        ? evaluated
        : this.#inputs.evaluate(
            filterBatch(
              evaluated.batch,
              Uint8Array.from(assigned, (life) => (life < 0 ? 0 : 1)),
            ),
            output,
          );
    const ids = timesColumn(Float64Array.from(kept, (life) => lives.idOf(life)));
    const named = { ...given, keys: [...given.keys, ids] };
    this.#fold(named);
    const groups = this.#grouped.groupsOf(named, 0, kept.length);
    for (let row = 0; row < kept.length; row++)
      lives.setGroup(kept[row] as number, groups[row] as number);
    lives.takeMerged((from, into) => this.#unite(from, into));
    if (kept.length < assigned.length) this.#refuseLate(evaluated.batch, assigned, output);
  }

  #refuseLate(batch: RecordBatch, assigned: Int32Array, output: Output): void {
    const problems: RowProblem[] = [];
    for (let row = 0; row < assigned.length; row++)
      if (assigned[row] === LATE)
        problems.push(
          lateForgotten(batch, this.#inputSchema, row, must(this.#lives, 'lives').watermark),
        );
    if (problems.length > 0) output.late(problems);
  }

  /** Two groups turned out to be one life of their key: the first one's rows become the second one's. */
  #unite(from: number, into: number): void {
    if (from < 0) return;
    const target = Int32Array.of(into);
    const source = Int32Array.of(from);
    for (const accumulator of this.#grouped.accumulators)
      accumulator.merge(target, 1, accumulator.stateColumns(source));
    this.#rowCounts[into] = (this.#rowCounts[into] as number) + (this.#rowCounts[from] as number);
    this.#rowCounts[from] = 0;
    this.#noteGone([from]);
    if (this.#isDirty[from] === 1) return;
    this.#isDirty[from] = 1;
    this.#dirty.push(from);
  }

  /** Checkpoints are to name groups as removed. */
  #noteGone(groups: readonly number[]): void {
    const gone = Int32Array.from(groups);
    this.#swept.push({
      columns: this.#grouped.index.keyColumns(gone),
      hashes: this.#hashesOf(gone),
    });
  }

  /** Rows are routed by their keys, whatever life they are of. */
  #hashesOf(groups: Int32Array): Uint32Array {
    if (this.#lives === null) return this.#grouped.index.hashesOf(groups);
    const keys = this.#grouped.index.keyColumns(groups).slice(0, this.#spec.keys.length);
    return hashesOfKeys(keys, groups.length);
  }

  #makeRoom(): void {
    const { count } = this.#grouped;
    if (count > this.#rowCounts.length) {
      const room = Math.max(count, this.#rowCounts.length * 2);
      this.#rowCounts = copyInto(new Float64Array(room), this.#rowCounts);
      this.#isOut = copyInto(new Uint8Array(room), this.#isOut);
      this.#isDirty = copyInto(new Uint8Array(room), this.#isDirty);
    }
    for (const store of this.#emitted) store.reach(count);
  }

  #count(evaluated: EvaluatedBatch, groups: Int32Array): void {
    const { rows, retract } = evaluated.batch;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const step = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#rowCounts[group] = (this.#rowCounts[group] as number) + step;
      if (this.#isDirty[group] === 0) {
        this.#isDirty[group] = 1;
        this.#dirty.push(group);
      }
    }
  }

  onWatermark(watermark: Watermark, output: Output): void {
    const lives = this.#lives;
    lives?.advance(watermark);
    if (watermark === Infinity) return this.#flush(output);
    const ended = lives?.takeEnded() ?? [];
    if (ended.length > 0) this.#forget(ended, output);
  }

  /** The last results leave; then the groups are no more. */
  #forget(groups: readonly number[], output: Output): void {
    this.#flush(output);
    for (const group of groups) {
      this.#outCount -= this.#isOut[group] as number;
      this.#isOut[group] = 0;
      this.#rowCounts[group] = 0;
    }
    this.#noteGone(groups);
    this.#sweepIfMany();
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
    const dirty = new Int32Array(this.#dirty);
    this.#dirty = [];
    const step = LIMITS.batchRowsDefault >> 1;
    for (let from = 0; from < dirty.length; from += step)
      this.#flushGroups(dirty.subarray(from, from + step), output);
    this.#sweepIfMany();
  }

  #sweepIfMany(): void {
    const silent = this.#grouped.count - this.#outCount;
    if (silent > DEAD_GROUPS_MAX && silent > this.#outCount) this.#sweep();
  }

  #flushGroups(groups: Int32Array, output: Output): void {
    const errors = new RowErrors(groups.length);
    const results = this.#grouped.accumulators.map((accumulator) =>
      accumulator.results(groups, errors),
    );
    // Rows of the output: index i < n is the old row of groups[i], index n + i its new row.
    const count = groups.length;
    const picked = new Int32Array(2 * count);
    let rowsOut = 0;
    /** Rows of results that are out from now on, and their groups. */
    const rows = new Int32Array(count);
    const alives = new Int32Array(count);
    const { failed } = errors;
    let news = 0;
    let olds = 0;
    for (let at = 0; at < count; at++) {
      const group = groups[at] as number;
      this.#isDirty[group] = 0;
      if (failed && errors.hasFailed(at)) continue;
      const wasOut = this.#isOut[group] === 1;
      // Without keys too: whether rows that are all gone were here does not show, whatever order they came in.
      const alive = (this.#rowCounts[group] as number) > 0;
      if (wasOut && alive && this.#isAsEmitted(group, results, at)) continue;
      if (wasOut) {
        picked[rowsOut++] = at;
        olds++;
      }
      if (alive) picked[rowsOut++] = count + at;
      this.#outCount += Number(alive) - Number(wasOut);
      this.#isOut[group] = alive ? 1 : 0;
      if (!alive) continue;
      rows[news] = at;
      alives[news++] = group;
    }
    const isAllNew = olds === 0 && news === count;
    // Before what is out is overwritten.
    const before = olds === 0 ? null : this.#emitted.map((store) => store.gather(groups));
    this.#emitted.forEach((store, part) =>
      store.put(alives, must(results[part], 'a result'), rows, news),
    );
    if (isAllNew) this.#emitNew(groups, results, output);
    else this.#emit(groups, before ?? results, results, picked.subarray(0, rowsOut), output);
    if (failed) output.fail(this.#problems(groups, results, errors));
  }

  #isAsEmitted(group: number, results: readonly Column[], row: number): boolean {
    return this.#emitted.every((store, part) =>
      store.equals(group, must(results[part], 'a result'), row),
    );
  }

  /** Groups none of which was out: their results are the rows as they are. */
  #emitNew(groups: Int32Array, results: readonly Column[], output: Output): void {
    const rows = groups.length;
    const retract = new Uint8Array(rows);
    output.emit({
      rows,
      columns: [...this.#keysOf(groups), ...results],
      eventTime: null,
      retract,
    });
  }

  #emit(
    groups: Int32Array,
    before: readonly Column[],
    after: readonly Column[],
    picked: Int32Array,
    output: Output,
  ): void {
    if (picked.length === 0) return;
    const count = groups.length;
    const groupOfRow = picked.map((index) => groups[index % count] as number);
    const retract = new Uint8Array(picked.length);
    for (let row = 0; row < picked.length; row++)
      retract[row] = (picked[row] as number) < count ? 1 : 0;
    const aggregates = before.map((old, at) =>
      takeColumn(concatColumns([old, must(after[at], 'a result')]), picked, picked.length),
    );
    output.emit({
      rows: picked.length,
      columns: [...this.#keysOf(groupOfRow), ...aggregates],
      eventTime: null,
      retract,
    });
  }

  #keysOf(groups: Int32Array): Column[] {
    return this.#grouped.index.keyColumns(groups).slice(0, this.#spec.keys.length);
  }

  #problems(groups: Int32Array, results: readonly Column[], errors: RowErrors): RowProblem[] {
    const columns = [...this.#keysOf(groups), ...results];
    const batch: RecordBatch = { rows: groups.length, columns, eventTime: null, retract: null };
    return errors.list.map((error) => ({
      ...error,
      raw: rowJson(batch, this.#outputSchema, error.row),
    }));
  }

  /** Forgets groups that have no rows and nothing out. */
  #sweep(): void {
    const isNeeded = (group: number): boolean =>
      this.#lives?.isAlive(group) ?? (this.#isOut[group] === 1 || this.#rowCounts[group] !== 0);
    const alive = allGroups(this.#grouped.count).filter(isNeeded);
    const dead = allGroups(this.#grouped.count).filter((group) => !isNeeded(group));
    // Lives that are over were named when they ended.
    if (this.#lives === null && dead.length > 0) this.#noteGone([...dead]);
    const stores = this.#emptyStores();
    stores.forEach((store, at) => {
      const values = must(this.#emitted[at], 'a store').gather(alive);
      const all = allGroups(alive.length);
      store.put(all, values, all, all.length);
    });
    this.#rowCounts = Float64Array.from(alive, (group) => this.#rowCounts[group] as number);
    this.#isOut = Uint8Array.from(alive, (group) => this.#isOut[group] as number);
    this.#isDirty = new Uint8Array(alive.length);
    this.#emitted = stores;
    this.#grouped.retain(alive);
    this.#lives?.renumber(alive);
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    assert(this.#dirty.length === 0, 'onBarrier comes before a snapshot');
    const changed = this.#grouped.takeChanged();
    const swept = this.#swept;
    this.#swept = [];
    const whole = kind === 'whole';
    const among = whole ? allGroups(this.#grouped.count) : changed;
    const lives = this.#lives;
    const groups = lives === null ? among : among.filter((group) => lives.isAlive(group));
    const part = {
      groups: this.#grouped,
      start: null,
      all: whole,
      hashesOf: (of: Int32Array) => this.#hashesOf(of),
    };
    const entries = entryTables(this.#grouped, [part], whole);
    if (groups.length === 0 && (whole || swept.length === 0)) return entries;
    const changes: StateChanges = {
      keyColumns: this.#keyCount,
      removed: swept.length === 0 ? null : removedRows(swept),
      droppedBelow: null,
    };
    const columns = this.#stateColumns(groups);
    const table = {
      table: 'groups',
      schema: this.#stateSchema(),
      rows: groups.length,
      columns,
      changes: whole ? null : changes,
    };
    return [hashedLater(table, this.#spec.keys.length), ...entries];
  }

  #stateColumns(groups: Int32Array): Column[] {
    const rows = groups.length;
    const out = new Uint8Array(bitmapBytes(rows));
    const isOut = this.#isOut;
    for (let at = 0; at < rows; at++)
      out[at >> 3] =
        (out[at >> 3] as number) | ((isOut[groups[at] as number] as number) << (at & 7));
    const values = gatherFloats(this.#rowCounts, groups);
    const grouped = this.#grouped.savedColumns(groups);
    const keys = this.#keyCount;
    return [
      ...grouped.slice(0, keys),
      { tag: 'float64', type: FLOAT64, length: rows, validity: null, values },
      { tag: 'boolean', type: BOOLEAN, length: rows, validity: null, bits: out },
      ...this.#emitted.map((store) => store.gather(groups)),
      ...grouped.slice(keys),
      ...(this.#lives?.spansOf(groups) ?? []),
    ];
  }

  #stateSchema(): Schema {
    const grouped = this.#grouped.savedSchema();
    const keys = this.#keyCount;
    return [
      ...grouped.slice(0, keys),
      { name: 'rows', type: FLOAT64, nullable: false },
      { name: 'out', type: BOOLEAN, nullable: false },
      ...this.#spec.aggregates.map((call, at) => ({
        name: `emitted${at}`,
        type: call.type,
        nullable: true,
      })),
      ...grouped.slice(keys),
      ...(this.#lives === null ? [] : ['first', 'last']).map((name) => ({
        name,
        type: TIMESTAMP,
        nullable: false,
      })),
    ];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      if (entriesOf(table) >= 0) continue;
      assert(table.table === 'groups', `unknown state table ${table.table}`);
      const keys = table.columns.slice(0, this.#keyCount);
      const [counts, out, ...rest] = table.columns.slice(this.#keyCount);
      assert(counts?.tag === 'float64' && out?.tag === 'boolean', 'the columns of the table');
      const emitted = rest.slice(0, this.#emitted.length);
      const states = rest.slice(this.#emitted.length);
      const groups = this.#grouped.mergeSaved([...keys, ...states], table.rows);
      this.#makeRoom();
      this.#lives?.restore(
        keys.slice(0, -1),
        table.rows,
        {
          ids: asTimes(keys.at(-1)),
          firsts: asTimes(table.columns.at(-2)),
          lasts: asTimes(table.columns.at(-1)),
        },
        groups,
      );
      for (let row = 0; row < table.rows; row++) {
        const group = groups[row] as number;
        this.#rowCounts[group] = counts.values[row] as number;
        this.#isOut[group] = bitAt(out.bits, row) ? 1 : 0;
        this.#outCount += this.#isOut[group] as number;
      }
      const all = allGroups(table.rows);
      this.#emitted.forEach((store, at) =>
        store.put(groups, must(emitted[at], 'an emitted column'), all, all.length),
      );
    }
    for (const table of tables)
      if (entriesOf(table) >= 0)
        this.#grouped.mergeEntries(entriesOf(table), table.columns, table.rows);
  }

  stateBytes(): number {
    const flat = this.#rowCounts.byteLength + this.#isOut.byteLength + this.#isDirty.byteLength;
    const lives = this.#lives?.bytes() ?? 0;
    return this.#emitted.reduce(
      (sum, store) => sum + store.bytes(),
      this.#grouped.bytes() + flat + lives,
    );
  }

  stateRows(): number {
    return this.#lives?.alive ?? this.#grouped.count;
  }
}

function removedRows(
  parts: readonly { columns: readonly Column[]; hashes: Uint32Array }[],
): NonNullable<StateChanges['removed']> {
  const [first] = parts;
  assert(first !== undefined, 'a sweep');
  const hashes = Uint32Array.from(parts.flatMap((part) => [...part.hashes]));
  const columns = first.columns.map((_, at) =>
    concatColumns(parts.map((part) => must(part.columns[at], 'a key column'))),
  );
  return { rows: hashes.length, columns, hashes };
}

function copyInto<T extends Float64Array | Uint8Array>(target: T, source: T): T {
  target.set(source as never);
  return target;
}
