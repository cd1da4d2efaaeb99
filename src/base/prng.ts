/** A small seeded generator (xoshiro128**), the only randomness of the core. */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** Any number or text is a seed; equal seeds give equal sequences. */
  constructor(seed: number | string) {
    let h = 0x9e3779b9;
    for (const char of String(seed)) h = Math.imul(h ^ char.charCodeAt(0), 0x85ebca6b) ^ (h >>> 13);
    const next = (): number => {
      h = (h + 0x6d2b79f5) | 0;
      let t = Math.imul(h ^ (h >>> 15), 1 | h);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return (t ^ (t >>> 14)) >>> 0;
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next() | 1;
  }

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const mixed = Math.imul(this.#b, 5);
    const result = Math.imul((mixed << 7) | (mixed >>> 25), 9) >>> 0;
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor((this.uint32() / 4294967296) * bound);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.uint32() / 4294967296 < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
