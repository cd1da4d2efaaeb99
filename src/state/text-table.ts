/**
 * The table of a single key of text: every text once, end to end in one arena, in order of first appearance.
 *
 * Bytes are read four at a time, also for the hash; the last four overlap the ones before, so that there is no tail.
 */
import { assert } from '../base/assert.ts';
import { mix32 } from '../base/hash.ts';
import { bitAt, type Column } from '../batch/column.ts';
import { runStart } from '../batch/index-run.ts';
import type { SqlType } from '../batch/types.ts';
import { grown, wider } from './growth.ts';
import { isCrowded, nullBits, SLOTS_MIN, type KeyTable } from './key-table.ts';

const FACTOR = 0x9e3779b1;
/** Longer texts are copied by the runtime instead of byte by byte. */
const SHORT = 64;

export class TextTable implements KeyTable {
  readonly #type: SqlType;
  /** Hash and number + 1 (0 is free) of each slot. */
  #slots = new Int32Array(2 * SLOTS_MIN);
  /** Text n is `arena[offsets[n], offsets[n + 1])`. */
  #offsets = new Int32Array(SLOTS_MIN);
  #arena = new Uint8Array(64);
  #view = new DataView(this.#arena.buffer);
  #nullAt = -1;
  count = 0;

  constructor(type: SqlType) {
    this.#type = type;
  }

  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void {
    const column = columns[0] as Column;
    assert(column.tag === 'text', `a key of text, not ${column.tag}`);
    const { offsets, bytes, validity } = column;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    /** Where the text before lies, and its number: a day or a state is often that of many rows in a row. */
    let before = -1;
    let size = -1;
    let known = -1;
    for (let row = from; row < to; row++) {
      if (validity !== null && !bitAt(validity, row)) {
        out[row - from] = this.#numberOfNull();
        continue;
      }
      const start = offsets[row] as number;
      const end = offsets[row + 1] as number;
      if (end - start !== size || !isSame(view, before, start, size)) {
        known = this.#find(view, bytes, start, end, hashText(view, start, end));
        size = end - start;
      }
      before = start;
      out[row - from] = known;
    }
  }

  #find(view: DataView, bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let slot = (hash << 1) & mask;
    for (;;) {
      const number = (slots[slot + 1] as number) - 1;
      if (number < 0) return this.#insert(bytes, start, end, hash, slot);
      if (slots[slot] === hash && this.#isText(number, view, start, end)) return number;
      slot = (slot + 2) & mask;
    }
  }

  #isText(number: number, view: DataView, start: number, end: number): boolean {
    const here = this.#offsets[number] as number;
    const size = end - start;
    if ((this.#offsets[number + 1] as number) - here !== size) return false;
    const own = this.#view;
    if (size < 4) {
      for (let at = 0; at < size; at++)
        if (own.getUint8(here + at) !== view.getUint8(start + at)) return false;
      return true;
    }
    const last = size - 4;
    for (let at = 0; at < last; at += 4)
      if (own.getInt32(here + at, true) !== view.getInt32(start + at, true)) return false;
    return own.getInt32(here + last, true) === view.getInt32(start + last, true);
  }

  #insert(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const number = this.#claim(end - start);
    const at = this.#offsets[number] as number;
    const size = end - start;
    if (size > SHORT) this.#arena.set(bytes.subarray(start, end), at);
    else
      for (let byte = 0; byte < size; byte++)
        this.#arena[at + byte] = bytes[start + byte] as number;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = number + 1;
    if (isCrowded(this.count, this.#slots.length >> 1)) this.#rehash();
    return number;
  }

  #numberOfNull(): number {
    if (this.#nullAt < 0) this.#nullAt = this.#claim(0);
    return this.#nullAt;
  }

  /** A new number whose text will have `size` bytes. */
  #claim(size: number): number {
    const number = this.count++;
    if (number + 1 === this.#offsets.length)
      this.#offsets = wider(Int32Array, this.#offsets, grown(number, number + 2));
    const end = (this.#offsets[number] as number) + size;
    this.#offsets[number + 1] = end;
    if (end > this.#arena.length) {
      this.#arena = wider(Uint8Array, this.#arena, grown(this.#arena.length, end));
      this.#view = new DataView(this.#arena.buffer);
    }
    return number;
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      const hash = old[from] as number;
      let slot = (hash << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = hash;
      slots[slot + 1] = old[from + 1] as number;
    }
    this.#slots = slots;
  }

  keyColumns(numbers: Int32Array): Column[] {
    const validity = nullBits(numbers, this.#nullAt);
    const length = numbers.length;
    const offsets = new Int32Array(length + 1);
    let size = 0;
    for (let at = 0; at < length; at++) {
      const number = numbers[at] as number;
      size += (this.#offsets[number + 1] as number) - (this.#offsets[number] as number);
      offsets[at + 1] = size;
    }
    const run = runStart(numbers);
    const bytes =
      run < 0
        ? this.#gathered(numbers, size)
        : this.#arena.slice(this.#offsets[run], (this.#offsets[run] as number) + size);
    return [{ tag: 'text', type: this.#type, length, validity, offsets, bytes }];
  }

  #gathered(numbers: Int32Array, size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    let to = 0;
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] as number;
      const end = this.#offsets[number + 1] as number;
      let from = this.#offsets[number] as number;
      if (end - from > SHORT) {
        bytes.set(this.#arena.subarray(from, end), to);
        to += end - from;
      } else while (from < end) bytes[to++] = this.#arena[from++] as number;
    }
    return bytes;
  }

  bytes(): number {
    return this.#slots.byteLength + this.#offsets.byteLength + this.#arena.byteLength;
  }
}

/** Whether two texts of one size are the same. They often differ at the end only. */
function isSame(view: DataView, left: number, right: number, size: number): boolean {
  if (size < 4) {
    for (let at = 0; at < size; at++)
      if (view.getUint8(left + at) !== view.getUint8(right + at)) return false;
    return true;
  }
  const last = size - 4;
  if (view.getInt32(left + last, true) !== view.getInt32(right + last, true)) return false;
  for (let at = 0; at < last; at += 4)
    if (view.getInt32(left + at, true) !== view.getInt32(right + at, true)) return false;
  return true;
}

function hashText(view: DataView, start: number, end: number): number {
  const size = end - start;
  let hash = Math.imul(size, FACTOR);
  if (size >= 4) {
    const last = end - 4;
    for (let at = start; at < last; at += 4) {
      hash = Math.imul(hash ^ view.getInt32(at, true), FACTOR);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ view.getInt32(last, true), FACTOR);
  } else if (size > 0) {
    const word =
      view.getUint8(start) |
      (view.getUint8(start + (size >> 1)) << 8) |
      (view.getUint8(end - 1) << 16);
    hash = Math.imul(hash ^ word, FACTOR);
  }
  return mix32(hash) | 0;
}
