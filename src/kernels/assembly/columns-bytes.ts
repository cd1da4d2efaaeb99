/** The loops of the hashes over bytes; bit for bit what src/lineage/stream-hash.ts and content-hash.ts compute. */

/** One step of four lanes of a hash of bytes: each takes a word of both halves of its block. */
// @ts-ignore: decorator
@inline
export function mixStream(lanes: v128, left: v128, right: v128): v128 {
  const mixed = i32x4.add(
    i32x4.mul(v128.xor(lanes, left), i32x4.splat(0x85ebca6b)),
    i32x4.mul(right, i32x4.splat(0xc2b2ae3d)),
  );
  return v128.or(i32x4.shl(mixed, 13), i32x4.shr_u(mixed, 19));
}

/** Blocks of 64 bytes of `[from, end)` into the eight words at `lanes`. */
export function hashStream(from: usize, end: usize, lanes: usize): void {
  let lower = v128.load(lanes);
  let upper = v128.load(lanes, 16);
  for (let at = from; at < end; at += 64) {
    lower = mixStream(lower, v128.load(at), v128.load(at, 32));
    upper = mixStream(upper, v128.load(at, 16), v128.load(at, 48));
  }
  v128.store(lanes, lower);
  v128.store(lanes, upper, 16);
}

const C1: u32 = 0x239b961b;
const C2: u32 = 0xab0e9789;
const C3: u32 = 0x38b34ae5;
const C4: u32 = 0xa1e38b93;

/** Blocks of 16 bytes of `[from, end)` into the four words at `lanes`, by MurmurHash3 x86 128. */
export function hashContent(from: usize, end: usize, lanes: usize): void {
  let h1 = load<u32>(lanes);
  let h2 = load<u32>(lanes, 4);
  let h3 = load<u32>(lanes, 8);
  let h4 = load<u32>(lanes, 12);
  for (let at = from; at < end; at += 16) {
    h1 ^= rotl<u32>(load<u32>(at) * C1, 15) * C2;
    h1 = (rotl<u32>(h1, 19) + h2) * 5 + 0x561ccd1b;
    h2 ^= rotl<u32>(load<u32>(at, 4) * C2, 16) * C3;
    h2 = (rotl<u32>(h2, 17) + h3) * 5 + 0x0bcaa747;
    h3 ^= rotl<u32>(load<u32>(at, 8) * C3, 17) * C4;
    h3 = (rotl<u32>(h3, 15) + h4) * 5 + 0x96cd1c35;
    h4 ^= rotl<u32>(load<u32>(at, 12) * C4, 18) * C1;
    h4 = (rotl<u32>(h4, 13) + h1) * 5 + 0x32ac3b17;
  }
  store<u32>(lanes, h1);
  store<u32>(lanes, h2, 4);
  store<u32>(lanes, h3, 8);
  store<u32>(lanes, h4, 12);
}
