/** Growable columns of lists and of intervals; see `column-builder.ts` for the contract. */
import { BuilderBase, grownWords } from './builder-base.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { isValid } from './column.ts';
import type { Column, IntervalColumn, ListColumn } from './column.ts';
import type { ListType, SqlType } from './types.ts';

/** For a present list the caller appends its elements to `child` and then calls `append`. */
export class ListBuilder extends BuilderBase {
  readonly tag = 'list';
  readonly type: ListType;
  readonly child: ColumnBuilder;
  #offsets: Int32Array;

  constructor(type: ListType, child: ColumnBuilder, capacity: number) {
    super(capacity);
    this.type = type;
    this.child = child;
    this.#offsets = new Int32Array(this.capacity + 1);
  }

  protected grow(capacity: number): void {
    this.#offsets = grownWords(this.#offsets, capacity + 1);
  }

  /** A list of the elements that were appended to `child` since the last one. */
  append(): void {
    const index = this.claim(true);
    this.#offsets[index + 1] = this.child.length;
  }

  appendNull(): void {
    const index = this.claim(false);
    this.#offsets[index + 1] = this.#offsets[index] as number;
  }

  appendFrom(column: Column, index: number): void {
    if (!isValid(column, index)) {
      this.appendNull();
      return;
    }
    const { offsets, child } = column as ListColumn;
    const end = offsets[index + 1] as number;
    for (let at = offsets[index] as number; at < end; at++) this.child.appendFrom(child, at);
    this.append();
  }

  finish(): ListColumn {
    const offsets = this.#offsets.subarray(0, this.length + 1);
    this.#offsets = new Int32Array(this.capacity + 1);
    return {
      tag: 'list',
      type: this.type,
      ...this.release(),
      offsets,
      child: this.child.finish(),
    };
  }
}

export class IntervalBuilder extends BuilderBase {
  readonly tag = 'interval';
  readonly type: SqlType;
  #words: Int32Array;

  constructor(type: SqlType, capacity: number) {
    super(capacity);
    this.type = type;
    this.#words = new Int32Array(this.capacity * 4);
  }

  protected grow(capacity: number): void {
    this.#words = grownWords(this.#words, capacity * 4);
  }

  append(months: number, days: number, low: number, high: number): void {
    const at = this.claim(true) * 4;
    const words = this.#words;
    words[at] = months;
    words[at + 1] = days;
    words[at + 2] = low;
    words[at + 3] = high;
  }

  appendNull(): void {
    this.claim(false);
  }

  appendFrom(column: Column, index: number): void {
    if (!isValid(column, index)) {
      this.claim(false);
      return;
    }
    const { words } = column as IntervalColumn;
    const at = index * 4;
    this.append(
      words[at] as number,
      words[at + 1] as number,
      words[at + 2] as number,
      words[at + 3] as number,
    );
  }

  finish(): IntervalColumn {
    const words = this.#words.subarray(0, this.length * 4);
    this.#words = new Int32Array(this.capacity * 4);
    return { tag: 'interval', type: this.type, ...this.release(), words };
  }
}
