/**
 * A hash table over the rows of one batch: rows with equal keys get one number, numbers count up in order of first
 * appearance. Keys are words laid out row by row, or texts; they stay where they are.
 *
 * A slot is the hash beside the number + 1; 0 is free. There are at least twice as many slots as rows.
 */
import { mix32 } from './columns-hash.ts';

const FACTOR: u32 = 0x9e3779b1;

// @ts-ignore: decorator
@inline
function hashKey(at: usize, width: u32): u32 {
  let hash: u32 = 0;
  for (let word: u32 = 0; word < width; word++) {
    hash = (hash ^ load<u32>(at + ((<usize>word) << 2))) * FACTOR;
    hash ^= hash >> 15;
  }
  return mix32(hash);
}

// @ts-ignore: decorator
@inline
function sameKey(left: usize, right: usize, width: u32): bool {
  for (let word: u32 = 0; word < width; word++) {
    const at = (<usize>word) << 2;
    if (load<u32>(left + at) != load<u32>(right + at)) return false;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function isNull(nulls: usize, row: u32): bool {
  return nulls != 0 && load<u8>(nulls + row) != 0;
}

/**
 * Numbers the rows; a row with a byte in `nulls` gets -1. `firsts[n]` is the first row of number n.
 * @returns how many numbers there are
 */
export function buildWords(
  keys: usize,
  width: u32,
  rows: u32,
  nulls: usize,
  slots: usize,
  slotCount: u32,
  firsts: usize,
  numbers: usize,
): u32 {
  memory.fill(slots, 0, (<usize>slotCount) << 3);
  const mask = slotCount - 1;
  const size = (<usize>width) << 2;
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const to = numbers + ((<usize>row) << 2);
    if (isNull(nulls, row)) {
      store<i32>(to, -1);
      continue;
    }
    const key = keys + size * row;
    const hash = hashKey(key, width);
    let slot = hash & mask;
    let number: u32 = 0;
    for (;;) {
      const at = slots + ((<usize>slot) << 3);
      number = load<u32>(at, 4);
      if (number == 0) {
        store<u32>(at, hash);
        store<u32>(at, ++count, 4);
        store<u32>(firsts + ((<usize>(count - 1)) << 2), row);
        number = count;
        break;
      }
      if (load<u32>(at) == hash) {
        const first = load<u32>(firsts + ((<usize>(number - 1)) << 2));
        if (sameKey(keys + size * first, key, width)) break;
      }
      slot = (slot + 1) & mask;
    }
    store<u32>(to, number - 1);
  }
  return count;
}

/** The number of each of other rows, -1 for a key that was not met. */
export function probeWords(
  keys: usize,
  width: u32,
  slots: usize,
  slotCount: u32,
  firsts: usize,
  others: usize,
  rows: u32,
  nulls: usize,
  numbers: usize,
): void {
  const mask = slotCount - 1;
  const size = (<usize>width) << 2;
  for (let row: u32 = 0; row < rows; row++) {
    const to = numbers + ((<usize>row) << 2);
    if (isNull(nulls, row)) {
      store<i32>(to, -1);
      continue;
    }
    const key = others + size * row;
    const hash = hashKey(key, width);
    let slot = hash & mask;
    let number: u32 = 0;
    for (;;) {
      const at = slots + ((<usize>slot) << 3);
      number = load<u32>(at, 4);
      if (number == 0) break;
      if (load<u32>(at) == hash) {
        const first = load<u32>(firsts + ((<usize>(number - 1)) << 2));
        if (sameKey(keys + size * first, key, width)) break;
      }
      slot = (slot + 1) & mask;
    }
    store<i32>(to, <i32>number - 1);
  }
}

/** Whatever the length, the first and the last 8 bytes overlap or meet; what is between is read 8 bytes at a time. */
function hashText(at: usize, size: u32): u32 {
  let hash = <u64>size * 0x9e3779b97f4a7c15;
  if (size >= 8) {
    const last = at + size - 8;
    for (let from = at; from < last; from += 8) {
      hash = (hash ^ load<u64>(from)) * 0x9fb21c651e98df25;
      hash ^= hash >> 32;
    }
    hash = (hash ^ load<u64>(last)) * 0x9fb21c651e98df25;
  } else if (size > 0) {
    // Bytes behind the text are cut off.
    hash = (hash ^ (load<u64>(at) & (~(<u64>0) >> ((8 - size) << 3)))) * 0x9fb21c651e98df25;
  }
  return mix32(<u32>(hash >> 32) ^ <u32>hash);
}

function sameText(left: usize, right: usize, size: u32): bool {
  let at: usize = 0;
  while (at + 16 <= size) {
    if (v128.any_true(v128.xor(v128.load(left + at), v128.load(right + at)))) return false;
    at += 16;
  }
  const rest = size - <u32>at;
  if (rest == 0) return true;
  if (size >= 16)
    return !v128.any_true(v128.xor(v128.load(left + size - 16), v128.load(right + size - 16)));
  if (rest >= 8) {
    if (load<u64>(left) != load<u64>(right)) return false;
    return load<u64>(left + rest - 8) == load<u64>(right + rest - 8);
  }
  return ((load<u64>(left) ^ load<u64>(right)) & (~(<u64>0) >> ((8 - rest) << 3))) == 0;
}

/** As `buildWords`, of texts. */
export function buildText(
  offsets: usize,
  bytes: usize,
  rows: u32,
  nulls: usize,
  slots: usize,
  slotCount: u32,
  firsts: usize,
  numbers: usize,
): u32 {
  memory.fill(slots, 0, (<usize>slotCount) << 3);
  const mask = slotCount - 1;
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const to = numbers + ((<usize>row) << 2);
    if (isNull(nulls, row)) {
      store<i32>(to, -1);
      continue;
    }
    const start = load<u32>(offsets + ((<usize>row) << 2));
    const size = load<u32>(offsets + ((<usize>row) << 2), 4) - start;
    const hash = hashText(bytes + start, size);
    let slot = hash & mask;
    let number: u32 = 0;
    for (;;) {
      const at = slots + ((<usize>slot) << 3);
      number = load<u32>(at, 4);
      if (number == 0) {
        store<u32>(at, hash);
        store<u32>(at, ++count, 4);
        store<u32>(firsts + ((<usize>(count - 1)) << 2), row);
        number = count;
        break;
      }
      if (load<u32>(at) == hash && isText(offsets, bytes, firsts, number - 1, bytes + start, size))
        break;
      slot = (slot + 1) & mask;
    }
    store<u32>(to, number - 1);
  }
  return count;
}

/** Whether the text of that number is the one at `text`. */
function isText(
  offsets: usize,
  bytes: usize,
  firsts: usize,
  number: u32,
  text: usize,
  size: u32,
): bool {
  const first = offsets + ((<usize>load<u32>(firsts + ((<usize>number) << 2))) << 2);
  const start = load<u32>(first);
  return load<u32>(first, 4) - start == size && sameText(bytes + start, text, size);
}

/** As `probeWords`, of texts. */
export function probeText(
  offsets: usize,
  bytes: usize,
  slots: usize,
  slotCount: u32,
  firsts: usize,
  otherOffsets: usize,
  otherBytes: usize,
  rows: u32,
  nulls: usize,
  numbers: usize,
): void {
  const mask = slotCount - 1;
  for (let row: u32 = 0; row < rows; row++) {
    const to = numbers + ((<usize>row) << 2);
    if (isNull(nulls, row)) {
      store<i32>(to, -1);
      continue;
    }
    const start = load<u32>(otherOffsets + ((<usize>row) << 2));
    const size = load<u32>(otherOffsets + ((<usize>row) << 2), 4) - start;
    const hash = hashText(otherBytes + start, size);
    let slot = hash & mask;
    let number: u32 = 0;
    for (;;) {
      const at = slots + ((<usize>slot) << 3);
      number = load<u32>(at, 4);
      if (number == 0) break;
      if (
        load<u32>(at) == hash &&
        isText(offsets, bytes, firsts, number - 1, otherBytes + start, size)
      )
        break;
      slot = (slot + 1) & mask;
    }
    store<i32>(to, <i32>number - 1);
  }
}

/** Rows of each number as ascending lists: `heads[n]` is the first, `next[r]` the one after row r, -1 the end. */
export function chainRows(numbers: usize, rows: u32, count: u32, heads: usize, next: usize): void {
  memory.fill(heads, 255, (<usize>count) << 2);
  for (let row = rows; row > 0; row--) {
    const at = (<usize>(row - 1)) << 2;
    const number = load<i32>(numbers + at);
    if (number < 0) continue;
    const head = heads + ((<usize>number) << 2);
    store<i32>(next + at, load<i32>(head));
    store<u32>(head, row - 1);
  }
}

/** Number of pairs that `pairRows` will write. */
export function countPairs(numbers: usize, rows: u32, built: usize, builtRows: u32, sizes: usize, count: u32): u32 {
  memory.fill(sizes, 0, (<usize>count) << 2);
  for (let row: u32 = 0; row < builtRows; row++) {
    const number = load<i32>(built + ((<usize>row) << 2));
    if (number < 0) continue;
    const size = sizes + ((<usize>number) << 2);
    store<u32>(size, load<u32>(size) + 1);
  }
  let pairs: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const number = load<i32>(numbers + ((<usize>row) << 2));
    if (number >= 0) pairs += load<u32>(sizes + ((<usize>number) << 2));
  }
  return pairs;
}

/** Writes every pair of a built row and one of `rows` rows that have the same number, by the latter, then the former. */
export function pairRows(
  numbers: usize,
  rows: u32,
  heads: usize,
  next: usize,
  outBuilt: usize,
  outRows: usize,
): void {
  let at: usize = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const number = load<i32>(numbers + ((<usize>row) << 2));
    if (number < 0) continue;
    let built = load<i32>(heads + ((<usize>number) << 2));
    while (built >= 0) {
      store<i32>(outBuilt + at, built);
      store<u32>(outRows + at, row);
      at += 4;
      built = load<i32>(next + ((<usize>built) << 2));
    }
  }
}
