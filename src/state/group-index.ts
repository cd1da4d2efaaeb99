/**
 * From key columns to dense group numbers.
 *
 * Place in the walk: stage 6, under every keyed operator. An open-addressing table (linear probing, at most half full)
 * of group numbers beside flat arrays with each group's hash and key; keys stay columnar and can be read back.
 *
 * Invariants: groups are 0..count-1 in order of first appearance; equal keys (NULL equals NULL) have equal hashes,
 * because the caller hashes them with the routing hash; groups are never removed one by one: `retain` builds a new
 * index instead, which keeps probing free of tombstones.
 * Failure: none.
 */
import { assert } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import { makeColumnStore, type ColumnStore } from './column-store.ts';

const SLOTS_MIN = 16;

export class GroupIndex {
  readonly #types: readonly SqlType[];
  readonly #keys: ColumnStore[];
  /** Slot → group + 1; 0 is free. */
  #slots: Int32Array = new Int32Array(SLOTS_MIN);
  #hashes: Uint32Array = new Uint32Array(SLOTS_MIN / 2);
  #count = 0;

  constructor(types: readonly SqlType[]) {
    this.#types = types;
    this.#keys = types.map(makeColumnStore);
  }

  /** Number of groups. */
  get count(): number {
    return this.#count;
  }

  /**
   * Sets `out[r]` to the group of row r for r in [0, rows), making groups for new keys.
   *
   * @param columns one column per key type; no columns at all means one group for every row
   * @param hashes routing hash of each row's key
   */
  lookupOrInsert(
    columns: readonly Column[],
    rows: number,
    hashes: Uint32Array,
    out: Int32Array,
  ): void {
    assert(columns.length === this.#keys.length, 'one column per key');
    for (let row = 0; row < rows; row++) out[row] = this.#find(columns, row, hashes[row] as number);
  }

  #find(columns: readonly Column[], row: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const group = (this.#slots[slot] as number) - 1;
      if (group < 0) return this.#insert(columns, row, hash, slot);
      if (this.#hashes[group] === hash && this.#sameKey(group, columns, row)) return group;
      slot = (slot + 1) & mask;
    }
  }

  #sameKey(group: number, columns: readonly Column[], row: number): boolean {
    for (let key = 0; key < columns.length; key++) {
      if (!(this.#keys[key] as ColumnStore).equals(group, columns[key] as Column, row))
        return false;
    }
    return true;
  }

  #insert(columns: readonly Column[], row: number, hash: number, slot: number): number {
    const group = this.#count++;
    for (let key = 0; key < columns.length; key++) {
      (this.#keys[key] as ColumnStore).append(columns[key] as Column, row);
    }
    if (group === this.#hashes.length) {
      const hashes = new Uint32Array(group * 2);
      hashes.set(this.#hashes);
      this.#hashes = hashes;
    }
    this.#hashes[group] = hash;
    this.#slots[slot] = group + 1;
    if (this.#count * 2 > this.#slots.length) this.#rehash();
    return group;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let group = 0; group < this.#count; group++) {
      let slot = (this.#hashes[group] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = group + 1;
    }
    this.#slots = slots;
  }

  /** The keys of the given groups, one column per key. */
  keyColumns(groups: Int32Array): Column[] {
    return this.#keys.map((key) => key.gather(groups));
  }

  hashesOf(groups: Int32Array): Uint32Array {
    const hashes = new Uint32Array(groups.length);
    for (let at = 0; at < groups.length; at++)
      hashes[at] = this.#hashes[groups[at] as number] as number;
    return hashes;
  }

  /** A new index of the given groups, numbered in their order. */
  retain(groups: Int32Array): GroupIndex {
    const index = new GroupIndex(this.#types);
    const out = new Int32Array(groups.length);
    index.lookupOrInsert(this.keyColumns(groups), groups.length, this.hashesOf(groups), out);
    assert(index.count === groups.length, 'every group is named once');
    return index;
  }

  /** Bytes allocated. */
  bytes(): number {
    const keys = this.#keys.reduce((sum, key) => sum + key.bytes(), 0);
    return keys + this.#slots.byteLength + this.#hashes.byteLength;
  }
}

/** Groups 0..count-1 in order. */
export function allGroups(count: number): Int32Array {
  const groups = new Int32Array(count);
  for (let group = 0; group < count; group++) groups[group] = group;
  return groups;
}
