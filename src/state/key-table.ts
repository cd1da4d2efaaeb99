/**
 * What a group index is made of: a hash table from keys to dense numbers, one implementation per shape of key.
 *
 * Invariants: numbers are 0..count-1 in order of first appearance and never change; equality is that of GROUP BY:
 * NULL equals NULL, NaN equals NaN, -0 equals 0. Tables choose their own hash: only the routing hash is persisted.
 */
import { bitmapBytes, clearBit, type Column } from '../batch/column.ts';

export interface KeyTable {
  readonly count: number;
  /** Sets `out[r - from]` to the number of row r's key for r in [from, to), numbering new keys. */
  lookupOrInsert(columns: readonly Column[], from: number, to: number, out: Int32Array): void;
  /** Makes room for so many keys at once. */
  reserve?(count: number): void;
  /** Forgets every key and keeps the room. Left out where a new table is as good. */
  clear?(): void;
  /** As `lookupOrInsert` of all keys of another table of these types, `out[n]` for number n; false: it cannot. */
  lookupAllOf?(other: KeyTable, out: Int32Array): boolean;
  /** The keys with these numbers, one column per key. */
  keyColumns(numbers: Int32Array): Column[];
  /** Bytes allocated. */
  bytes(): number;
}

/** Slots of an empty table; always a power of two. */
export const SLOTS_MIN = 16;

/** Whether so many keys want more slots: linear probing stays short up to five eighths. */
export const isCrowded = (count: number, slots: number): boolean => count * 8 > slots * 5;

/** Validity of keys of which only number `nullAt` is NULL; null: it is not among them. */
export function nullBits(numbers: Int32Array, nullAt: number): Uint8Array | null {
  if (nullAt < 0) return null;
  let validity: Uint8Array | null = null;
  for (let at = 0; at < numbers.length; at++) {
    if (numbers[at] !== nullAt) continue;
    validity ??= new Uint8Array(bitmapBytes(numbers.length)).fill(255);
    clearBit(validity, at);
  }
  return validity;
}
