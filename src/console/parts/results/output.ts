/** What one output of a query has shown so far: its newest rows, and of an updating one what they amount to. */
import { signal } from '@preact/signals';
import { changeOf, CurrentState, type StateRow } from '../../lib/current-state.ts';
import { exactRows } from '../../lib/exact-rows.ts';
import { type RingRow, RowRing } from '../../lib/row-ring.ts';
import type { OutputEvent } from '../../../api/stream/event-shapes.ts';

export type OutputColumn = { name: string; type: string };

/** Rows kept of each output. */
export const ROWS_KEPT = 10_000;

/** Faster than this nobody reads; drawing takes the time of everything else on the page. */
const DRAWS_APART_MS = 100;

const RATE_MICROS = 3_000_000;

export type Shown = {
  rows: readonly RingRow[];
  /** Of an updating output. */
  state: readonly StateRow[];
  /** All that came. */
  came: number;
  /** Skipped because this page was too slow. */
  dropped: number;
  perSecond: number;
};

const NOTHING: Shown = { rows: [], state: [], came: 0, dropped: 0, perSecond: 0 };

export class Output {
  readonly operatorId: string;
  readonly table: string;
  readonly updating: boolean;
  /** What the page draws; changes ten times a second at most. */
  readonly shown = signal<Shown>(NOTHING);
  #ring = new RowRing(ROWS_KEPT);
  readonly #state = new CurrentState();
  #dropped = 0;
  #generation = 0;
  #recent: { at: number; rows: number }[] = [];
  #waiting = false;
  #shownMs = -Infinity;

  constructor(operatorId: string, table: string, updating: boolean) {
    this.operatorId = operatorId;
    this.table = table;
    this.updating = updating;
  }

  take({ batch, timestamps, dropped, generation }: OutputEvent, nowMicros: number): void {
    if (generation > this.#generation) {
      // What was shown and not committed is done again: nothing shall stand here twice.
      this.#ring = new RowRing(ROWS_KEPT);
      this.#state.clear();
      this.#generation = generation;
    }
    this.#ring.push(batch, timestamps);
    this.#dropped += dropped;
    this.#recent.push({ at: nowMicros, rows: timestamps.length });
    if (this.updating)
      for (const row of exactRows(batch)) {
        const change = changeOf(row);
        if (change !== null) this.#state.apply(change);
      }
    this.#showSoon();
  }

  clear(): void {
    this.#ring.clear();
    this.#show();
  }

  /** The rate falls also when nothing comes. */
  tick(nowMicros: number): void {
    const before = this.shown.value.perSecond;
    const perSecond = this.#rate(nowMicros);
    if (before !== perSecond) this.shown.value = { ...this.shown.value, perSecond };
  }

  #rate(nowMicros: number): number {
    this.#recent = this.#recent.filter(({ at }) => at > nowMicros - RATE_MICROS);
    const rows = this.#recent.reduce((sum, { rows: some }) => sum + some, 0);
    return (rows * 1_000_000) / RATE_MICROS;
  }

  /** The first row at once, more of them together. */
  #showSoon(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    const wait = this.#shownMs + DRAWS_APART_MS - performance.now();
    setTimeout(() => requestAnimationFrame(() => this.#show()), Math.max(0, wait));
  }

  #show(): void {
    this.#waiting = false;
    this.#shownMs = performance.now();
    this.shown.value = {
      rows: this.#ring.rows,
      state: this.updating ? this.#state.rows : [],
      came: this.#ring.came,
      dropped: this.#dropped,
      perSecond: this.shown.value.perSecond,
    };
  }
}
