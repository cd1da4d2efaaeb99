/**
 * Growable columns: one builder class per column layout, told apart by `tag`.
 *
 * `finish` hands the buffers on and leaves an empty builder behind, so nobody can write into a
 * column that was handed on. A validity bitmap exists only from the first NULL on.
 */
import { assert, unreachable } from '../base/assert.ts';
import { BuilderBase, grownBytes, grownWords } from './builder-base.ts';
import { bitAt, bitmapBytes, isValid, setBit } from './column.ts';
import type {
  BooleanColumn,
  Column,
  DecimalColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  StructColumn,
  TextColumn,
} from './column.ts';
import { IntervalBuilder, ListBuilder } from './list-builder.ts';
import { layoutOf } from './types.ts';
import type { DecimalType, ListType, SqlType, StructType } from './types.ts';

const NO_BYTES = new Uint8Array(0);

export class BooleanBuilder extends BuilderBase {
  readonly tag = 'boolean';
  readonly type: SqlType;
  #bits: Uint8Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.type = type;
    this.#bits = new Uint8Array(bitmapBytes(this.capacity));
  }

  protected grow(capacity: number): void {
    this.#bits = grownBytes(this.#bits, bitmapBytes(capacity));
  }

  append(value: boolean): void {
    const index = this.claim(true);
    if (value) setBit(this.#bits, index);
  }

  appendNull(): void {
    this.claim(false);
  }

  /** Appends value `index` of a column of the same type. */
  appendFrom(column: Column, index: number): void {
    if (isValid(column, index)) this.append(bitAt((column as BooleanColumn).bits, index));
    else this.claim(false);
  }

  finish(): BooleanColumn {
    const bits = this.#bits.subarray(0, bitmapBytes(this.length));
    this.#bits = new Uint8Array(bitmapBytes(this.capacity));
    return { tag: 'boolean', type: this.type, ...this.release(), bits };
  }
}

export class Int32Builder extends BuilderBase {
  readonly tag = 'int32';
  readonly type: SqlType;
  #values: Int32Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.type = type;
    this.#values = new Int32Array(this.capacity);
  }

  protected grow(capacity: number): void {
    this.#values = grownWords(this.#values, capacity);
  }

  append(value: number): void {
    const index = this.claim(true);
    this.#values[index] = value;
  }

  appendNull(): void {
    this.claim(false);
  }

  appendFrom(column: Column, index: number): void {
    if (isValid(column, index)) this.append((column as Int32Column).values[index] as number);
    else this.claim(false);
  }

  finish(): Int32Column {
    const values = this.#values.subarray(0, this.length);
    this.#values = new Int32Array(this.capacity);
    return { tag: 'int32', type: this.type, ...this.release(), values };
  }
}

/** The layouts int64 and timestamp: two words a value. */
export class Int64Builder extends BuilderBase {
  readonly tag: 'int64' | 'timestamp';
  readonly type: SqlType;
  #words: Int32Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.tag = layoutOf(type) === 'timestamp' ? 'timestamp' : 'int64';
    this.type = type;
    this.#words = new Int32Array(this.capacity * 2);
  }

  protected grow(capacity: number): void {
    this.#words = grownWords(this.#words, capacity * 2);
  }

  append(low: number, high: number): void {
    const at = this.claim(true) * 2;
    this.#words[at] = low;
    this.#words[at + 1] = high;
  }

  /** Appends a whole number within ±2^53. */
  appendNumber(value: number): void {
    this.append(value | 0, Math.floor(value / 4294967296));
  }

  appendNull(): void {
    this.claim(false);
  }

  appendFrom(column: Column, index: number): void {
    const { words } = column as Int64Column;
    if (isValid(column, index))
      this.append(words[index * 2] as number, words[index * 2 + 1] as number);
    else this.claim(false);
  }

  finish(): Int64Column {
    const words = this.#words.subarray(0, this.length * 2);
    this.#words = new Int32Array(this.capacity * 2);
    return { tag: this.tag, type: this.type, ...this.release(), words };
  }
}

export class Float64Builder extends BuilderBase {
  readonly tag = 'float64';
  readonly type: SqlType;
  #values: Float64Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.type = type;
    this.#values = new Float64Array(this.capacity);
  }

  protected grow(capacity: number): void {
    const grown = new Float64Array(capacity);
    grown.set(this.#values);
    this.#values = grown;
  }

  append(value: number): void {
    const index = this.claim(true);
    this.#values[index] = value;
  }

  appendNull(): void {
    this.claim(false);
  }

  appendFrom(column: Column, index: number): void {
    if (isValid(column, index)) this.append((column as Float64Column).values[index] as number);
    else this.claim(false);
  }

  finish(): Float64Column {
    const values = this.#values.subarray(0, this.length);
    this.#values = new Float64Array(this.capacity);
    return { tag: 'float64', type: this.type, ...this.release(), values };
  }
}

export class DecimalBuilder extends BuilderBase {
  readonly tag = 'decimal';
  readonly type: SqlType & { tag: 'decimal' };
  #words: Int32Array;

  constructor(type: SqlType & { tag: 'decimal' }, capacity: number) {
    super(capacity);
    this.type = type;
    this.#words = new Int32Array(this.capacity * 4);
  }

  protected grow(capacity: number): void {
    this.#words = grownWords(this.#words, capacity * 4);
  }

  /** Appends an unscaled 128-bit value, low word first. */
  append(word0: number, word1: number, word2: number, word3: number): void {
    const at = this.claim(true) * 4;
    const words = this.#words;
    words[at] = word0;
    words[at + 1] = word1;
    words[at + 2] = word2;
    words[at + 3] = word3;
  }

  appendNull(): void {
    this.claim(false);
  }

  appendFrom(column: Column, index: number): void {
    if (!isValid(column, index)) {
      this.claim(false);
      return;
    }
    const { words } = column as DecimalColumn;
    const at = index * 4;
    this.append(
      words[at] as number,
      words[at + 1] as number,
      words[at + 2] as number,
      words[at + 3] as number,
    );
  }

  finish(): DecimalColumn {
    const words = this.#words.subarray(0, this.length * 4);
    this.#words = new Int32Array(this.capacity * 4);
    return { tag: 'decimal', type: this.type, ...this.release(), words };
  }
}

export class TextBuilder extends BuilderBase {
  readonly tag = 'text';
  readonly type: SqlType;
  #offsets: Int32Array;
  #bytes: Uint8Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.type = type;
    this.#offsets = new Int32Array(this.capacity + 1);
    this.#bytes = new Uint8Array(this.capacity * 8);
  }

  protected grow(capacity: number): void {
    this.#offsets = grownWords(this.#offsets, capacity + 1);
  }

  /** Appends bytes `[from, to)`, which must be valid UTF-8. */
  append(bytes: Uint8Array, from: number, to: number): void {
    const index = this.claim(true);
    const start = this.#offsets[index] as number;
    const end = start + (to - from);
    if (end > this.#bytes.length)
      this.#bytes = grownBytes(this.#bytes, Math.max(end, this.#bytes.length * 2));
    const target = this.#bytes;
    // A call of `set` costs more than a short loop.
    if (to - from <= 48)
      for (let source = from, at = start; source < to;) target[at++] = bytes[source++] as number;
    else target.set(bytes.subarray(from, to), start);
    this.#offsets[index + 1] = end;
  }

  appendNull(): void {
    const index = this.claim(false);
    this.#offsets[index + 1] = this.#offsets[index] as number;
  }

  appendFrom(column: Column, index: number): void {
    const { offsets, bytes } = column as TextColumn;
    if (isValid(column, index))
      this.append(bytes, offsets[index] as number, offsets[index + 1] as number);
    else this.appendNull();
  }

  finish(): TextColumn {
    const offsets = this.#offsets.subarray(0, this.length + 1);
    const bytes = this.#bytes.subarray(0, offsets[this.length] as number);
    this.#offsets = new Int32Array(this.capacity + 1);
    this.#bytes = new Uint8Array(Math.max(64, bytes.length));
    return { tag: 'text', type: this.type, ...this.release(), offsets, bytes };
  }
}

/**
 * A struct present or NULL as a whole. For a present one the caller appends to every child itself
 * and then calls `append`; `appendNull` fills the children.
 */
export class StructBuilder extends BuilderBase {
  readonly tag = 'struct';
  readonly type: SqlType & { tag: 'struct' };
  readonly children: readonly ColumnBuilder[];

  constructor(type: SqlType & { tag: 'struct' }, capacity: number) {
    super(capacity);
    this.type = type;
    this.children = type.fields.map((field) => makeBuilder(field.type, capacity));
  }

  protected grow(): void {
    // The children grow by themselves.
  }

  append(): void {
    this.claim(true);
  }

  appendNull(): void {
    this.claim(false);
    for (const child of this.children) child.appendNull();
  }

  appendFrom(column: Column, index: number): void {
    if (!isValid(column, index)) {
      this.appendNull();
      return;
    }
    const source = (column as StructColumn).children;
    for (let child = 0; child < this.children.length; child++) {
      (this.children[child] as ColumnBuilder).appendFrom(source[child] as Column, index);
    }
    this.claim(true);
  }

  finish(): StructColumn {
    for (const child of this.children)
      assert(child.length === this.length, 'struct children have equal lengths');
    const children = this.children.map((child) => child.finish());
    return { tag: 'struct', type: this.type, ...this.release(), children };
  }
}

export type ColumnBuilder =
  | BooleanBuilder
  | Int32Builder
  | Int64Builder
  | Float64Builder
  | DecimalBuilder
  | IntervalBuilder
  | TextBuilder
  | ListBuilder
  | StructBuilder;

/** An empty builder; `capacity` is a guess of the number of values. */
export function makeBuilder(type: SqlType, capacity = 64): ColumnBuilder {
  const layout = layoutOf(type);
  switch (layout) {
    case 'boolean':
      return new BooleanBuilder(type, capacity);
    case 'int32':
      return new Int32Builder(type, capacity);
    case 'int64':
    case 'timestamp':
      return new Int64Builder(type, capacity);
    case 'float64':
      return new Float64Builder(type, capacity);
    case 'decimal':
      return new DecimalBuilder(type as DecimalType, capacity);
    case 'interval':
      return new IntervalBuilder(type, capacity);
    case 'text':
      return new TextBuilder(type, capacity);
    case 'list': {
      const list = type as ListType;
      return new ListBuilder(list, makeBuilder(list.element, capacity), capacity);
    }
    case 'struct':
      return new StructBuilder(type as StructType, capacity);
    default:
      return unreachable(layout);
  }
}

export const emptyColumn = (type: SqlType): Column => makeBuilder(type, 0).finish();

/** A column of `length` NULLs. */
export function nullColumn(type: SqlType, length: number): Column {
  const validity = new Uint8Array(bitmapBytes(length));
  const layout = layoutOf(type);
  const common = { type, length, validity };
  switch (layout) {
    case 'boolean':
      return { tag: layout, ...common, bits: new Uint8Array(bitmapBytes(length)) };
    case 'int32':
      return { tag: layout, ...common, values: new Int32Array(length) };
    case 'int64':
    case 'timestamp':
      return { tag: layout, ...common, words: new Int32Array(length * 2) };
    case 'float64':
      return { tag: layout, ...common, values: new Float64Array(length) };
    case 'decimal':
      return {
        tag: layout,
        ...common,
        type: type as DecimalType,
        words: new Int32Array(length * 4),
      };
    case 'interval':
      return { tag: layout, ...common, words: new Int32Array(length * 4) };
    case 'text':
      return { tag: layout, ...common, offsets: new Int32Array(length + 1), bytes: NO_BYTES };
    case 'list': {
      const list = type as ListType;
      const offsets = new Int32Array(length + 1);
      return { tag: layout, ...common, type: list, offsets, child: emptyColumn(list.element) };
    }
    case 'struct': {
      const struct = type as StructType;
      const children = struct.fields.map((field) => nullColumn(field.type, length));
      return { tag: layout, ...common, type: struct, children };
    }
    default:
      return unreachable(layout);
  }
}
