/**
 * The last rows of one preview sink on one host, for whoever watches. Not durable, not exactly once.
 *
 * Batches are kept as the bytes they are and made into texts only when somebody reads: a sink that nobody watches costs a
 * copy. What is kept is bounded by rows and by bytes; the newest batch is kept whole in any case.
 */
import { must } from '../base/assert.ts';
import type { PreviewPage } from './env.ts';

const PAGE_ROWS_MAX = 2_000;
const PAGE_CHARACTERS_MAX = 256 * 1024;
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

type Chunk = { first: number; count: number; bytes: Uint8Array; lines: string[] | null };

export class PreviewTail {
  readonly #kept: number;
  readonly #chunks: Chunk[] = [];
  #bytes = 0;
  /** Number of the next row. */
  #end = 0;
  #waiting: (() => void)[] = [];

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** @param bytes `count` NDJSON rows */
  push(bytes: Uint8Array, count: number): void {
    if (count === 0) return;
    this.#chunks.push({ first: this.#end, count, bytes: bytes.slice(), lines: null });
    this.#bytes += bytes.length;
    this.#end += count;
    this.#forget();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #forget(): void {
    while (this.#chunks.length > 1) {
      const { count, first, bytes } = must(this.#chunks[0], 'oldest chunk');
      const enough = this.#end - (first + count) >= this.#kept;
      if (!enough && this.#bytes <= KEPT_BYTES_MAX) return;
      this.#chunks.shift();
      this.#bytes -= bytes.length;
    }
  }

  /** Number of the oldest row that is shown. */
  get #first(): number {
    return Math.max(this.#chunks[0]?.first ?? this.#end, this.#end - this.#kept);
  }

  /** Rows numbered `after` and up; waits up to `waitMs` for the first. A negative `after` means the oldest kept. */
  async read(after: number, waitMs: number): Promise<PreviewPage> {
    if (after >= this.#end && waitMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    const first = Math.max(this.#first, Math.min(Math.max(after, 0), this.#end));
    const rows: string[] = [];
    let characters = 0;
    for (const chunk of this.#chunks) {
      if (chunk.first + chunk.count <= first) continue;
      const lines = linesOf(chunk);
      for (let at = Math.max(0, first - chunk.first); at < lines.length; at++) {
        const row = lines[at] as string;
        characters += row.length;
        const full = rows.length === PAGE_ROWS_MAX || characters > PAGE_CHARACTERS_MAX;
        if (full && rows.length > 0) return { first, next: first + rows.length, rows };
        rows.push(row);
      }
    }
    return { first, next: first + rows.length, rows };
  }
}

function linesOf(chunk: Chunk): string[] {
  if (chunk.lines === null) {
    chunk.lines = new TextDecoder().decode(chunk.bytes).split('\n');
    if (chunk.lines.at(-1) === '') chunk.lines.pop();
  }
  return chunk.lines;
}
