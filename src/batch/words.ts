/** 64- and 128-bit whole numbers between their word form in columns and BigInt (slow paths only). */
import type { DecimalBuilder } from './column-builder.ts';

/** The value of words `[at, at + 2)`. */
export const bigintOfPair = (words: Int32Array, at: number): bigint =>
  (BigInt(words[at + 1] as number) << 32n) | BigInt((words[at] as number) >>> 0);

/** The same without sign. */
export const unsignedOfPair = (words: Int32Array, at: number): bigint =>
  BigInt.asUintN(64, bigintOfPair(words, at));

/** The value of words `[at, at + 4)`. */
export const bigintOfQuad = (words: Int32Array, at: number): bigint =>
  (bigintOfPair(words, at + 2) << 64n) | BigInt.asUintN(64, bigintOfPair(words, at));

/** Appends an unscaled value, cut to 128 bits. */
export function appendInteger128(builder: DecimalBuilder, value: bigint): void {
  const word = (shift: bigint): number => Number(BigInt.asIntN(32, value >> shift));
  builder.append(word(0n), word(32n), word(64n), word(96n));
}
