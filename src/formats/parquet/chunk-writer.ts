/**
 * One column of a Parquet file: values gathered to pages, pages to a column chunk for each row group.
 *
 * A page is closed when it has enough rows or bytes; its values are then numbered by a dictionary when that pays. Whether
 * it does is tried on the first values of a chunk, and not again for some chunks where it did not. A chunk whose dictionary
 * has grown too large goes on with plain values: pages say for themselves how they are encoded. So it is with compression,
 * for which a chunk has one word.
 * Invariant: a page holds whole rows; a dictionary's page stands before those that use it.
 *
 * Source: github.com/apache/parquet-format, README.md and src/main/thrift/parquet.thrift; pages are of version 1, which every
 * reader knows.
 */
import { ByteWriter } from '../byte-writer.ts';
import type { ParquetSpec } from '../format.ts';
import { Dictionary } from './dictionary.ts';
import { type Extremes, extremesOf, plainWidth, statisticsOf } from './extremes.ts';
import { bitsFor, putHybrid } from './levels.ts';
import { type Leaf, PHYSICAL } from './parquet-schema.ts';
import { putPlain } from './plain-values.ts';
import type { Shredded } from './shred.ts';
import { compressSnappy } from './snappy.ts';
import {
  binary,
  fieldsOf,
  i32,
  i64,
  list,
  putStruct,
  struct,
  text,
  type ThriftStruct,
  type ThriftValue,
} from './thrift.ts';

export type Compression = ParquetSpec['compression'];

export const CODECS: Readonly<Record<Compression, number>> = { uncompressed: 0, snappy: 1 };
export const ENCODING = { plain: 0, rle: 3, rleDictionary: 8 } as const;
export const PAGE = { data: 0, dictionary: 2 } as const;

const PAGE_ENTRIES_MAX = 16_384;
const PAGE_BYTES_MAX = 256 * 1024;
/** So many values show whether they repeat. */
const SAMPLE = 1024;
/** Values that a dictionary pays for: a quarter of the sample at most. */
const SAMPLE_DISTINCT_MAX = SAMPLE / 4;
/** A page that stays larger than this share of itself shows that its column does not compress. */
const COMPRESSED_MAX = 0.9;
/** Chunks that go by before a dictionary, or compression, is tried again. */
const CHUNKS_WITHOUT = 7;

/** A column chunk without its place in the file: page bytes, valid until the next row, and the fields of its metadata. */
export type Chunk = { parts: Uint8Array[]; bytes: number; metadata(offset: number): ThriftStruct };

export class ChunkWriter {
  readonly #leaf: Leaf;
  readonly #compression: Compression;
  readonly #plain = new ByteWriter(4096);
  readonly #body = new ByteWriter(4096);
  #definitions: Uint8Array = new Uint8Array(0);
  #repetitions: Uint8Array = new Uint8Array(0);
  #numbers = new Int32Array(0);
  /** Of the page under way. */
  #entries = 0;
  #present = 0;
  /** Of the chunk. */
  readonly #pages = new ByteWriter(4096);
  #bytes = 0;
  #plainBytes = 0;
  #total = 0;
  #nulls = 0;
  #extremes: Extremes | null = null;
  #dictionary: Dictionary | null = null;
  /** Whether the dictionary has been found worth it. */
  #tried = false;
  #chunksWithout = 0;
  readonly #encodings = new Set<number>();
  /** How the pages of the chunk are compressed; null: its first page will tell. */
  #codec: Compression | null = null;
  #chunksPlain = 0;

  constructor(leaf: Leaf, compression: Compression) {
    this.#leaf = leaf;
    this.#compression = compression;
    this.#begin();
  }

  /** Bytes of closed pages, and those that wait to be one. */
  get bytes(): number {
    return this.#bytes + this.#plain.length + (this.#dictionary?.values.length ?? 0);
  }

  append(values: Shredded): void {
    const { entries, definitions, repetitions, present } = values;
    const end = this.#entries + entries;
    if (this.#leaf.definition > 0) {
      this.#definitions = withRoom(this.#definitions, end);
      if (definitions === null) this.#definitions.fill(this.#leaf.definition, this.#entries, end);
      else this.#definitions.set(definitions.subarray(0, entries), this.#entries);
    }
    if (repetitions !== null) {
      this.#repetitions = withRoom(this.#repetitions, end);
      this.#repetitions.set(repetitions.subarray(0, entries), this.#entries);
    }
    putPlain(this.#plain, this.#leaf, values);
    this.#entries = end;
    this.#present += present;
    if (end >= PAGE_ENTRIES_MAX || this.#plain.length >= PAGE_BYTES_MAX) this.#closePage();
  }

  /** Ends the chunk and begins the next, whose rows are written over the pages that are answered here. */
  finish(): Chunk {
    if (this.#entries > 0) this.#closePage();
    const dictionary = this.#encodings.has(ENCODING.rleDictionary) ? this.#dictionary : null;
    const pages = this.#pages.finish();
    const parts = dictionary === null ? [pages] : [this.#dictionaryPage(dictionary), pages];
    if (dictionary !== null) this.#note(dictionary.values, dictionary.size);
    const first = dictionary === null ? 0 : (parts[0] as Uint8Array).length;
    const { bytes, metadata } = this.#describe(first, dictionary !== null);
    this.#begin();
    return { parts, bytes, metadata };
  }

  #begin(): void {
    this.#pages.length = 0;
    this.#bytes = 0;
    this.#plainBytes = 0;
    this.#total = 0;
    this.#nulls = 0;
    this.#extremes = null;
    this.#encodings.clear();
    this.#tried = false;
    this.#codec =
      this.#compression === 'uncompressed' || this.#chunksPlain > 0 ? 'uncompressed' : null;
    if (this.#chunksPlain > 0) this.#chunksPlain--;
    const { physical } = this.#leaf;
    const possible = physical !== 'boolean' && physical !== 'fixed' && this.#chunksWithout === 0;
    if (this.#chunksWithout > 0) this.#chunksWithout--;
    this.#dictionary = possible ? new Dictionary(plainWidth(this.#leaf)) : null;
  }

  #describe(first: number, numbered: boolean): Pick<Chunk, 'bytes' | 'metadata'> {
    const leaf = this.#leaf;
    const bytes = this.#bytes;
    const encodings = [ENCODING.rle, ...this.#encodings].map(i32);
    const found = this.#extremes === null ? null : statisticsOf(leaf, this.#extremes);
    const optional = (value: Uint8Array | null | undefined): ThriftValue | null =>
      value === null || value === undefined ? null : binary(value);
    const statistics = struct(
      [3, i64(this.#nulls)],
      [5, optional(found?.largest)],
      [6, optional(found?.smallest)],
    );
    const total = this.#total;
    const plainBytes = this.#plainBytes;
    const codec = CODECS[this.#codec ?? 'uncompressed'];
    return {
      bytes,
      metadata: (offset) =>
        fieldsOf(
          [1, i32(PHYSICAL[leaf.physical])],
          [2, list('i32', encodings)],
          [3, list('binary', leaf.path.map(text))],
          [4, i32(codec)],
          [5, i64(total)],
          [6, i64(plainBytes)],
          [7, i64(bytes)],
          [9, i64(offset + first)],
          [11, numbered ? i64(offset) : null],
          [12, statistics],
        ),
    };
  }

  #closePage(): void {
    const body = this.#body;
    body.length = 0;
    const { definition, repetition } = this.#leaf;
    if (repetition > 0) this.#putLevels(this.#repetitions, repetition);
    if (definition > 0) this.#putLevels(this.#definitions, definition);
    const encoding = this.#putValues();
    this.#encodings.add(encoding);
    const header = struct(
      [1, i32(this.#entries)],
      [2, i32(encoding)],
      [3, i32(ENCODING.rle)],
      [4, i32(ENCODING.rle)],
    );
    this.#putPage(this.#pages, PAGE.data, [5, header]);
    this.#total += this.#entries;
    this.#nulls += this.#entries - this.#present;
    this.#plain.length = 0;
    this.#entries = 0;
    this.#present = 0;
  }

  /** Levels stand behind their length in bytes. */
  #putLevels(levels: Uint8Array, max: number): void {
    const body = this.#body;
    const at = body.length;
    body.reserve(4);
    body.length += 4;
    putHybrid(body, levels, this.#entries, bitsFor(max));
    new DataView(body.bytes.buffer).setUint32(at, body.length - at - 4, true);
  }

  /** The values of the page, in the encoding that is answered. */
  #putValues(): number {
    const dictionary = this.#numbered();
    const body = this.#body;
    if (dictionary !== null) {
      const width = Math.max(1, bitsFor(dictionary.size - 1));
      body.putByte(width);
      putHybrid(body, this.#numbers, this.#present, width);
      return ENCODING.rleDictionary;
    }
    this.#note(this.#plain, this.#present);
    if (this.#leaf.physical === 'boolean') this.#putBits();
    else {
      body.reserve(this.#plain.length);
      body.bytes.set(this.#plain.bytes.subarray(0, this.#plain.length), body.length);
      body.length += this.#plain.length;
    }
    return ENCODING.plain;
  }

  #putBits(): void {
    const body = this.#body;
    const { bytes } = this.#plain;
    for (let at = 0; at < this.#present; at += 8) {
      let bits = 0;
      for (let bit = 0; bit < 8 && at + bit < this.#present; bit++)
        bits |= (bytes[at + bit] as number) << bit;
      body.putByte(bits);
    }
  }

  /** The dictionary that has numbered the values of the page; null: they are to be written as they are. */
  #numbered(): Dictionary | null {
    const dictionary = this.#dictionary;
    const present = this.#present;
    if (dictionary === null || dictionary.full || present === 0) return null;
    if (this.#numbers.length < present) this.#numbers = new Int32Array(present * 2);
    const sampled = this.#tried ? 0 : Math.min(SAMPLE, present);
    if (sampled > 0) {
      const max = Math.max(1, Math.min(SAMPLE_DISTINCT_MAX, present >> 1));
      if (dictionary.number(this.#plain, sampled, this.#numbers, max) < sampled) {
        this.#dictionary = null;
        this.#chunksWithout = CHUNKS_WITHOUT;
        return null;
      }
      this.#tried = true;
    }
    dictionary.number(this.#plain, present, this.#numbers, Number.MAX_SAFE_INTEGER);
    return dictionary;
  }

  #note(values: ByteWriter, count: number): void {
    const found = extremesOf(this.#leaf, values, count);
    if (found === null) return;
    if (this.#extremes === null) {
      this.#extremes = found;
      return;
    }
    const all = new ByteWriter(256);
    const { smallest, largest } = this.#extremes;
    for (const value of [smallest, largest, found.smallest, found.largest]) all.put(value);
    this.#extremes = extremesOf(this.#leaf, all, 4);
  }

  #dictionaryPage(dictionary: Dictionary): Uint8Array {
    const { values, size } = dictionary;
    this.#body.length = 0;
    this.#body.reserve(values.length);
    this.#body.bytes.set(values.finish());
    this.#body.length = values.length;
    const header = struct([1, i32(size)], [2, i32(ENCODING.plain)]);
    const page = new ByteWriter(values.length + 64);
    this.#putPage(page, PAGE.dictionary, [7, header]);
    return page.finish();
  }

  /** The first page decides for its chunk: bytes that do not repeat cost time to compress, and to read again. */
  #compressed(content: Uint8Array): Uint8Array {
    if (this.#codec === 'uncompressed') return content;
    const stored = compressSnappy(content);
    if (this.#codec === null && stored.length > content.length * COMPRESSED_MAX) {
      this.#codec = 'uncompressed';
      this.#chunksPlain = CHUNKS_WITHOUT;
      return content;
    }
    this.#codec = 'snappy';
    return stored;
  }

  /** Appends the page whose content stands in the body. */
  #putPage(pages: ByteWriter, type: number, header: [number, ThriftValue]): void {
    const content = this.#body.finish();
    const stored = this.#compressed(content);
    const start = pages.length;
    putStruct(
      pages,
      fieldsOf([1, i32(type)], [2, i32(content.length)], [3, i32(stored.length)], header),
    );
    this.#plainBytes += pages.length - start + content.length;
    pages.reserve(stored.length);
    pages.bytes.set(stored, pages.length);
    pages.length += stored.length;
    this.#bytes += pages.length - start;
  }
}

function withRoom(levels: Uint8Array, length: number): Uint8Array {
  if (length <= levels.length) return levels;
  const grown = new Uint8Array(Math.max(4096, length * 2));
  grown.set(levels);
  return grown;
}
