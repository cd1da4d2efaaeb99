/**
 * The watermark of several inputs that go on by themselves.
 *
 * Invariants: INV-43's merged value is the minimum over the inputs that are neither idle nor ended, and unknown until
 * each of them has reported; when all that have not ended are idle, the largest of theirs, for nobody is waited for
 * (as among the partitions of one source, so that it does not matter which subtask reads which); +Infinity only when
 * every input has ended: one that is merely idle may wake up, and its rows must not be late then.
 */

/** Microseconds; +Infinity: ended; null: not reported yet. */
type Input = { watermark: number | null; idle: boolean };

export class WatermarkMerge {
  readonly #inputs: Input[];

  constructor(inputs: number) {
    this.#inputs = Array.from({ length: inputs }, () => ({ watermark: null, idle: false }));
  }

  /** Notes what `input` said; a number that is lower than an earlier one only ends its idleness. */
  set(input: number, value: number | 'idle'): void {
    const { watermark } = this.#inputs[input] as Input;
    if (value === 'idle') this.#inputs[input] = { watermark, idle: true };
    else this.#inputs[input] = { watermark: Math.max(watermark ?? -Infinity, value), idle: false };
  }

  /** `idle`: nothing holds anybody back from here on. */
  get merged(): { watermark: number | null; idle: boolean } {
    const open = this.#inputs.filter(({ watermark }) => watermark !== Infinity);
    if (open.length === 0) return { watermark: Infinity, idle: false };
    let lowest = Infinity;
    let highest: number | null = null;
    let active = 0;
    for (const { watermark, idle } of open) {
      if (idle) {
        if (watermark !== null && watermark > (highest ?? -Infinity)) highest = watermark;
        continue;
      }
      if (watermark === null) return { watermark: null, idle: false };
      active++;
      if (watermark < lowest) lowest = watermark;
    }
    return active === 0 ? { watermark: highest, idle: true } : { watermark: lowest, idle: false };
  }
}
