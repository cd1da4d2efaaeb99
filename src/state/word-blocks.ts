/**
 * A growing row of values of `width` 32-bit words each, in blocks: what is there stays where it is as more comes.
 *
 * Place in the walk: stage 6, under the column stores. The first block grows by doubling, so that a small store is small;
 * the others have their size at once, so that a large one grows by a little, without copying what it holds.
 *
 * Invariant: a value lies within one block; values that nobody has set are zeros. Failure: none.
 */
import { isRun, runStart } from '../batch/index-run.ts';
import { grown, wider } from './growth.ts';

/** Values of a block, as a power of two: value `i` is in block `i >> BLOCK_SHIFT`, there at `(i & BLOCK_MASK) * width`. */
export const BLOCK_SHIFT = 13;
const SIZE = 1 << BLOCK_SHIFT;
export const BLOCK_MASK = SIZE - 1;

export class WordBlocks {
  readonly #width: number;
  /** For loops over many values; none of them is for keeping, since the first one is replaced as it grows. */
  readonly blocks: Int32Array[] = [new Int32Array(0)];
  /** Values there is room for. */
  #room = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Makes room for `count` values. */
  reach(count: number): void {
    if (count > this.#room) this.#grow(count);
  }

  #grow(count: number): void {
    const width = this.#width;
    if (this.#room < SIZE) {
      const room = Math.min(SIZE, grown(this.#room, count));
      this.blocks[0] = wider(Int32Array, this.blocks[0] as Int32Array, room * width);
      this.#room = room;
    }
    for (; this.#room < count; this.#room += SIZE) this.blocks.push(new Int32Array(SIZE * width));
  }

  /** The block that holds a value, at `placeOf`. */
  blockOf(index: number): Int32Array {
    return this.blocks[index >> BLOCK_SHIFT] as Int32Array;
  }

  placeOf(index: number): number {
    return (index & BLOCK_MASK) * this.#width;
  }

  /** Value `index` becomes value `row` of the source. */
  set(index: number, source: Int32Array, row: number): void {
    const width = this.#width;
    const block = this.blockOf(index);
    const place = (index & BLOCK_MASK) * width;
    for (let word = 0; word < width; word++)
      block[place + word] = source[row * width + word] as number;
  }

  clear(index: number): void {
    const place = this.placeOf(index);
    this.blockOf(index).fill(0, place, place + this.#width);
  }

  equals(index: number, other: Int32Array, row: number): boolean {
    const width = this.#width;
    const block = this.blockOf(index);
    const place = (index & BLOCK_MASK) * width;
    for (let word = 0; word < width; word++)
      if (block[place + word] !== other[row * width + word]) return false;
    return true;
  }

  /** As numbers, the last word the highest one, signed unless said otherwise. */
  compare(left: number, right: number, unsigned: boolean): number {
    const top = this.#width - 1;
    const [one, two] = [this.blockOf(left), this.blockOf(right)];
    const [here, there] = [this.placeOf(left), this.placeOf(right)];
    const [high, other] = [one[here + top] as number, two[there + top] as number];
    if (high !== other) return unsigned ? (high >>> 0) - (other >>> 0) : high - other;
    for (let word = top - 1; word >= 0; word--) {
      const low = ((one[here + word] as number) >>> 0) - ((two[there + word] as number) >>> 0);
      if (low !== 0) return low;
    }
    return 0;
  }

  /** Values `[from, from + count)` of the source to places from `first` on, for which there is room. */
  setRun(first: number, source: Int32Array, from: number, count: number): void {
    const width = this.#width;
    for (let done = 0; done < count;) {
      const place = (first + done) & BLOCK_MASK;
      const some = Math.min(count - done, SIZE - place);
      const start = (from + done) * width;
      this.blockOf(first + done).set(source.subarray(start, start + some * width), place * width);
      done += some;
    }
  }

  /** Values `rows[i]` of the source to places `indices[i]`. */
  put(indices: Int32Array, source: Int32Array, rows: Int32Array, count: number): void {
    // A view costs more than a few values.
    if (count > 8 && isRun(indices, count) && isRun(rows, count)) {
      this.setRun(indices[0] ?? 0, source, rows[0] ?? 0, count);
      return;
    }
    if (this.#width !== 2) {
      for (let at = 0; at < count; at++)
        this.set(indices[at] as number, source, rows[at] as number);
      return;
    }
    const blocks = this.blocks;
    for (let at = 0; at < count; at++) {
      const index = indices[at] as number;
      const block = blocks[index >> BLOCK_SHIFT] as Int32Array;
      const here = (index & BLOCK_MASK) * 2;
      const there = (rows[at] as number) * 2;
      block[here] = source[there] as number;
      block[here + 1] = source[there + 1] as number;
    }
  }

  /** The values at `indices`, as a copy; zeros where there is no room for one. */
  gather(indices: Int32Array): Int32Array {
    const width = this.#width;
    const gathered = new Int32Array(indices.length * width);
    const run = runStart(indices);
    if (run >= 0) this.#copyRun(run, gathered);
    else if (width === 1) this.#gatherSingles(indices, gathered);
    else if (width === 2) this.#gatherPairs(indices, gathered);
    else this.#gatherWide(indices, gathered);
    return gathered;
  }

  #copyRun(first: number, target: Int32Array): void {
    const width = this.#width;
    const count = Math.min(target.length / width, this.#room - first);
    for (let done = 0; done < count;) {
      const place = (first + done) & BLOCK_MASK;
      const some = Math.min(count - done, SIZE - place);
      const block = this.blockOf(first + done);
      target.set(block.subarray(place * width, (place + some) * width), done * width);
      done += some;
    }
  }

  #gatherSingles(indices: Int32Array, target: Int32Array): void {
    const blocks = this.blocks;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      const block = blocks[index >> BLOCK_SHIFT];
      if (block !== undefined) target[at] = block[index & BLOCK_MASK] as number;
    }
  }

  #gatherPairs(indices: Int32Array, target: Int32Array): void {
    const blocks = this.blocks;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      const block = blocks[index >> BLOCK_SHIFT];
      if (block === undefined) continue;
      const place = (index & BLOCK_MASK) * 2;
      target[at * 2] = block[place] as number;
      target[at * 2 + 1] = block[place + 1] as number;
    }
  }

  #gatherWide(indices: Int32Array, target: Int32Array): void {
    const width = this.#width;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      const block = this.blocks[index >> BLOCK_SHIFT];
      if (block === undefined) continue;
      const place = (index & BLOCK_MASK) * width;
      for (let word = 0; word < width; word++)
        target[at * width + word] = block[place + word] as number;
    }
  }

  /** Bytes allocated. */
  bytes(): number {
    return this.#room * this.#width * 4;
  }
}
