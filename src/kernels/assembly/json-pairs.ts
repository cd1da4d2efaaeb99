/**
 * Two rows of a shape at once. Where a value ends is known only when its last bytes have been looked at, so a row by itself is a
 * chain that the processor waits for; a second row beside it fills the waits, and both are led by the same steps.
 *
 * Where the second row begins is guessed from the length of the rows before, and true if the first ends right there. What has
 * come out then is what reading them one by one gives. When anything is not plain, or the guess was wrong, both are
 * read again singly, the first one at once; so nothing may have been noted but values, offsets and minutes.
 */
import {
  END,
  INT64,
  OTHER,
  SKIP_NUMBER,
  SKIP_OTHER,
  SKIP_STRING,
  STEP_FIELD,
  STEP_SIZE,
  STRING,
  TARGET,
  TIME,
  WHAT,
} from './json-layout.ts';
import { fillAbsent, hasShape, readValue, steps } from './json-shape.ts';
import { clearHigh, copyPlainString, plainEnd, seenHigh, skipPlainNumber, skipValue } from './json-strings.ts';
import { readInt64, readPlainInt64, readPlainTimestamp } from './json-values.ts';

/** What rows have had in length lately, in eighths of a byte. */
let usual: u32 = 0;
/** So many rows are still read singly, since two at once did not go well; and so many will be after the next time. */
let waits: u32 = 0;
let patience: u32 = 1;
const PATIENCE_MAX: u32 = 64;

export function noteLength(bytes: u32): void {
  usual = usual == 0 ? bytes << 3 : usual + bytes - (usual >> 3);
}

/** Rows of another shape have other lengths. */
export function forgetLengths(): void {
  usual = 0;
  waits = 0;
  patience = 1;
}

/** A bit for each LF among 64 bytes. */
// @ts-ignore: decorator
@inline
function lineEnds(p: usize): u64 {
  const LF = i8x16.splat(10);
  const lower =
    <u32>i8x16.bitmask(i8x16.eq(v128.load(p), LF)) |
    (<u32>i8x16.bitmask(i8x16.eq(v128.load(p, 16), LF)) << 16);
  const upper =
    <u32>i8x16.bitmask(i8x16.eq(v128.load(p, 32), LF)) |
    (<u32>i8x16.bitmask(i8x16.eq(v128.load(p, 48), LF)) << 16);
  return <u64>lower | (<u64>upper << 32);
}

/**
 * Where the row behind the one at `p` seems to begin, before `limit`; 0: there is no telling. A line end is looked for where
 * rows usually end, so it may be that of a later row.
 */
// @ts-ignore: decorator
@inline
export function guessNext(p: usize, limit: usize): usize {
  if (!hasShape()) return 0;
  if (waits != 0) {
    waits--;
    return 0;
  }
  const length = usual >> 3;
  const from = p + (length > 32 ? length - 32 : 0);
  if (from + 64 > limit) return 0;
  const ends = lineEnds(from);
  const next = from + <usize>ctz<u64>(ends) + 1;
  // Behind the last LF there is no whole row.
  return ends != 0 && next < limit ? next : 0;
}

/** Of the rows that `readTwo` read: the ends of the objects, and the LF behind the second. */
export let firstEnd: usize = 0;
export let secondEnd: usize = 0;
export let secondLine: usize = 0;

/**
 * Reads the row at `one`, and if it ends before `other` the row there, into rows `row` and `row + 1`: two rows at once keep the
 * processor busy that waits in one for where each value ends. Rows with a NULL or with characters beyond ASCII are not read so:
 * false leaves nothing that counts.
 */
// @ts-ignore: decorator
@inline
export function readTwo(one: usize, other: usize, row: u32): bool {
  const done = readBoth(one, other, row);
  if (done) patience = 1;
  else {
    waits = patience;
    patience = min<u32>(patience * 2, PATIENCE_MAX);
  }
  return done;
}

/** What begins like the word `null` is left to who reads rows singly. */
const NULL_BEGINS: u32 = 110;

function readOtherInt64(p: usize, field: usize, row: u32): usize {
  return load<u8>(p) == NULL_BEGINS ? 0 : readInt64(p, field, row);
}

function readPresent(p: usize, field: usize, row: u32): usize {
  return load<u8>(p) == NULL_BEGINS ? 0 : readValue(p, field, row);
}

// @ts-ignore: decorator
@inline
function readBoth(one: usize, other: usize, row: u32): bool {
  let step = steps;
  let a = one;
  let b = other;
  let behindA = one;
  let behindB = other;
  for (;;) {
    const what = load<u32>(step, WHAT);
    const text = v128.load(step);
    const equal = v128.and(i8x16.eq(v128.load(a), text), i8x16.eq(v128.load(b), text));
    const length = what & 255;
    if (ctz<u32>(~i8x16.bitmask(equal)) < length) return false;
    a += length;
    b += length;
    const follows = what >> 8;
    if (follows == SKIP_STRING) {
      const endA = plainEnd(a);
      const endB = plainEnd(b);
      if (load<u8>(endA) != 34 || load<u8>(endB) != 34) return false;
      a = endA + 1;
      b = endB + 1;
    } else if (follows == INT64) {
      const slot = load<usize>(step, TARGET) + (row << 3);
      const endA = readPlainInt64(a, slot);
      const endB = readPlainInt64(b, slot + 8);
      a = endA != 0 ? endA : readOtherInt64(a, load<usize>(step, STEP_FIELD), row);
      b = endB != 0 ? endB : readOtherInt64(b, load<usize>(step, STEP_FIELD), row + 1);
    } else if (follows == SKIP_NUMBER) {
      a = skipPlainNumber(a);
      b = skipPlainNumber(b);
    } else if (follows == TIME) {
      const values = load<usize>(step, TARGET);
      const field = load<usize>(step, STEP_FIELD);
      a = readPlainTimestamp(a, values, field, row);
      b = readPlainTimestamp(b, values, field, row + 1);
    } else if (follows == STRING) {
      const field = load<usize>(step, STEP_FIELD);
      a = copyPlainString(a, field, row);
      b = copyPlainString(b, field, row + 1);
    } else if (follows == END) {
      if (a != other) return false;
      firstEnd = behindA + load<u32>(step, TARGET);
      secondEnd = behindB + load<u32>(step, TARGET);
      secondLine = b - 1;
      fillAbsent(step, row);
      fillAbsent(step, row + 1);
      return true;
    } else if (follows == OTHER) {
      const field = load<usize>(step, STEP_FIELD);
      clearHigh();
      a = readPresent(a, field, row);
      // Where a text of the second row goes, the first one's says.
      if (a == 0) return false;
      b = readPresent(b, field, row + 1);
      if (seenHigh()) return false;
    } else if (follows == SKIP_OTHER) {
      clearHigh();
      a = skipValue(a, 0);
      b = skipValue(b, 0);
      if (seenHigh()) return false;
    } else {
      step += STEP_SIZE;
      continue;
    }
    if (a == 0 || b == 0) return false;
    behindA = a;
    behindB = b;
    step += STEP_SIZE;
  }
  return false;
}
