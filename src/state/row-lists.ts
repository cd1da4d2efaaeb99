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
import { BLOCK_MASK, BLOCK_SHIFT, WordBlocks } from './word-blocks.ts';

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

  hashesOf(keys: Int32Array): Uint32Array {
    this.#hashNew();
    const known = this.#hashes;
    const hashes = new Uint32Array(keys.length);
    for (let at = 0; at < keys.length; at++) hashes[at] = known[keys[at] as number] as number;
    return hashes;
  }

  #hashNew(): void {
    const known = this.#hashes.length;
    if (known === this.#index.count) return;
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
export type PairList = {
  rows: Int32Array;
  ids: Int32Array;
  count: number;
  /** Makes room for more. */
  grow(): void;
};

/** Event times of the rows of a batch: two words for each, low one first, or one time for all. */
export type RowTimes = { words: Int32Array | null; all: number };

const HIGH = 2 ** 32;
/** The high words of -Infinity and Infinity, which no time of an event has. */
const BEFORE_ALL = -(2 ** 31);
const BEHIND_ALL = 2 ** 31 - 1;
/** The high word of what stands for -Infinity in a checkpoint, -(2 ** 53). */
const SAVED_BEFORE_ALL = -(2 ** 21);

// Words of a row, side by side so that who meets it touches one cache line: the next row of the same key (-1: none), its
// key + 1 (0: there is no such row), the low and the high word of its time.
const NEXT = 0;
const KEY = 1;
const LOW_WORD = 2;
const HIGH_WORD = 3;
const WIDTH = 4;

/** The rows of one side. */
export class RowList {
  readonly #lists: RowLists;
  readonly #side: 0 | 1;
  readonly #rows = new WordBlocks(WIDTH);
  /** Rows up to this one have been added. */
  #end = 0;
  /** A key had two rows at once, and rows may have a next one. */
  #isChained = false;
  /** The row of the same key before each (-1: none); null until a row other than the first of its key is taken out. */
  #previous: Int32Array | null = null;
  count = 0;

  constructor(lists: RowLists, side: 0 | 1) {
    this.#lists = lists;
    this.#side = side;
  }

  #word(id: number, word: number): number {
    const block = this.#rows.blocks[id >> BLOCK_SHIFT] as Int32Array;
    return block[(id & BLOCK_MASK) * WIDTH + word] as number;
  }

  #setWord(id: number, word: number, value: number): void {
    const block = this.#rows.blocks[id >> BLOCK_SHIFT] as Int32Array;
    block[(id & BLOCK_MASK) * WIDTH + word] = value;
  }

  has(id: number): boolean {
    return this.#word(id, KEY) !== 0;
  }

  keyOf(id: number): number {
    return this.#word(id, KEY) - 1;
  }

  /** The first row of a key; -1: none. */
  first(key: number): number {
    return (this.#lists.heads[2 * key + this.#side] as number) - 1;
  }

  /** The row of the same key after `id`, -1 at the end. */
  next(id: number): number {
    return this.#word(id, NEXT);
  }

  timeOf(id: number): number {
    const high = this.#word(id, HIGH_WORD);
    if (high === BEFORE_ALL || high === BEHIND_ALL) return high * Infinity;
    return high * HIGH + (this.#word(id, LOW_WORD) >>> 0);
  }

  setTime(id: number, time: number): void {
    this.#setWord(id, LOW_WORD, time | 0);
    this.#setWord(id, HIGH_WORD, highWordOf(time));
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
    pairs: PairList,
  ): number {
    if (!this.#isChained) return this.#meetSingle(keys, nulls, from, to, most, pairs);
    const { heads } = this.#lists;
    const { blocks } = this.#rows;
    let { rows, ids, count } = pairs;
    let row = from;
    for (; row < to && count < most; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      let id = (heads[2 * (keys[row] as number) + this.#side] as number) - 1;
      while (id >= 0) {
        if (count === rows.length) {
          pairs.grow();
          ({ rows, ids } = pairs);
        }
        rows[count] = row;
        ids[count++] = id;
        const block = blocks[id >> BLOCK_SHIFT] as Int32Array;
        id = block[(id & BLOCK_MASK) * WIDTH + NEXT] as number;
      }
    }
    pairs.count = count;
    return row;
  }

  /** As `meet`, while no key has more than one row: who has none is passed without a branch, and no row is looked at. */
  #meetSingle(
    keys: Int32Array,
    nulls: Uint8Array | null,
    from: number,
    to: number,
    most: number,
    pairs: PairList,
  ): number {
    const { heads } = this.#lists;
    const side = this.#side;
    let { count } = pairs;
    let row = from;
    while (row < to && count < most) {
      const end = Math.min(to, row + most - count);
      while (pairs.rows.length < count + end - row) pairs.grow();
      const { rows, ids } = pairs;
      for (; row < end; row++) {
        if (nulls !== null && nulls[row] === 1) continue;
        const id = (heads[2 * (keys[row] as number) + side] as number) - 1;
        rows[count] = row;
        ids[count] = id;
        count += (id >>> 31) ^ 1;
      }
    }
    pairs.count = count;
    return row;
  }

  /** Words of the later time of each pair: row `rows[i]` of a batch and row `ids[i]` kept here. */
  laterTimes(times: RowTimes, rows: Int32Array, ids: Int32Array): Int32Array {
    const { blocks } = this.#rows;
    const count = rows.length;
    const own = times.words ?? wordsOf(times.all);
    const step = times.words === null ? 0 : 2;
    const later = new Int32Array(count * 2);
    for (let at = 0; at < count; at++) {
      const id = ids[at] as number;
      const block = blocks[id >> BLOCK_SHIFT] as Int32Array;
      const place = (id & BLOCK_MASK) * WIDTH;
      const one = (rows[at] as number) * step;
      const [low, high] = [own[one] as number, own[one + 1] as number];
      const other = block[place + LOW_WORD] as number;
      const otherHigh = block[place + HIGH_WORD] as number;
      const isOwn = high === otherHigh ? low >>> 0 >= other >>> 0 : high > otherHigh;
      later[at * 2] = isOwn ? low : other;
      later[at * 2 + 1] = isOwn ? high : otherHigh;
    }
    return later;
  }

  /** The routing hash of a row's key. */
  hashOf(id: number): number {
    return this.#lists.hashOf(this.keyOf(id));
  }

  /** The words of the times of rows, and the routing hashes of their keys: what names them in a checkpoint. */
  namesOf(ids: Int32Array): { times: Int32Array; hashes: Uint32Array } {
    const { blocks } = this.#rows;
    const times = new Int32Array(ids.length * 2);
    const keys = new Int32Array(ids.length);
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number;
      const block = blocks[id >> BLOCK_SHIFT] as Int32Array;
      const place = (id & BLOCK_MASK) * WIDTH;
      const high = block[place + HIGH_WORD] as number;
      keys[at] = (block[place + KEY] as number) - 1;
      times[at * 2] = high === BEFORE_ALL ? 0 : (block[place + LOW_WORD] as number);
      times[at * 2 + 1] = high === BEFORE_ALL ? SAVED_BEFORE_ALL : high;
    }
    return { times, hashes: this.#lists.hashesOf(keys) };
  }

  /** Adds row `id`. */
  add(id: number, key: number, time: number): void {
    this.#makeRoom(id + 1);
    this.#link(id, key);
    this.setTime(id, time);
  }

  /** Adds rows `first`, `first + 1` …, whose keys and times are those of rows `from`, `from + 1` … of a batch. */
  addRun(first: number, keys: Int32Array, times: RowTimes, from: number, count: number): void {
    const end = first + count;
    this.#makeRoom(end);
    for (let id = first; id < end;) {
      const to = Math.min(end, (id | BLOCK_MASK) + 1);
      this.#addToBlock(id, to, keys, times, from + id - first);
      id = to;
    }
    this.count += count;
    const previous = this.#previous;
    if (previous === null) return;
    for (let id = first; id < end; id++) this.#linkBack(previous, id);
  }

  /** Adds rows `[id, end)` of one block. */
  #addToBlock(id: number, end: number, keys: Int32Array, times: RowTimes, from: number): void {
    const { heads } = this.#lists;
    const block = this.#rows.blocks[id >> BLOCK_SHIFT] as Int32Array;
    const side = this.#side;
    const words = times.words ?? wordsOf(times.all);
    const step = times.words === null ? 0 : 2;
    let place = (id & BLOCK_MASK) * WIDTH;
    let time = from * step;
    let known = 0;
    for (let each = id, row = from; each < end; each++, row++, place += WIDTH, time += step) {
      const key = keys[row] as number;
      const head = 2 * key + side;
      const next = heads[head] as number;
      known |= next;
      block[place + NEXT] = next - 1;
      block[place + KEY] = key + 1;
      block[place + LOW_WORD] = words[time] as number;
      block[place + HIGH_WORD] = words[time + 1] as number;
      heads[head] = each + 1;
    }
    if (known !== 0) this.#isChained = true;
  }

  #link(id: number, key: number): void {
    const { heads } = this.#lists;
    const place = 2 * key + this.#side;
    const next = (heads[place] as number) - 1;
    if (next >= 0) this.#isChained = true;
    this.#setWord(id, NEXT, next);
    this.#setWord(id, KEY, key + 1);
    heads[place] = id + 1;
    this.count++;
    if (this.#previous !== null) this.#linkBack(this.#previous, id);
  }

  /** Row `id` has become the first of its key. */
  #linkBack(previous: Int32Array, id: number): void {
    const next = this.next(id);
    previous[id] = -1;
    if (next >= 0) previous[next] = id;
  }

  #makeRoom(end: number): void {
    if (end <= this.#end) return;
    this.#end = end;
    this.#rows.reach(end);
    if (this.#previous !== null && end > this.#previous.length)
      this.#previous = wider(Int32Array, this.#previous, grown(this.#previous.length, end));
  }

  /** Takes row `id` out; its time stays readable. */
  remove(id: number): void {
    const { heads } = this.#lists;
    const place = 2 * this.keyOf(id) + this.#side;
    const next = this.next(id);
    this.#setWord(id, KEY, 0);
    this.count--;
    if (heads[place] === id + 1) {
      heads[place] = next + 1;
      if (next >= 0 && this.#previous !== null) this.#previous[next] = -1;
      return;
    }
    this.#previous ??= this.#findPrevious();
    const previous = this.#previous[id] as number;
    this.#setWord(previous, NEXT, next);
    if (next >= 0) this.#previous[next] = previous;
  }

  #findPrevious(): Int32Array {
    const previous = new Int32Array(this.#end);
    const { heads } = this.#lists;
    for (let place = this.#side; place < heads.length; place += 2) {
      let before = -1;
      for (let id = (heads[place] as number) - 1; id >= 0; id = this.next(id)) {
        previous[id] = before;
        before = id;
      }
    }
    return previous;
  }

  /** Keys have other numbers: key `k` is `numbers[k]` now. */
  renumber(numbers: Int32Array): void {
    for (const block of this.#rows.blocks)
      for (let place = KEY; place < block.length; place += WIDTH) {
        const key = (block[place] as number) - 1;
        if (key >= 0) block[place] = (numbers[key] as number) + 1;
      }
  }

  bytes(): number {
    return this.#rows.bytes() + (this.#previous?.byteLength ?? 0);
  }
}

const highWordOf = (time: number): number =>
  Math.max(BEFORE_ALL, Math.min(BEHIND_ALL, Math.floor(time / HIGH)));

const wordsOf = (time: number): Int32Array => Int32Array.of(time | 0, highWordOf(time));
