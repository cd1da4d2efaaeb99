/** min and max of TEXT by code point order, and of BYTEA and JSON by their bytes. Not invertible. State: the value, NULL for an empty group. */
import { assert } from '../../base/assert.ts';
import type { Column, TextColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { TextSink, compareBytes } from '../text-sink.ts';
import { presentGroups } from './group-arrays.ts';

/** What a kept text costs besides its bytes. */
const ENTRY_BYTES = 96;

export class TextExtremeAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = false;
  readonly #direction: 1 | -1;
  /** The best text of each group as bytes of its own; null = empty group. */
  readonly #best: (Uint8Array | null)[] = [];
  #textBytes = 0;

  constructor(type: SqlType, largest: boolean) {
    this.stateTypes = [type];
    this.#direction = largest ? 1 : -1;
  }

  resize(count: number): void {
    while (this.#best.length > count) this.#textBytes -= this.#best.pop()?.length ?? 0;
    while (this.#best.length < count) this.#best.push(null);
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'min and max take nothing back');
    const { validity, offsets, bytes } = args[0] as TextColumn;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const from = offsets[row] as number;
      const to = offsets[row + 1] as number;
      const best = this.#best[group] as Uint8Array | null;
      if (
        best !== null &&
        compareBytes(bytes, from, to, best, 0, best.length) * this.#direction <= 0
      )
        continue;
      this.#best[group] = bytes.slice(from, to);
      this.#textBytes += to - from - (best?.length ?? 0);
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.update(groups, rows, states, null);
  }

  stateColumns(groups: Int32Array): Column[] {
    return [this.results(groups)];
  }

  results(groups: Int32Array): Column {
    const sink = new TextSink(groups.length, 16 * groups.length);
    for (let row = 0; row < groups.length; row++) {
      const best = this.#best[groups[row] as number] as Uint8Array | null;
      if (best !== null) sink.append(best, 0, best.length);
      sink.endRow();
    }
    const texts = sink.finish(presentGroups(groups, (group) => this.#best[group] === null));
    return { ...texts, type: this.stateTypes[0] as SqlType };
  }

  bytes(): number {
    return this.#textBytes + this.#best.length * ENTRY_BYTES;
  }
}
