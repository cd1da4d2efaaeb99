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
import type { Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import { gatherFloats } from '../batch/index-run.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch } from '../batch/take.ts';
import { FLOAT64, TIMESTAMP, type Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import { allGroups, hashesOfKeys } from '../state/group-index.ts';
import { hashedLater } from '../state/hashed-later.ts';
import type { SnapshotKind, StateChanges, StateTable } from '../state/state-table.ts';
import { changesBatch, EmittedRows } from './emitted-rows.ts';
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
  readonly #emitted: EmittedRows;
  #isDirty = new Uint8Array(16);
  #dirty: number[] = [];
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
    this.#emitted = new EmittedRows(spec.aggregates.map((call) => call.type));
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const lives = this.#lives;
    this.#inputs.inParts(batch, output, (evaluated) => {
      if (lives === null) this.#fold(evaluated);
      else this.#foldLives(evaluated, lives, output);
    });
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
      this.#isDirty = copyInto(new Uint8Array(room), this.#isDirty);
    }
    this.#emitted.reach(count);
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
      this.#emitted.forget(group);
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
    const { count } = this.#emitted;
    const silent = this.#grouped.count - count;
    if (silent > DEAD_GROUPS_MAX && silent > count) this.#sweep();
  }

  #flushGroups(groups: Int32Array, output: Output): void {
    const errors = new RowErrors(groups.length);
    const results = this.#grouped.accumulators.map((accumulator, at) => {
      const before = errors.list.length;
      const column = accumulator.results(groups, errors);
      errors.nameSince(before, this.#outputSchema[this.#spec.keys.length + at]?.name ?? '');
      return column;
    });
    for (let at = 0; at < groups.length; at++) this.#isDirty[groups[at] as number] = 0;
    const changes = this.#emitted.change(groups, results, errors, this.#rowCounts);
    if (changes.picked.length > 0)
      output.emit(changesBatch(groups, changes, results, (of) => this.#keysOf(of)));
    if (errors.failed) output.fail(this.#problems(groups, results, errors));
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
      this.#lives?.isAlive(group) ?? (this.#emitted.isOut(group) || this.#rowCounts[group] !== 0);
    const alive = allGroups(this.#grouped.count).filter(isNeeded);
    const dead = allGroups(this.#grouped.count).filter((group) => !isNeeded(group));
    // Lives that are over were named when they ended.
    if (this.#lives === null && dead.length > 0) this.#noteGone([...dead]);
    this.#rowCounts = Float64Array.from(alive, (group) => this.#rowCounts[group] as number);
    this.#isDirty = new Uint8Array(alive.length);
    this.#emitted.retain(alive);
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
    const values = gatherFloats(this.#rowCounts, groups);
    const grouped = this.#grouped.savedColumns(groups);
    const keys = this.#keyCount;
    return [
      ...grouped.slice(0, keys),
      { tag: 'float64', type: FLOAT64, length: rows, validity: null, values },
      ...this.#emitted.savedColumns(groups),
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
      ...this.#emitted.savedSchema(),
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
      const [counts, ...rest] = table.columns.slice(this.#keyCount);
      assert(counts?.tag === 'float64', 'the columns of the table');
      const emitted = rest.slice(0, 1 + this.#spec.aggregates.length);
      const states = rest.slice(emitted.length);
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
      for (let row = 0; row < table.rows; row++)
        this.#rowCounts[groups[row] as number] = counts.values[row] as number;
      this.#emitted.restore(emitted, groups, table.rows);
    }
    for (const table of tables)
      if (entriesOf(table) >= 0)
        this.#grouped.mergeEntries(entriesOf(table), table.columns, table.rows);
  }

  stateBytes(): number {
    const flat = this.#rowCounts.byteLength + this.#isDirty.byteLength;
    const lives = this.#lives?.bytes() ?? 0;
    return this.#emitted.bytes() + this.#grouped.bytes() + flat + lives;
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
