/**
 * The hash over the input of an epoch: fed piece by piece, and the same wherever the pieces are cut.
 *
 * Place in the walk: stage 5; it runs over every byte a source reads. Eight 32-bit lanes take two words each of every block of
 * 64 bytes (little-endian), a of its first half and b of its second:
 * `lane = rotl13((lane ^ a) * 0x85ebca6b + b * 0xc2b2ae3d)`; lane i starts as i + 1. The last block is filled up with zeros.
 * The result is the `contentHash` of 40 bytes: the lanes and the number of bytes (64 bits), all little-endian.
 *
 * Like `contentHash` it finds damage and mix-ups, not forgery. A step is a bijection of the lane and of either word, so that
 * any change within one word is found for certain. It takes two words because a lane waits for the product: the
 * second word's is ready by then.
 *
 * Invariant: it is persisted in manifests; changing it makes audits of older epochs fail. Failure: none.
 */
import { type ByteHash, hashStreamBlocks } from '../kernels/hash-blocks.ts';
import { contentHash } from './content-hash.ts';

const BLOCK = 64;
const LANES = 8;
const LEFT_FACTOR = 0x85ebca6b | 0;
const RIGHT_FACTOR = 0xc2b2ae3d | 0;

export class StreamHash implements ByteHash {
  readonly lanes = Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  readonly #rest = new Uint8Array(BLOCK);
  #restBytes = 0;
  #bytes = 0;

  /** Bytes taken so far. */
  get bytes(): number {
    return this.#bytes;
  }

  get rest(): Uint8Array {
    return this.#rest.subarray(0, this.#restBytes);
  }

  moveOn(count: number, rest: Uint8Array): void {
    this.#bytes += count;
    this.#rest.set(rest);
    this.#restBytes = rest.length;
  }

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    let from = 0;
    if (this.#restBytes > 0) {
      from = Math.min(BLOCK - this.#restBytes, bytes.length);
      this.#rest.set(bytes.subarray(0, from), this.#restBytes);
      this.#restBytes += from;
      if (this.#restBytes < BLOCK) return;
      this.#blocks(this.#rest, 0, BLOCK);
    }
    const end = from + ((bytes.length - from) & ~(BLOCK - 1));
    const blocks = bytes.subarray(from, end);
    if (!hashStreamBlocks(blocks, this.lanes)) this.#blocks(bytes, from, end);
    this.#restBytes = bytes.length - end;
    this.#rest.set(bytes.subarray(end));
  }

  /** 32 hex digits; the hash may be fed on. */
  digest(): string {
    const before = this.lanes.slice();
    if (this.#restBytes > 0) {
      const last = new Uint8Array(BLOCK);
      last.set(this.#rest.subarray(0, this.#restBytes));
      this.#blocks(last, 0, BLOCK);
    }
    const result = new DataView(new ArrayBuffer(LANES * 4 + 8));
    for (let lane = 0; lane < LANES; lane++)
      result.setInt32(lane * 4, this.lanes[lane] as number, true);
    result.setUint32(LANES * 4, this.#bytes >>> 0, true);
    result.setUint32(LANES * 4 + 4, Math.floor(this.#bytes / 4294967296), true);
    this.lanes.set(before);
    return contentHash(new Uint8Array(result.buffer));
  }

  /** The kernel's twin: blocks of `[from, to)`, a multiple of 64 bytes. In locals: the loop is the whole cost. */
  #blocks(bytes: Uint8Array, from: number, to: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lanes = this.lanes;
    let a = lanes[0] as number;
    let b = lanes[1] as number;
    let c = lanes[2] as number;
    let d = lanes[3] as number;
    let e = lanes[4] as number;
    let f = lanes[5] as number;
    let g = lanes[6] as number;
    let h = lanes[7] as number;
    for (let at = from; at < to; at += BLOCK) {
      a = mix(a, view.getInt32(at, true), view.getInt32(at + 32, true));
      b = mix(b, view.getInt32(at + 4, true), view.getInt32(at + 36, true));
      c = mix(c, view.getInt32(at + 8, true), view.getInt32(at + 40, true));
      d = mix(d, view.getInt32(at + 12, true), view.getInt32(at + 44, true));
      e = mix(e, view.getInt32(at + 16, true), view.getInt32(at + 48, true));
      f = mix(f, view.getInt32(at + 20, true), view.getInt32(at + 52, true));
      g = mix(g, view.getInt32(at + 24, true), view.getInt32(at + 56, true));
      h = mix(h, view.getInt32(at + 28, true), view.getInt32(at + 60, true));
    }
    lanes[0] = a;
    lanes[1] = b;
    lanes[2] = c;
    lanes[3] = d;
    lanes[4] = e;
    lanes[5] = f;
    lanes[6] = g;
    lanes[7] = h;
  }
}

function mix(lane: number, left: number, right: number): number {
  const mixed = Math.imul(lane ^ left, LEFT_FACTOR) + Math.imul(right, RIGHT_FACTOR);
  return (mixed << 13) | (mixed >>> 19);
}
