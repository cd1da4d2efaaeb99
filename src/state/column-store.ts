/**
 * A growable, rewritable column: what keyed state is made of.
 *
 * Place in the walk: stage 6. A store holds value i of type `type` for i in [0, length). Values are copied in from
 * a batch's column and come out as fresh columns, so neither side ever sees the other's buffers.
 *
 * Invariants: a value that is absent (NULL) occupies its place with zeros; text garbage left by `set` never exceeds
 * the live bytes by more than a constant.
 * Equality is that of GROUP BY: NULL equals NULL, NaN equals NaN, -0 equals 0.
 * Failure: none; a column of another type is a bug.
 */
import { assert, unreachable } from '../base/assert.ts';
import {
  bitAt,
  bitmapBytes,
  isValid,
  setBit,
  type Column,
  type StructColumn,
} from '../batch/column.ts';
import { gatherFloats } from '../batch/index-run.ts';
import { compareIntervals } from '../batch/interval.ts';
import {
  layoutOf,
  type DecimalType,
  type ListType,
  type SqlType,
  type StructType,
} from '../batch/types.ts';
import { grown, Presence, wider } from './growth.ts';
import { ListStore } from './list-store.ts';
import { TextStore } from './text-store.ts';
import { WordBlocks } from './word-blocks.ts';

export interface ColumnStore {
  readonly type: SqlType;
  readonly length: number;
  append(column: Column, row: number): void;
  /** Values `[from, from + count)` of the column behind the last one. */
  appendRows(column: Column, from: number, count: number): void;
  /** At least `length` values: those that nobody has set are zeros and empty texts. */
  reach(length: number): void;
  /** Overwrites value `index`, which must exist. */
  set(index: number, column: Column, row: number): void;
  equals(index: number, column: Column, row: number): boolean;
  /** Values `rows[i]` of the column to places `indices[i]` for i in [0, count), growing as needed; places between stay as they are. */
  put(indices: Int32Array, column: Column, rows: Int32Array, count: number): void;
  /** Negative, zero or positive as value `left` of the store sorts before, with or after its value `right`; NULL comes last. */
  compare(left: number, right: number): number;
  /** Whether value `index` is not NULL. */
  has(index: number): boolean;
  /** A new column of the values at `indices`, in that order. */
  gather(indices: Int32Array): Column;
  /** Bytes of the texts and lists in that column; absent: it has none. A negative index has none. */
  gatheredBytes?(indices: Int32Array): number;
  /** Bytes allocated. */
  bytes(): number;
}

export function makeColumnStore(type: SqlType): ColumnStore {
  const layout = layoutOf(type);
  switch (layout) {
    case 'int32':
      return new WordStore(type, 1);
    case 'int64':
    case 'timestamp':
      return new WordStore(type, 2);
    case 'decimal':
      return new WordStore(type, 4);
    case 'interval':
      return new IntervalStore(type, 4);
    case 'float64':
      return new FloatStore(type);
    case 'boolean':
      return new BooleanStore(type);
    case 'text':
      return new TextStore(type);
    case 'list': {
      const list = type as ListType;
      return new ListStore(list, () => makeColumnStore(list.element));
    }
    case 'struct':
      return new StructStore(type as StructType);
    default:
      return unreachable(layout);
  }
}

/** Integers, timestamps, decimals and intervals: `width` 32-bit words a value. */
class WordStore implements ColumnStore {
  readonly type: SqlType;
  protected readonly presence = new Presence();
  protected readonly words: WordBlocks;
  length = 0;

  constructor(type: SqlType, width: number) {
    this.type = type;
    this.words = new WordBlocks(width);
  }

  reach(length: number): void {
    this.words.reach(length);
    this.length = Math.max(this.length, length);
  }

  append(column: Column, row: number): void {
    this.words.reach(this.length + 1);
    this.set(this.length++, column, row);
  }

  appendRows(column: Column, from: number, count: number): void {
    const first = this.length;
    this.reach(first + count);
    if (column.validity === null && this.presence.isFull)
      this.words.setRun(first, wordsOf(column), from, count);
    else for (let at = 0; at < count; at++) this.set(first + at, column, from + at);
  }

  set(index: number, column: Column, row: number): void {
    const present = isValid(column, row);
    this.presence.mark(index, present);
    if (present) this.words.set(index, wordsOf(column), row);
    else this.words.clear(index);
  }

  equals(index: number, column: Column, row: number): boolean {
    const present = column.validity === null || bitAt(column.validity, row);
    if (this.presence.has(index) !== present) return false;
    return !present || this.words.equals(index, wordsOf(column), row);
  }

  has(index: number): boolean {
    return this.presence.has(index);
  }

  put(indices: Int32Array, column: Column, rows: Int32Array, count: number): void {
    let most = this.length;
    for (let at = 0; at < count; at++) most = Math.max(most, (indices[at] as number) + 1);
    this.reach(most);
    if (column.validity !== null || !this.presence.isFull) {
      for (let at = 0; at < count; at++)
        this.set(indices[at] as number, column, rows[at] as number);
    } else this.words.put(indices, wordsOf(column), rows, count);
  }

  compare(left: number, right: number): number {
    const present = this.presence.has(left);
    if (present !== this.presence.has(right)) return present ? -1 : 1;
    return present ? this.words.compare(left, right, this.type.tag === 'uint64') : 0;
  }

  gather(indices: Int32Array): Column {
    const words = this.words.gather(indices);
    const length = indices.length;
    const validity = this.presence.gather(indices);
    const common = { type: this.type, length, validity };
    const layout = layoutOf(this.type);
    if (layout === 'int32') return { tag: layout, ...common, values: words };
    if (layout === 'decimal')
      return { tag: layout, ...common, type: this.type as DecimalType, words };
    assert(
      layout === 'int64' || layout === 'timestamp' || layout === 'interval',
      'a type of words',
    );
    return { tag: layout, ...common, words };
  }

  bytes(): number {
    return this.words.bytes() + this.presence.bytes();
  }
}

function wordsOf(column: Column): Int32Array {
  if (column.tag === 'int32') return column.values;
  assert(
    column.tag === 'int64' ||
      column.tag === 'timestamp' ||
      column.tag === 'decimal' ||
      column.tag === 'interval',
    `a store of integers got a ${column.tag} column`,
  );
  return column.words;
}

/** Intervals are equal by their length, not by their words. */
class IntervalStore extends WordStore {
  override equals(index: number, column: Column, row: number): boolean {
    const present = isValid(column, row);
    if (this.presence.has(index) !== present) return false;
    if (!present) return true;
    const { words } = this;
    const own = words.blockOf(index);
    return compareIntervals(own, words.placeOf(index), wordsOf(column), row * 4) === 0;
  }

  override compare(left: number, right: number): number {
    const present = this.presence.has(left);
    if (present !== this.presence.has(right)) return present ? -1 : 1;
    if (!present) return 0;
    const { words } = this;
    const [one, other] = [words.blockOf(left), words.blockOf(right)];
    return compareIntervals(one, words.placeOf(left), other, words.placeOf(right));
  }
}

class FloatStore implements ColumnStore {
  readonly type: SqlType;
  readonly #presence = new Presence();
  #values = new Float64Array(0);
  length = 0;

  constructor(type: SqlType) {
    this.type = type;
  }

  reach(length: number): void {
    if (length > this.#values.length)
      this.#values = wider(Float64Array, this.#values, grown(this.#values.length, length));
    this.length = Math.max(this.length, length);
  }

  append(column: Column, row: number): void {
    this.reach(this.length + 1);
    this.set(this.length - 1, column, row);
  }

  appendRows(column: Column, from: number, count: number): void {
    const first = this.length;
    this.reach(first + count);
    for (let at = 0; at < count; at++) this.set(first + at, column, from + at);
  }

  set(index: number, column: Column, row: number): void {
    assert(column.tag === 'float64', `a store of doubles got a ${column.tag} column`);
    const present = isValid(column, row);
    this.#presence.mark(index, present);
    this.#values[index] = present ? (column.values[row] as number) : 0;
  }

  equals(index: number, column: Column, row: number): boolean {
    const present = isValid(column, row);
    if (this.#presence.has(index) !== present) return false;
    if (!present) return true;
    assert(column.tag === 'float64', `a store of doubles got a ${column.tag} column`);
    const left = this.#values[index] as number;
    const right = column.values[row] as number;
    return left === right || (Number.isNaN(left) && Number.isNaN(right));
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

  compare(left: number, right: number): number {
    const present = this.#presence.has(left);
    if (present !== this.#presence.has(right)) return present ? -1 : 1;
    if (!present) return 0;
    const here = this.#values[left] as number;
    const there = this.#values[right] as number;
    if (here < there) return -1;
    if (here > there) return 1;
    if (here === there) return 0;
    return Number(Number.isNaN(here)) - Number(Number.isNaN(there));
  }

  gather(indices: Int32Array): Column {
    const values = gatherFloats(this.#values, indices);
    const validity = this.#presence.gather(indices);
    return { tag: 'float64', type: this.type, length: indices.length, validity, values };
  }

  bytes(): number {
    return this.#values.byteLength + this.#presence.bytes();
  }
}

class BooleanStore implements ColumnStore {
  readonly type: SqlType;
  readonly #presence = new Presence();
  #values = new Uint8Array(0);
  length = 0;

  constructor(type: SqlType) {
    this.type = type;
  }

  reach(length: number): void {
    if (length > this.#values.length)
      this.#values = wider(Uint8Array, this.#values, grown(this.#values.length, length));
    this.length = Math.max(this.length, length);
  }

  append(column: Column, row: number): void {
    this.reach(this.length + 1);
    this.set(this.length - 1, column, row);
  }

  appendRows(column: Column, from: number, count: number): void {
    const first = this.length;
    this.reach(first + count);
    for (let at = 0; at < count; at++) this.set(first + at, column, from + at);
  }

  set(index: number, column: Column, row: number): void {
    assert(column.tag === 'boolean', `a store of booleans got a ${column.tag} column`);
    const present = isValid(column, row);
    this.#presence.mark(index, present);
    this.#values[index] = present && bitAt(column.bits, row) ? 1 : 0;
  }

  equals(index: number, column: Column, row: number): boolean {
    const present = isValid(column, row);
    if (this.#presence.has(index) !== present) return false;
    if (!present) return true;
    assert(column.tag === 'boolean', `a store of booleans got a ${column.tag} column`);
    return (this.#values[index] === 1) === bitAt(column.bits, row);
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

  compare(left: number, right: number): number {
    const present = this.#presence.has(left);
    if (present !== this.#presence.has(right)) return present ? -1 : 1;
    return (this.#values[left] as number) - (this.#values[right] as number);
  }

  gather(indices: Int32Array): Column {
    const bits = new Uint8Array(bitmapBytes(indices.length));
    for (let at = 0; at < indices.length; at++)
      if (this.#values[indices[at] as number] === 1) setBit(bits, at);
    const validity = this.#presence.gather(indices);
    return { tag: 'boolean', type: this.type, length: indices.length, validity, bits };
  }

  bytes(): number {
    return this.#values.length + this.#presence.bytes();
  }
}

class StructStore implements ColumnStore {
  readonly type: StructType;
  readonly #presence = new Presence();
  readonly #children: ColumnStore[];
  length = 0;

  constructor(type: StructType) {
    this.type = type;
    this.#children = type.fields.map((field) => makeColumnStore(field.type));
  }

  reach(length: number): void {
    this.length = Math.max(this.length, length);
    for (const child of this.#children) child.reach(length);
  }

  append(column: Column, row: number): void {
    const struct = structOf(column);
    this.#presence.mark(this.length++, isValid(column, row));
    this.#children.forEach((child, index) => child.append(struct.children[index] as Column, row));
  }

  appendRows(column: Column, from: number, count: number): void {
    const struct = structOf(column);
    for (let row = from; row < from + count; row++)
      this.#presence.mark(this.length++, isValid(column, row));
    this.#children.forEach((child, at) =>
      child.appendRows(struct.children[at] as Column, from, count),
    );
  }

  set(index: number, column: Column, row: number): void {
    const struct = structOf(column);
    this.#presence.mark(index, isValid(column, row));
    this.#children.forEach((child, at) => child.set(index, struct.children[at] as Column, row));
  }

  equals(index: number, column: Column, row: number): boolean {
    const struct = structOf(column);
    const present = isValid(column, row);
    if (this.#presence.has(index) !== present) return false;
    return (
      !present ||
      this.#children.every((child, at) => child.equals(index, struct.children[at] as Column, row))
    );
  }

  has(index: number): boolean {
    return this.#presence.has(index);
  }

  put(indices: Int32Array, column: Column, rows: Int32Array, count: number): void {
    const struct = structOf(column);
    for (let at = 0; at < count; at++) {
      const index = indices[at] as number;
      this.length = Math.max(this.length, index + 1);
      this.#presence.mark(index, isValid(column, rows[at] as number));
    }
    this.#children.forEach((child, part) =>
      child.put(indices, struct.children[part] as Column, rows, count),
    );
  }

  compare(left: number, right: number): number {
    const present = this.#presence.has(left);
    if (present !== this.#presence.has(right)) return present ? -1 : 1;
    if (!present) return 0;
    for (const child of this.#children) {
      const order = child.compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  }

  gatheredBytes(indices: Int32Array): number {
    return this.#children.reduce((sum, child) => sum + (child.gatheredBytes?.(indices) ?? 0), 0);
  }

  gather(indices: Int32Array): Column {
    const children = this.#children.map((child) => child.gather(indices));
    return {
      tag: 'struct',
      type: this.type,
      length: indices.length,
      validity: this.#presence.gather(indices),
      children,
    };
  }

  bytes(): number {
    return this.#children.reduce((sum, child) => sum + child.bytes(), this.#presence.bytes());
  }
}

function structOf(column: Column): StructColumn {
  assert(column.tag === 'struct', `a store of structs got a ${column.tag} column`);
  return column;
}
