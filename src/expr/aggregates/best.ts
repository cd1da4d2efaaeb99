/**
 * first_value, last_value, any_value, arg_min and arg_max over rows that are never taken back: of each group the one tuple
 * that comes first in their order.
 *
 * Rows of a batch compete with each other before they compete with what is kept, so that a group costs one
 * comparison with its state a batch. Tuples that are equal in their keys are ordered by their values: the
 * answer does not depend on the order of rows. State: the tuple, and whether there is one.
 */
import { assert } from '../../base/assert.ts';
import { nullColumn } from '../../batch/column-builder.ts';
import type { BooleanColumn, Column } from '../../batch/column.ts';
import { bitAt, setBit } from '../../batch/column.ts';
import { compareValues } from '../../batch/row-equal.ts';
import type { SqlType } from '../../batch/types.ts';
import { BOOLEAN } from '../../batch/types.ts';
import { makeColumnStore } from '../../state/column-store.ts';
import type { ColumnStore } from '../../state/column-store.ts';
import type { Accumulator } from '../accumulator.ts';
import type { SortOrder } from '../expr.ts';
import { makeBoolean } from '../vector.ts';
import { grownBytes, grownInt32 } from './group-arrays.ts';
import { compareKey, tupleOrder } from './tuple-rows.ts';

export type BestSpec = {
  types: readonly SqlType[];
  orders: readonly SortOrder[];
  /** Takes the last tuple of the order instead of the first. */
  last: boolean;
  /** Columns whose NULLs leave a row out. */
  required: readonly number[];
};

export class BestAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = false;
  readonly #spec: BestSpec;
  #stores: readonly ColumnStore[];
  #filled: Uint8Array = new Uint8Array(0);
  /** Group → the best row of this batch, or -1. */
  #rowOf: Int32Array = new Int32Array(0);
  #size = 0;

  constructor(spec: BestSpec) {
    this.#spec = spec;
    this.stateTypes = [...spec.types, BOOLEAN];
    this.#stores = spec.types.map(makeColumnStore);
  }

  resize(count: number): void {
    this.#filled = grownBytes(this.#filled, count);
    this.#rowOf = grownInt32(this.#rowOf, count);
    if (count < this.#size) this.#empty(count);
    this.#rowOf.fill(-1, Math.min(count, this.#size), Math.max(count, this.#size));
    this.#stores.forEach((store, at) => {
      if (store.length >= count) return;
      const absent = nullColumn(this.#spec.types[at] as SqlType, 1);
      while (store.length < count) store.append(absent, 0);
    });
    this.#size = count;
  }

  #empty(from: number): void {
    this.#filled.fill(0, from, this.#size);
    this.#stores.forEach((store, at) => {
      const absent = nullColumn(this.#spec.types[at] as SqlType, 1);
      for (let group = from; group < this.#size; group++) store.set(group, absent, 0);
    });
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'the first of an order takes nothing back');
    const before = this.#better(args);
    const touched: number[] = [];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || !this.#counts(args, row)) continue;
      const best = this.#rowOf[group] as number;
      if (best < 0) touched.push(group);
      if (best < 0 || before(row, best)) this.#rowOf[group] = row;
    }
    this.#settle(Int32Array.from(touched), args);
  }

  #better(args: readonly Column[]): (left: number, right: number) => boolean {
    const order = tupleOrder(args, this.#spec.orders);
    return this.#spec.last
      ? (left, right) => order(left, right) > 0
      : (left, right) => order(left, right) < 0;
  }

  #counts(args: readonly Column[], row: number): boolean {
    for (const at of this.#spec.required) {
      const { validity } = args[at] as Column;
      if (validity !== null && !bitAt(validity, row)) return false;
    }
    return true;
  }

  #settle(touched: Int32Array, args: readonly Column[]): void {
    const kept = this.#stores.map((store) => store.gather(touched));
    for (let at = 0; at < touched.length; at++) {
      const group = touched[at] as number;
      const row = this.#rowOf[group] as number;
      this.#rowOf[group] = -1;
      if (this.#filled[group] === 1 && !this.#beats(args, row, kept, at)) continue;
      this.#filled[group] = 1;
      this.#stores.forEach((store, part) => store.set(group, args[part] as Column, row));
    }
  }

  #beats(args: readonly Column[], row: number, kept: readonly Column[], at: number): boolean {
    const { orders, last } = this.#spec;
    const firstKey = args.length - orders.length;
    let order = 0;
    for (let key = 0; key < orders.length && order === 0; key++) {
      const place = firstKey + key;
      order = compareKey(
        args[place] as Column,
        row,
        kept[place] as Column,
        at,
        orders[key] as SortOrder,
      );
    }
    for (let part = 0; part < firstKey && order === 0; part++)
      order = compareValues(args[part] as Column, row, kept[part] as Column, at);
    return last ? order > 0 : order < 0;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    const filled = states[states.length - 1] as BooleanColumn;
    const present = groups.slice(0, rows);
    for (let row = 0; row < rows; row++) if (!bitAt(filled.bits, row)) present[row] = -1;
    this.update(present, rows, states.slice(0, -1), null);
  }

  stateColumns(groups: Int32Array): Column[] {
    const filled = makeBoolean(groups.length, null);
    for (let row = 0; row < groups.length; row++)
      if (this.#filled[groups[row] as number] === 1) setBit(filled.bits, row);
    return [...this.#stores.map((store) => store.gather(groups)), filled];
  }

  /** A group that holds nothing has NULL in its stores. */
  results(groups: Int32Array): Column {
    return (this.#stores[0] as ColumnStore).gather(groups);
  }

  bytes(): number {
    return this.#stores.reduce(
      (sum, store) => sum + store.bytes(),
      this.#filled.length + this.#rowOf.byteLength,
    );
  }
}
