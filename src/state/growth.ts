/** Buffers that grow, and which values of a growing column are present. */
import { bitmapBytes, setBit } from '../batch/column.ts';

const ROOM_MIN = 16;

/** The size for a buffer of `have` that needs room for `need`. */
export const grown = (have: number, need: number): number => Math.max(have * 2, need, ROOM_MIN);

/** A longer copy. */
export function wider<T extends Int32Array | Float64Array | Uint8Array>(
  make: new (length: number) => T,
  from: T,
  length: number,
): T {
  const to = new make(length);
  to.set(from as never);
  return to;
}

/** Which values are present; costs nothing until the first NULL. */
export class Presence {
  #absent: Uint8Array | null = null;

  mark(index: number, present: boolean): void {
    if (this.#absent === null) {
      if (present) return;
      this.#absent = new Uint8Array(grown(0, index + 1));
    }
    if (index >= this.#absent.length) {
      if (present) return;
      this.#absent = wider(Uint8Array, this.#absent, grown(this.#absent.length, index + 1));
    }
    this.#absent[index] = present ? 0 : 1;
  }

  /** No value is absent, nor was one ever. */
  get isFull(): boolean {
    return this.#absent === null;
  }

  has(index: number): boolean {
    return this.#absent === null || this.#absent[index] !== 1;
  }

  gather(indices: Int32Array): Uint8Array | null {
    if (this.#absent === null) return null;
    const validity = new Uint8Array(bitmapBytes(indices.length));
    let absent = 0;
    for (let at = 0; at < indices.length; at++) {
      if (this.has(indices[at] as number)) setBit(validity, at);
      else absent++;
    }
    return absent === 0 ? null : validity;
  }

  bytes(): number {
    return this.#absent?.length ?? 0;
  }
}
