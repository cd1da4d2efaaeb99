/** Lists of texts as results of functions. */
import { bitmapBytes, setBit, type ListColumn } from '../../batch/column.ts';
import type { ListType, SqlType } from '../../batch/types.ts';
import { TextSink } from '../text-sink.ts';
import { elementOf } from './list-rows.ts';

/** Lists of texts, written piece by piece. */
export class ListTextSink {
  readonly #parts: { bytes: Uint8Array; from: number; to: number; present: boolean }[] = [];
  readonly #offsets: Int32Array;
  readonly #validity: Uint8Array;
  #rows = 0;

  constructor(rows: number) {
    this.#offsets = new Int32Array(rows + 1);
    this.#validity = new Uint8Array(bitmapBytes(rows));
  }

  push(bytes: Uint8Array, from: number, to: number, present = true): void {
    this.#parts.push({ bytes, from, to, present });
  }

  endRow(present = true): void {
    if (present) setBit(this.#validity, this.#rows);
    this.#offsets[++this.#rows] = this.#parts.length;
  }

  finish(type: SqlType): ListColumn {
    const count = this.#parts.length;
    const sink = new TextSink(count, 16 * count);
    const validity = new Uint8Array(bitmapBytes(count));
    this.#parts.forEach(({ bytes, from, to, present }, at) => {
      if (present) {
        sink.append(bytes, from, to);
        setBit(validity, at);
      }
      sink.endRow();
    });
    const child = { ...sink.finish(validity), type: elementOf(type) };
    return {
      tag: 'list',
      type: type as ListType,
      length: this.#rows,
      validity: this.#validity,
      offsets: this.#offsets,
      child,
    };
  }
}
