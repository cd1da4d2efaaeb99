/**
 * Which of some constant texts a text is: what `IN ('a', 'b')` and `CASE x WHEN 'a' THEN … WHEN 'b' THEN …` ask of every row.
 *
 * A hash of the size and of three bytes leads to the few choices that may be it. Choices that these bytes do not tell apart
 * are found by a hash of all their bytes.
 */

/** Choices under one hash, of texts that differ in what is hashed. */
const CHAIN_MAX = 4;
const FACTOR = 0x01000193;

export class TextChoices {
  readonly #texts: readonly Uint8Array[];
  /** The first choice under a hash, and the next one under the same; -1: none. */
  readonly #heads: Int32Array;
  readonly #nexts: Int32Array;
  readonly #mask: number;
  readonly #samples: boolean;

  /** @param texts  of one that stands there twice the first counts */
  constructor(texts: readonly Uint8Array[]) {
    this.#texts = texts;
    this.#mask = (16 << Math.max(0, 32 - Math.clz32(texts.length >> 2))) - 1;
    this.#heads = new Int32Array(this.#mask + 1).fill(-1);
    this.#nexts = new Int32Array(texts.length).fill(-1);
    this.#samples = true;
    if (this.#insertAll() <= CHAIN_MAX) return;
    this.#samples = false;
    this.#heads.fill(-1);
    this.#nexts.fill(-1);
    this.#insertAll();
  }

  /** The length of the longest chain. */
  #insertAll(): number {
    let longest = 0;
    for (const [choice, text] of this.#texts.entries()) {
      if (this.find(text, 0, text.length) >= 0) continue;
      const head = this.#hash(text, 0, text.length) & this.#mask;
      let length = 1;
      let last = -1;
      for (let at = this.#heads[head] as number; at >= 0; at = this.#nexts[at] as number) {
        last = at;
        length++;
      }
      if (last < 0) this.#heads[head] = choice;
      else this.#nexts[last] = choice;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  #hash(bytes: Uint8Array, from: number, to: number): number {
    const size = to - from;
    if (size === 0) return 0;
    let hash = size;
    if (this.#samples)
      hash +=
        (bytes[from] as number) * 7 +
        (bytes[from + (size >> 1)] as number) * 3 +
        (bytes[to - 1] as number);
    else {
      for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), FACTOR);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  /** The choice that bytes [from, to) are, or -1. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const size = to - from;
    let choice = this.#heads[this.#hash(bytes, from, to) & this.#mask] as number;
    while (choice >= 0) {
      const text = this.#texts[choice] as Uint8Array;
      if (text.length === size) {
        let same = 0;
        while (same < size && text[same] === bytes[from + same]) same++;
        if (same === size) return choice;
      }
      choice = this.#nexts[choice] as number;
    }
    return -1;
  }
}
