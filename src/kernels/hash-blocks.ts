/**
 * The loops of `StreamHash` and `contentHash` over whole blocks, by the kernel where that pays: bytes go through its memory in
 * pieces that stay in the cache.
 */
import { columnsKernel, SLACK, type ColumnsKernel } from './columns-kernel.ts';

/** What takes bytes in as they are read: `StreamHash`. Who passes over them anyway may run the loop over blocks itself. */
export type ByteHash = {
  update(bytes: Uint8Array): void;
  /** Eight words, which each block of 64 bytes changes. */
  readonly lanes: Int32Array;
  /** Bytes taken in that fill no block yet. */
  readonly rest: Uint8Array;
  /** `count` more bytes are taken in: `lanes` has their blocks, and `rest` are those that fill none. */
  moveOn(count: number, rest: Uint8Array): void;
};

const PIECE_BYTES = 64 * 1024;
/** Below that the call costs more than the loop. */
const BYTES_MIN = 512;

/** Whole blocks of `bytes` into `lanes`, eight words as `StreamHash` has them; false: nothing was done, take the twin. */
export function hashStreamBlocks(bytes: Uint8Array, lanes: Int32Array): boolean {
  const kernel = bytes.length < BYTES_MIN ? null : columnsKernel();
  if (kernel === null) return false;
  hashPieces(kernel, bytes, lanes, kernel.exports.hashStream);
  return true;
}

/** The same for the four words of `contentHash`. */
export function hashContentBlocks(bytes: Uint8Array, lanes: Int32Array): boolean {
  const kernel = bytes.length < BYTES_MIN ? null : columnsKernel();
  if (kernel === null) return false;
  hashPieces(kernel, bytes, lanes, kernel.exports.hashContent);
  return true;
}

function hashPieces(
  { memory }: ColumnsKernel,
  bytes: Uint8Array,
  lanes: Int32Array,
  hash: (from: number, end: number, lanes: number) => void,
): void {
  const lanesAt = memory.reserve(lanes.byteLength);
  const at = memory.reserve(Math.min(bytes.length, PIECE_BYTES) + SLACK);
  memory.words.set(lanes, lanesAt >> 2);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    const piece = bytes.subarray(from, from + PIECE_BYTES);
    memory.bytes.set(piece, at);
    hash(at, at + piece.length, lanesAt);
  }
  lanes.set(memory.words.subarray(lanesAt >> 2, (lanesAt >> 2) + lanes.length));
}
