/**
 * UTF-8 by three looks into tables for each byte, 16 bytes at once (Keiser and Lemire 2020): the high half of the byte
 * before, its low half, and the high half of the byte itself each allow some errors; an error that all three allow is one.
 */

const TOO_SHORT: u8 = 1 << 0;
const TOO_LONG: u8 = 1 << 1;
const OVERLONG_3: u8 = 1 << 2;
const TOO_LARGE: u8 = 1 << 3;
const SURROGATE: u8 = 1 << 4;
const OVERLONG_2: u8 = 1 << 5;
/** Overlong with four bytes, or above U+10FFFF by the fifth bit. */
const EDGE_OF_FOUR: u8 = 1 << 6;
const TWO_CONTINUATIONS: u8 = 1 << 7;
/** Errors that the low half of the first byte has no say in. */
const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;

const FIRST_HIGH = memory.data<u8>([
  TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
  TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
  TOO_SHORT | OVERLONG_2,
  TOO_SHORT,
  TOO_SHORT | OVERLONG_3 | SURROGATE,
  TOO_SHORT | TOO_LARGE | EDGE_OF_FOUR,
]);
const FIRST_LOW = memory.data<u8>([
  ANY | OVERLONG_3 | OVERLONG_2 | EDGE_OF_FOUR,
  ANY | OVERLONG_2,
  ANY,
  ANY,
  ANY | TOO_LARGE,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR | SURROGATE,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
  ANY | TOO_LARGE | EDGE_OF_FOUR,
]);
const SECOND_HIGH = memory.data<u8>([
  TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
  TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | EDGE_OF_FOUR,
  TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE,
  TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
  TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE,
  TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
]);

/**
 * Whether `[start, end)` is valid UTF-8. The three bytes before it and its last one must be ASCII: it is a row between
 * its braces, behind a line end or space.
 */
export function validUtf8(start: usize, end: usize): bool {
  const firstHigh = v128.load(FIRST_HIGH);
  const firstLow = v128.load(FIRST_LOW);
  const secondHigh = v128.load(SECOND_HIGH);
  const low = i8x16.splat(15);
  const lanes = v128(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let errors = i8x16.splat(0);
  for (let at = start; at < end; at += 16) {
    let block = v128.load(at);
    const left = end - at;
    if (left < 16) {
      // What lies behind the row counts as zeros.
      block = v128.and(block, i8x16.lt_u(lanes, i8x16.splat(<i8>left)));
    }
    const third = v128.load(at - 3);
    if (i8x16.bitmask(v128.or(block, third)) == 0) continue;
    const first = v128.load(at - 1);
    const special = v128.and(
      v128.and(
        v128.swizzle(firstHigh, i8x16.shr_u(first, 4)),
        v128.swizzle(firstLow, v128.and(first, low)),
      ),
      v128.swizzle(secondHigh, i8x16.shr_u(block, 4)),
    );
    // The third byte of three and the third and fourth of four are continuations, and two in a row are right there only.
    const isThird = i8x16.sub_sat_u(v128.load(at - 2), i8x16.splat(<i8>(0xe0 - 0x80)));
    const isFourth = i8x16.sub_sat_u(third, i8x16.splat(<i8>(0xf0 - 0x80)));
    const due = v128.and(v128.or(isThird, isFourth), i8x16.splat(<i8>0x80));
    errors = v128.or(errors, v128.xor(due, special));
  }
  return !v128.any_true(errors);
}
