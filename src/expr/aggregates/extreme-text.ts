/** min and max of TEXT by code point order, and of BYTEA and JSON by their bytes. Not invertible. State: the value, NULL for an empty group. */
import { assert } from '../../base/assert.ts';
import type { Column, TextColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { allGroups } from '../../state/group-index.ts';
import { TextStore } from '../../state/text-store.ts';
import type { Accumulator } from '../accumulator.ts';
import { grownBytes, presentGroups } from './group-arrays.ts';

export class TextExtremeAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = false;
  readonly #direction: 1 | -1;
  readonly #type: SqlType;
  /** The best text of each group. */
  #best: TextStore;
  /** 1: the group has one. */
  #has: Uint8Array = new Uint8Array(0);

  constructor(type: SqlType, largest: boolean) {
    this.stateTypes = [type];
    this.#type = type;
    this.#direction = largest ? 1 : -1;
    this.#best = new TextStore(type);
  }

  resize(count: number): void {
    if (count < this.#best.length) this.#keepFirst(count);
    this.#best.reach(count);
    this.#has = grownBytes(this.#has, count);
  }

  #keepFirst(count: number): void {
    const kept = new TextStore(this.#type);
    const groups = allGroups(count);
    kept.put(groups, this.#best.gather(groups), groups, count);
    this.#has.fill(0, count);
    this.#best = kept;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'min and max take nothing back');
    const column = args[0] as TextColumn;
    const { validity, offsets, bytes } = column;
    const best = this.#best;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      if (this.#has[group] === 1) {
        const order = best.compareBytes(
          group,
          bytes,
          offsets[row] as number,
          offsets[row + 1] as number,
        );
        if (order * this.#direction >= 0) continue;
      }
      this.#has[group] = 1;
      best.set(group, column, row);
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.update(groups, rows, states, null);
  }

  stateColumns(groups: Int32Array): Column[] {
    return [this.results(groups)];
  }

  results(groups: Int32Array): Column {
    const validity = presentGroups(groups, (group) => this.#has[group] !== 1);
    return { ...this.#best.gather(groups), validity };
  }

  bytes(): number {
    return this.#best.bytes() + this.#has.length;
  }
}
