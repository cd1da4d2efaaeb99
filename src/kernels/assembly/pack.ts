/** One byte or word a row to one bit a row, the lowest first. */

/** Packs whether each of `count` bytes is other than zero; returns whether none is zero. Bits behind the last are zero. */
export function packBytes(source: usize, target: usize, count: u32): bool {
  let all: u32 = 0xffff;
  let at: u32 = 0;
  for (; at + 16 <= count; at += 16) {
    const zeros = i8x16.eq(v128.load(source + at), i8x16.splat(0));
    const bits = ~(<u32>i8x16.bitmask(zeros)) & 0xffff;
    all &= bits;
    store<u16>(target + (at >> 3), <u16>bits);
  }
  if (at < count) {
    const zeros = i8x16.eq(v128.load(source + at), i8x16.splat(0));
    const wanted = (<u32>1 << (count - at)) - 1;
    const bits = ~(<u32>i8x16.bitmask(zeros)) & wanted;
    if (bits != wanted) all = 0;
    store<u16>(target + (at >> 3), <u16>bits);
  }
  return all == 0xffff;
}

/** Packs the lowest bit of each of `count` words. Bits behind the last are zero. */
export function packWords(source: usize, target: usize, count: u32): void {
  for (let at: u32 = 0; at < count; at += 8) {
    let bits: u32 = 0;
    const end = min<u32>(8, count - at);
    for (let index: u32 = 0; index < end; index++) {
      bits |= (load<u32>(source + ((at + index) << 2)) & 1) << index;
    }
    store<u8>(target + (at >> 3), <u8>bits);
  }
}
