/**
 * Bytes four at a time. A `DataView` reads a word at any place in one instruction, and most of a row is plain text whose
 * bytes need not be told apart.
 */

const LITTLE_ENDIAN = true;

const NO_BYTES = new Uint8Array(0);

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

let seen: Uint8Array = NO_BYTES;
let view = viewOf(NO_BYTES);

/** The input as a view; that of the last input is kept. */
export function wordsOf(bytes: Uint8Array): DataView {
  if (bytes !== seen) {
    seen = bytes;
    view = viewOf(bytes);
  }
  return view;
}

/** Lets go of the last input. */
export function forgetWords(): void {
  seen = NO_BYTES;
  view = viewOf(NO_BYTES);
}

/**
 * Whether all four bytes are plain ASCII: no quote, backslash or control character. With no byte above 127 a
 * subtraction borrows from the next byte only where a byte is smaller, so it is right whenever it says yes.
 */
export const isPlainWord = (word: number): boolean =>
  (((word - 0x20202020) |
    ((word ^ 0x22222222) - 0x01010101) |
    ((word ^ 0x5c5c5c5c) - 0x01010101) |
    word) &
    0x80808080) ===
  0;

/** The first position at or after `at` that is no multiple of four plain bytes behind it. */
export function skipPlainWords(bytes: Uint8Array, at: number): number {
  const words = wordsOf(bytes);
  const last = words.byteLength - 4;
  let position = at;
  while (position <= last && isPlainWord(words.getInt32(position, LITTLE_ENDIAN))) position += 4;
  return position;
}

/** Copies plain words from `at` to `targetAt`; the number of bytes. */
export function copyPlainWords(
  bytes: Uint8Array,
  at: number,
  target: DataView,
  targetAt: number,
): number {
  const words = wordsOf(bytes);
  const last = Math.min(words.byteLength - at, target.byteLength - targetAt) - 4;
  let done = 0;
  while (done <= last) {
    const word = words.getInt32(at + done, LITTLE_ENDIAN);
    if (!isPlainWord(word)) return done;
    target.setInt32(targetAt + done, word, LITTLE_ENDIAN);
    done += 4;
  }
  return done;
}

/** Whether the bytes at `at` are those of `pattern` from `start` to `end`. */
export function matchesWords(
  bytes: Uint8Array,
  at: number,
  pattern: DataView,
  start: number,
  end: number,
): boolean {
  const words = wordsOf(bytes);
  const size = end - start;
  if (at + size > words.byteLength) return false;
  if (size < 4) {
    for (let index = 0; index < size; index++)
      if (bytes[at + index] !== pattern.getUint8(start + index)) return false;
    return true;
  }
  // The last word may share bytes with the one before it.
  const last = size - 4;
  for (let index = 0; index < last; index += 4)
    if (words.getInt32(at + index, true) !== pattern.getInt32(start + index, true)) return false;
  return words.getInt32(at + last, true) === pattern.getInt32(start + last, true);
}
