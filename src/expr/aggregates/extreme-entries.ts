/**
 * The smallest or the largest value of each group of a table whose entries come and go: min and max over rows that are taken back.
 *
 * A small group is looked through. A larger one gets a heap when it is first asked for: an entry that comes is pushed unless
 * it is in the heap already, one that goes stays there until it is on top. So a change costs next to nothing, and an answer the
 * entries that went since the one before.
 */
import { nullColumn } from '../../batch/column-builder.ts';
import type { Column } from '../../batch/column.ts';
import { bitmapBytes, setBit } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { makeColumnStore, type ColumnStore } from '../../state/column-store.ts';
import type { EntryList } from './entry-list.ts';
import { grownBytes } from './group-arrays.ts';

/** Groups with more entries than this get a heap. */
const SCAN_MAX = 64;

export class ExtremeEntries {
  readonly #type: SqlType;
  readonly #list: EntryList;
  /** 1: the largest value counts, -1: the smallest. */
  readonly #direction: 1 | -1;
  /** By entry. */
  #values: ColumnStore;
  #isQueued: Uint8Array = new Uint8Array(16);
  /** Group → entries, the best one first, each no better than the one at (its place − 1) / 2. */
  readonly #heaps = new Map<number, number[]>();

  constructor(type: SqlType, list: EntryList, largest: boolean) {
    this.#type = type;
    this.#list = list;
    this.#direction = largest ? 1 : -1;
    this.#values = makeColumnStore(type);
  }

  /** The value of the next entry. */
  append(column: Column, row: number): void {
    this.#values.append(column, row);
    if (this.#heaps.size > 0) this.#isQueued = grownBytes(this.#isQueued, this.#values.length);
  }

  /** An entry came to its group. */
  add(entry: number): void {
    if (this.#heaps.size === 0) return;
    const heap = this.#heaps.get(this.#list.owners[entry] as number);
    if (heap !== undefined && this.#isQueued[entry] !== 1) this.#push(heap, entry);
  }

  #isBetter(left: number, right: number): boolean {
    return this.#values.compare(left, right) * this.#direction > 0;
  }

  #push(heap: number[], entry: number): void {
    this.#isQueued[entry] = 1;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above] as number;
      if (!this.#isBetter(entry, other)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = entry;
  }

  #pop(heap: number[]): void {
    this.#isQueued[heap[0] as number] = 0;
    const entry = heap.pop() as number;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (
        below + 1 < heap.length &&
        this.#isBetter(heap[below + 1] as number, heap[below] as number)
      )
        below++;
      const other = heap[below] as number;
      if (!this.#isBetter(other, entry)) break;
      heap[at] = other;
      at = below;
    }
    heap[at] = entry;
  }

  /** Entries have new numbers. */
  rebuild(values: Column): void {
    this.#values = makeColumnStore(this.#type);
    for (let entry = 0; entry < values.length; entry++) this.#values.append(values, entry);
    this.#isQueued = new Uint8Array(16);
    this.#heaps.clear();
  }

  /** @param bits  entry → 0: it is not in its group */
  extreme(groups: Int32Array, bits: Int32Array): Column {
    const rows = groups.length;
    if (this.#values.length === 0) return nullColumn(this.#type, rows);
    const entries = new Int32Array(rows);
    const validity = new Uint8Array(bitmapBytes(rows));
    let filled = 0;
    for (let row = 0; row < rows; row++) {
      const entry = this.#bestOf(groups[row] as number, bits);
      if (entry < 0) continue;
      entries[row] = entry;
      setBit(validity, row);
      filled++;
    }
    const column = this.#values.gather(entries);
    return filled === rows ? column : { ...column, validity };
  }

  #bestOf(group: number, bits: Int32Array): number {
    const heap = this.#heaps.get(group);
    if (heap === undefined) return this.#scan(group, bits);
    while (heap.length > 0 && bits[heap[0] as number] === 0) this.#pop(heap);
    return heap[0] ?? -1;
  }

  #scan(group: number, bits: Int32Array): number {
    const { heads, next } = this.#list;
    let best = -1;
    let count = 0;
    for (let entry = heads[group] as number; entry >= 0; entry = next[entry] as number) {
      count++;
      if (bits[entry] !== 0 && (best < 0 || this.#isBetter(entry, best))) best = entry;
    }
    if (count > SCAN_MAX) this.#makeHeap(group, bits);
    return best;
  }

  #makeHeap(group: number, bits: Int32Array): void {
    this.#isQueued = grownBytes(this.#isQueued, this.#values.length);
    const { heads, next } = this.#list;
    const heap: number[] = [];
    this.#heaps.set(group, heap);
    for (let entry = heads[group] as number; entry >= 0; entry = next[entry] as number)
      if (bits[entry] !== 0) this.#push(heap, entry);
  }

  bytes(): number {
    let queued = 0;
    for (const heap of this.#heaps.values()) queued += heap.length;
    return this.#values.bytes() + this.#isQueued.length + 8 * queued;
  }
}
