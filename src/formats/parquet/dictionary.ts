/**
 * The dictionary of a column chunk: each value once, in PLAIN encoding, and the number of each value of a page.
 *
 * Values are taken from a page in PLAIN encoding, of four or eight bytes or behind their length, and are told apart by
 * their bytes: so -0 and 0 stay different values, as they are in the file.
 * Invariant: numbers are given in the order of first appearance, and never taken back.
 */
import { combineHash, hashBytes, mix32 } from '../../base/hash.ts';
import { ByteWriter } from '../byte-writer.ts';
import { textSize } from './extremes.ts';

/** More, and pages of plain values are as good. */
const VALUES_MAX = 32_768;
const BYTES_MAX = 512 * 1024;
const SEED = 0x70617271;

export class Dictionary {
  /** The values, in PLAIN encoding. */
  readonly values = new ByteWriter(1024);
  size = 0;
  readonly #width: number;
  /** Where each value begins; only for those of different lengths. */
  #starts = new Int32Array(256);
  /** Number of a value plus one; 0: free. */
  #slots = new Int32Array(1024);

  /** @param width  bytes of a value: 4, 8, or 0 for text */
  constructor(width: number) {
    this.#width = width;
  }

  get full(): boolean {
    return this.size > VALUES_MAX || this.values.length > BYTES_MAX;
  }

  /**
   * Writes the numbers of the first `count` values of a page to `numbers`. Stops early, and answers how many it has done, as
   * soon as more than `sizeMax` values are known.
   */
  number(page: ByteWriter, count: number, numbers: Int32Array, sizeMax: number): number {
    if (this.#width === 0) return this.#numberTexts(page.bytes, count, numbers, sizeMax);
    const words = new Int32Array(page.bytes.buffer, 0, page.bytes.length >> 2);
    return this.#numberWords(words, count, numbers, sizeMax);
  }

  #numberWords(words: Int32Array, count: number, numbers: Int32Array, sizeMax: number): number {
    const wide = this.#width === 8;
    const step = wide ? 2 : 1;
    let known = new Int32Array(this.values.bytes.buffer, 0, this.values.bytes.length >> 2);
    for (let index = 0, at = 0; index < count; index++, at += step) {
      const low = words[at] as number;
      const high = wide ? (words[at + 1] as number) : 0;
      const slots = this.#slots;
      const mask = slots.length - 1;
      let slot = (wide ? combineHash(mix32(low), high) : mix32(low)) & mask;
      for (;;) {
        const number = (slots[slot] as number) - 1;
        if (number < 0) {
          if (this.size >= sizeMax) return index;
          this.values.reserve(8);
          known = new Int32Array(this.values.bytes.buffer, 0, this.values.bytes.length >> 2);
          known[this.size * step] = low;
          if (wide) known[this.size * step + 1] = high;
          this.values.length += this.#width;
          numbers[index] = this.size;
          slots[slot] = ++this.size;
          if (this.size * 2 > slots.length) this.#grow();
          break;
        }
        if (known[number * step] === low && (!wide || known[number * step + 1] === high)) {
          numbers[index] = number;
          break;
        }
        slot = (slot + 1) & mask;
      }
    }
    return count;
  }

  #numberTexts(bytes: Uint8Array, count: number, numbers: Int32Array, sizeMax: number): number {
    let at = 0;
    for (let index = 0; index < count; index++) {
      const end = at + 4 + textSize(bytes, at);
      const slots = this.#slots;
      const mask = slots.length - 1;
      let slot = hashBytes(bytes, at + 4, end, SEED) & mask;
      for (;;) {
        const number = (slots[slot] as number) - 1;
        if (number < 0) {
          if (this.size >= sizeMax) return index;
          if (this.size + 1 >= this.#starts.length) {
            const starts = new Int32Array(this.#starts.length * 2);
            starts.set(this.#starts);
            this.#starts = starts;
          }
          this.#starts[this.size] = this.values.length;
          this.values.put(bytes.subarray(at, end));
          numbers[index] = this.size;
          slots[slot] = ++this.size;
          if (this.size * 2 > slots.length) this.#grow();
          break;
        }
        if (this.#isText(number, bytes, at, end)) {
          numbers[index] = number;
          break;
        }
        slot = (slot + 1) & mask;
      }
      at = end;
    }
    return count;
  }

  /** The lengths are compared with the bytes behind them. */
  #isText(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const known = this.values.bytes;
    const start = this.#starts[number] as number;
    if (start + to - from > this.values.length) return false;
    for (let at = from, other = start; at < to; at++, other++)
      if (bytes[at] !== known[other]) return false;
    return true;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    const { bytes } = this.values;
    const words = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
    for (let number = 0; number < this.size; number++) {
      let slot = this.#hashOf(number, words) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }

  #hashOf(number: number, words: Int32Array): number {
    if (this.#width === 4) return mix32(words[number] as number);
    if (this.#width === 8)
      return combineHash(mix32(words[number * 2] as number), words[number * 2 + 1] as number);
    const { bytes } = this.values;
    const start = this.#starts[number] as number;
    return hashBytes(bytes, start + 4, start + 4 + textSize(bytes, start), SEED);
  }
}
