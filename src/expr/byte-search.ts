/**
 * Where a sequence of bytes occurs, for one that is looked for in many texts (Horspool 1980): the byte under the last place
 * tells how far the next place to look at may lie ahead, so most bytes of a text are not looked at.
 */

/** Steps are bytes; of a longer sequence they are shorter than they might be. */
const STEP_MAX = 255;

export class ByteSearch {
  readonly #wanted: Uint8Array;
  /** By the byte that lies where the last one should: how far to go on. */
  readonly #steps: Uint8Array;

  constructor(wanted: Uint8Array) {
    this.#wanted = wanted;
    const last = wanted.length - 1;
    this.#steps = new Uint8Array(256).fill(Math.min(Math.max(1, wanted.length), STEP_MAX));
    for (let at = 0; at < last; at++)
      this.#steps[wanted[at] as number] = Math.min(last - at, STEP_MAX);
  }

  /** The first place in [from, to) of `bytes`, or -1. */
  find(bytes: Uint8Array, from: number, to: number): number {
    const wanted = this.#wanted;
    const steps = this.#steps;
    const last = wanted.length - 1;
    if (last < 0) return from;
    const end = wanted[last] as number;
    let at = from + last;
    while (at < to) {
      const byte = bytes[at] as number;
      if (byte === end) {
        let back = 1;
        while (back <= last && bytes[at - back] === wanted[last - back]) back++;
        if (back > last) return at - last;
      }
      at += steps[byte] as number;
    }
    return -1;
  }
}
