/**
 * The newest rows of a result, up to a number: older ones go, counted. Rows come in batches of JSON text, and are read only
 * when somebody looks at them, so that thousands a second cost nothing as long as they are out of sight. Pure.
 */
import { type Exact, type ExactRow, exactRows } from './exact-rows.ts';

class Batch {
  readonly #text: string;
  #rows: ExactRow[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  row(index: number): ExactRow {
    this.#rows ??= exactRows(this.#text);
    return this.#rows[index] ?? {};
  }
}

/** One row; its number counts from the first that came. */
export class RingRow {
  readonly number: number;
  /** When it came, in microseconds. */
  readonly time: number;
  readonly #batch: Batch;
  readonly #index: number;

  constructor(number: number, time: number, batch: Batch, index: number) {
    this.number = number;
    this.time = time;
    this.#batch = batch;
    this.#index = index;
  }

  get values(): ExactRow {
    return this.#batch.row(this.#index);
  }

  value(column: string): Exact | undefined {
    return this.values[column];
  }
}

export class RowRing {
  readonly #most: number;
  #rows: RingRow[] = [];
  #came = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** All that ever came, also those that have gone. */
  get came(): number {
    return this.#came;
  }

  /** Oldest first. Another array after every change, so that it can be compared; never changed itself. */
  get rows(): readonly RingRow[] {
    return this.#rows;
  }

  /** @param text  a JSON array of as many rows as there are times */
  push(text: string, times: readonly number[]): void {
    if (times.length === 0) return;
    const batch = new Batch(text);
    const added = times.map((time, index) => new RingRow(this.#came + index, time, batch, index));
    this.#came += added.length;
    const kept = Math.max(0, this.#most - added.length);
    this.#rows = [...(kept === 0 ? [] : this.#rows.slice(-kept)), ...added.slice(-this.#most)];
  }

  clear(): void {
    this.#rows = [];
  }
}
