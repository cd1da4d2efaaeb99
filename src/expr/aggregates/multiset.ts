/**
 * For each group a bag of tuples with the number of times each is in it: what aggregates keep that need all
 * values, or each value once.
 *
 * A flat hash table over (group, tuple) gives entries; each entry has a count, and the entries of a group are
 * chained. Taking a tuple back lowers its count; entries without count stay until they outweigh the others.
 * What comes out is sorted, so that nothing depends on the order in which tuples came: equal bags give equal
 * answers. -0 is kept as 0.
 *
 * State: one list a tuple column and one list of counts, in sorted order.
 */
import type { Column, Float64Column, Int64Column, ListColumn } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import { takeColumn } from '../../batch/take.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT32, INT64, listType } from '../../batch/types.ts';
import { GroupIndex, allGroups } from '../../state/group-index.ts';
import type { SortOrder } from '../expr.ts';
import { makeInt64 } from '../vector.ts';
import { int64AsNumber, writeSafeInt64 } from '../wide.ts';
import { grownFloat64, grownInt32 } from './group-arrays.ts';

/** Entries without count are swept when there are more of them than this and than the others. */
const DEAD_MAX = 1024;

/** The tuples of some groups: those of the group at i are rows [offsets[i], offsets[i + 1]). */
export type Bags = {
  offsets: Int32Array;
  columns: readonly Column[];
  /** How often each tuple is there, at least once. */
  counts: Float64Array;
};

/** Rows that changed what is there: a tuple came that was not there, or its last one went. */
export type Transitions = { groups: Int32Array; retract: Uint8Array; changed: boolean };

export class Multiset {
  readonly stateTypes: readonly SqlType[];
  readonly #types: readonly SqlType[];
  #index: GroupIndex;
  #counts: Float64Array = new Float64Array(16);
  /** Entry → the next one of its group, or -1. */
  #next: Int32Array = new Int32Array(16);
  /** Group → its latest entry, or -1. */
  #heads: Int32Array = new Int32Array(0);
  /** Entry → its group. */
  #owners: Int32Array = new Int32Array(16);
  #entries = 0;
  #dead = 0;
  #size = 0;

  constructor(types: readonly SqlType[]) {
    this.#types = types;
    this.stateTypes = [...types.map(listType), listType(INT64)];
    this.#index = new GroupIndex([INT32, ...types]);
  }

  resize(count: number): void {
    this.#heads = grownInt32(this.#heads, count);
    if (count > this.#size) this.#heads.fill(-1, this.#size, count);
    else if (count < this.#size) this.#keep((entry) => (this.#owners[entry] as number) < count);
    this.#size = count;
  }

  /**
   * Puts rows in, or with `retract` takes them out.
   *
   * @param weights  how often each row counts; null: once
   */
  update(
    groups: Int32Array,
    rows: number,
    columns: readonly Column[],
    retract: Uint8Array | null,
    weights: Float64Array | null = null,
  ): Transitions {
    const transitions = {
      groups: new Int32Array(rows).fill(-1),
      retract: new Uint8Array(rows),
      changed: false,
    };
    const picked = pickRows(groups, rows);
    const count = picked?.length ?? rows;
    if (count === 0) return transitions;
    const values = columns.map((column) =>
      withoutNegativeZero(picked === null ? column : takeColumn(column, picked, count)),
    );
    const owners =
      picked === null
        ? groups.subarray(0, rows)
        : Int32Array.from(picked, (row) => groups[row] as number);
    const keys: Column[] = [int32Column(owners, count), ...values];
    const entries = new Int32Array(count);
    this.#index.lookupOrInsert(keys, 0, count, entries);
    this.#makeRoom();
    for (let at = 0; at < count; at++) {
      const row = picked === null ? at : (picked[at] as number);
      const step = weights === null ? 1 : (weights[row] as number);
      const takes = retract !== null && retract[row] === 1;
      this.#change(
        entries[at] as number,
        owners[at] as number,
        takes ? -step : step,
        row,
        transitions,
      );
    }
    if (this.#dead > DEAD_MAX && this.#dead * 2 > this.#entries)
      this.#keep((entry) => this.#counts[entry] !== 0);
    return transitions;
  }

  #makeRoom(): void {
    const { count } = this.#index;
    this.#counts = grownFloat64(this.#counts, count);
    this.#next = grownInt32(this.#next, count);
    this.#owners = grownInt32(this.#owners, count);
  }

  #change(entry: number, group: number, step: number, row: number, transitions: Transitions): void {
    if (entry >= this.#entries) {
      // Entries are numbered in order of appearance, so this is the next one.
      this.#entries = entry + 1;
      this.#counts[entry] = 0;
      this.#owners[entry] = group;
      this.#next[entry] = this.#heads[group] as number;
      this.#heads[group] = entry;
      this.#dead++;
    }
    const before = this.#counts[entry] as number;
    const after = before + step;
    this.#counts[entry] = after;
    if (before > 0 === after > 0) return;
    this.#dead += after > 0 ? -1 : 1;
    transitions.groups[row] = group;
    transitions.retract[row] = after > 0 ? 0 : 1;
    transitions.changed = true;
  }

  /** Drops all entries but these. */
  #keep(wanted: (entry: number) => boolean): void {
    const kept = allGroups(this.#entries).filter(wanted);
    this.#index = this.#index.retain(kept);
    this.#counts = Float64Array.from(kept, (entry) => this.#counts[entry] as number);
    this.#owners = Int32Array.from(kept, (entry) => this.#owners[entry] as number);
    this.#next = new Int32Array(kept.length);
    this.#heads.fill(-1);
    this.#entries = kept.length;
    this.#dead = 0;
    for (let entry = 0; entry < kept.length; entry++) {
      const group = this.#owners[entry] as number;
      this.#next[entry] = this.#heads[group] as number;
      this.#heads[group] = entry;
      if ((this.#counts[entry] as number) <= 0) this.#dead++;
    }
  }

  /** Whether a group holds nothing. */
  isEmpty(group: number): boolean {
    for (let entry = this.#heads[group] as number; entry >= 0; entry = this.#next[entry] as number)
      if ((this.#counts[entry] as number) > 0) return false;
    return true;
  }

  /**
   * The bags of the given groups. Tuples are sorted by the last `orders.length` columns, then by all.
   *
   * @param sorted  false: in no order, for answers that do not depend on one
   */
  bags(groups: Int32Array, orders: readonly SortOrder[] = [], sorted = true): Bags {
    const offsets = new Int32Array(groups.length + 1);
    const entries: number[] = [];
    for (let at = 0; at < groups.length; at++) {
      for (
        let entry = this.#heads[groups[at] as number] as number;
        entry >= 0;
        entry = this.#next[entry] as number
      )
        if ((this.#counts[entry] as number) > 0) entries.push(entry);
      offsets[at + 1] = entries.length;
    }
    const found = Int32Array.from(entries);
    const columns = this.#index.keyColumns(found).slice(1);
    const order = allGroups(found.length);
    if (sorted) {
      const compare = tupleOrder(columns, orders);
      for (let at = 0; at < groups.length; at++)
        order.subarray(offsets[at], offsets[at + 1]).sort(compare);
    }
    return {
      offsets,
      columns: sorted ? columns.map((column) => takeColumn(column, order, order.length)) : columns,
      counts: Float64Array.from(order, (at) => this.#counts[found[at] as number] as number),
    };
  }

  stateColumns(groups: Int32Array): Column[] {
    const { offsets, columns, counts } = this.bags(groups);
    const numbers: Int64Column = makeInt64(counts.length, INT64);
    for (let at = 0; at < counts.length; at++)
      writeSafeInt64(numbers.words, at, counts[at] as number);
    return [...columns, numbers].map((child, at): ListColumn => ({
      tag: 'list',
      type: listType(this.#types[at] ?? INT64),
      length: groups.length,
      validity: null,
      offsets,
      child,
    }));
  }

  /** Folds in what `stateColumns` gave. */
  merge(groups: Int32Array, rows: number, states: readonly Column[]): MergedTuples {
    const lists = states as readonly ListColumn[];
    const { offsets } = lists[0] as ListColumn;
    const from = offsets[0] as number;
    const total = (offsets[rows] as number) - from;
    const owners = new Int32Array(total);
    for (let row = 0; row < rows; row++)
      owners.fill(
        groups[row] as number,
        (offsets[row] as number) - from,
        (offsets[row + 1] as number) - from,
      );
    const children = lists.map(({ child, offsets: own }) => {
      const start = own[0] as number;
      return takeColumn(
        child,
        Int32Array.from({ length: total }, (_, at) => start + at),
        total,
      );
    });
    const numbers = children[children.length - 1] as Int64Column;
    const weights = Float64Array.from({ length: total }, (_, at) =>
      int64AsNumber(numbers.words, at),
    );
    const columns = children.slice(0, -1);
    return {
      rows: total,
      columns,
      transitions: this.update(owners, total, columns, null, weights),
    };
  }

  bytes(): number {
    return (
      this.#index.bytes() +
      this.#counts.byteLength +
      this.#next.byteLength +
      this.#owners.byteLength +
      this.#heads.byteLength
    );
  }
}

export type MergedTuples = { rows: number; columns: readonly Column[]; transitions: Transitions };

const int32Column = (values: Int32Array, length: number): Column => ({
  tag: 'int32',
  type: INT32,
  length,
  validity: null,
  values,
});

/** The rows that have a group; null: all. */
function pickRows(groups: Int32Array, rows: number): Int32Array | null {
  let count = 0;
  for (let row = 0; row < rows; row++) if ((groups[row] as number) >= 0) count++;
  if (count === rows) return null;
  const picked = new Int32Array(count);
  let at = 0;
  for (let row = 0; row < rows; row++) if ((groups[row] as number) >= 0) picked[at++] = row;
  return picked;
}

/** Equal values must not be told apart by the first of them that came. */
function withoutNegativeZero(column: Column): Column {
  if (column.tag !== 'float64') return column;
  const { values } = column;
  for (let row = 0; row < column.length; row++) {
    if (values[row] === 0 && Object.is(values[row], -0)) {
      const clean: Float64Column = { ...column, values: values.map((value) => value + 0) };
      return clean;
    }
  }
  return column;
}

/** Compares rows by their keys, which are the last columns, then by every column. */
export function tupleOrder(
  columns: readonly Column[],
  orders: readonly SortOrder[],
): (left: number, right: number) => number {
  const keys = columns.slice(columns.length - orders.length);
  return (left, right) => {
    for (let key = 0; key < keys.length; key++) {
      const order = compareKey(
        keys[key] as Column,
        left,
        keys[key] as Column,
        right,
        orders[key] as SortOrder,
      );
      if (order !== 0) return order;
    }
    for (let at = 0; at < columns.length - orders.length; at++) {
      const order = compareValues(columns[at] as Column, left, columns[at] as Column, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Compares one key of ORDER BY. */
export function compareKey(
  left: Column,
  at: number,
  right: Column,
  other: number,
  { descending, nullsFirst }: SortOrder,
): number {
  const present = isPresentAt(left, at);
  if (present !== isPresentAt(right, other)) return present === nullsFirst ? 1 : -1;
  if (!present) return 0;
  const order = compareValues(left, at, right, other);
  return descending ? -order : order;
}

const isPresentAt = ({ validity }: Column, at: number): boolean =>
  validity === null || ((validity[at >> 3] as number) & (1 << (at & 7))) !== 0;
