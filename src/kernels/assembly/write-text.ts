/** Text in quotes, escaped where JSON wants it. */

const HEX = memory.data<u8>([
  48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102,
]);

/** The letter of the short escape of each control character, or 0. */
const SHORT = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 98, 116, 110, 0, 102, 114, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** Copies bytes as they are, by whole vectors; the end. */
// @ts-ignore: decorator
@inline
export function copyText(from: usize, length: u32, to: usize): usize {
  let done: u32 = 0;
  do {
    v128.store(to + done, v128.load(from + done));
    done += 16;
  } while (done < length);
  return to + length;
}

function writeEscape(to: usize, byte: u32): usize {
  store<u8>(to, 92);
  if (byte >= 32) {
    store<u8>(to, byte, 1);
    return to + 2;
  }
  const short = load<u8>(SHORT + byte);
  if (short != 0) {
    store<u8>(to, short, 1);
    return to + 2;
  }
  store<u32>(to, 0x30303075, 1);
  store<u8>(to, load<u8>(HEX + (byte >> 4)), 4);
  store<u8>(to, load<u8>(HEX + (byte & 15)), 5);
  return to + 6;
}

// @ts-ignore: decorator
@inline
export function writeText(from: usize, length: u32, target: usize): usize {
  let to = target;
  let at = from;
  const end = from + length;
  store<u8>(to++, 34);
  while (at < end) {
    const block = v128.load(at);
    v128.store(to, block);
    const special = v128.or(
      v128.or(i8x16.eq(block, i8x16.splat(34)), i8x16.eq(block, i8x16.splat(92))),
      i8x16.le_u(block, i8x16.splat(31)),
    );
    const stops = <u32>i8x16.bitmask(special);
    const plain = min<usize>(stops == 0 ? 16 : ctz<u32>(stops), end - at);
    at += plain;
    to += plain;
    if (plain < 16 && at < end) to = writeEscape(to, load<u8>(at++));
  }
  store<u8>(to, 34);
  return to + 1;
}
