/**
 * Randomness by place: each draw is a function of the seed, the row and what is drawn, so that row i can be made without the
 * rows before it.
 *
 * Invariants: equal arguments give equal numbers on every machine; only whole-number arithmetic is used.
 */

/** A whole number in [0, 2^32). `salt` tells the draws of one row apart. */
export function drawAt(seed: number, row: number, salt: number): number {
  let h = (seed | 0) ^ Math.imul(salt + 1, 0x9e3779b1);
  h = mixed(h ^ (row | 0));
  // Rows beyond 2^32 differ in the upper word only.
  h = mixed(h ^ Math.imul(Math.floor(row / 4294967296) + 1, 0x85ebca77));
  return h >>> 0;
}

function mixed(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/** A whole number in [0, bound). */
export const drawBelow = (seed: number, row: number, salt: number, bound: number): number =>
  Math.floor((drawAt(seed, row, salt) / 4294967296) * bound);

/** How often ranks come, cumulated to 1: rank r about as often as 1 / (r + 1) of rank 0. */
export type Ranks = Float64Array;

export function ranksOf(count: number): Ranks {
  const ranks = new Float64Array(count);
  let total = 0;
  for (let rank = 0; rank < count; rank++) {
    total += 1 / (rank + 1);
    ranks[rank] = total;
  }
  for (let rank = 0; rank < count; rank++) ranks[rank] = (ranks[rank] as number) / total;
  return ranks;
}

/** A rank, the small ones more often than the large ones. */
export function drawRank(seed: number, row: number, salt: number, ranks: Ranks): number {
  const share = drawAt(seed, row, salt) / 4294967296;
  let low = 0;
  let high = ranks.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (share < (ranks[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where the place `at` of [0, size) goes when block number `block` is shuffled: each place to another. */
export function shuffledPlace(seed: number, block: number, at: number, size: number): number {
  let step = 1 + drawBelow(seed, block, 901, size);
  while (greatestCommonDivisor(step, size) !== 1) step++;
  return (at * step + drawBelow(seed, block, 902, size)) % size;
}

function greatestCommonDivisor(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
