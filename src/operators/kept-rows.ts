/**
 * Whole rows of partitions, each partition in order: the state of Top-N and OVER.
 *
 * Place in the walk: stage 6. Rows are ordered by the keys, then by all their other columns from the first to the last,
 * so that the order depends on the rows only; equal rows are numbered as copies 0, 1, 2, … of which the last goes first.
 *
 *     free ──stage──▶ stored ──insert──▶ in order ──remove──▶ stored ──release──▶ free
 *
 * Where most rows of a batch are given up again at once, `place` stages them one by one and their columns are copied when the
 * batch is over, or as soon as two rows cannot be told apart by what the order knows of them.
 *
 * State table `rows`: the columns, the copy, and what the operator adds; columns and copy name a row.
 * Invariants: a partition's key is among the columns; a slot that a checkpoint knows stays in place until the next one
 * has named it as removed.
 * Failure: none.
 */
import { assert } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { INT32, type Field, type Schema, type SqlType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { SortKey } from '../expr/over.ts';
import type { ColumnStore } from '../state/column-store.ts';
import { allGroups, GroupIndex } from '../state/group-index.ts';
import { grown, wider } from '../state/growth.ts';
import { NONE, OrderedSlots } from '../state/ordered-slots.ts';
import { RowStore } from '../state/row-store.ts';
import type { SnapshotKind, StateTable } from '../state/state-table.ts';
import { columnIndex } from './over-columns.ts';
import { approximate, type KeyColumn } from './sort-approximation.ts';

/** Empty partitions are forgotten when there are more of them than this and than the others. */
const EMPTY_GROUPS_MAX = 1024;

export class KeptRows {
  readonly store: RowStore;
  readonly order: OrderedSlots;
  readonly partition: readonly number[];
  readonly keys: readonly KeyColumn[];
  readonly #types: readonly SqlType[];
  /** Columns that are no keys. */
  readonly #rest: readonly number[];
  #index: GroupIndex;
  /** Of each slot. */
  groupOf = new Int32Array(16);
  #copies = new Int32Array(16);
  /** 1: the row is in the last checkpoint. */
  #saved = new Uint8Array(16);
  /** 1: the row is new or other than in the last checkpoint. */
  #touched = new Uint8Array(16);
  #touchedSlots: number[] = [];
  /** Removed since the last checkpoint, which knows them. */
  #removed: number[] = [];
  #inserting = NONE;
  #ordered = 0;
  /** Rows that are placed and not copied yet, of which batch. */
  #pending = 0;
  #pendingSlots = new Int32Array(0);
  #pendingRows = new Int32Array(0);
  #pendingColumns: readonly Column[] = [];
  /** Comparisons that looked at columns. */
  deepComparisons = 0;
  readonly #compareAll = (left: number, right: number): number => this.compareRows(left, right);

  constructor(schema: Schema, partitionBy: readonly Expr[], orderBy: readonly SortKey[]) {
    this.#types = schema.map((field) => field.type);
    this.partition = partitionBy.map(columnIndex);
    this.keys = orderBy.map(({ expr, descending, nullsFirst }) => ({
      index: columnIndex(expr),
      descending,
      nullsFirst,
    }));
    const named = new Set([...this.partition, ...this.keys.map(({ index }) => index)]);
    this.#rest = schema.map((_, index) => index).filter((index) => !named.has(index));
    this.store = new RowStore(this.#types);
    this.order = new OrderedSlots((left, right) => this.#compare(left, right));
    this.#index = this.#emptyIndex();
  }

  #emptyIndex(): GroupIndex {
    return new GroupIndex(this.partition.map((index) => this.#types[index] as SqlType));
  }

  /** Rows in order. */
  get rows(): number {
    return this.#ordered;
  }

  get groups(): number {
    return this.#index.count;
  }

  /** The partition of each row, in a new array or the one that is given. */
  groupsOf(columns: readonly Column[], rows: number, groups = new Int32Array(rows)): Int32Array {
    const keys = this.partition.map((index) => columns[index] as Column);
    return this.groupsOfKeys(keys, rows, groups);
  }

  /** The partition of each key. */
  groupsOfKeys(keys: readonly Column[], rows: number, groups = new Int32Array(rows)): Int32Array {
    this.#index.lookupOrInsert(keys, 0, rows, groups);
    this.order.resize(this.#index.count, 0);
    return groups;
  }

  /** The keys of partitions. */
  keyColumnsOf(groups: Int32Array): Column[] {
    return this.#index.keyColumns(groups);
  }

  hashesOfGroups(groups: Int32Array): Uint32Array {
    return this.#index.hashesOf(groups);
  }

  /** Approximations of the first key, in a new array or the one that is given; all equal when there is none. */
  approximate(
    columns: readonly Column[],
    rows: number,
    values = new Float64Array(rows),
  ): Float64Array {
    const [first] = this.keys;
    if (first === undefined) return values.fill(0, 0, rows);
    approximate(columns[first.index] as Column, rows, first, values);
    return values;
  }

  /** Stores rows `picked[i]`, i < count; they are in no order yet. */
  stage(
    columns: readonly Column[],
    picked: Int32Array,
    count: number,
    groups: Int32Array,
    approximations: Float64Array,
  ): Int32Array {
    const slots = this.store.take(count);
    this.store.put(slots, columns, picked, count);
    this.#makeRoom(this.store.limit);
    const { near } = this.order;
    for (let at = 0; at < count; at++) {
      const slot = slots[at] as number;
      const row = picked[at] as number;
      this.groupOf[slot] = groups[row] as number;
      near[slot] = approximations[row] as number;
      this.#copies[slot] = 0;
    }
    return slots;
  }

  /** Rows of these columns are about to be placed. */
  beginPlacing(columns: readonly Column[], rows: number): void {
    if (this.#pendingRows.length < rows) {
      this.#pendingRows = new Int32Array(rows);
      this.#pendingSlots = new Int32Array(rows);
    }
    this.#pendingColumns = columns;
  }

  /** Stores a row as `stage` does, later on. */
  place(row: number, group: number, approximation: number): number {
    const slot = this.store.takeOne();
    if (slot >= this.groupOf.length) this.#makeRoom(slot + 1);
    this.groupOf[slot] = group;
    this.order.near[slot] = approximation;
    this.#copies[slot] = 0;
    const at = this.#pending++;
    this.#pendingSlots[at] = slot;
    this.#pendingRows[at] = row;
    return slot;
  }

  endPlacing(): void {
    this.#copyPending();
    this.#pendingColumns = [];
  }

  /** A slot that was given back and taken again in between is there twice: the row that came last stays. */
  #copyPending(): void {
    const count = this.#pending;
    this.#pending = 0;
    this.store.put(this.#pendingSlots, this.#pendingColumns, this.#pendingRows, count);
  }

  #makeRoom(slots: number): void {
    this.order.resize(0, slots);
    if (slots <= this.groupOf.length) return;
    const room = grown(this.groupOf.length, slots);
    this.groupOf = wider(Int32Array, this.groupOf, room);
    this.#copies = wider(Int32Array, this.#copies, room);
    this.#saved = wider(Uint8Array, this.#saved, room);
    this.#touched = wider(Uint8Array, this.#touched, room);
  }

  #compare(left: number, right: number): number {
    const order = this.compareRows(left, right);
    if (order !== 0) return order;
    const copies = this.#copies;
    if (left === this.#inserting && (copies[left] as number) <= (copies[right] as number))
      copies[left] = (copies[right] as number) + 1;
    return (copies[left] as number) - (copies[right] as number);
  }

  /** By the keys only. */
  compareKeys(left: number, right: number): number {
    const { near } = this.order;
    const here = near[left] as number;
    const there = near[right] as number;
    if (here !== there) return here < there ? -1 : 1;
    this.deepComparisons++;
    if (this.#pending > 0) this.#copyPending();
    for (let at = 0; at < this.keys.length; at++) {
      const order = this.#compareKey(this.keys[at] as KeyColumn, left, right);
      if (order !== 0) return order;
    }
    return 0;
  }

  #compareKey(key: KeyColumn, left: number, right: number): number {
    const column = this.store.column(key.index);
    if (key.descending !== key.nullsFirst) {
      // The store has NULL last, which the direction does not turn to where the key wants it.
      const present = column.has(left);
      if (present !== column.has(right)) return present === key.nullsFirst ? 1 : -1;
    }
    const order = column.compare(left, right);
    return key.descending ? -order : order;
  }

  /** By the keys, then by all other columns: 0 means equal rows of one partition. */
  compareRows(left: number, right: number): number {
    const order = this.compareKeys(left, right);
    if (order !== 0) return order;
    for (let at = 0; at < this.#rest.length; at++) {
      const column = this.store.column(this.#rest[at] as number) as ColumnStore;
      const next = column.compare(left, right);
      if (next !== 0) return next;
    }
    return 0;
  }

  insert(slot: number): void {
    this.#inserting = slot;
    this.order.insert(this.groupOf[slot] as number, slot);
    this.#inserting = NONE;
    this.#ordered++;
    this.touch(slot);
  }

  /** The last row in order that equals a stored one; `NONE`: there is none. */
  find(slot: number): number {
    return this.order.lastEqual(this.groupOf[slot] as number, slot, this.#compareAll);
  }

  /** Takes a row out of the order; it stays stored until it is released. */
  remove(slot: number): void {
    this.order.remove(this.groupOf[slot] as number, slot);
    this.#ordered--;
  }

  /** Forgets a row that is in no order. */
  release(slot: number): void {
    this.#touched[slot] = 0;
    if (this.#saved[slot] === 1) this.#removed.push(slot);
    else this.store.release(slot);
  }

  /** The row, or what the operator keeps with it, is to be saved again. */
  touch(slot: number): void {
    if (this.#touched[slot] === 1) return;
    this.#touched[slot] = 1;
    this.#touchedSlots.push(slot);
  }

  /** All rows, partition by partition. */
  allSlots(): Int32Array {
    const slots = new Int32Array(this.#ordered);
    let at = 0;
    for (let group = 0; group < this.groups; group++)
      at = this.order.copy(group, 0, this.order.size(group), slots, at);
    return slots;
  }

  /** @param added  the operator's columns for the given slots */
  snapshot(
    kind: SnapshotKind,
    fields: readonly Field[],
    added: (slots: Int32Array) => readonly Column[],
  ): StateTable[] {
    const changed = this.#touchedSlots.filter((slot) => {
      const is = this.#touched[slot] === 1;
      this.#touched[slot] = 0;
      return is;
    });
    this.#touchedSlots = [];
    const removed = Int32Array.from(this.#removed);
    this.#removed = [];
    const whole = kind === 'whole' || (changed.length + removed.length) * 2 > this.#ordered;
    const slots = whole ? this.allSlots() : Int32Array.from(changed);
    for (const slot of slots) this.#saved[slot] = 1;
    const table: StateTable = {
      table: 'rows',
      schema: [...this.#stateSchema(), ...fields],
      rows: slots.length,
      columns: [...this.#stateColumns(slots), ...added(slots)],
      hashes: this.#hashesOf(slots),
      changes: whole
        ? null
        : {
            keyColumns: this.#types.length + 1,
            removed:
              removed.length === 0
                ? null
                : {
                    rows: removed.length,
                    columns: this.#stateColumns(removed),
                    hashes: this.#hashesOf(removed),
                  },
            droppedBelow: null,
          },
    };
    for (const slot of removed) {
      this.#saved[slot] = 0;
      this.store.release(slot);
    }
    return table.rows === 0 && kind === 'whole' ? [] : [table];
  }

  #stateSchema(): Schema {
    return [
      ...this.#types.map((type, index) => ({ name: `c${index}`, type, nullable: true })),
      { name: 'copy', type: INT32, nullable: false },
    ];
  }

  #stateColumns(slots: Int32Array): Column[] {
    const values = Int32Array.from(slots, (slot) => this.#copies[slot] as number);
    return [
      ...this.store.gather(slots),
      { tag: 'int32', type: INT32, length: slots.length, validity: null, values },
    ];
  }

  #hashesOf(slots: Int32Array): Uint32Array {
    return this.#index.hashesOf(Int32Array.from(slots, (slot) => this.groupOf[slot] as number));
  }

  /** Takes in rows of a snapshot; gives their slots and the operator's columns. */
  restore(table: StateTable): { slots: Int32Array; added: readonly Column[] } {
    assert(table.table === 'rows', `unknown state table ${table.table}`);
    const { rows, columns } = table;
    const width = this.#types.length;
    const copies = columns[width];
    assert(copies?.tag === 'int32', 'the copies of the rows');
    const groups = this.groupsOf(columns, rows);
    const slots = this.stage(
      columns,
      allGroups(rows),
      rows,
      groups,
      this.approximate(columns, rows),
    );
    for (let row = 0; row < rows; row++) {
      const slot = slots[row] as number;
      this.#copies[slot] = copies.values[row] as number;
      this.order.insert(groups[row] as number, slot);
      this.touch(slot);
    }
    this.#ordered += rows;
    return { slots, added: columns.slice(width + 1) };
  }

  /**
   * Forgets partitions without rows when there are many; only right after a snapshot, with nothing removed.
   * @returns the partitions that stay, which become 0, 1, 2, …; null: nothing changed
   */
  sweep(isNeeded: (group: number) => boolean): Int32Array | null {
    const count = this.groups;
    if (count <= EMPTY_GROUPS_MAX) return null;
    const kept = allGroups(count).filter((group) => this.order.size(group) > 0 || isNeeded(group));
    if (count - kept.length <= Math.max(EMPTY_GROUPS_MAX, kept.length)) return null;
    const renamed = new Int32Array(count);
    for (let at = 0; at < kept.length; at++) renamed[kept[at] as number] = at;
    for (const slot of this.allSlots())
      this.groupOf[slot] = renamed[this.groupOf[slot] as number] as number;
    this.order.retain(kept);
    this.#index = this.#index.retain(kept);
    return kept;
  }

  bytes(): number {
    const perSlot = this.groupOf.byteLength * 2 + this.#saved.byteLength * 2;
    return this.store.bytes() + this.order.bytes() + this.#index.bytes() + perSlot;
  }
}
