/** Routing hashes and the split of rows by their owner; bit for bit what src/batch/row-hash.ts and partition.ts compute. */

// @ts-ignore: decorator
@inline
export function mix32(value: u32): u32 {
  let h = value;
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  return h ^ (h >> 16);
}

// @ts-ignore: decorator
@inline
function combine(left: u32, right: u32): u32 {
  return mix32(left * 31 + right);
}

/** Hashes of values of `width` words. */
export function routeWords(words: usize, width: u32, rows: u32, out: usize): void {
  let at = words;
  const end = out + ((<usize>rows) << 2);
  if (width == 2) {
    for (let to = out; to < end; to += 4, at += 8)
      store<u32>(to, combine(mix32(load<u32>(at)), load<u32>(at, 4)));
    return;
  }
  for (let to = out; to < end; to += 4) {
    let hash = mix32(load<u32>(at));
    at += 4;
    for (let word: u32 = 1; word < width; word++) {
      hash = combine(hash, load<u32>(at));
      at += 4;
    }
    store<u32>(to, hash);
  }
}

/** -0 hashes as 0 and every NaN as one. */
export function routeFloats(values: usize, rows: u32, out: usize): void {
  for (let row: u32 = 0; row < rows; row++) {
    const value = load<f64>(values + ((<usize>row) << 3));
    const bits = value == value ? reinterpret<u64>(value + 0) : 0x7ff8000000000000;
    store<u32>(out + ((<usize>row) << 2), combine(mix32(<u32>bits), <u32>(bits >> 32)));
  }
}

/** MurmurHash3 x86 32 of each text; `seed` as in row-hash.ts. */
export function routeText(offsets: usize, bytes: usize, rows: u32, seed: u32, out: usize): void {
  let start = load<u32>(offsets);
  for (let row: u32 = 0; row < rows; row++) {
    const end = load<u32>(offsets + ((<usize>row) << 2), 4);
    const size = end - start;
    let h = seed;
    let at = bytes + start;
    const tail = at + (size & ~3);
    for (; at < tail; at += 4) {
      h ^= rotl<u32>(load<u32>(at) * 0xcc9e2d51, 15) * 0x1b873593;
      h = rotl<u32>(h, 13) * 5 + 0xe6546b64;
    }
    const rest = size & 3;
    if (rest > 0) {
      // Bytes behind the text are cut off.
      const k = load<u32>(at) & ((<u32>1 << (rest << 3)) - 1);
      h ^= rotl<u32>(k * 0xcc9e2d51, 15) * 0x1b873593;
    }
    store<u32>(out + ((<usize>row) << 2), mix32(h ^ size));
    start = end;
  }
}

/** Folds the hashes of one more column into those of the rows. */
export function joinHashes(hashes: usize, next: usize, rows: u32): void {
  const end = hashes + ((<usize>rows) << 2);
  for (let at = hashes, other = next; at < end; at += 4, other += 4)
    store<u32>(at, combine(load<u32>(at), load<u32>(other)));
}

/** Puts `hash` where the bitmap has no bit. */
export function hashNulls(validity: usize, rows: u32, hash: u32, out: usize): void {
  for (let row: u32 = 0; row < rows; row++) {
    const isPresent = (load<u8>(validity + (row >> 3)) >> <u8>(row & 7)) & 1;
    if (!isPresent) store<u32>(out + ((<usize>row) << 2), hash);
  }
}

/**
 * Rows by owner: writes the places in `indices` where each owner's rows start (count + 1 of them) and the rows in their
 * order. `lowers` are the lower ends of the owners' ranges, ascending, the first 0.
 */
export function partition(
  hashes: usize,
  rows: u32,
  lowers: usize,
  count: u32,
  owners: usize,
  starts: usize,
  indices: usize,
): void {
  memory.fill(starts, 0, (<usize>count + 1) << 2);
  for (let row: u32 = 0; row < rows; row++) {
    const hash = load<u32>(hashes + ((<usize>row) << 2));
    // Ranges are equal but for rounding, so that the product is the owner or a neighbour of it.
    let owner = <u32>((<u64>hash * count) >> 32);
    while (hash < load<u32>(lowers + ((<usize>owner) << 2))) owner--;
    while (owner + 1 < count && hash >= load<u32>(lowers + ((<usize>owner) << 2), 4)) owner++;
    store<u16>(owners + ((<usize>row) << 1), <u16>owner);
    const size = starts + ((<usize>owner) << 2);
    store<u32>(size, load<u32>(size, 4) + 1, 4);
  }
  let total: u32 = 0;
  for (let owner: u32 = 0; owner < count; owner++) {
    const size = starts + ((<usize>owner) << 2);
    total += load<u32>(size, 4);
    store<u32>(size, total, 4);
  }
  // Each start serves as cursor and ends up at the next one's place, so rows go in from the last to the first.
  for (let row = rows; row > 0; row--) {
    const owner = load<u16>(owners + ((<usize>(row - 1)) << 1));
    const end = starts + ((<usize>owner) << 2);
    const at = load<u32>(end, 4) - 1;
    store<u32>(end, at, 4);
    store<u32>(indices + ((<usize>at) << 2), row - 1);
  }
  // Now place owner + 1 holds the start of the owner: move all one down.
  for (let owner: u32 = 0; owner < count; owner++) {
    const at = starts + ((<usize>owner) << 2);
    store<u32>(at, load<u32>(at, 4));
  }
  store<u32>(starts + ((<usize>count) << 2), rows);
}
