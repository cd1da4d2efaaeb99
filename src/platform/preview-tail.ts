/** The last rows of one preview sink on one host, for whoever watches. Not durable, not exactly once. */
import type { PreviewPage } from './env.ts';

const PAGE_ROWS_MAX = 500;

export class PreviewTail {
  readonly #kept: number;
  #rows: string[] = [];
  /** Number of the oldest kept row. */
  #first = 0;
  #waiting: (() => void)[] = [];

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** @param bytes `count` NDJSON rows */
  push(bytes: Uint8Array, count: number): void {
    if (count === 0) return;
    const lines = new TextDecoder().decode(bytes).split('\n');
    if (lines.at(-1) === '') lines.pop();
    this.#rows.push(...lines);
    const excess = this.#rows.length - this.#kept;
    if (excess > 0) {
      this.#rows.splice(0, excess);
      this.#first += excess;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Rows numbered `after` and up; waits up to `waitMs` for the first. A negative `after` means the oldest kept. */
  async read(after: number, waitMs: number): Promise<PreviewPage> {
    if (after >= this.#first + this.#rows.length && waitMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    const end = this.#first + this.#rows.length;
    const first = Math.max(this.#first, Math.min(Math.max(after, 0), end));
    const rows = this.#rows.slice(first - this.#first, first - this.#first + PAGE_ROWS_MAX);
    return { first, next: first + rows.length, rows };
  }
}
