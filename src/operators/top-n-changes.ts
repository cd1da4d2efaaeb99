/**
 * The changes of a Top-N's flush, in order, emitted in batches.
 *
 * Place in the walk: stage 6. Changes name rows by their slots; what is emitted is a copy.
 */
import { LIMITS } from '../base/limits.ts';
import { INT64 } from '../batch/types.ts';
import type { RowStore } from '../state/row-store.ts';
import type { Output } from './operator.ts';

export class TopNChanges {
  readonly #store: RowStore;
  readonly #ranked: boolean;
  #output: Output | null = null;
  /** Of each change; there is no room before the first flush. */
  #slots = new Int32Array(0);
  #ranks = new Int32Array(0);
  #retract = new Uint8Array(0);
  #count = 0;
  #retractions = 0;

  constructor(store: RowStore, ranked: boolean) {
    this.#store = store;
    this.#ranked = ranked;
  }

  begin(output: Output): void {
    this.#output = output;
    if (this.#slots.length > 0) return;
    this.#slots = new Int32Array(LIMITS.batchRowsDefault);
    this.#ranks = new Int32Array(LIMITS.batchRowsDefault);
    this.#retract = new Uint8Array(LIMITS.batchRowsDefault);
  }

  push(slot: number, rank: number, retract: 0 | 1): void {
    const at = this.#count++;
    this.#slots[at] = slot;
    this.#ranks[at] = rank;
    this.#retract[at] = retract;
    this.#retractions += retract;
    if (this.#count === this.#slots.length) this.#emit();
  }

  end(): void {
    this.#emit();
    this.#output = null;
  }

  #emit(): void {
    const rows = this.#count;
    if (rows === 0) return;
    const columns = this.#store.gather(this.#slots.subarray(0, rows));
    if (this.#ranked) {
      const words = new Int32Array(rows * 2);
      for (let at = 0; at < rows; at++) words[at * 2] = this.#ranks[at] as number;
      columns.push({ tag: 'int64', type: INT64, length: rows, validity: null, words });
    }
    const retract = this.#retractions === 0 ? null : this.#retract.slice(0, rows);
    this.#count = 0;
    this.#retractions = 0;
    this.#output?.emit({ rows, columns, eventTime: null, retract });
  }
}
