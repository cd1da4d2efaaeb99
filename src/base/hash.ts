/**
 * Routing hash and content hash.
 *
 * The routing hash decides which subtask owns a key and is persisted in state files: changing it
 * breaks every checkpoint (docs/adr/0004).
 */

/** 32-bit hash of bytes `[start, end)` (MurmurHash3 x86 32, public domain by A. Appleby); result unsigned. */
export function hashBytes(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = seed | 0;
  const tail = start + ((end - start) & ~3);
  for (let at = start; at < tail; at += 4) {
    let k =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    k = Math.imul(k, 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  let k = 0;
  for (let at = end - 1; at >= tail; at--) k = (k << 8) | (bytes[at] as number);
  if (end > tail) {
    k = Math.imul(k, 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
  }
  return mix32(h ^ (end - start));
}

/** Final avalanche of MurmurHash3; unsigned. */
export function mix32(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/** Folds the hash of one more column into a row's hash; unsigned. */
export function combineHash(left: number, right: number): number {
  return mix32((Math.imul(left | 0, 31) + (right | 0)) | 0);
}

/** Keys are owned by half-open ranges of the 32-bit hash. */
export type KeyRange = { lower: number; upper: number };

export const HASH_SPACE = 4294967296;

/** Range of subtask `index` of `count`: ascending, without gap, covering [0, 2^32). */
export function keyRangeOf(index: number, count: number): KeyRange {
  return {
    lower: Math.floor((HASH_SPACE / count) * index),
    upper: index + 1 === count ? HASH_SPACE : Math.floor((HASH_SPACE / count) * (index + 1)),
  };
}

/** Index of the subtask whose range holds `hash`. */
export function ownerOf(hash: number, count: number): number {
  let index = Math.floor(hash / (HASH_SPACE / count));
  if (index >= count) index = count - 1;
  while (index > 0 && hash < keyRangeOf(index, count).lower) index--;
  while (index + 1 < count && hash >= keyRangeOf(index, count).upper) index++;
  return index;
}
