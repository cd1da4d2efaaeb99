/** Growable, rewritable lists; see `column-store.ts` for the contract. */
import { assert } from '../base/assert.ts';
import { isValid, type Column, type ListColumn } from '../batch/column.ts';
import type { ListType } from '../batch/types.ts';
import type { ColumnStore } from './column-store.ts';
import { grown, Presence, wider } from './growth.ts';

/** Garbage below this many elements is never worth a compaction. */
const GARBAGE_MIN = 16_384;

/** Elements lie one behind the other; `set` leaves the old ones behind until garbage outweighs what is alive. */
export class ListStore implements ColumnStore {
  readonly type: ListType;
  readonly #presence = new Presence();
  #starts = new Int32Array(0);
  #lengths = new Int32Array(0);
  #elements: ColumnStore;
  #garbage = 0;
  length = 0;

  readonly #makeElements: () => ColumnStore;

  constructor(type: ListType, makeElements: () => ColumnStore) {
    this.type = type;
    this.#makeElements = makeElements;
    this.#elements = makeElements();
  }

  reach(length: number): void {
    if (length > this.#starts.length) {
      const room = grown(this.#starts.length, length);
      this.#starts = wider(Int32Array, this.#starts, room);
      this.#lengths = wider(Int32Array, this.#lengths, room);
    }
    this.length = Math.max(this.length, length);
  }

  append(column: Column, row: number): void {
    this.reach(this.length + 1);
    this.set(this.length - 1, column, row);
  }

  appendRows(column: Column, from: number, count: number): void {
    for (let row = from; row < from + count; row++) this.append(column, row);
  }

  set(index: number, column: Column, row: number): void {
    const list = listOf(column);
    const present = isValid(list, row);
    this.#presence.mark(index, present);
    this.#garbage += this.#lengths[index] as number;
    this.#lengths[index] = 0;
    if (this.#garbage > GARBAGE_MIN && this.#garbage * 2 > this.#elements.length) this.#compact();
    const start = list.offsets[row] as number;
    const size = present ? (list.offsets[row + 1] as number) - start : 0;
    this.#starts[index] = this.#elements.length;
    this.#lengths[index] = size;
    for (let at = start; at < start + size; at++) this.#elements.append(list.child, at);
  }

  #compact(): void {
    const alive = this.#elements.gather(this.#places());
    this.#elements = this.#makeElements();
    for (let at = 0; at < alive.length; at++) this.#elements.append(alive, at);
    let used = 0;
    for (let index = 0; index < this.length; index++) {
      this.#starts[index] = used;
      used += this.#lengths[index] as number;
    }
    this.#garbage = 0;
  }

  /** Where the elements of all lists lie, list by list. */
  #places(): Int32Array {
    const lengths = this.#lengths;
    let size = 0;
    for (let index = 0; index < this.length; index++) size += lengths[index] as number;
    const places = new Int32Array(size);
    let at = 0;
    for (let index = 0; index < this.length; index++) {
      const start = this.#starts[index] as number;
      for (let step = 0; step < (lengths[index] as number); step++) places[at++] = start + step;
    }
    return places;
  }

  equals(index: number, column: Column, row: number): boolean {
    const list = listOf(column);
    const present = isValid(list, row);
    if (this.#presence.has(index) !== present) return false;
    if (!present) return true;
    const there = list.offsets[row] as number;
    const size = (list.offsets[row + 1] as number) - there;
    if (this.#lengths[index] !== size) return false;
    const here = this.#starts[index] as number;
    for (let at = 0; at < size; at++)
      if (!this.#elements.equals(here + at, list.child, there + at)) return false;
    return true;
  }

  has(index: number): boolean {
    return this.#presence.has(index);
  }

  put(indices: Int32Array, column: Column, rows: Int32Array, count: number): void {
    let most = this.length;
    for (let at = 0; at < count; at++) most = Math.max(most, (indices[at] as number) + 1);
    this.reach(most);
    for (let at = 0; at < count; at++) this.set(indices[at] as number, column, rows[at] as number);
  }

  /** Element by element; a list that ends first comes first. */
  compare(left: number, right: number): number {
    const present = this.#presence.has(left);
    if (present !== this.#presence.has(right)) return present ? -1 : 1;
    if (!present) return 0;
    const [here, there] = [this.#starts[left] as number, this.#starts[right] as number];
    const [size, other] = [this.#lengths[left] as number, this.#lengths[right] as number];
    for (let at = 0; at < Math.min(size, other); at++) {
      const order = this.#elements.compare(here + at, there + at);
      if (order !== 0) return order;
    }
    return size - other;
  }

  gatheredBytes(indices: Int32Array): number {
    let bytes = 0;
    const elements = this.#elements;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      if (index < 0) continue;
      const length = this.#lengths[index] as number;
      const start = this.#starts[index] as number;
      bytes += length * 8;
      if (elements.gatheredBytes === undefined) continue;
      bytes += elements.gatheredBytes(Int32Array.from({ length }, (_, place) => start + place));
    }
    return bytes;
  }

  gather(indices: Int32Array): Column {
    const length = indices.length;
    const offsets = new Int32Array(length + 1);
    for (let at = 0; at < length; at++)
      offsets[at + 1] = (offsets[at] as number) + (this.#lengths[indices[at] as number] as number);
    const places = new Int32Array(offsets[length] as number);
    for (let at = 0; at < length; at++) {
      const start = this.#starts[indices[at] as number] as number;
      const from = offsets[at] as number;
      const to = offsets[at + 1] as number;
      for (let place = from; place < to; place++) places[place] = start + place - from;
    }
    const validity = this.#presence.gather(indices);
    const child = this.#elements.gather(places);
    return { tag: 'list', type: this.type, length, validity, offsets, child };
  }

  bytes(): number {
    return this.#elements.bytes() + this.#starts.byteLength * 2 + this.#presence.bytes();
  }
}

function listOf(column: Column): ListColumn {
  assert(column.tag === 'list', `a store of lists got a ${column.tag} column`);
  return column;
}
