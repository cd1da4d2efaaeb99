/**
 * SHA-256 (FIPS 180-4), for hash chains that others keep a value of: there a fast hash would not do. Synchronous and
 * without the platform, because the core waits for nothing; meant for kilobytes.
 */

/** The first 32 bits of the fractional part of `root` of the first `count` primes. */
function constants(count: number, root: (prime: number) => number): Int32Array {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++)
      if (candidate % divisor === 0) prime = false;
    if (prime) found.push(((root(candidate) % 1) * 4294967296) | 0);
  }
  return Int32Array.from(found);
}

const ROUNDS = constants(64, Math.cbrt);
const START = constants(8, Math.sqrt);

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** 64 hex digits. */
export function sha256(bytes: Uint8Array): string {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = START.slice();
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let word = 0; word < 16; word++) words[word] = view.getInt32(at + word * 4);
    compressSha256(state, words);
  }
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Folds one block, the first 16 of 64 `words`, into the state of SHA-256 or SHA-224; overwrites the other words. */
export function compressSha256(state: Int32Array, words: Int32Array): void {
  for (let word = 16; word < 64; word++) {
    const near = words[word - 15] as number;
    const far = words[word - 2] as number;
    const first = turn(near, 7) ^ turn(near, 18) ^ (near >>> 3);
    const second = turn(far, 17) ^ turn(far, 19) ^ (far >>> 10);
    words[word] = ((words[word - 16] as number) + first + (words[word - 7] as number) + second) | 0;
  }
  let [a, b, c, d, e, f, g, h] = [...state] as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let round = 0; round < 64; round++) {
    const upper = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + upper + choice + (ROUNDS[round] as number) + (words[round] as number)) | 0;
    const lower = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + lower + majority) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = ((state[index] as number) + word) | 0;
  });
}
