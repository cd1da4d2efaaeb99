/**
 * Thrift's compact protocol: how Parquet writes its headers and its footer. Only what Parquet has: no maps and sets, and
 * lists of whole numbers, byte strings and structs.
 *
 * A struct is kept as its fields with their numbers and types, so that one that was read is written again as it was, also
 * where it has fields that nobody here knows. Headers and footers are small: these values may be objects.
 * Failure: bytes that are no such struct make the reader throw BROKEN_PARQUET.
 *
 * Source: github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
 */
import { EngineError } from '../../base/errors.ts';
import type { ByteWriter } from '../byte-writer.ts';

export type ThriftStruct = readonly ThriftField[];
export type ThriftField = { id: number; value: ThriftValue };
export type ThriftValue =
  | { tag: 'boolean'; value: boolean }
  | { tag: 'i8' | 'i16' | 'i32' | 'i64'; value: number }
  | { tag: 'binary'; value: Uint8Array }
  | { tag: 'list'; of: 'i32' | 'binary' | 'struct'; items: readonly ThriftValue[] }
  | { tag: 'struct'; fields: ThriftStruct };

const TRUE = 1;
const FALSE = 2;
const DOUBLE = 7;
const CODES = { i8: 3, i16: 4, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;
const LIST_SHORT_MAX = 14;
/** Deeper than any header or footer. */
const DEPTH_MAX = 16;

const encoder = new TextEncoder();

export const flag = (value: boolean): ThriftValue => ({ tag: 'boolean', value });
export const i8 = (value: number): ThriftValue => ({ tag: 'i8', value });
export const i16 = (value: number): ThriftValue => ({ tag: 'i16', value });
export const i32 = (value: number): ThriftValue => ({ tag: 'i32', value });
export const i64 = (value: number): ThriftValue => ({ tag: 'i64', value });
export const binary = (value: Uint8Array): ThriftValue => ({ tag: 'binary', value });
export const text = (value: string): ThriftValue => binary(encoder.encode(value));
export const list = (of: 'i32' | 'binary' | 'struct', items: ThriftValue[]): ThriftValue => ({
  tag: 'list',
  of,
  items,
});

/** A struct of the fields that are given, by their numbers in ascending order. */
export function struct(...fields: readonly [number, ThriftValue | null][]): ThriftValue {
  return { tag: 'struct', fields: fieldsOf(...fields) };
}

export function fieldsOf(...fields: readonly [number, ThriftValue | null][]): ThriftStruct {
  return fields.flatMap(([id, value]) => (value === null ? [] : [{ id, value }]));
}

export const fieldOf = (fields: ThriftStruct, id: number): ThriftValue | null =>
  fields.find((field) => field.id === id)?.value ?? null;

/** Appends a whole number of up to 53 bits, seven bits a byte. */
export function putVarint(writer: ByteWriter, value: number): void {
  let rest = value;
  while (rest > 127) {
    writer.putByte((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  writer.putByte(rest);
}

const putZigzag = (writer: ByteWriter, value: number): void =>
  putVarint(writer, value < 0 ? -value * 2 - 1 : value * 2);

export function putStruct(writer: ByteWriter, fields: ThriftStruct): void {
  let last = 0;
  for (const { id, value } of fields) {
    const code = value.tag === 'boolean' ? (value.value ? TRUE : FALSE) : CODES[value.tag];
    const step = id - last;
    if (step > 0 && step < 16) writer.putByte((step << 4) | code);
    else {
      writer.putByte(code);
      putZigzag(writer, id);
    }
    last = id;
    if (value.tag !== 'boolean') putValue(writer, value);
  }
  writer.putByte(0);
}

function putValue(writer: ByteWriter, value: Exclude<ThriftValue, { tag: 'boolean' }>): void {
  switch (value.tag) {
    case 'i8':
      writer.putByte(value.value & 255);
      break;
    case 'binary':
      putVarint(writer, value.value.length);
      writer.put(value.value);
      break;
    case 'list':
      if (value.items.length <= LIST_SHORT_MAX)
        writer.putByte((value.items.length << 4) | CODES[value.of]);
      else {
        writer.putByte(0xf0 | CODES[value.of]);
        putVarint(writer, value.items.length);
      }
      for (const item of value.items)
        putValue(writer, item as Exclude<ThriftValue, { tag: 'boolean' }>);
      break;
    case 'struct':
      putStruct(writer, value.fields);
      break;
    default:
      putZigzag(writer, value.value);
  }
}

/** Reads structs out of bytes, from `at` on. */
export class ThriftReader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(depth = 0): ThriftStruct {
    if (depth > DEPTH_MAX) throw brokenParquet('a header is nested too deeply');
    const fields: ThriftField[] = [];
    let id = 0;
    for (let head = this.#byte(); head !== 0; head = this.#byte()) {
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      const code = head & 15;
      if (code === TRUE || code === FALSE) fields.push({ id, value: flag(code === TRUE) });
      else if (code === DOUBLE) this.at += 8;
      else fields.push({ id, value: this.#value(code, depth) });
    }
    return fields;
  }

  #value(code: number, depth: number): ThriftValue {
    switch (code) {
      case CODES.i8:
        return i8((this.#byte() << 24) >> 24);
      case CODES.i16:
        return i16(this.#zigzag());
      case CODES.i32:
        return i32(this.#zigzag());
      case CODES.i64:
        return i64(this.#zigzag());
      case CODES.binary: {
        const size = this.#varint();
        const start = this.at;
        if (start + size > this.#bytes.length) throw brokenParquet('a header is cut off');
        this.at += size;
        return binary(this.#bytes.subarray(start, this.at));
      }
      case CODES.list:
        return this.#list(depth);
      case CODES.struct:
        return { tag: 'struct', fields: this.struct(depth + 1) };
      default:
        throw brokenParquet(`a header has a value of the unknown type ${code}`);
    }
  }

  #list(depth: number): ThriftValue {
    const head = this.#byte();
    const count = head >> 4 === 15 ? this.#varint() : head >> 4;
    const code = head & 15;
    // Lists of booleans, numbers of other sizes and lists are skipped by nobody, because no writer has them.
    const of = (['i32', 'binary', 'struct'] as const).find((tag) => CODES[tag] === code);
    if (of === undefined) throw brokenParquet(`a header has a list of the unknown type ${code}`);
    const items: ThriftValue[] = [];
    for (let index = 0; index < count; index++) items.push(this.#value(code, depth));
    return { tag: 'list', of, items };
  }

  #byte(): number {
    if (this.at >= this.#bytes.length) throw brokenParquet('a header is cut off');
    return this.#bytes[this.at++] as number;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      if (scale > 2 ** 63) throw brokenParquet('a number in a header is too long');
    }
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

export const brokenParquet = (message: string): EngineError =>
  new EngineError('BROKEN_PARQUET', `this is no Parquet file that can be read: ${message}`, {
    hint: 'Look at the file with another reader of Parquet; it may be cut off, or be something else.',
  });

/** The number in a field that must be there. */
export function numberOf(fields: ThriftStruct, id: number): number {
  const value = fieldOf(fields, id);
  if (value?.tag === 'i32' || value?.tag === 'i64') return value.value;
  throw brokenParquet(`field ${id} of a header is missing or no number`);
}

/** The structs of a list; none where the field is missing. */
export function structsOf(fields: ThriftStruct, id: number): ThriftStruct[] {
  const value = fieldOf(fields, id);
  if (value === null) return [];
  if (value.tag !== 'list' || value.of !== 'struct') throw brokenParquet(`field ${id} is no list`);
  return value.items.map((item) => (item as ThriftValue & { tag: 'struct' }).fields);
}

/** The same struct with another value in a field it has. */
export const withField = (fields: ThriftStruct, id: number, value: ThriftValue): ThriftStruct =>
  fields.map((field) => (field.id === id ? { id, value } : field));
