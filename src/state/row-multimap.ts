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

// Words of a row, side by side so that a lookup touches one cache line: its hash, the next row of the same key (-1: none),
// and for keys of 64 bits the key itself.
const HASH = 0;
const NEXT = 1;
const LOW = 2;
const HIGH = 3;
const WORDS = 2;
const PAIR_WORDS = 4;

export class RowMultimap {
  /** Value r of each store is part of the key of row r. */
  readonly #keys: readonly ColumnStore[];
  /** A single key of 64 bits that is never NULL: its words are kept with the row for speed. */
  readonly #isPair: boolean;
  readonly #width: number;
  /** Slot → first row + 1; 0 is free. */
  #slots: Int32Array = new Int32Array(SLOTS_MIN);
  #rows: Int32Array = new Int32Array(0);
  /** The row of the same key before each (-1: none); null until a row is taken out, since only that needs it. */
  #previous: Int32Array | null = null;
  #keyCount = 0;

  /** @param nullable  whether rows with a NULL in their key are added */
  constructor(keys: readonly ColumnStore[], nullable: boolean) {
    this.#keys = keys;
    const [only] = keys;
    const isPair = keys.length === 1 && only !== undefined && isPairLayout(layoutOf(only.type));
    this.#isPair = isPair && !nullable;
    this.#width = this.#isPair ? PAIR_WORDS : WORDS;
  }

  /** Sets `out[r]` to the first row with the key in row r of the columns, -1 if there is none. */
  find(columns: readonly Column[], rows: number, hashes: Uint32Array, out: Int32Array): void {
    if (this.#isPair) {
      this.#findPairs(pairsOf(columns), rows, hashes, out);
      return;
    }
    for (let row = 0; row < rows; row++) {
      const slot = this.#slotOf(columns, row, (hashes[row] as number) | 0);
      out[row] = (this.#slots[slot] as number) - 1;
    }
  }

  #findPairs(words: Int32Array, rows: number, hashes: Uint32Array, out: Int32Array): void {
    const slots = this.#slots;
    const kept = this.#rows;
    const mask = slots.length - 1;
    for (let row = 0; row < rows; row++) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      let slot = (hashes[row] as number) & mask;
      let first = (slots[slot] as number) - 1;
      while (
        first >= 0 &&
        (kept[first * PAIR_WORDS + LOW] !== low || kept[first * PAIR_WORDS + HIGH] !== high)
      ) {
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
    if (this.#isPair) return this.#slotOfPair(pairsOf(columns), row, hash);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const first = (this.#slots[slot] as number) - 1;
      if (first < 0) return slot;
      if (this.#rows[first * WORDS + HASH] === hash && this.#sameKey(first, columns, row))
        return slot;
      slot = (slot + 1) & mask;
    }
  }

  #slotOfPair(words: Int32Array, row: number, hash: number): number {
    const slots = this.#slots;
    const kept = this.#rows;
    const mask = slots.length - 1;
    const low = words[row * 2] as number;
    const high = words[row * 2 + 1] as number;
    let slot = hash & mask;
    for (;;) {
      const first = (slots[slot] as number) - 1;
      if (
        first < 0 ||
        (kept[first * PAIR_WORDS + LOW] === low && kept[first * PAIR_WORDS + HIGH] === high)
      )
        return slot;
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
    return this.#rows[id * this.#width + NEXT] as number;
  }

  /** The first row of the list that holds `id`. */
  firstOf(id: number): number {
    const before = this.#previousRows();
    let first = id;
    for (;;) {
      const previous = before[first] as number;
      if (previous < 0) return first;
      first = previous;
    }
  }

  hashOf(id: number): number {
    return (this.#rows[id * this.#width + HASH] as number) >>> 0;
  }

  /** Adds row `id`, whose key is in the stores already and in row `row` of the columns. */
  insert(id: number, columns: readonly Column[], row: number, hash: number): void {
    this.#makeRoom(id + 1);
    const slot = this.#slotOf(columns, row, hash | 0);
    const kept = this.#rows;
    const at = id * this.#width;
    if (this.#isPair) {
      const words = pairsOf(columns);
      kept[at + LOW] = words[row * 2] as number;
      kept[at + HIGH] = words[row * 2 + 1] as number;
    }
    const first = (this.#slots[slot] as number) - 1;
    kept[at + HASH] = hash;
    kept[at + NEXT] = first;
    this.#slots[slot] = id + 1;
    if (this.#previous !== null) this.#linkBack(this.#previous, id);
    if (first >= 0) return;
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
    this.#makeRoom(most + 1);
    while ((this.#keyCount + ids.length) * 2 > this.#slots.length) this.#rehash();
    if (!this.#isPair) {
      for (let at = 0; at < ids.length; at++) {
        const row = rows[at] as number;
        this.insert(ids[at] as number, columns, row, hashes[row] as number);
      }
      return;
    }
    const words = pairsOf(columns);
    const slots = this.#slots;
    const kept = this.#rows;
    const mask = slots.length - 1;
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number;
      const row = rows[at] as number;
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      const hash = hashes[row] as number;
      let slot = hash & mask;
      let first = (slots[slot] as number) - 1;
      while (
        first >= 0 &&
        (kept[first * PAIR_WORDS + LOW] !== low || kept[first * PAIR_WORDS + HIGH] !== high)
      ) {
        slot = (slot + 1) & mask;
        first = (slots[slot] as number) - 1;
      }
      const place = id * PAIR_WORDS;
      kept[place + HASH] = hash;
      kept[place + NEXT] = first;
      kept[place + LOW] = low;
      kept[place + HIGH] = high;
      slots[slot] = id + 1;
      if (first < 0) this.#keyCount++;
    }
    if (this.#previous === null) return;
    for (let at = 0; at < ids.length; at++) this.#linkBack(this.#previous, ids[at] as number);
  }

  /** Row `id` has become the first of its list. */
  #linkBack(previous: Int32Array, id: number): void {
    const next = this.#rows[id * this.#width + NEXT] as number;
    previous[id] = -1;
    if (next >= 0) previous[next] = id;
  }

  /** The rows before each, found out when they are first asked for. */
  #previousRows(): Int32Array {
    if (this.#previous !== null) return this.#previous;
    const previous = new Int32Array(Math.ceil(this.#rows.length / this.#width));
    for (const entry of this.#slots) {
      let before = -1;
      for (let id = entry - 1; id >= 0; id = this.next(id)) {
        previous[id] = before;
        before = id;
      }
    }
    this.#previous = previous;
    return previous;
  }

  #makeRoom(need: number): void {
    const words = need * this.#width;
    if (words > this.#rows.length)
      this.#rows = wider(Int32Array, this.#rows, grown(this.#rows.length, words));
    if (this.#previous !== null && need > this.#previous.length)
      this.#previous = wider(Int32Array, this.#previous, grown(this.#previous.length, need));
  }

  #rehash(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2);
    const mask = slots.length - 1;
    for (const entry of before) {
      if (entry === 0) continue;
      let slot = (this.#rows[(entry - 1) * this.#width + HASH] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#slots = slots;
  }

  /** Takes row `id` out; its key in the stores is not read. */
  remove(id: number): void {
    const kept = this.#rows;
    const width = this.#width;
    const before = this.#previousRows();
    const next = kept[id * width + NEXT] as number;
    const previous = before[id] as number;
    if (next >= 0) before[next] = previous;
    if (previous >= 0) {
      kept[previous * width + NEXT] = next;
      return;
    }
    const mask = this.#slots.length - 1;
    let slot = (kept[id * width + HASH] as number) & mask;
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
      const home = (this.#rows[(entry - 1) * this.#width + HASH] as number) & mask;
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
    return this.#slots.byteLength + this.#rows.byteLength + (this.#previous?.byteLength ?? 0);
  }
}

const isPairLayout = (layout: string): boolean => layout === 'int64' || layout === 'timestamp';

function pairsOf(columns: readonly Column[]): Int32Array {
  const [column] = columns;
  assert(column?.tag === 'int64' || column?.tag === 'timestamp', 'a key of 64 bits');
  return column.words;
}
