/**
 * Changes that agree with each other, of rows that each are the newest of their key.
 *
 * Place in the walk: stage 6, behind a source of changes (`debezium_json`). A row becomes an append when its key is new, the
 * retraction of the row before and an append when it differs from it, and nothing when it is equal. A row with `retract`
 * takes the row of its key away; what leaves is the row that is held, whatever the change said it was.
 *
 *     key:  absent ──row──▶ held ──row──▶ held ──retract──▶ absent
 *
 * State table `rows`: the columns, then the event time, of each row that is held; keyed by the key columns.
 * Invariants: INV-73 what was emitted less what was retracted is one row for each key that is held, at any time.
 * Failure: taking away what is not there is an error of that row (NOTHING_TO_RETRACT) and changes nothing.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import { concatColumns } from '../batch/concat.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeColumn } from '../batch/take.ts';
import { TIMESTAMP, type Schema } from '../batch/types.ts';
import { makeColumnStore, type ColumnStore } from '../state/column-store.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import type { Operator, Output, RowProblem } from './operator.ts';
import { rowJson } from './row-json.ts';

/** Keys that hold no row are swept when there are more of them than this and than the others. */
const ABSENT_MAX = 1024;

const EVENT_TIME = { name: '_timestamp', type: TIMESTAMP, nullable: true };

export class NewestByKey implements Operator {
  readonly copiesRows = true;
  readonly keepsChanges = true;
  readonly #keyColumns: readonly number[];
  readonly #schema: Schema;
  readonly #valueColumns: readonly number[];
  #index: GroupIndex;
  /** Of each group: the other columns, and the event time behind them. */
  #stores: readonly ColumnStore[];
  #held = new Uint8Array(16);
  #heldCount = 0;
  /** 1: changed since the last snapshot. */
  #changed = new Uint8Array(16);
  /** Number of the stretch of rows that met the group last: no stretch meets one twice. */
  #met = new Int32Array(16);
  #stretch = 0;
  #removed: { columns: Column[]; hashes: Uint32Array }[] = [];

  constructor(keyColumns: readonly number[], schema: Schema) {
    this.#keyColumns = keyColumns;
    this.#schema = schema;
    this.#valueColumns = schema.flatMap((_, at) => (keyColumns.includes(at) ? [] : [at]));
    this.#index = this.#emptyIndex();
    this.#stores = this.#emptyStores();
  }

  #emptyIndex(): GroupIndex {
    return new GroupIndex(this.#keyColumns.map((key) => must(this.#schema[key], 'a key').type));
  }

  #emptyStores(): ColumnStore[] {
    const types = this.#valueColumns.map((at) => must(this.#schema[at], 'a column').type);
    return [...types, TIMESTAMP].map(makeColumnStore);
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    const groups = this.#groupsOf(
      this.#keyColumns.map((key) => columnOf(batch, key)),
      batch.rows,
    );
    const values = this.#valuesOf(batch);
    for (let from = 0; from < batch.rows;) {
      const to = this.#stretchEnd(groups, from);
      this.#change(batch, groups, values, from, to, output);
      from = to;
    }
    if (this.#index.count - this.#heldCount > Math.max(ABSENT_MAX, this.#heldCount)) this.#sweep();
  }

  #groupsOf(keys: readonly Column[], rows: number): Int32Array {
    const groups = new Int32Array(rows);
    this.#index.lookupOrInsert(keys, 0, rows, groups);
    const { count } = this.#index;
    if (count > this.#held.length) {
      const room = Math.max(count, this.#held.length * 2);
      this.#held = longer(new Uint8Array(room), this.#held);
      this.#changed = longer(new Uint8Array(room), this.#changed);
      this.#met = longer(new Int32Array(room), this.#met);
    }
    return groups;
  }

  #valuesOf(batch: RecordBatch): Column[] {
    assert(batch.eventTime !== null, 'rows of a source have event times');
    return [...this.#valueColumns.map((at) => columnOf(batch, at)), batch.eventTime];
  }

  /** Where a row meets a group that a row since `from` has met. */
  #stretchEnd(groups: Int32Array, from: number): number {
    this.#stretch++;
    let to = from;
    for (; to < groups.length && to - from < LIMITS.batchRowsDefault; to++) {
      const group = groups[to] as number;
      if (this.#met[group] === this.#stretch) break;
      this.#met[group] = this.#stretch;
    }
    return to;
  }

  #change(
    batch: RecordBatch,
    groups: Int32Array,
    values: readonly Column[],
    from: number,
    to: number,
    output: Output,
  ): void {
    const rows = to - from;
    const before = this.#stores.map((store) => this.#gatherHeld(store, groups, from, to));
    // Row i of what leaves: index i < rows is the held row of row from + i, rows + i the row itself.
    const picked: number[] = [];
    const problems: RowProblem[] = [];
    for (let at = 0; at < rows; at++) {
      const row = from + at;
      const group = groups[row] as number;
      const held = this.#held[group] === 1;
      const gone = batch.retract !== null && batch.retract[row] === 1;
      if (gone && !held) {
        problems.push(this.#unknown(batch, row));
        continue;
      }
      if (held && !gone && this.#equals(group, values, row)) continue;
      if (held) picked.push(at);
      if (!gone) {
        picked.push(rows + at);
        this.#set(group, values, row);
      }
      this.#held[group] = gone ? 0 : 1;
      this.#changed[group] = 1;
      this.#heldCount += Number(!gone) - Number(held);
    }
    if (problems.length > 0) output.fail(problems);
    if (picked.length > 0)
      output.emit(this.#emission(batch, before, values, from, to, Int32Array.from(picked)));
  }

  /** The held values of the rows' groups; what a group without a row gives is not looked at. */
  #gatherHeld(store: ColumnStore, groups: Int32Array, from: number, to: number): Column {
    const known = new Int32Array(to - from);
    for (let at = 0; at < known.length; at++) {
      const group = groups[from + at] as number;
      known[at] = group < store.length ? group : 0;
    }
    return store.length === 0 ? store.gather(known.subarray(0, 0)) : store.gather(known);
  }

  /** Whether the row is the one that is held; one that only comes later is no change. */
  #equals(group: number, values: readonly Column[], row: number): boolean {
    return this.#valueColumns.every((_, at) =>
      must(this.#stores[at], 'a store').equals(group, must(values[at], 'a value'), row),
    );
  }

  #set(group: number, values: readonly Column[], row: number): void {
    this.#stores.forEach((store, at) => {
      const value = must(values[at], 'a value');
      while (store.length <= group) store.append(value, row);
      store.set(group, value, row);
    });
  }

  #emission(
    batch: RecordBatch,
    before: readonly Column[],
    values: readonly Column[],
    from: number,
    to: number,
    picked: Int32Array,
  ): RecordBatch {
    const rows = to - from;
    const retract = Uint8Array.from(picked, (index) => (index < rows ? 1 : 0));
    const sources = Int32Array.from(picked, (index) => from + (index % rows));
    // Behind the held rows lie all rows of the batch, from its first on.
    const heldRows = before[0]?.length ?? 0;
    const mixed = Int32Array.from(picked, (index) =>
      index < rows ? index : heldRows + from + index - rows,
    );
    const columns: Column[] = [];
    for (const key of this.#keyColumns)
      columns[key] = takeColumn(columnOf(batch, key), sources, picked.length);
    const taken = values.map((value, at) =>
      takeColumn(concatColumns([must(before[at], 'a held column'), value]), mixed, picked.length),
    );
    this.#valueColumns.forEach((column, at) => (columns[column] = must(taken[at], 'a value')));
    return {
      rows: picked.length,
      columns,
      eventTime: taken.at(-1) as Int64Column,
      retract: retract.includes(1) ? retract : null,
    };
  }

  #unknown(batch: RecordBatch, row: number): RowProblem {
    const keys = this.#keyColumns.map((key) => must(this.#schema[key], 'a key'));
    const raw = rowJson(
      { ...batch, columns: this.#keyColumns.map((key) => columnOf(batch, key)) },
      keys,
      row,
    );
    return {
      row,
      code: 'NOTHING_TO_RETRACT',
      column: keys[0]?.name ?? '',
      message: `there is no row with the key ${raw} that could be deleted`,
      raw,
    };
  }

  onWatermark(): void {}

  onTick(): void {}

  onBarrier(): void {}

  /** Forgets the keys that hold no row. */
  #sweep(): void {
    this.#noteRemoved();
    const alive = allGroups(this.#index.count).filter((group) => this.#held[group] === 1);
    const stores = this.#emptyStores();
    stores.forEach((store, at) => {
      const values = must(this.#stores[at], 'a store').gather(alive);
      for (let row = 0; row < alive.length; row++) store.append(values, row);
    });
    this.#changed = Uint8Array.from(alive, (group) => this.#changed[group] as number);
    this.#held = new Uint8Array(alive.length).fill(1);
    this.#met = new Int32Array(alive.length);
    this.#stretch = 0;
    this.#stores = stores;
    this.#index = this.#index.retain(alive);
  }

  /** Remembers for the next snapshot which keys have lost their row. */
  #noteRemoved(): void {
    const gone = allGroups(this.#index.count).filter(
      (group) => this.#held[group] !== 1 && this.#changed[group] === 1,
    );
    if (gone.length === 0) return;
    this.#removed.push({
      columns: this.#index.keyColumns(gone),
      hashes: this.#index.hashesOf(gone),
    });
    for (const group of gone) this.#changed[group] = 0;
  }

  snapshot(kind: SnapshotKind): StateTable[] {
    this.#noteRemoved();
    const removed = this.#removed;
    this.#removed = [];
    const groups = allGroups(this.#index.count).filter(
      (group) => this.#held[group] === 1 && (kind === 'whole' || this.#changed[group] === 1),
    );
    this.#changed.fill(0);
    if (groups.length === 0 && (kind === 'whole' || removed.length === 0)) return [];
    const keys = this.#index.keyColumns(groups);
    return [
      {
        table: 'rows',
        schema: this.#stateSchema(),
        rows: groups.length,
        columns: [...keys, ...this.#stores.map((store) => store.gather(groups))],
        hashes: this.#index.hashesOf(groups),
        changes:
          kind === 'whole'
            ? null
            : {
                keyColumns: keys.length,
                removed: removed.length === 0 ? null : joined(removed),
                droppedBelow: null,
              },
      },
    ];
  }

  #stateSchema(): Schema {
    return [
      ...this.#keyColumns.map((key) => must(this.#schema[key], 'a key')),
      ...this.#valueColumns.map((at) => must(this.#schema[at], 'a column')),
      EVENT_TIME,
    ];
  }

  restore(tables: readonly StateTable[]): void {
    for (const table of tables) {
      assert(table.table === 'rows', `unknown state table ${table.table}`);
      const keys = this.#keyColumns.length;
      const groups = this.#groupsOf(table.columns.slice(0, keys), table.rows);
      const values = table.columns.slice(keys);
      for (let row = 0; row < table.rows; row++) {
        const group = groups[row] as number;
        this.#set(group, values, row);
        this.#held[group] = 1;
        this.#heldCount++;
      }
    }
  }

  stateBytes(): number {
    const stores = this.#stores.reduce((sum, store) => sum + store.bytes(), 0);
    return stores + this.#index.bytes() + this.#held.length * 6;
  }

  stateRows(): number {
    return this.#heldCount;
  }
}

const columnOf = (batch: RecordBatch, at: number): Column => must(batch.columns[at], 'a column');

function longer<T extends Uint8Array | Int32Array>(to: T, from: T): T {
  to.set(from as never);
  return to;
}

function joined(parts: readonly { columns: Column[]; hashes: Uint32Array }[]): {
  rows: number;
  columns: Column[];
  hashes: Uint32Array;
} {
  const [first] = parts;
  assert(first !== undefined, 'something was removed');
  const rows = parts.reduce((sum, part) => sum + part.hashes.length, 0);
  const hashes = new Uint32Array(rows);
  let at = 0;
  for (const part of parts) {
    hashes.set(part.hashes, at);
    at += part.hashes.length;
  }
  const columns = first.columns.map((_, column) =>
    concatColumns(parts.map((part) => must(part.columns[column], 'a key column'))),
  );
  return { rows, columns, hashes };
}
