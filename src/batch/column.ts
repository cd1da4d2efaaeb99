/**
 * Columns in Arrow layout.
 *
 * `validity` is a bitmap, least significant bit first, 1 = present; null means every value is present.
 * Buffers may be longer than needed and may be shared between columns: nobody writes into a column
 * after it was handed on.
 *
 * Hot paths read 64-bit values as two 32-bit words (low, high) and never build a BigInt per value.
 */
import type { SqlType } from './types.ts';

type Common = { length: number; validity: Uint8Array | null };

export type BooleanColumn = Common & {
  tag: 'boolean';
  type: SqlType;
  /** bitmap, LSB first */ bits: Uint8Array;
};
/** int8 to int32, uint8, uint16 and date: the number itself. */
export type Int32Column = Common & { tag: 'int32'; type: SqlType; values: Int32Array };
/**
 * 64-bit values: words[2i] = low, words[2i + 1] = high. `timestamp` holds timestamp and timestamptz
 * (microseconds), `int64` all others; those of type uint64 are compared without sign.
 */
export type Int64Column = Common & { tag: 'int64' | 'timestamp'; type: SqlType; words: Int32Array };
/** float64, and float32 with each value rounded to 32 bits. */
export type Float64Column = Common & { tag: 'float64'; type: SqlType; values: Float64Array };
/** Unscaled 128-bit two's complement: four words a value, low first. */
export type DecimalColumn = Common & {
  tag: 'decimal';
  type: SqlType & { tag: 'decimal' };
  words: Int32Array;
};
/**
 * Four words a value: months, days, microseconds low, microseconds high; each signed on its own.
 * Values that are the same length with 30 days a month and 24 hours a day are equal (`interval.ts`).
 */
export type IntervalColumn = Common & { tag: 'interval'; type: SqlType; words: Int32Array };
/** Bytes of value i: bytes[offsets[i], offsets[i + 1]). UTF-8, except in bytea. */
export type TextColumn = Common & {
  tag: 'text';
  type: SqlType;
  offsets: Int32Array;
  bytes: Uint8Array;
};
/** Elements of value i: rows [offsets[i], offsets[i + 1]) of `child`; offsets[0] may be above zero. */
export type ListColumn = Common & {
  tag: 'list';
  type: SqlType & { tag: 'list' };
  offsets: Int32Array;
  child: Column;
};
export type StructColumn = Common & {
  tag: 'struct';
  type: SqlType & { tag: 'struct' };
  children: readonly Column[];
};

export type Column =
  | BooleanColumn
  | Int32Column
  | Int64Column
  | Float64Column
  | DecimalColumn
  | IntervalColumn
  | TextColumn
  | ListColumn
  | StructColumn;

export const bitmapBytes = (length: number): number => (length + 7) >> 3;

export const bitAt = (bits: Uint8Array, index: number): boolean =>
  ((bits[index >> 3] as number) & (1 << (index & 7))) !== 0;

export function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
}

export function clearBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) & ~(1 << (index & 7));
}

/** Whether value `index` is present. */
export const isValid = (column: Column, index: number): boolean =>
  column.validity === null || bitAt(column.validity, index);

/** The exact number of a 64-bit pair when it lies within ±2^53; beyond that the nearest double. */
export const wordsToNumber = (low: number, high: number): number => high * 4294967296 + (low >>> 0);
