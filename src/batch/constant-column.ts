/** Columns that hold one value in every row, from the plain-JSON form of constants. */
import { assert } from '../base/assert.ts';
import { makeBuilder, nullColumn } from './column-builder.ts';
import type { ColumnBuilder } from './column-builder.ts';
import type { Column } from './column.ts';
import { bitmapBytes } from './column.ts';
import { appendInteger128 } from './words.ts';
import type { SqlType } from './types.ts';

/**
 * A constant as plans hold it: int64, timestamp (microseconds), interval (microseconds) and decimal
 * (unscaled) are decimal text, float64 is a number or 'NaN' | 'Infinity' | '-Infinity'.
 */
export type LiteralLike = null | boolean | number | string;

const encoder = new TextEncoder();

/** Appends one constant; a value that does not fit the type is a bug of the caller. */
export function appendLiteral(builder: ColumnBuilder, literal: LiteralLike): void {
  if (literal === null) {
    builder.appendNull();
    return;
  }
  switch (builder.tag) {
    case 'boolean':
      assert(typeof literal === 'boolean', 'a boolean constant');
      builder.append(literal);
      return;
    case 'int32':
      builder.append(Number(literal));
      return;
    case 'int64':
    case 'timestamp': {
      const value = BigInt(literal as string | number);
      builder.append(Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)));
      return;
    }
    case 'float64':
      builder.append(Number(literal));
      return;
    case 'decimal':
      appendInteger128(builder, BigInt(literal as string | number));
      return;
    case 'text': {
      const bytes = encoder.encode(String(literal));
      builder.append(bytes, 0, bytes.length);
      return;
    }
    case 'struct':
      assert(false, 'a struct has no constant form but NULL');
  }
}

/** `length` times the same value. */
export function constantColumn(type: SqlType, literal: LiteralLike, length: number): Column {
  if (literal === null) return nullColumn(type, length);
  const builder = makeBuilder(type, 1);
  appendLiteral(builder, literal);
  const one = builder.finish();
  switch (one.tag) {
    case 'boolean':
      return {
        ...one,
        length,
        bits: new Uint8Array(bitmapBytes(length)).fill((one.bits[0] as number) & 1 ? 255 : 0),
      };
    case 'int32':
      return { ...one, length, values: new Int32Array(length).fill(one.values[0] as number) };
    case 'int64':
    case 'timestamp':
      return { ...one, length, words: repeatWords(one.words, length) };
    case 'float64':
      return { ...one, length, values: new Float64Array(length).fill(one.values[0] as number) };
    case 'decimal':
      return { ...one, length, words: repeatWords(one.words, length) };
    case 'text': {
      const size = one.bytes.length;
      const offsets = new Int32Array(length + 1);
      const bytes = new Uint8Array(size * length);
      for (let row = 0; row < length; row++) {
        bytes.set(one.bytes, row * size);
        offsets[row + 1] = (row + 1) * size;
      }
      return { ...one, length, offsets, bytes };
    }
    case 'struct':
      assert(false, 'a struct has no constant form but NULL');
  }
}

function repeatWords(words: Int32Array, length: number): Int32Array {
  const width = words.length;
  const repeated = new Int32Array(width * length);
  for (let at = 0; at < repeated.length; at += width) repeated.set(words, at);
  return repeated;
}
