/** Texts of Parquet's pages: behind their lengths, and the smallest and the largest of them. */

/** From here on a call that copies is quicker than two vectors. */
const SHORT_MAX: usize = 32;

let largest: usize = 0;

/** Where the largest text of the last call of `textExtremes` begins. */
export function largestText(): usize {
  return largest;
}

/**
 * Writes `rows` texts, each behind its length, and answers where they end. Row r is the bytes `[offsets[r], offsets[r + 1])`;
 * the first of them stands at `source`.
 */
export function putTexts(offsets: usize, source: usize, rows: u32, target: usize): usize {
  let at = target;
  let from = source;
  let offset = load<u32>(offsets);
  for (let row: u32 = 1; row <= rows; row++) {
    const next = load<u32>(offsets + (<usize>row << 2));
    const size = <usize>(next - offset);
    offset = next;
    store<u32>(at, <u32>size);
    at += 4;
    if (size <= SHORT_MAX) {
      v128.store(at, v128.load(from));
      v128.store(at + 16, v128.load(from + 16));
    } else memory.copy(at, from, size);
    at += size;
    from += size;
  }
  return at;
}

/** Where the smallest of `count` texts begins that stand behind their lengths. */
export function textExtremes(texts: usize, count: u32): usize {
  let smallest = texts;
  largest = texts;
  let at = texts + 4 + <usize>load<u32>(texts);
  for (let index: u32 = 1; index < count; index++) {
    if (compareTexts(at, smallest) < 0) smallest = at;
    else if (compareTexts(at, largest) > 0) largest = at;
    at += 4 + <usize>load<u32>(at);
  }
  return smallest;
}

/** By their bytes; a text that another one begins with comes first. */
function compareTexts(left: usize, right: usize): i32 {
  const size = load<u32>(left);
  const otherSize = load<u32>(right);
  const shared = min(size, otherSize);
  const one = left + 4;
  const other = right + 4;
  let index: u32 = 0;
  for (; index + 8 <= shared; index += 8) {
    const ours = load<u64>(one + index);
    const theirs = load<u64>(other + index);
    if (ours != theirs) return bswap(ours) < bswap(theirs) ? -1 : 1;
  }
  for (; index < shared; index++) {
    const difference = <i32>load<u8>(one + index) - <i32>load<u8>(other + index);
    if (difference != 0) return difference;
  }
  return size < otherSize ? -1 : i32(size > otherSize);
}
