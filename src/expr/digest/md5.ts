/** MD5 of a range of bytes; for compatibility, not for secrecy. */
import { paddedMessage } from './padding.ts';

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
/** The first 32 bits of the fraction of |sin(i + 1)|. */
const TABLE = Int32Array.from({ length: 64 }, (_, index) =>
  Math.floor(Math.abs(Math.sin(index + 1)) * 4294967296),
);

/** Which word of a block round `index` takes. */
const wordOf = (index: number): number => {
  const round = index >> 4;
  if (round === 0) return index;
  return (round === 1 ? 5 * index + 1 : round === 2 ? 3 * index + 5 : 7 * index) & 15;
};
const WORDS = Uint8Array.from({ length: 64 }, (_, index) => wordOf(index));

const state = new Int32Array(4);

function mix(block: DataView, at: number): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const round = index >> 4;
    const f =
      round === 0
        ? (b & c) | (~b & d)
        : round === 1
          ? (d & b) | (~d & c)
          : round === 2
            ? b ^ c ^ d
            : c ^ (b | ~d);
    const word = block.getInt32(at + 4 * (WORDS[index] as number), true);
    const sum = (a + f + (TABLE[index] as number) + word) | 0;
    const shift = SHIFTS[(round << 2) | (index & 3)] as number;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
}

/** 16 bytes. */
export function md5(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const message = paddedMessage(bytes, from, to, 64, true);
  state.set([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]);
  for (let at = 0; at < message.byteLength; at += 64) mix(message, at);
  return new Uint8Array(state.slice().buffer);
}
