/** TIMESTAMP(0) and TIMESTAMP(3): microseconds rounded to whole seconds or milliseconds. */
import type { SqlType } from './types.ts';
import { wordsToNumber } from './column.ts';

/** The microseconds a type counts in: 1 where it keeps them all. */
export const stepOf = (type: SqlType): number =>
  (type.tag === 'timestamp' || type.tag === 'timestamptz') && type.precision !== undefined
    ? type.precision === 0
      ? 1e6
      : 1e3
    : 1;

/** Rounds value `index` of 64-bit words to the precision of its type, halves up. */
export function roundMicros(words: Int32Array, index: number, type: SqlType): void {
  const step = stepOf(type);
  if (step === 1) return;
  const low = words[2 * index] as number;
  const high = words[2 * index + 1] as number;
  if (high >= -0x1fffff && high < 0x1fffff) {
    const rounded = Math.floor(wordsToNumber(low, high) / step + 0.5) * step;
    words[2 * index] = rounded | 0;
    words[2 * index + 1] = Math.floor(rounded / 4294967296);
    return;
  }
  const unit = BigInt(step);
  const shifted = ((BigInt(high) << 32n) | BigInt(low >>> 0)) + unit / 2n;
  const rest = ((shifted % unit) + unit) % unit;
  words[2 * index] = Number(BigInt.asIntN(32, shifted - rest));
  words[2 * index + 1] = Number(BigInt.asIntN(32, (shifted - rest) >> 32n));
}
