/**
 * The rows that the two sides of a join keep, by key.
 *
 * Place in the walk: stage 6, under the joins. Keys of both sides are numbered by one index, so that a row of a batch is
 * looked up once for both: for the rows of the other side that it meets, and for those of its own that it joins. Rows are
 * numbers given by the caller, each side counting for itself; those of one key are a list, newest first.
 *
 * Invariants: a row is in one list at most; a key may have no rows, and once most have none, `tidy` numbers the others anew.
 * Failure: none.
 */
import type { Column } from '../batch/column.ts';
import type { SqlType } from '../batch/types.ts';
import { GroupIndex } from './group-index.ts';
import { grown, wider } from './growth.ts';

/** So many keys are never worth a new index. */
const KEYS_MIN = 1024;

export class RowLists {
  readonly left: RowList;
  readonly right: RowList;
  #index: GroupIndex;
  /** The first row + 1 of key `k` of the left side at `2 k`, of the right side at `2 k + 1`; 0: it has none. */
  heads: Int32Array = new Int32Array(0);
  #numbers = new Int32Array(0);
  /** The routing hashes of the first keys, as many as were needed so far. */
  #hashes = new Uint32Array(0);

  constructor(types: readonly SqlType[]) {
    this.#index = new GroupIndex(types);
    this.left = new RowList(this, 0);
    this.right = new RowList(this, 1);
  }

  /** The numbers of the keys in `rows` rows of the columns, new ones included; good until the next call. */
  number(columns: readonly Column[], rows: number): Int32Array {
    if (this.#numbers.length < rows)
      this.#numbers = new Int32Array(grown(this.#numbers.length, rows));
    this.#index.lookupOrInsert(columns, 0, rows, this.#numbers);
    const words = this.#index.count * 2;
    if (words > this.heads.length)
      this.heads = wider(Int32Array, this.heads, grown(this.heads.length, words));
    return this.#numbers;
  }

  /** The routing hash of a key. */
  hashOf(key: number): number {
    if (key >= this.#hashes.length) this.#hashNew();
    return this.#hashes[key] as number;
  }

  #hashNew(): void {
    const known = this.#hashes.length;
    const fresh = new Int32Array(this.#index.count - known);
    for (let at = 0; at < fresh.length; at++) fresh[at] = known + at;
    const hashes = new Uint32Array(this.#index.count);
    hashes.set(this.#hashes);
    hashes.set(this.#index.hashesOf(fresh), known);
    this.#hashes = hashes;
  }

  /** Forgets the keys without rows when there are many. Numbers that were given before mean nothing afterwards. */
  tidy(): void {
    const { count } = this.#index;
    if (count <= KEYS_MIN || count <= 2 * (this.left.count + this.right.count)) return;
    const kept = new Int32Array(count);
    const numbers = new Int32Array(count);
    let keeps = 0;
    for (let key = 0; key < count; key++) {
      if (this.heads[2 * key] === 0 && this.heads[2 * key + 1] === 0) continue;
      numbers[key] = keeps;
      kept[keeps++] = key;
    }
    const heads = new Int32Array(keeps * 2);
    for (let key = 0; key < keeps; key++) {
      const before = kept[key] as number;
      heads[2 * key] = this.heads[2 * before] as number;
      heads[2 * key + 1] = this.heads[2 * before + 1] as number;
    }
    this.heads = heads;
    this.#index = this.#index.retain(kept.subarray(0, keeps));
    this.#hashes = new Uint32Array(0);
    this.left.renumber(numbers);
    this.right.renumber(numbers);
  }

  /** Bytes allocated, keys included. */
  bytes(): number {
    const own = this.heads.byteLength + this.#numbers.byteLength + this.#hashes.byteLength;
    return own + this.#index.bytes() + this.left.bytes() + this.right.bytes();
  }
}

/** Rows of a batch beside rows that are kept. */
export type RowPairs = {
  rows: Int32Array;
  ids: Int32Array;
  count: number;
  /** Makes room for more. */
  grow(): void;
};

/** The rows of one side. */
export class RowList {
  readonly #lists: RowLists;
  readonly #side: 0 | 1;
  /** The next row of the same key; -1: none. */
  #next: Int32Array = new Int32Array(0);
  /** The row of the same key before each (-1: none); null until a row other than the first of its key is taken out. */
  #previous: Int32Array | null = null;
  /** The key of each row; -1: there is no such row. */
  #keys: Int32Array = new Int32Array(0);
  count = 0;

  constructor(lists: RowLists, side: 0 | 1) {
    this.#lists = lists;
    this.#side = side;
  }

  has(id: number): boolean {
    return (this.#keys[id] as number) >= 0;
  }

  keyOf(id: number): number {
    return this.#keys[id] as number;
  }

  /** The first row of a key; -1: none. */
  first(key: number): number {
    return (this.#lists.heads[2 * key + this.#side] as number) - 1;
  }

  /** The row of the same key after `id`, -1 at the end. */
  next(id: number): number {
    return this.#next[id] as number;
  }

  /**
   * Pairs rows `[from, to)` of a batch with the rows of their keys, until there are at least `most` pairs.
   *
   * @param keys   the number of the key of each row
   * @param nulls  1: a row that meets nobody
   * @returns the row after the last one that was looked at
   */
  meet(
    keys: Int32Array,
    nulls: Uint8Array | null,
    from: number,
    to: number,
    most: number,
    pairs: RowPairs,
  ): number {
    const { heads } = this.#lists;
    const next = this.#next;
    let { rows, ids, count } = pairs;
    let row = from;
    for (; row < to && count < most; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      let id = (heads[2 * (keys[row] as number) + this.#side] as number) - 1;
      for (; id >= 0; id = next[id] as number) {
        if (count === rows.length) {
          pairs.grow();
          ({ rows, ids } = pairs);
        }
        rows[count] = row;
        ids[count++] = id;
      }
    }
    pairs.count = count;
    return row;
  }

  /** The routing hash of a row's key. */
  hashOf(id: number): number {
    return this.#lists.hashOf(this.#keys[id] as number);
  }

  /** Adds row `id`. */
  add(id: number, key: number): void {
    this.#makeRoom(id + 1);
    this.#link(id, key);
  }

  /** Adds rows `ids[i]`, whose keys are `keys[rows[i]]`; `end` is above every id. */
  addAll(ids: Int32Array, keys: Int32Array, rows: Int32Array, end: number): void {
    this.#makeRoom(end);
    if (this.#previous !== null) {
      for (let at = 0; at < ids.length; at++)
        this.#link(ids[at] as number, keys[rows[at] as number] as number);
      return;
    }
    const { heads } = this.#lists;
    const side = this.#side;
    const next = this.#next;
    const own = this.#keys;
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number;
      const key = keys[rows[at] as number] as number;
      const place = 2 * key + side;
      own[id] = key;
      next[id] = (heads[place] as number) - 1;
      heads[place] = id + 1;
    }
    this.count += ids.length;
  }

  /** Adds rows `first`, `first + 1` …, whose keys are `keys[from]`, `keys[from + 1]` …. */
  addRun(first: number, keys: Int32Array, from: number, count: number): void {
    const end = first + count;
    this.#makeRoom(end);
    if (this.#previous !== null) {
      for (let at = 0; at < count; at++) this.#link(first + at, keys[from + at] as number);
      return;
    }
    const { heads } = this.#lists;
    const next = this.#next;
    const own = this.#keys;
    const side = this.#side;
    for (let id = first, row = from; id < end; id++, row++) {
      const key = keys[row] as number;
      const place = 2 * key + side;
      own[id] = key;
      next[id] = (heads[place] as number) - 1;
      heads[place] = id + 1;
    }
    this.count += count;
  }

  #link(id: number, key: number): void {
    const { heads } = this.#lists;
    const place = 2 * key + this.#side;
    const first = (heads[place] as number) - 1;
    this.#keys[id] = key;
    this.#next[id] = first;
    heads[place] = id + 1;
    this.count++;
    if (this.#previous === null) return;
    this.#previous[id] = -1;
    if (first >= 0) this.#previous[first] = id;
  }

  #makeRoom(need: number): void {
    if (need <= this.#keys.length) return;
    const before = this.#keys.length;
    const room = grown(before, need);
    this.#keys = wider(Int32Array, this.#keys, room).fill(-1, before);
    this.#next = wider(Int32Array, this.#next, room);
    if (this.#previous !== null) this.#previous = wider(Int32Array, this.#previous, room);
  }

  /** Takes row `id` out. */
  remove(id: number): void {
    const { heads } = this.#lists;
    const place = 2 * (this.#keys[id] as number) + this.#side;
    const next = this.#next[id] as number;
    this.#keys[id] = -1;
    this.count--;
    if (heads[place] === id + 1) {
      heads[place] = next + 1;
      if (next >= 0 && this.#previous !== null) this.#previous[next] = -1;
      return;
    }
    this.#previous ??= this.#findPrevious();
    const previous = this.#previous[id] as number;
    this.#next[previous] = next;
    if (next >= 0) this.#previous[next] = previous;
  }

  #findPrevious(): Int32Array {
    const previous = new Int32Array(this.#next.length);
    const { heads } = this.#lists;
    for (let place = this.#side; place < heads.length; place += 2) {
      let before = -1;
      for (let id = (heads[place] as number) - 1; id >= 0; id = this.#next[id] as number) {
        previous[id] = before;
        before = id;
      }
    }
    return previous;
  }

  /** Keys have other numbers: key `k` is `numbers[k]` now. */
  renumber(numbers: Int32Array): void {
    const keys = this.#keys;
    for (let id = 0; id < keys.length; id++) {
      const key = keys[id] as number;
      if (key >= 0) keys[id] = numbers[key] as number;
    }
  }

  bytes(): number {
    return this.#next.byteLength + this.#keys.byteLength + (this.#previous?.byteLength ?? 0);
  }
}
