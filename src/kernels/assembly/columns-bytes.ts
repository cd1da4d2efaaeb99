/** The loops of the hashes over bytes; bit for bit what src/lineage/stream-hash.ts and content-hash.ts compute. */

// @ts-ignore: decorator
@inline
function turn(lane: u32, word: u32): u32 {
  return rotl<u32>((lane ^ word) * 0x9e3779b1, 13);
}

/** The same for four lanes at once. */
// @ts-ignore: decorator
@inline
export function mixStream(lanes: v128, words: v128): v128 {
  const mixed = i32x4.mul(v128.xor(lanes, words), i32x4.splat(0x9e3779b1));
  return v128.or(i32x4.shl(mixed, 13), i32x4.shr_u(mixed, 19));
}

/** Blocks of 32 bytes of `[from, end)` into the eight words at `lanes`. */
export function hashStream(from: usize, end: usize, lanes: usize): void {
  let a = load<u32>(lanes);
  let b = load<u32>(lanes, 4);
  let c = load<u32>(lanes, 8);
  let d = load<u32>(lanes, 12);
  let e = load<u32>(lanes, 16);
  let f = load<u32>(lanes, 20);
  let g = load<u32>(lanes, 24);
  let h = load<u32>(lanes, 28);
  for (let at = from; at < end; at += 32) {
    a = turn(a, load<u32>(at));
    b = turn(b, load<u32>(at, 4));
    c = turn(c, load<u32>(at, 8));
    d = turn(d, load<u32>(at, 12));
    e = turn(e, load<u32>(at, 16));
    f = turn(f, load<u32>(at, 20));
    g = turn(g, load<u32>(at, 24));
    h = turn(h, load<u32>(at, 28));
  }
  store<u32>(lanes, a);
  store<u32>(lanes, b, 4);
  store<u32>(lanes, c, 8);
  store<u32>(lanes, d, 12);
  store<u32>(lanes, e, 16);
  store<u32>(lanes, f, 20);
  store<u32>(lanes, g, 24);
  store<u32>(lanes, h, 28);
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
