/**
 * Entry file of the kernel `parquet`: texts of pages, and their compressor. Its twin is src/formats/parquet, and both give
 * the same bytes: the compressor has the same table, the same steps, the same choice of copies.
 *
 * The caller lays out source, table (2^14 words of 16 bits) and target. Source and target are read and written up to 16
 * bytes past their end; texts up to 32.
 */
import { largestText, putTexts, textExtremes } from './parquet-texts.ts';

export { largestText, putTexts, textExtremes };

/** Where the caller's memory begins. */
export function heapBase(): usize {
  return __heap_base;
}

const BLOCK_BYTES: usize = 65536;
const HASH_BITS: u32 = 14;
const TABLE_BYTES: usize = 2 << HASH_BITS;
const TAIL_BYTES: usize = 15;
const COPY_MAX: usize = 64;

// @ts-ignore: decorator
@inline
function slotOf(table: usize, word: u32): usize {
  return table + (<usize>((word * 0x1e35a7bd) >> (32 - HASH_BITS)) << 1);
}

/** Writes the compressed bytes and answers where they end. */
export function compress(source: usize, size: usize, table: usize, target: usize): usize {
  let at = target;
  let rest = size;
  while (rest > 127) {
    store<u8>(at++, (rest & 127) | 128);
    rest >>= 7;
  }
  store<u8>(at++, rest);
  const end = source + size;
  for (let from = source; from < end; from += BLOCK_BYTES) {
    const left = end - from;
    at = compressBlock(from, from + (left < BLOCK_BYTES ? left : BLOCK_BYTES), table, at);
  }
  return at;
}

function compressBlock(from: usize, to: usize, table: usize, start: usize): usize {
  let at = start;
  let literal = from;
  if (to - from > TAIL_BYTES) {
    const last = to - TAIL_BYTES;
    memory.fill(table, 0, TABLE_BYTES);
    let position = from + 1;
    let tries: usize = 32;
    while (position < last) {
      const word = load<u32>(position);
      const slot = slotOf(table, word);
      const candidate = from + <usize>load<u16>(slot);
      store<u16>(slot, <u16>(position - from));
      if (load<u32>(candidate) != word || candidate >= position) {
        position += tries++ >> 5;
        continue;
      }
      let end = position + 4;
      let other = candidate + 4;
      while (end + 8 <= to) {
        const difference = load<u64>(end) ^ load<u64>(other);
        if (difference != 0) {
          end += <usize>(ctz(difference) >> 3);
          other = 0;
          break;
        }
        end += 8;
        other += 8;
      }
      if (other != 0)
        while (end < to && load<u8>(end) == load<u8>(other)) {
          end++;
          other++;
        }
      if (literal < position) at = putLiteral(literal, position, at);
      at = putCopy(position - candidate, end - position, at);
      literal = end;
      const before = end - 1;
      if (before < last) store<u16>(slotOf(table, load<u32>(before)), <u16>(before - from));
      position = end;
      tries = 32;
    }
  }
  return literal < to ? putLiteral(literal, to, at) : at;
}

function putLiteral(from: usize, to: usize, start: usize): usize {
  let at = start;
  const size = to - from;
  const stored = size - 1;
  if (stored < 60) store<u8>(at++, stored << 2);
  else if (stored < 256) {
    store<u8>(at, 60 << 2);
    store<u8>(at + 1, stored);
    at += 2;
  } else {
    store<u8>(at, 61 << 2);
    store<u16>(at + 1, <u16>stored);
    at += 3;
  }
  if (size <= 16) v128.store(at, v128.load(from));
  else memory.copy(at, from, size);
  return at + size;
}

function putCopy(distance: usize, length: usize, start: usize): usize {
  let at = start;
  let rest = length;
  while (rest > 0) {
    const size = rest <= COPY_MAX ? rest : rest < COPY_MAX + 4 ? COPY_MAX - 4 : COPY_MAX;
    if (size >= 4 && size < 12 && distance < 2048) {
      store<u8>(at, 1 | ((size - 4) << 2) | ((distance >> 8) << 5));
      store<u8>(at + 1, distance);
      at += 2;
    } else {
      store<u8>(at, 2 | ((size - 1) << 2));
      store<u16>(at + 1, <u16>distance);
      at += 3;
    }
    rest -= size;
  }
  return at;
}
