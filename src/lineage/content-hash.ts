/**
 * The hash by which the lineage recognises the content of an object.
 *
 * It guards against truncated, mixed-up or damaged objects, not against an adversary: whoever can write to the
 * bucket can write a matching record too. So a fast hash suffices: MurmurHash3 x86 128 (public domain, A. Appleby)
 * with seed 0, four 32-bit lanes of `Math.imul`, no allocation per block.
 *
 * Invariant: it is persisted in manifests and records; changing it breaks every lineage. Failure: none.
 */
import { hashContentBlocks } from '../kernels/hash-blocks.ts';

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** 32 hex digits, equal for equal bytes. Linear in the length, some hundred megabytes a second. */
export function contentHash(bytes: Uint8Array): string {
  const lanes = hashLanes(bytes, 0);
  let text = '';
  for (const lane of lanes) text += (lane >>> 0).toString(16).padStart(8, '0');
  return text;
}

/** The four lanes of the hash, as signed 32-bit numbers. */
export function hashLanes(bytes: Uint8Array, seed: number): [number, number, number, number] {
  const blocksEnd = bytes.length & ~15;
  const lanes = Int32Array.of(seed, seed, seed, seed);
  const blocks = bytes.subarray(0, blocksEnd);
  if (!hashContentBlocks(blocks, lanes)) hashBlocks(blocks, lanes);
  let [h1, h2, h3, h4] = lanes as unknown as [number, number, number, number];
  h1 ^= scramble(tailWord(bytes, blocksEnd), C1, 15, C2) ^ bytes.length;
  h2 ^= scramble(tailWord(bytes, blocksEnd + 4), C2, 16, C3) ^ bytes.length;
  h3 ^= scramble(tailWord(bytes, blocksEnd + 8), C3, 17, C4) ^ bytes.length;
  h4 ^= scramble(tailWord(bytes, blocksEnd + 12), C4, 18, C1) ^ bytes.length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = avalanche(h2 + h1);
  h3 = avalanche(h3 + h1);
  h4 = avalanche(h4 + h1);
  h1 = avalanche(h1);
  h1 = (h1 + h2 + h3 + h4) | 0;
  return [h1, (h2 + h1) | 0, (h3 + h1) | 0, (h4 + h1) | 0];
}

/** The kernel's twin: blocks of 16 bytes. */
function hashBlocks(bytes: Uint8Array, lanes: Int32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocksEnd = bytes.length;
  let [h1, h2, h3, h4] = lanes as unknown as [number, number, number, number];
  for (let at = 0; at < blocksEnd; at += 16) {
    h1 ^= scramble(view.getInt32(at, true), C1, 15, C2);
    h1 = (Math.imul(rotate(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= scramble(view.getInt32(at + 4, true), C2, 16, C3);
    h2 = (Math.imul(rotate(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= scramble(view.getInt32(at + 8, true), C3, 17, C4);
    h3 = (Math.imul(rotate(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= scramble(view.getInt32(at + 12, true), C4, 18, C1);
    h4 = (Math.imul(rotate(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  lanes[0] = h1;
  lanes[1] = h2;
  lanes[2] = h3;
  lanes[3] = h4;
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function scramble(word: number, first: number, by: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), by), second);
}

/** Up to four bytes from `at`, little-endian; zero beyond the end, which leaves a lane as it is. */
function tailWord(bytes: Uint8Array, at: number): number {
  let word = 0;
  for (let index = Math.min(at + 4, bytes.length) - 1; index >= at; index--)
    word = (word << 8) | (bytes[index] as number);
  return word;
}

function avalanche(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
