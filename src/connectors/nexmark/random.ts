/**
 * The seeded randomness of the Nexmark data: xoshiro128** with fixed starting words, and the derived draws.
 *
 * Invariants: equal seeds give equal sequences on every machine; the four state words are all there is, so an offset
 * that carries them resumes the sequence exactly. Changing any draw changes every row after it (docs: the data set is
 * pinned by hash in the tests).
 */
export type NexmarkRandomState = readonly [number, number, number, number];

export class NexmarkRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    this.#a = (0x12345678 ^ seed) >>> 0;
    this.#b = 0x9abcdef0 | 0;
    this.#c = 0xdeadbeef | 0;
    this.#d = 0x0badf00d;
  }

  get state(): NexmarkRandomState {
    return [this.#a, this.#b, this.#c, this.#d];
  }

  set state(words: NexmarkRandomState) {
    [this.#a, this.#b, this.#c, this.#d] = words;
  }

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const mixed = Math.imul(this.#b, 5);
    const result = Math.imul((mixed << 7) | (mixed >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor((this.uint32() / 4294967296) * bound);
  }

  /** A number in [0, 1), 53 bits, from two draws. */
  fraction(): number {
    const high = this.uint32() * 2097152;
    return (high + (this.uint32() >>> 11)) / 9007199254740992;
  }

  /** A price in cents between 100 and 10^8, uniform in its logarithm. */
  price(): number {
    return Math.round(Math.pow(10, this.fraction() * 6) * 100);
  }
}

const LETTER_A = 97;
const SPACE = 32;

/** Bytes that are rewritten for each row: `bytes[start, end)`. */
export class Scratch {
  readonly bytes: Uint8Array;
  start = 0;
  end = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  get size(): number {
    return this.end - this.start;
  }

  clear(): void {
    this.start = 0;
    this.end = 0;
  }

  put(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  putByte(byte: number): void {
    this.bytes[this.end++] = byte;
  }

  /** Appends 3 to `lengthMax` - 1 letters, about every 13th a `separator`; spaces at the ends are trimmed away. */
  putWord(random: NexmarkRandom, lengthMax: number, separator: number): void {
    const from = this.end;
    let length = 3 + random.below(lengthMax - 3);
    while (length-- > 0)
      this.putByte(random.below(13) === 0 ? separator : LETTER_A + random.below(26));
    if (separator === SPACE) this.#trim(from);
  }

  #trim(from: number): void {
    while (this.end > from && this.bytes[this.end - 1] === SPACE) this.end--;
    let first = from;
    while (first < this.end && this.bytes[first] === SPACE) first++;
    if (first === from) return;
    this.bytes.copyWithin(from, first, this.end);
    this.end -= first - from;
  }
}
