/** When generated rows are due: row i at `startMs + i / rate`. A late reader catches up at full speed. */
import { LIMITS } from '../base/limits.ts';

export class Pacer {
  readonly #perSecond: number;
  readonly #startMs: number;

  constructor(perSecond: number, startMs: number) {
    this.#perSecond = perSecond;
    this.#startMs = startMs;
  }

  /** Number of rows due by `nowMs`. */
  due(nowMs: number): number {
    if (nowMs < this.#startMs) return 0;
    return Math.floor(((nowMs - this.#startMs) * this.#perSecond) / 1000) + 1;
  }

  /** When to look again with `next` rows given out: not before a row is due, and not for every single one of many. */
  wakeMs(next: number, batchRows: number, nowMs: number): number {
    const firstMs = this.#startMs + (next / this.#perSecond) * 1000;
    const fullMs = this.#startMs + ((next + batchRows - 1) / this.#perSecond) * 1000;
    return Math.ceil(Math.max(firstMs, Math.min(fullMs, nowMs + LIMITS.lingerMs)));
  }
}
