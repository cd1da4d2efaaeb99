/**
 * The memory of one kernel, given out from bottom to top and taken back all at once.
 *
 * Growing detaches every view there is, so views are kept here alone and made anew in one place;
 * nobody holds one across a call of `reserve`, unless `generation` is still the same.
 */

const PAGE_BYTES = 65536;
/** Kernels read whole vectors, so there is always room behind what was given out. */
const SLACK_BYTES = 256;

export class KernelMemory {
  readonly #memory: WebAssembly.Memory;
  readonly #base: number;
  #top: number;
  /** Number of times that all views were made anew. */
  generation = 0;
  bytes: Uint8Array;
  words: Int32Array;

  constructor(memory: WebAssembly.Memory, base: number) {
    this.#memory = memory;
    this.#base = (base + 15) & ~15;
    this.#top = this.#base;
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Int32Array(memory.buffer);
  }

  /** Takes back everything. What lies there stays until someone writes over it. */
  reset(): void {
    this.#top = this.#base;
  }

  /** A pointer to `size` bytes, aligned to 16. They hold whatever was there before. */
  reserve(size: number): number {
    const pointer = this.#top;
    const end = (pointer + size + 15) & ~15;
    const missing = end + SLACK_BYTES - this.bytes.length;
    if (missing > 0) {
      // Half as much again, so that a memory that grows in small steps does not grow often.
      const wanted = Math.max(missing, this.bytes.length >> 1);
      this.#memory.grow(Math.ceil(wanted / PAGE_BYTES));
      this.bytes = new Uint8Array(this.#memory.buffer);
      this.words = new Int32Array(this.#memory.buffer);
      this.generation++;
    }
    this.#top = end;
    return pointer;
  }

  bytesAt(pointer: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  wordsAt(pointer: number, length: number): Int32Array {
    return new Int32Array(this.#memory.buffer, pointer, length);
  }

  floatsAt(pointer: number, length: number): Float64Array {
    return new Float64Array(this.#memory.buffer, pointer, length);
  }
}
