/**
 * A Parquet file from batches.
 *
 * Place in the walk: stage 6. Columns go straight to pages; a row group is closed when its pages have enough bytes, and
 * the file when its owner says so. The bytes of equal batches are equal.
 * Invariants: a row group has at least one row; a file that was closed leaves the writer as it was when it was made, but
 * for what it has learnt about dictionaries.
 *
 * Source: github.com/apache/parquet-format.
 */
import type { RecordBatch } from '../../batch/record-batch.ts';
import type { Column } from '../../batch/column.ts';
import type { Schema } from '../../batch/types.ts';
import { ByteWriter } from '../byte-writer.ts';
import { ChunkWriter, type Compression } from './chunk-writer.ts';
import { type ParquetSchema, parquetSchema, type Shape } from './parquet-schema.ts';
import { type Emit, shred } from './shred.ts';
import {
  fieldsOf,
  i16,
  i32,
  i64,
  list,
  putStruct,
  struct,
  text,
  type ThriftStruct,
  type ThriftValue,
} from './thrift.ts';

export const MAGIC = new TextEncoder().encode('PAR1');
const VERSION = 1;
const CREATED_BY = 'thalweg';

export type ParquetOptions = { compression: Compression; rowGroupBytes: number };

export class ParquetWriter {
  readonly #schema: ParquetSchema;
  readonly #rowGroupBytes: number;
  readonly #chunks: readonly ChunkWriter[];
  readonly #emit: Emit;
  #parts: Uint8Array[] = [];
  /** Bytes of the parts. */
  #bytes = 0;
  #groups: ThriftValue[] = [];
  #groupRows = 0;
  #rows = 0;

  constructor(schema: Schema, { compression, rowGroupBytes }: ParquetOptions) {
    this.#schema = parquetSchema(schema);
    this.#rowGroupBytes = rowGroupBytes;
    this.#chunks = this.#schema.leaves.map((leaf) => new ChunkWriter(leaf, compression));
    this.#emit = (leaf, values) => (this.#chunks[leaf] as ChunkWriter).append(values);
  }

  /** Rows of the file under way. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes of the file under way; those that are not yet in pages count as they are. */
  get bytes(): number {
    return this.#bytes + this.#groupBytes();
  }

  #groupBytes(): number {
    let sum = 0;
    for (const chunk of this.#chunks) sum += chunk.bytes;
    return sum;
  }

  append(batch: RecordBatch): void {
    if (batch.rows === 0) return;
    for (let index = 0; index < batch.columns.length; index++)
      shred(batch.columns[index] as Column, this.#schema.shapes[index] as Shape, this.#emit);
    this.#groupRows += batch.rows;
    this.#rows += batch.rows;
    if (this.#groupBytes() >= this.#rowGroupBytes) this.#closeGroup((part) => part.slice());
  }

  /** The bytes of the file; the next row begins another. */
  finish(): Uint8Array {
    // The pages of the last row group are copied once, into the file.
    if (this.#groupRows > 0) this.#closeGroup((part) => part);
    this.#put(
      footerOf(this.#schema.elements, this.#rows, this.#groups, this.#schema.leaves.length),
    );
    if (this.#parts[0] !== MAGIC) this.#parts.unshift(MAGIC);
    const bytes = joined(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#groups = [];
    this.#rows = 0;
    return bytes;
  }

  #put(part: Uint8Array): void {
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** @param kept  what stays valid of a part when further rows come */
  #closeGroup(kept: (part: Uint8Array) => Uint8Array): void {
    if (this.#bytes === 0) this.#put(MAGIC);
    const start = this.#bytes;
    let plainBytes = 0;
    const columns: ThriftValue[] = [];
    for (const writer of this.#chunks) {
      const chunk = writer.finish();
      const offset = this.#bytes;
      for (const part of chunk.parts) this.#put(kept(part));
      const metadata = chunk.metadata(offset);
      const plain = metadata.find(({ id }) => id === 6)?.value;
      if (plain?.tag === 'i64') plainBytes += plain.value;
      columns.push(struct([2, i64(offset)], [3, { tag: 'struct', fields: metadata }]));
    }
    const ordinal = this.#groups.length;
    this.#groups.push(
      struct(
        [1, list('struct', columns)],
        [2, i64(plainBytes)],
        [3, i64(this.#groupRows)],
        [5, i64(start)],
        [6, i64(this.#bytes - start)],
        [7, ordinal < 32_768 ? i16(ordinal) : null],
      ),
    );
    this.#groupRows = 0;
  }
}

/** The end of a file: its footer, how long that is, and the magic word. */
export function footerOf(
  elements: readonly ThriftStruct[],
  rows: number,
  groups: readonly ThriftValue[],
  leaves: number,
): Uint8Array {
  const order = struct([1, struct()]);
  return sealed(
    fieldsOf(
      [1, i32(VERSION)],
      [
        2,
        list(
          'struct',
          elements.map((fields) => ({ tag: 'struct', fields })),
        ),
      ],
      [3, i64(rows)],
      [4, list('struct', [...groups])],
      [6, text(CREATED_BY)],
      [
        7,
        list(
          'struct',
          Array.from({ length: leaves }, () => order),
        ),
      ],
    ),
  );
}

export function sealed(footer: ThriftStruct): Uint8Array {
  const writer = new ByteWriter(1024);
  putStruct(writer, footer);
  const { length } = writer;
  writer.put(
    Uint8Array.of(length & 255, (length >>> 8) & 255, (length >>> 16) & 255, length >>> 24),
  );
  writer.put(MAGIC);
  return writer.finish();
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
