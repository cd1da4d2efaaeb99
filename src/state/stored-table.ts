/** The table of a single key of any type, over a column store: what has no table of its own, such as lists. */
import type { Column } from '../batch/column.ts';
import { hashRows } from '../batch/row-hash.ts';
import { sliceColumn } from '../batch/take.ts';
import type { SqlType } from '../batch/types.ts';
import { makeColumnStore, type ColumnStore } from './column-store.ts';
import { isCrowded, SLOTS_MIN, type KeyTable } from './key-table.ts';

export class StoredTable implements KeyTable {
  readonly #keys: ColumnStore;
  /** Hash and number + 1 (0 is free) of each slot. */
  #slots = new Int32Array(2 * SLOTS_MIN);

  constructor(type: SqlType) {
    this.#keys = makeColumnStore(type);
  }

  get count(): number {
    return this.#keys.length;
  }

  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void {
    const column = sliceColumn(columns[0] as Column, from, to);
    const hashes = new Uint32Array(to - from);
    hashRows([column], to - from, hashes);
    for (let row = 0; row < to - from; row++)
      out[row] = this.#find(column, row, (hashes[row] as number) | 0);
  }

  #find(column: Column, row: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let slot = (hash << 1) & mask;
    for (;;) {
      const number = (slots[slot + 1] as number) - 1;
      if (number < 0) break;
      if (slots[slot] === hash && this.#keys.equals(number, column, row)) return number;
      slot = (slot + 2) & mask;
    }
    this.#keys.append(column, row);
    slots[slot] = hash;
    slots[slot + 1] = this.#keys.length;
    if (isCrowded(this.#keys.length, slots.length >> 1)) this.#rehash();
    return this.#keys.length - 1;
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      let slot = ((old[from] as number) << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[from] as number;
      slots[slot + 1] = old[from + 1] as number;
    }
    this.#slots = slots;
  }

  keyColumns(numbers: Int32Array): Column[] {
    return [this.#keys.gather(numbers)];
  }

  bytes(): number {
    return this.#keys.bytes() + this.#slots.byteLength;
  }
}
