/** What all column builders share: the count of rows, room for more, and the validity bitmap. */
import { bitmapBytes, setBit } from './column.ts';

export function grownBytes(bytes: Uint8Array, length: number): Uint8Array {
  const grown = new Uint8Array(length);
  grown.set(bytes);
  return grown;
}

export function grownWords(words: Int32Array, length: number): Int32Array {
  const grown = new Int32Array(length);
  grown.set(words);
  return grown;
}

export abstract class BuilderBase {
  length = 0;
  protected capacity: number;
  #validity: Uint8Array | null = null;

  constructor(capacity: number) {
    this.capacity = Math.max(8, capacity);
  }

  protected abstract grow(capacity: number): void;

  /** Makes room for one more value and records whether it is present. */
  protected claim(present: boolean): number {
    const index = this.length++;
    if (index === this.capacity) {
      this.capacity *= 2;
      this.grow(this.capacity);
    }
    if (present) {
      if (this.#validity !== null) this.#mark(this.#validity, index);
    } else {
      this.#clear(index);
    }
    return index;
  }

  #mark(validity: Uint8Array, index: number): void {
    let bits = validity;
    if (index >> 3 >= bits.length)
      this.#validity = bits = grownBytes(bits, bitmapBytes(this.capacity));
    setBit(bits, index);
  }

  #clear(index: number): void {
    if (this.#validity === null) {
      this.#validity = new Uint8Array(bitmapBytes(this.capacity));
      this.#validity.fill(255, 0, index >> 3);
      for (let at = index & ~7; at < index; at++) setBit(this.#validity, at);
    } else if (index >> 3 >= this.#validity.length) {
      this.#validity = grownBytes(this.#validity, bitmapBytes(this.capacity));
    }
  }

  protected release(): { length: number; validity: Uint8Array | null } {
    const released = {
      length: this.length,
      validity:
        this.#validity === null ? null : this.#validity.subarray(0, bitmapBytes(this.length)),
    };
    this.length = 0;
    this.#validity = null;
    return released;
  }
}
