/** Columns that hold one value in every row, from the plain-JSON form of constants. */
import { assert, unreachable } from '../base/assert.ts';
import { bytesOfHex } from './bytes-text.ts';
import { makeBuilder, nullColumn } from './column-builder.ts';
import type { ColumnBuilder } from './column-builder.ts';
import type { Column } from './column.ts';
import { bitmapBytes } from './column.ts';
import { intervalOfLiteral, writeIntervalWords } from './interval.ts';
import { takeColumn } from './take.ts';
import { appendInteger128 } from './words.ts';
import type { SqlType } from './types.ts';

/**
 * A constant as plans hold it. BIGINT, INT and BIGINT UNSIGNED, TIME, TIMESTAMP and TIMESTAMPTZ
 * (microseconds), TIMESTAMP(9) (nanoseconds) and DECIMAL (unscaled) are decimal text; smaller whole
 * numbers and DATE (days) are numbers; FLOAT and DOUBLE are a number or 'NaN' | 'Infinity' |
 * '-Infinity' | '-0'; INTERVAL is microseconds, or `months days microseconds`, as text; BYTEA is
 * `\\x0aff`; a list is an array of constants, a struct an array of its fields' constants in order.
 */
export type LiteralLike = null | boolean | number | string | readonly LiteralLike[];

const encoder = new TextEncoder();

const nested = (literal: LiteralLike): readonly LiteralLike[] => {
  assert(Array.isArray(literal), 'a constant with elements');
  return literal;
};

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
    case 'interval': {
      const words = new Int32Array(4);
      writeIntervalWords(words, 0, intervalOfLiteral(String(literal)));
      const [months = 0, days = 0, low = 0, high = 0] = words;
      builder.append(months, days, low, high);
      return;
    }
    case 'text': {
      const text = String(literal);
      const bytes = builder.type.tag === 'bytea' ? bytesOfHex(text) : encoder.encode(text);
      assert(bytes !== null, 'a constant of bytes in hex');
      builder.append(bytes, 0, bytes.length);
      return;
    }
    case 'list':
      for (const element of nested(literal)) appendLiteral(builder.child, element);
      builder.append();
      return;
    case 'struct': {
      const values = nested(literal);
      builder.children.forEach((child, index) => appendLiteral(child, values[index] ?? null));
      builder.append();
      return;
    }
    default:
      unreachable(builder);
  }
}

/** `length` times the same value. */
export function constantColumn(type: SqlType, literal: LiteralLike, length: number): Column {
  if (literal === null) return nullColumn(type, length);
  const builder = makeBuilder(type, 1);
  appendLiteral(builder, literal);
  const one = builder.finish();
  if (length === 1) return one;
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
    case 'interval':
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
    case 'list':
    case 'struct':
      return takeColumn(one, new Int32Array(length), length);
    default:
      return unreachable(one);
  }
}

function repeatWords(words: Int32Array, length: number): Int32Array {
  const width = words.length;
  const repeated = new Int32Array(width * length);
  for (let at = 0; at < repeated.length; at += width) repeated.set(words, at);
  return repeated;
}
