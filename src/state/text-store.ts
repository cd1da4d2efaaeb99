/** Growable, rewritable text; see `column-store.ts` for the contract. */
import { assert } from '../base/assert.ts';
import { bitAt, isValid, type Column, type TextColumn } from '../batch/column.ts';
import { copyText, SLACK } from '../batch/copy-text.ts';
import { isRun } from '../batch/index-run.ts';
import type { SqlType } from '../batch/types.ts';
import type { ColumnStore } from './column-store.ts';
import { grown, Presence, wider } from './growth.ts';

/** Garbage below this is never worth a compaction. */
const TEXT_GARBAGE_BYTES_MIN = 65_536;

/** Text lies in one arena; `set` leaves the old bytes behind until garbage outweighs what is alive. */
export class TextStore implements ColumnStore {
  readonly type: SqlType;
  readonly #presence = new Presence();
  #starts = new Int32Array(0);
  #lengths = new Int32Array(0);
  #arena = new Uint8Array(0);
  #used = 0;
  #garbage = 0;
  length = 0;

  constructor(type: SqlType) {
    this.type = type;
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
    if (column.validity !== null) {
      for (let row = from; row < from + count; row++) this.append(column, row);
      return;
    }
    const first = this.length;
    this.reach(first + count);
    this.#appendRun(textOf(column), first, from, count);
  }

  set(index: number, column: Column, row: number): void {
    const text = textOf(column);
    const present = isValid(column, row);
    this.#presence.mark(index, present);
    this.#garbage += this.#lengths[index] as number;
    const start = present ? (text.offsets[row] as number) : 0;
    const size = present ? (text.offsets[row + 1] as number) - start : 0;
    this.#lengths[index] = 0;
    if (this.#used + size > this.#arena.length) this.#makeRoom(size);
    copyBytes(text.bytes, start, this.#arena, this.#used, size);
    this.#starts[index] = this.#used;
    this.#lengths[index] = size;
    this.#used += size;
  }

  #makeRoom(size: number): void {
    const alive = this.#used - this.#garbage;
    const compact = this.#garbage > TEXT_GARBAGE_BYTES_MIN && this.#garbage > alive;
    const need = (compact ? alive : this.#used) + size;
    const arena = new Uint8Array(grown(compact ? alive : this.#arena.length, need));
    if (!compact) {
      arena.set(this.#arena.subarray(0, this.#used));
      this.#arena = arena;
      return;
    }
    let used = 0;
    for (let index = 0; index < this.length; index++) {
      const bytes = this.#lengths[index] as number;
      copyBytes(this.#arena, this.#starts[index] as number, arena, used, bytes);
      this.#starts[index] = used;
      used += bytes;
    }
    this.#arena = arena;
    this.#used = used;
    this.#garbage = 0;
  }

  equals(index: number, column: Column, row: number): boolean {
    const text = textOf(column);
    const present = text.validity === null || bitAt(text.validity, row);
    if (this.#presence.has(index) !== present) return false;
    if (!present) return true;
    const there = text.offsets[row] as number;
    const size = (text.offsets[row + 1] as number) - there;
    if (this.#lengths[index] !== size) return false;
    const here = this.#starts[index] as number;
    for (let at = 0; at < size; at++)
      if (this.#arena[here + at] !== text.bytes[there + at]) return false;
    return true;
  }

  has(index: number): boolean {
    return this.#presence.has(index);
  }

  put(indices: Int32Array, column: Column, rows: Int32Array, count: number): void {
    let most = this.length;
    for (let at = 0; at < count; at++) most = Math.max(most, (indices[at] as number) + 1);
    const isEnd = count > 0 && indices[0] === this.length && most === this.length + count;
    this.reach(most);
    if (isEnd && column.validity === null && isRun(rows, count) && isRun(indices, count))
      this.#appendRun(textOf(column), indices[0] as number, rows[0] as number, count);
    else this.#putRuns(indices, textOf(column), rows, count);
  }

  /** Neighbours lie behind each other in the column and are copied together, wherever they go. */
  #putRuns(indices: Int32Array, text: TextColumn, rows: Int32Array, count: number): void {
    const { offsets, bytes } = text;
    let size = 0;
    for (let at = 0; at < count; at++) {
      const row = rows[at] as number;
      size += (offsets[row + 1] as number) - (offsets[row] as number);
    }
    if (this.#used + size > this.#arena.length) this.#makeRoom(size);
    for (let at = 0; at < count;) {
      let end = at + 1;
      while (end < count && rows[end] === (rows[end - 1] as number) + 1) end++;
      const from = offsets[rows[at] as number] as number;
      const to = offsets[(rows[end - 1] as number) + 1] as number;
      copyBytes(bytes, from, this.#arena, this.#used, to - from);
      this.#point(indices, text, rows, at, end);
      at = end;
    }
  }

  /** Lets values `[at, end)` of a `put` lie where their bytes were copied to. */
  #point(indices: Int32Array, text: TextColumn, rows: Int32Array, at: number, end: number): void {
    const { offsets, validity } = text;
    for (let each = at; each < end; each++) {
      const index = indices[each] as number;
      const row = rows[each] as number;
      const size = (offsets[row + 1] as number) - (offsets[row] as number);
      const present = validity === null || bitAt(validity, row);
      this.#presence.mark(index, present);
      this.#garbage += (this.#lengths[index] as number) + (present ? 0 : size);
      this.#starts[index] = this.#used;
      this.#lengths[index] = present ? size : 0;
      this.#used += size;
    }
  }

  /** Neighbouring values behind the last one: their bytes are copied at once. */
  #appendRun(text: TextColumn, index: number, row: number, count: number): void {
    const start = text.offsets[row] as number;
    const size = (text.offsets[row + count] as number) - start;
    if (this.#used + size > this.#arena.length) {
      // What is compacted has its length; these have none yet.
      this.#lengths.fill(0, index, index + count);
      this.#makeRoom(size);
    }
    this.#arena.set(text.bytes.subarray(start, start + size), this.#used);
    const shift = this.#used - start;
    for (let at = 0; at < count; at++) {
      const from = text.offsets[row + at] as number;
      this.#starts[index + at] = from + shift;
      this.#lengths[index + at] = (text.offsets[row + at + 1] as number) - from;
    }
    this.#used += size;
  }

  compare(left: number, right: number): number {
    const present = this.#presence.has(left);
    if (present !== this.#presence.has(right)) return present ? -1 : 1;
    if (!present) return 0;
    const here = this.#starts[left] as number;
    const there = this.#starts[right] as number;
    const [size, other] = [this.#lengths[left] as number, this.#lengths[right] as number];
    const shared = Math.min(size, other);
    for (let at = 0; at < shared; at++) {
      const difference = (this.#arena[here + at] as number) - (this.#arena[there + at] as number);
      if (difference !== 0) return difference;
    }
    return size - other;
  }

  /** As `compare`, of a value that is not NULL and bytes `[from, to)`. */
  compareBytes(index: number, bytes: Uint8Array, from: number, to: number): number {
    const start = this.#starts[index] as number;
    const length = this.#lengths[index] as number;
    const shared = Math.min(length, to - from);
    for (let at = 0; at < shared; at++) {
      const difference = (this.#arena[start + at] as number) - (bytes[from + at] as number);
      if (difference !== 0) return difference;
    }
    return length - (to - from);
  }

  gatheredBytes(indices: Int32Array): number {
    let bytes = 0;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      if (index >= 0) bytes += this.#lengths[index] as number;
    }
    return bytes;
  }

  gather(indices: Int32Array): Column {
    const offsets = new Int32Array(indices.length + 1);
    let size = 0;
    for (let at = 0; at < indices.length; at++) {
      size += this.#lengths[indices[at] as number] as number;
      offsets[at + 1] = size;
    }
    const bytes = new Uint8Array(size + SLACK);
    const to = new DataView(bytes.buffer);
    const arena = this.#arena;
    const view = new DataView(arena.buffer, 0, this.#used);
    const starts = this.#starts;
    // Texts that were added one after the other lie so, and are copied together.
    for (let at = 0; at < indices.length;) {
      const from = starts[indices[at] as number] as number;
      const place = offsets[at] as number;
      let end = at + 1;
      while (
        end < indices.length &&
        (starts[indices[end] as number] as number) - from === (offsets[end] as number) - place
      )
        end++;
      copyText(arena, view, from, (offsets[end] as number) - place, bytes, to, place);
      at = end;
    }
    const validity = this.#presence.gather(indices);
    return {
      tag: 'text',
      type: this.type,
      length: indices.length,
      validity,
      offsets,
      bytes: bytes.subarray(0, size),
    };
  }

  bytes(): number {
    return this.#arena.length + this.#starts.byteLength * 2 + this.#presence.bytes();
  }
}

function textOf(column: Column): TextColumn {
  assert(column.tag === 'text', `a store of text got a ${column.tag} column`);
  return column;
}

/** Short copies byte by byte: a typed array view per value costs more than the bytes. */
function copyBytes(
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  at: number,
  size: number,
): void {
  if (size > 64) {
    target.set(source.subarray(start, start + size), at);
    return;
  }
  for (let index = 0; index < size; index++) target[at + index] = source[start + index] as number;
}
