/**
 * SHA-224, SHA-256, SHA-384 and SHA-512 of a range of bytes. 64-bit words are pairs of 32-bit words, high first.
 *
 * The constants are, by definition, bits of roots of primes; they are computed when the module is loaded.
 */
import { compressSha256 } from '../../base/sha256.ts';
import { paddedMessage } from './padding.ts';

const PRIMES: readonly number[] = (() => {
  const found: number[] = [];
  for (let number = 2; found.length < 80; number++)
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  return found;
})();

/** The first 64 bits of the fraction of the root of `prime`. */
function rootBits(prime: number, degree: 2 | 3): bigint {
  const target = BigInt(prime) << BigInt(64 * degree);
  let low = 0n;
  let high = 1n << 70n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(degree) <= target) low = middle;
    else high = middle;
  }
  return BigInt.asUintN(64, low);
}

const highOf = (bits: bigint): number => Number(bits >> 32n) | 0;
const lowOf = (bits: bigint): number => Number(bits & 0xffffffffn) | 0;

const CUBE_ROOTS = PRIMES.map((prime) => rootBits(prime, 3));
const K64 = Int32Array.from(CUBE_ROOTS.flatMap((bits) => [highOf(bits), lowOf(bits)]));

const pairs = (words: readonly bigint[]): Int32Array =>
  Int32Array.from(words.flatMap((bits) => [highOf(bits), lowOf(bits)]));
const SQUARE_ROOTS = PRIMES.slice(0, 16).map((prime) => rootBits(prime, 2));
const INITIAL = {
  sha224: Int32Array.from(SQUARE_ROOTS.slice(8), lowOf),
  sha256: Int32Array.from(SQUARE_ROOTS.slice(0, 8), highOf),
  sha384: pairs(SQUARE_ROOTS.slice(8)),
  sha512: pairs(SQUARE_ROOTS.slice(0, 8)),
};
const SIZES = { sha224: 28, sha256: 32, sha384: 48, sha512: 64 };

export type Sha2 = keyof typeof INITIAL;

const schedule32 = new Int32Array(64);

function mix32(state: Int32Array, block: DataView, at: number): void {
  for (let index = 0; index < 16; index++) schedule32[index] = block.getInt32(at + 4 * index);
  compressSha256(state, schedule32);
}

/** Sums of pairs: the carry out of the low words goes into the high ones. */
class Sum {
  high = 0;
  low = 0;

  add(high: number, low: number): this {
    const low_ = (this.low >>> 0) + (low >>> 0);
    this.low = low_ | 0;
    this.high = (this.high + high + (low_ > 0xffffffff ? 1 : 0)) | 0;
    return this;
  }

  /** Adds a pair turned right by three numbers of bits and joined; a negative number shifts. */
  addTurned(high: number, low: number, bits: readonly number[]): this {
    let joinedHigh = 0;
    let joinedLow = 0;
    for (const bit of bits) {
      const by = Math.abs(bit) & 31;
      const swapped = Math.abs(bit) >= 32;
      const top = swapped ? low : high;
      const bottom = swapped ? high : low;
      joinedHigh ^= bit < 0 ? top >>> by : (top >>> by) | (bottom << (32 - by));
      joinedLow ^= (bottom >>> by) | (top << (32 - by));
    }
    return this.add(joinedHigh, joinedLow);
  }

  reset(): this {
    this.high = 0;
    this.low = 0;
    return this;
  }
}

const schedule64 = new Int32Array(160);
const sum = new Sum();

function expand64(block: DataView, at: number): void {
  const w = schedule64;
  for (let word = 0; word < 32; word++) w[word] = block.getInt32(at + 4 * word);
  for (let word = 32; word < 160; word += 2) {
    sum
      .reset()
      .add(w[word - 32] as number, w[word - 31] as number)
      .addTurned(w[word - 30] as number, w[word - 29] as number, [1, 8, -7])
      .add(w[word - 14] as number, w[word - 13] as number)
      .addTurned(w[word - 4] as number, w[word - 3] as number, [19, 61, -6]);
    w[word] = sum.high;
    w[word + 1] = sum.low;
  }
}

function mix64(state: Int32Array, block: DataView, at: number): void {
  expand64(block, at);
  const s = state.slice();
  const w = schedule64;
  const word = (index: number): number => s[index] as number;
  for (let round = 0; round < 160; round += 2) {
    sum
      .reset()
      .add(word(14), word(15))
      .addTurned(word(8), word(9), [14, 18, 41])
      .add(
        (word(8) & word(10)) ^ (~word(8) & word(12)),
        (word(9) & word(11)) ^ (~word(9) & word(13)),
      )
      .add(K64[round] as number, K64[round + 1] as number)
      .add(w[round] as number, w[round + 1] as number);
    const { high, low } = sum;
    sum
      .addTurned(word(0), word(1), [28, 34, 39])
      .add(
        (word(0) & word(2)) ^ (word(0) & word(4)) ^ (word(2) & word(4)),
        (word(1) & word(3)) ^ (word(1) & word(5)) ^ (word(3) & word(5)),
      );
    const { high: nextHigh, low: nextLow } = sum;
    sum.reset().add(word(6), word(7)).add(high, low);
    s.copyWithin(2, 0, 14);
    s[8] = sum.high;
    s[9] = sum.low;
    s[0] = nextHigh;
    s[1] = nextLow;
  }
  for (let pair = 0; pair < 16; pair += 2) {
    sum
      .reset()
      .add(state[pair] as number, state[pair + 1] as number)
      .add(word(pair), word(pair + 1));
    state[pair] = sum.high;
    state[pair + 1] = sum.low;
  }
}

export function sha2(kind: Sha2, bytes: Uint8Array, from: number, to: number): Uint8Array {
  const state = INITIAL[kind].slice();
  const wide = state.length === 16;
  const block = wide ? 128 : 64;
  const message = paddedMessage(bytes, from, to, block, false);
  const mix = wide ? mix64 : mix32;
  for (let at = 0; at < message.byteLength; at += block) mix(state, message, at);
  const digest = new Uint8Array(SIZES[kind]);
  const view = new DataView(digest.buffer);
  for (let word = 0; word < digest.length / 4; word++)
    view.setInt32(4 * word, state[word] as number);
  return digest;
}
