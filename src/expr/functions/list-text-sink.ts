/** Lists of texts as results of functions. */
import { bitmapBytes, setBit, type ListColumn } from '../../batch/column.ts';
import type { ListType, SqlType } from '../../batch/types.ts';
import { LIMITS } from '../../base/limits.ts';
import type { RowErrors } from '../row-errors.ts';
import { TextSink } from '../text-sink.ts';
import { elementOf } from './list-rows.ts';

/** What a part weighs while lists are made, besides its text. */
const PART_BYTES = 64;

/** Lists of texts, written piece by piece. A list that would be too large is NULL, and an error of its row. */
export class ListTextSink {
  readonly #parts: { bytes: Uint8Array; from: number; to: number; present: boolean }[] = [];
  readonly #offsets: Int32Array;
  readonly #validity: Uint8Array;
  readonly #errors: RowErrors;
  #rowBytes = 0;
  #bytes = 0;
  #rows = 0;

  constructor(rows: number, errors: RowErrors) {
    this.#errors = errors;
    this.#offsets = new Int32Array(rows + 1);
    this.#validity = new Uint8Array(bitmapBytes(rows));
  }

  push(bytes: Uint8Array, from: number, to: number, present = true): void {
    this.#rowBytes += 4 + to - from;
    if (!this.isFull) this.#parts.push({ bytes, from, to, present });
  }

  /** Nothing more fits into the row: whoever has many parts to push may stop. */
  get isFull(): boolean {
    return this.#rowBytes > LIMITS.valueBytesMax;
  }

  endRow(present = true): void {
    const first = this.#offsets[this.#rows] as number;
    if (this.isFull) {
      this.#errors.tooLarge(this.#rows, 'list');
      this.#parts.length = first;
    } else {
      if (present) setBit(this.#validity, this.#rows);
      this.#bytes += this.#rowBytes + (this.#parts.length - first) * PART_BYTES;
      this.#errors.expect(this.#bytes);
    }
    this.#rowBytes = 0;
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
    this.#errors.spend(this.#bytes);
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
