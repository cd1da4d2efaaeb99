/**
 * Bytes ↔ text: `\x0aff`, as Postgres writes BYTEA, and base64, as JSON carries it.
 *
 * Failure: text that is no such form is refused; nothing is guessed.
 */

const HEX = '0123456789abcdef';

/** `\x` and two hex digits a byte. */
export function hexText(bytes: Uint8Array, from: number, to: number): string {
  let text = '\\x';
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    text += HEX.charAt(byte >> 4) + HEX.charAt(byte & 15);
  }
  return text;
}

/** The bytes of `\x0aff` or, without the backslash, of plain hex digits; null: neither. */
export function bytesOfHex(text: string): Uint8Array | null {
  const digits = text.startsWith('\\x') ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return null;
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

const ALPHABET = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
);
const VALUES = new Uint8Array(256).fill(255);
ALPHABET.forEach((letter, value) => {
  VALUES[letter] = value;
});
// The URL-safe alphabet is read as well.
VALUES[45] = 62;
VALUES[95] = 63;
const PAD = 61;

export const base64Size = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Writes `[from, to)` as padded base64 at `at`; the end position. */
export function writeBase64(
  target: Uint8Array,
  at: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  let position = at;
  for (let index = from; index < to; index += 3) {
    const left = to - index;
    const first = bytes[index] as number;
    const second = left > 1 ? (bytes[index + 1] as number) : 0;
    const third = left > 2 ? (bytes[index + 2] as number) : 0;
    target[position++] = ALPHABET[first >> 2] as number;
    target[position++] = ALPHABET[((first & 3) << 4) | (second >> 4)] as number;
    target[position++] = left > 1 ? (ALPHABET[((second & 15) << 2) | (third >> 6)] as number) : PAD;
    target[position++] = left > 2 ? (ALPHABET[third & 63] as number) : PAD;
  }
  return position;
}

/**
 * Reads base64 in `[from, to)`, padded or not, into `target` at `at`; the end position, or −1 when it
 * is no base64. Bits that belong to no byte must be zero, so that every value has one text.
 */
export function readBase64(
  bytes: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  let end = to;
  while (end > from && bytes[end - 1] === PAD && to - end < 2) end--;
  if (end !== to && (to - from) % 4 !== 0) return -1;
  const rest = (end - from) % 4;
  if (rest === 1) return -1;
  let position = at;
  let bits = 0;
  let held = 0;
  for (let index = from; index < end; index++) {
    const value = VALUES[bytes[index] as number] as number;
    if (value === 255) return -1;
    bits = (bits << 6) | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      target[position++] = (bits >> held) & 255;
      bits &= (1 << held) - 1;
    }
  }
  return bits === 0 ? position : -1;
}
