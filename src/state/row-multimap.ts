/**
 * From keys to the rows that have them: the index under a join.
 *
 * Place in the walk: stage 6. Rows are numbers given by the caller, their keys lie in column stores the caller fills.
 * Open addressing with linear probing finds the first row of a key; the rows of one key are a list, newest first.
 *
 * Invariants: a key has one slot while it has rows; removing a key's last row moves later slots back, so that probing
 * never meets a tombstone; slots are at most half full.
 * Failure: none.
 */
import { assert } from '../base/assert.ts';
import type { Column } from '../batch/column.ts';
import { layoutOf } from '../batch/types.ts';
import type { ColumnStore } from './column-store.ts';
import { grown, wider } from './growth.ts';

const SLOTS_MIN = 16;

export class RowMultimap {
  /** Value r of each store is part of the key of row r. */
  readonly #keys: readonly ColumnStore[];
  /** A single key of 64 bits that is never NULL: the two words of each row's, kept here for speed; null: another key. */
  #pairs: Int32Array | null;
  /** Slot → first row + 1; 0 is free. */
  #slots: Int32Array = new Int32Array(SLOTS_MIN);
  #hashes: Int32Array = new Int32Array(0);
  /** The next and the previous row of the same key; -1: none. */
  #next: Int32Array = new Int32Array(0);
  #previous: Int32Array = new Int32Array(0);
  #keyCount = 0;

  /** @param nullable  whether rows with a NULL in their key are added */
  constructor(keys: readonly ColumnStore[], nullable: boolean) {
    this.#keys = keys;
    const [only] = keys;
    const isPair = keys.length === 1 && only !== undefined && isPairLayout(layoutOf(only.type));
    this.#pairs = isPair && !nullable ? new Int32Array(0) : null;
  }

  /** Sets `out[r]` to the first row with the key in row r of the columns, -1 if there is none. */
  find(columns: readonly Column[], rows: number, hashes: Uint32Array, out: Int32Array): void {
    if (this.#pairs !== null) {
      this.#findPairs(pairsOf(columns), this.#pairs, rows, hashes, out);
      return;
    }
    for (let row = 0; row < rows; row++) {
      const slot = this.#slotOf(columns, row, (hashes[row] as number) | 0);
      out[row] = (this.#slots[slot] as number) - 1;
    }
  }

  #findPairs(
    words: Int32Array,
    pairs: Int32Array,
    rows: number,
    hashes: Uint32Array,
    out: Int32Array,
  ): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let row = 0; row < rows; row++) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      let slot = (hashes[row] as number) & mask;
      let first = (slots[slot] as number) - 1;
      while (first >= 0 && (pairs[first * 2] !== low || pairs[first * 2 + 1] !== high)) {
        slot = (slot + 1) & mask;
        first = (slots[slot] as number) - 1;
      }
      out[row] = first;
    }
  }

  /** The first row with the key in one row of the columns; -1: none. */
  first(columns: readonly Column[], row: number, hash: number): number {
    return (this.#slots[this.#slotOf(columns, row, hash | 0)] as number) - 1;
  }

  /** The slot that holds the key or that is free for it. */
  #slotOf(columns: readonly Column[], row: number, hash: number): number {
    if (this.#pairs !== null) return this.#slotOfPair(pairsOf(columns), this.#pairs, row, hash);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const first = (this.#slots[slot] as number) - 1;
      if (first < 0) return slot;
      if (this.#hashes[first] === hash && this.#sameKey(first, columns, row)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #slotOfPair(words: Int32Array, pairs: Int32Array, row: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const low = words[row * 2] as number;
    const high = words[row * 2 + 1] as number;
    let slot = hash & mask;
    for (;;) {
      const first = (slots[slot] as number) - 1;
      if (first < 0 || (pairs[first * 2] === low && pairs[first * 2 + 1] === high)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #sameKey(id: number, columns: readonly Column[], row: number): boolean {
    for (let key = 0; key < columns.length; key++) {
      if (!(this.#keys[key] as ColumnStore).equals(id, columns[key] as Column, row)) return false;
    }
    return true;
  }

  /** The row of the same key after `id`, -1 at the end. */
  next(id: number): number {
    return this.#next[id] as number;
  }

  /** The first row of the list that holds `id`. */
  firstOf(id: number): number {
    let first = id;
    while ((this.#previous[first] as number) >= 0) first = this.#previous[first] as number;
    return first;
  }

  hashOf(id: number): number {
    return (this.#hashes[id] as number) >>> 0;
  }

  /** Adds row `id`, whose key is in the stores already and in row `row` of the columns. */
  insert(id: number, columns: readonly Column[], row: number, hash: number): void {
    if (id >= this.#hashes.length) this.#makeRoom(id + 1);
    const slot = this.#slotOf(columns, row, hash | 0);
    if (this.#pairs !== null) {
      const words = pairsOf(columns);
      this.#pairs[id * 2] = words[row * 2] as number;
      this.#pairs[id * 2 + 1] = words[row * 2 + 1] as number;
    }
    const first = (this.#slots[slot] as number) - 1;
    this.#hashes[id] = hash;
    this.#next[id] = first;
    this.#previous[id] = -1;
    this.#slots[slot] = id + 1;
    if (first >= 0) {
      this.#previous[first] = id;
      return;
    }
    this.#keyCount++;
    if (this.#keyCount * 2 > this.#slots.length) this.#rehash();
  }

  /** Adds rows `ids[i]`, whose keys are in rows `rows[i]` of the columns. */
  insertAll(
    ids: Int32Array,
    columns: readonly Column[],
    rows: Int32Array,
    hashes: Uint32Array,
  ): void {
    let most = 0;
    for (let at = 0; at < ids.length; at++) most = Math.max(most, ids[at] as number);
    if (most >= this.#hashes.length) this.#makeRoom(most + 1);
    while ((this.#keyCount + ids.length) * 2 > this.#slots.length) this.#rehash();
    const pairs = this.#pairs;
    if (pairs === null) {
      for (let at = 0; at < ids.length; at++) {
        const row = rows[at] as number;
        this.insert(ids[at] as number, columns, row, hashes[row] as number);
      }
      return;
    }
    const words = pairsOf(columns);
    const [slots, hashOf, next, previous] = [this.#slots, this.#hashes, this.#next, this.#previous];
    const mask = slots.length - 1;
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number;
      const row = rows[at] as number;
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      const hash = hashes[row] as number;
      let slot = hash & mask;
      let first = (slots[slot] as number) - 1;
      while (first >= 0 && (pairs[first * 2] !== low || pairs[first * 2 + 1] !== high)) {
        slot = (slot + 1) & mask;
        first = (slots[slot] as number) - 1;
      }
      pairs[id * 2] = low;
      pairs[id * 2 + 1] = high;
      hashOf[id] = hash;
      next[id] = first;
      previous[id] = -1;
      slots[slot] = id + 1;
      if (first >= 0) previous[first] = id;
      else this.#keyCount++;
    }
  }

  #makeRoom(need: number): void {
    const room = grown(this.#hashes.length, need);
    this.#hashes = wider(Int32Array, this.#hashes, room);
    this.#next = wider(Int32Array, this.#next, room);
    this.#previous = wider(Int32Array, this.#previous, room);
    if (this.#pairs !== null) this.#pairs = wider(Int32Array, this.#pairs, room * 2);
  }

  #rehash(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2);
    const mask = slots.length - 1;
    for (const entry of before) {
      if (entry === 0) continue;
      let slot = (this.#hashes[entry - 1] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#slots = slots;
  }

  /** Takes row `id` out; its key in the stores is not read. */
  remove(id: number): void {
    const next = this.#next[id] as number;
    const previous = this.#previous[id] as number;
    if (next >= 0) this.#previous[next] = previous;
    if (previous >= 0) {
      this.#next[previous] = next;
      return;
    }
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[id] as number) & mask;
    while (this.#slots[slot] !== id + 1) slot = (slot + 1) & mask;
    if (next >= 0) this.#slots[slot] = next + 1;
    else this.#free(slot);
  }

  /** Empties a slot and closes the gap in the probe sequence behind it. */
  #free(at: number): void {
    const mask = this.#slots.length - 1;
    let gap = at;
    let slot = (at + 1) & mask;
    this.#keyCount--;
    for (;;) {
      const entry = this.#slots[slot] as number;
      if (entry === 0) break;
      const home = (this.#hashes[entry - 1] as number) & mask;
      // The entry may move back only if its home does not lie behind the gap.
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        this.#slots[gap] = entry;
        gap = slot;
      }
      slot = (slot + 1) & mask;
    }
    this.#slots[gap] = 0;
  }

  /** Bytes allocated, those of the keys aside. */
  bytes(): number {
    const pairs = this.#pairs?.byteLength ?? 0;
    return this.#slots.byteLength + this.#hashes.byteLength * 3 + pairs;
  }
}

const isPairLayout = (layout: string): boolean => layout === 'int64' || layout === 'timestamp';

function pairsOf(columns: readonly Column[]): Int32Array {
  const [column] = columns;
  assert(column?.tag === 'int64' || column?.tag === 'timestamp', 'a key of 64 bits');
  return column.words;
}
