/**
 * Rows in places: a column store per column, with places given back and used again.
 *
 * Place in the walk: stage 6, under the operators that keep whole rows (Top-N, OVER, as their input may take rows
 * back). A row is named by its place, the slot, for as long as it lives.
 *
 * Invariant: a free slot is in the free list once. Failure: none.
 */
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import { makeColumnStore, type ColumnStore } from './column-store.ts';

export class RowStore {
  readonly #columns: ColumnStore[];
  readonly #free: number[] = [];
  /** Slots below this have been used. */
  #used = 0;

  constructor(types: readonly SqlType[]) {
    this.#columns = types.map(makeColumnStore);
  }

  /** Slots in use are below this. */
  get limit(): number {
    return this.#used;
  }

  get live(): number {
    return this.#used - this.#free.length;
  }

  /** Takes `count` slots. */
  take(count: number): Int32Array {
    const slots = new Int32Array(count);
    for (let at = 0; at < count; at++) slots[at] = this.takeOne();
    return slots;
  }

  takeOne(): number {
    return this.#free.pop() ?? this.#used++;
  }

  /** Copies rows `rows[i]` of a batch's columns into `slots[i]`. */
  put(slots: Int32Array, columns: readonly Column[], rows: Int32Array, count: number): void {
    for (let at = 0; at < this.#columns.length; at++)
      (this.#columns[at] as ColumnStore).put(slots, columns[at] as Column, rows, count);
  }

  release(slot: number): void {
    this.#free.push(slot);
  }

  gather(slots: Int32Array): Column[] {
    return this.#columns.map((column) => column.gather(slots));
  }

  gatherColumn(index: number, slots: Int32Array): Column {
    return this.column(index).gather(slots);
  }

  column(index: number): ColumnStore {
    return this.#columns[index] as ColumnStore;
  }

  bytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.bytes(), this.#free.length * 8);
  }
}
