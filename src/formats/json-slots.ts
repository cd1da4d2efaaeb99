/**
 * The column buffers a decoder writes into, by row number.
 *
 * A row may be written any number of times before the next one starts: the last write wins, so a
 * rejected row is simply overwritten. `present` holds ones except where `setNull` wrote.
 */
import { assert, unreachable } from '../base/assert.ts';
import { constantColumn } from '../batch/constant-column.ts';
import { bitAt, bitmapBytes, isValid, setBit } from '../batch/column.ts';
import type { Column } from '../batch/column.ts';
import { layoutOf } from '../batch/types.ts';
import type { DecimalType, Field, Layout, ListType, SqlType, StructType } from '../batch/types.ts';
import type { DecodeColumn } from './format.ts';

export const BOOLEAN_KIND = 0;
export const INT32_KIND = 1;
export const INT64_KIND = 2;
export const FLOAT64_KIND = 3;
export const DECIMAL_KIND = 4;
export const TEXT_KIND = 5;
export const TIMESTAMP_KIND = 6;
export const STRUCT_KIND = 7;
/** The kinds above are read by `json-values.ts`, the following by `json-typed.ts`. */
export const SMALL_INT_KIND = 8;
export const UNSIGNED_KIND = 9;
export const FLOAT32_KIND = 10;
export const BYTEA_KIND = 11;
export const JSON_KIND = 12;
export const DATE_KIND = 13;
export const TIME_KIND = 14;
/** Moments with a zone or rounded, and those in nanoseconds. */
export const MOMENT_KIND = 15;
export const INTERVAL_KIND = 16;
export const LIST_KIND = 17;

const KINDS: Readonly<Record<SqlType['tag'], number>> = {
  boolean: BOOLEAN_KIND,
  int8: SMALL_INT_KIND,
  int16: SMALL_INT_KIND,
  uint8: SMALL_INT_KIND,
  uint16: SMALL_INT_KIND,
  int32: INT32_KIND,
  int64: INT64_KIND,
  uint32: UNSIGNED_KIND,
  uint64: UNSIGNED_KIND,
  float32: FLOAT32_KIND,
  float64: FLOAT64_KIND,
  decimal: DECIMAL_KIND,
  text: TEXT_KIND,
  bytea: BYTEA_KIND,
  json: JSON_KIND,
  timestamp: TIMESTAMP_KIND,
  timestamptz: MOMENT_KIND,
  timestamp_ns: MOMENT_KIND,
  date: DATE_KIND,
  time: TIME_KIND,
  interval: INTERVAL_KIND,
  list: LIST_KIND,
  struct: STRUCT_KIND,
};

const kindOf = (type: SqlType): number =>
  type.tag === 'timestamp' && type.precision !== undefined ? MOMENT_KIND : KINDS[type.tag];

/** Words of one value in `Slot.words`, by layout. */
export const WORD_COUNTS: Readonly<Record<Layout, number>> = {
  boolean: 1,
  int32: 1,
  int64: 2,
  timestamp: 2,
  float64: 0,
  decimal: 4,
  interval: 4,
  text: 0,
  list: 0,
  struct: 0,
};

const NO_BYTES = new Uint8Array(0);

/** What makes columns of slots whose buffers are lent to them. */
export type SlotPacker = {
  /** The validity of the first rows; null: no NULL among them. */
  packPresent(slot: Slot, rows: number): Uint8Array | null;
  packBooleans(slot: Slot, rows: number): Uint8Array;
};

/** Slots by name: exactly, or else in any case. */
export class SlotNames {
  readonly #exact = new Map<string, Slot>();
  readonly #folded = new Map<string, Slot>();

  constructor(slots: readonly Slot[]) {
    for (const slot of slots) {
      this.#exact.set(slot.name, slot);
      const folded = slot.name.toLowerCase();
      if (!this.#folded.has(folded)) this.#folded.set(folded, slot);
    }
  }

  find(name: string): Slot | null {
    return this.#exact.get(name) ?? this.#folded.get(name.toLowerCase()) ?? null;
  }
}

export class Slot {
  readonly name: string;
  /** The name for messages: `column` or `column.field`. */
  readonly path: string;
  readonly type: SqlType;
  readonly kind: number;
  readonly layout: Layout;
  readonly nullable: boolean;
  /** Values are checked and not kept: texts come out empty. */
  readonly unread: boolean;
  readonly precision: number;
  readonly scale: number;
  readonly children: readonly Slot[];
  readonly names: SlotNames | null;
  /** Lists: the elements of row r are rows [offsets[r], offsets[r + 1]) of this. */
  readonly element: Slot | null;
  /** Numbers each row so that a second value of one row is noticed. */
  stamp = 0;
  nulls = false;
  present: Uint8Array = NO_BYTES;
  /** Booleans one word, int32 one, int64 and timestamps two, decimals four a value. */
  words: Int32Array = new Int32Array(0);
  floats: Float64Array = new Float64Array(0);
  /** Rows there is room for. */
  capacity = 0;
  /** Text of row r starts at offsets[r] of `heap`. */
  offsets: Int32Array = new Int32Array(1);
  heap: Uint8Array = NO_BYTES;
  /** Timestamps: text of the minute seen last, and its seconds since 1970; NaN before the first. */
  readonly minuteText = new Uint8Array(16);
  readonly minuteWords = new DataView(this.minuteText.buffer);
  minuteSeconds = Number.NaN;
  #heapWords: DataView = new DataView(NO_BYTES.buffer);
  #heapSeen: Uint8Array = NO_BYTES;
  readonly #fallback: Column | null;
  #zeros: Int32Array = new Int32Array(1);
  /** Bytes of text per row in the last batch. */
  textBytes = 8;
  /** Set while the buffers are someone else's memory: columns are copies of them then. */
  packer: SlotPacker | null = null;
  /** Columns are views of the buffers, whoever has them, and the next batch writes over them. */
  #isLent = false;
  /** The buffers are, or were last, someone else's memory. */
  isAttached = false;

  constructor(field: Field | DecodeColumn, prefix: string) {
    this.name = field.name;
    this.path = prefix + field.name;
    this.type = field.type;
    this.kind = kindOf(field.type);
    this.layout = layoutOf(field.type);
    this.nullable = field.nullable;
    this.unread = 'unread' in field && field.unread === true;
    assert(!this.unread || (field.type.tag === 'text' && !field.nullable), 'an unread text');
    this.precision = field.type.tag === 'decimal' ? field.type.precision : 0;
    this.scale = field.type.tag === 'decimal' ? field.type.scale : 0;
    const path = `${this.path}.`;
    this.children =
      field.type.tag === 'struct' ? field.type.fields.map((child) => new Slot(child, path)) : [];
    this.names = field.type.tag === 'struct' ? new SlotNames(this.children) : null;
    this.element =
      field.type.tag === 'list'
        ? new Slot({ name: '[]', type: field.type.element, nullable: true }, this.path)
        : null;
    const literal = 'default' in field ? field.default : null;
    this.#fallback = literal === null ? null : constantColumn(field.type, literal, 1);
  }

  get hasDefault(): boolean {
    return this.#fallback !== null;
  }

  /** The heap as a view. */
  heapWords(): DataView {
    const { heap } = this;
    if (heap !== this.#heapSeen) {
      this.#heapSeen = heap;
      this.#heapWords = new DataView(heap.buffer, heap.byteOffset, heap.byteLength);
    }
    return this.#heapWords;
  }

  /** Bytes of text that the default has. */
  get defaultBytes(): number {
    return this.#fallback?.tag === 'text' ? this.#fallback.bytes.length : 0;
  }

  /** Fresh buffers for up to `capacity` rows of about `rowBytes`; those of the last batch were handed on, if not lent. */
  start(capacity: number, rowBytes: number): void {
    this.nulls = false;
    this.present = NO_BYTES;
    const isKept = this.#isLent && !this.isAttached && capacity <= this.capacity;
    this.isAttached = false;
    if (!isKept) this.#allocate(capacity, rowBytes);
    for (const child of this.children) child.start(capacity, rowBytes);
    this.element?.start(capacity, rowBytes);
  }

  /** From now on columns are views of memory that the next batch is written to. */
  lend(): void {
    this.#isLent = true;
    for (const child of this.children) child.lend();
    this.element?.lend();
  }

  #allocate(capacity: number, rowBytes: number): void {
    this.capacity = capacity;
    this.words = new Int32Array(capacity * WORD_COUNTS[this.layout]);
    if (this.layout === 'float64') this.floats = new Float64Array(capacity);
    if (this.layout === 'text' || this.layout === 'list')
      this.offsets = new Int32Array(capacity + 1);
    if (this.layout === 'text') {
      // Each row must find room for its whole length, so the last one needs more than it uses.
      this.heap = new Uint8Array(Math.ceil(capacity * this.textBytes * 1.1 + rowBytes * 2));
    }
  }

  /** Room for `capacity` rows, keeping what there is. */
  grow(capacity: number): void {
    if (this.nulls) {
      const present = new Uint8Array(capacity).fill(1);
      present.set(this.present);
      this.present = present;
    }
    this.capacity = capacity;
    const words = new Int32Array(capacity * WORD_COUNTS[this.layout]);
    words.set(this.words);
    this.words = words;
    if (this.layout === 'float64') {
      const floats = new Float64Array(capacity);
      floats.set(this.floats);
      this.floats = floats;
    }
    if (this.layout === 'text' || this.layout === 'list') {
      const offsets = new Int32Array(capacity + 1);
      offsets.set(this.offsets);
      this.offsets = offsets;
    }
    for (const child of this.children) child.grow(capacity);
  }

  /** Room for `size` more bytes of text in this row. */
  growHeap(row: number, size: number): void {
    assert(this.packer === null, 'whoever lends buffers sees to room in them');
    const used = this.offsets[row] as number;
    const heap = new Uint8Array(Math.max(this.heap.length * 2, used + size));
    // Beyond what is used: the row's own text may lie there already.
    heap.set(this.heap);
    this.heap = heap;
  }

  setNull(row: number, capacity: number): void {
    if (!this.nulls) {
      this.nulls = true;
      this.present = new Uint8Array(capacity).fill(1);
    }
    this.present[row] = 0;
    // Equal rows have equal bytes: the slot may hold what a rejected row wrote.
    if (this.layout === 'text' || this.layout === 'list')
      this.offsets[row + 1] = this.offsets[row] as number;
    else if (this.layout === 'float64') this.floats[row] = 0;
    else {
      const count = WORD_COUNTS[this.layout];
      for (let word = row * count; word < (row + 1) * count; word++) this.words[word] = 0;
    }
    for (const child of this.children) child.setNull(row, capacity);
  }

  /** Takes back what `setNull` did to this row. */
  clearNull(row: number): void {
    if (this.nulls) this.present[row] = 1;
    for (const child of this.children) child.clearNull(row);
  }

  /** Writes the declared default. */
  setDefault(row: number): void {
    const column = this.#fallback;
    assert(column !== null, 'a default is declared');
    this.#copy(column, 0, row);
  }

  /** Writes a value of a column of this type. */
  #copy(column: Column, from: number, row: number): void {
    if (!isValid(column, from)) {
      this.setNull(row, this.capacity);
      return;
    }
    switch (column.tag) {
      case 'boolean':
        this.words[row] = bitAt(column.bits, from) ? 1 : 0;
        return;
      case 'int32':
        this.words[row] = column.values[from] as number;
        return;
      case 'float64':
        this.floats[row] = column.values[from] as number;
        return;
      case 'text': {
        const source = column.offsets[from] as number;
        const size = (column.offsets[from + 1] as number) - source;
        const start = this.offsets[row] as number;
        if (this.heap.length - start < size) this.growHeap(row, size);
        this.heap.set(column.bytes.subarray(source, source + size), start);
        this.offsets[row + 1] = start + size;
        return;
      }
      case 'list': {
        const element = this.element as Slot;
        let at = this.offsets[row] as number;
        const end = column.offsets[from + 1] as number;
        for (let index = column.offsets[from] as number; index < end; index++) {
          if (at === element.capacity) element.grow(element.capacity * 2);
          element.clearNull(at);
          element.#copy(column.child, index, at++);
        }
        this.offsets[row + 1] = at;
        return;
      }
      case 'struct':
        this.children.forEach((child, index) =>
          child.#copy(column.children[index] as Column, from, row),
        );
        return;
      case 'int64':
      case 'timestamp':
      case 'decimal':
      case 'interval': {
        const width = WORD_COUNTS[this.layout];
        const { words } = column;
        this.words.set(words.subarray(from * width, (from + 1) * width), row * width);
        return;
      }
      default:
        unreachable(column);
    }
  }

  /** The first `rows` values as a column; the slot must be started again before it is used further. */
  finish(rows: number): Column {
    const { type, layout, packer } = this;
    const validity = packer === null ? this.#validity(rows) : packer.packPresent(this, rows);
    const common = { type, length: rows, validity };
    switch (layout) {
      case 'boolean': {
        const bits = packer === null ? this.#booleans(rows) : packer.packBooleans(this, rows);
        return { tag: layout, ...common, bits };
      }
      case 'int32':
        return { tag: layout, ...common, values: this.#words(rows) };
      case 'int64':
      case 'timestamp':
        return { tag: layout, ...common, words: this.#words(rows * 2) };
      case 'float64': {
        return { tag: layout, ...common, values: this.#handOn(this.floats, rows) };
      }
      case 'decimal':
        return { tag: layout, ...common, type: type as DecimalType, words: this.#words(rows * 4) };
      case 'interval':
        return { tag: layout, ...common, words: this.#words(rows * 4) };
      case 'text': {
        const end = this.offsets[rows] as number;
        if (rows > 0) this.textBytes = end / rows;
        if (this.unread)
          return { tag: layout, ...common, offsets: this.#noTexts(rows), bytes: NO_BYTES };
        // A mostly empty buffer is not worth keeping alive.
        const bytes =
          end * 2 < this.heap.length && !this.#isLent
            ? this.heap.slice(0, end)
            : this.#handOn(this.heap, end);
        const offsets = this.#handOn(this.offsets, rows + 1);
        return { tag: layout, ...common, offsets, bytes };
      }
      case 'list': {
        const offsets = this.offsets.subarray(0, rows + 1);
        const child = (this.element as Slot).finish(offsets[rows] as number);
        return { tag: layout, ...common, type: type as ListType, offsets, child };
      }
      case 'struct': {
        const children = this.children.map((child) => child.finish(rows));
        return { tag: layout, ...common, type: type as StructType, children };
      }
      default:
        return unreachable(layout);
    }
  }

  /** Offsets of `rows` empty texts. */
  #noTexts(rows: number): Int32Array {
    if (this.#zeros.length <= rows) this.#zeros = new Int32Array(rows + 1);
    return this.#zeros.subarray(0, rows + 1);
  }

  #words(count: number): Int32Array {
    return this.#handOn(this.words, count);
  }

  /** A copy of what is someone else's memory, unless that is lent on. */
  #handOn<T extends Uint8Array | Int32Array | Float64Array>(buffer: T, count: number): T {
    const isView = this.packer === null || this.#isLent;
    return (isView ? buffer.subarray(0, count) : buffer.slice(0, count)) as T;
  }

  #booleans(rows: number): Uint8Array {
    const bits = new Uint8Array(bitmapBytes(rows));
    for (let row = 0; row < rows; row++) if (this.words[row] === 1) setBit(bits, row);
    return bits;
  }

  #validity(rows: number): Uint8Array | null {
    if (!this.nulls) return null;
    const validity = new Uint8Array(bitmapBytes(rows));
    let nulls = false;
    for (let row = 0; row < rows; row++) {
      if (this.present[row] === 1) setBit(validity, row);
      else nulls = true;
    }
    return nulls ? validity : null;
  }
}
