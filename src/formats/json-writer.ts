/**
 * The kernel `json-writer` at the service of an encoder: columns to the rows of NDJSON that its twin would write.
 *
 * Everything is copied into the kernel's memory and the rows are copied out. Values that the kernel does not know how to
 * write come rendered, one after another, and are copied into place.
 */
import { bitmapBytes } from '../batch/column.ts';
import type { Column } from '../batch/column.ts';
import type { TypeTag } from '../batch/types.ts';
import { kernel } from '../kernels/kernels.ts';
import type { Kernel } from '../kernels/kernels.ts';
import type { KernelMemory } from '../kernels/kernel-memory.ts';

type Exports = {
  /** The end of what was written at `target`, or 0 when some value cannot be written. */
  write(columns: number, count: number, rows: number, target: number): number;
};

/** Values as they stand in the rows: value r is `bytes[offsets[r], offsets[r + 1])`. */
export type Rendered = { offsets: Int32Array; bytes: Uint8Array };

export type WrittenColumn = {
  /** `{"name":` or `,"name":`. */
  key: Uint8Array;
  column: Column;
  /** Not null: these values instead of the column's. */
  rendered: Rendered | null;
  /** Whether decimals stand in quotes. */
  quoted: boolean;
};

/** How `assembly/json-writer.ts` numbers the types it writes. */
const KINDS: Readonly<Partial<Record<TypeTag, number>>> = {
  int8: 1,
  int16: 1,
  uint8: 1,
  uint16: 1,
  int32: 1,
  int64: 2,
  uint32: 2,
  timestamp: 3,
  decimal: 4,
  text: 5,
  boolean: 6,
};
const RENDERED = 0;
const INT64 = 2;
const COLUMN_WORDS = 8;

/** Longest text of a value that is no text: a decimal in quotes. */
const VALUE_BYTES_MAX = 48;

/** Whether the kernel writes columns of this type. */
export const isWritten = (column: Column): boolean => KINDS[column.type.tag] !== undefined;

/** The rows, or null when there is no kernel or it meets a value that it cannot write. */
export function writeRows(
  columns: readonly WrittenColumn[],
  rows: number,
  microsAsNumbers: boolean,
): Uint8Array | null {
  const found = kernel<Exports>('json-writer');
  if (found === null) return null;
  return new RowWriter(found, rows, microsAsNumbers).write(columns);
}

class RowWriter {
  readonly #kernel: Kernel<Exports>;
  readonly #memory: KernelMemory;
  readonly #rows: number;
  readonly #microsAsNumbers: boolean;
  /** What the rows can take at most. */
  #bytesMax = 0;

  constructor(found: Kernel<Exports>, rows: number, microsAsNumbers: boolean) {
    this.#kernel = found;
    this.#memory = found.memory;
    this.#rows = rows;
    this.#microsAsNumbers = microsAsNumbers;
  }

  write(columns: readonly WrittenColumn[]): Uint8Array | null {
    const memory = this.#memory;
    memory.reset();
    const table = memory.reserve(columns.length * COLUMN_WORDS * 4);
    for (const [index, each] of columns.entries()) {
      const words = this.#describe(each);
      memory.words.set(words, (table >> 2) + index * COLUMN_WORDS);
    }
    const target = memory.reserve(this.#bytesMax + this.#rows * 2 + 64);
    const end = this.#kernel.exports.write(table, columns.length, this.#rows, target);
    return end === 0 ? null : memory.bytes.slice(target, end);
  }

  /** Copies a column in; the words that describe it. */
  #describe({ key, column, rendered, quoted }: WrittenColumn): number[] {
    const keyAt = this.#putBytes(key);
    this.#bytesMax += this.#rows * (key.length + VALUE_BYTES_MAX);
    if (rendered !== null) {
      const [data, bytes] = this.#putText(rendered, 1);
      return [RENDERED, keyAt, key.length, data, 0, bytes, 0, 0];
    }
    let kind = KINDS[column.type.tag] as number;
    if (column.tag === 'timestamp' && this.#microsAsNumbers) kind = INT64;
    const { validity } = column;
    const bits = validity === null ? 0 : this.#putBytes(validity, bitmapBytes(this.#rows));
    const scale = column.tag === 'decimal' ? column.type.scale : 0;
    const [data, bytes] = this.#putValues(column);
    return [kind, keyAt, key.length, data, bits, bytes, scale, Number(quoted)];
  }

  #putValues(column: Column): [number, number] {
    switch (column.tag) {
      case 'int32':
        return [this.#putWords(column.values, this.#rows), 0];
      case 'int64':
      case 'timestamp':
        return [this.#putWords(column.words, this.#rows * 2), 0];
      case 'decimal':
        return [this.#putWords(column.words, this.#rows * 4), 0];
      case 'boolean':
        return [this.#putBytes(column.bits, bitmapBytes(this.#rows)), 0];
      case 'text':
        // A control character takes six bytes.
        return this.#putText(column, 6);
      default:
        return [0, 0];
    }
  }

  /** Where the offsets lie, and where offset 0 of the bytes would. */
  #putText({ offsets, bytes }: Rendered, growth: number): [number, number] {
    const start = offsets[0] as number;
    const end = offsets[this.#rows] as number;
    this.#bytesMax += (end - start) * growth;
    const data = this.#putWords(offsets, this.#rows + 1);
    return [data, this.#putBytes(bytes.subarray(start, end)) - start];
  }

  #putWords(words: Int32Array, count: number): number {
    const pointer = this.#memory.reserve(count * 4);
    this.#memory.words.set(words.subarray(0, count), pointer >> 2);
    return pointer;
  }

  #putBytes(bytes: Uint8Array, count = bytes.length): number {
    const pointer = this.#memory.reserve(count);
    this.#memory.bytes.set(bytes.subarray(0, count), pointer);
    return pointer;
  }
}
