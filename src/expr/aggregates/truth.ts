/**
 * bool_and and bool_or, by the numbers of true and of false values; NULL without values. Invertible.
 * State: two BIGINT, how many values are true and how many false.
 */
import type { BooleanColumn, Column } from '../../batch/column.ts';
import { bitAt, setBit } from '../../batch/column.ts';
import { INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { makeBoolean } from '../vector.ts';
import {
  countColumn,
  grownFloat64,
  mergeCounts,
  mergeCountsOf,
  presentGroups,
} from './group-arrays.ts';

export class TruthAccumulator implements Accumulator {
  readonly stateTypes = [INT64, INT64];
  readonly invertible = true;
  readonly #every: boolean;
  #trues: Float64Array = new Float64Array(0);
  #falses: Float64Array = new Float64Array(0);
  #size = 0;

  /** @param every  whether all values must be true, or one */
  constructor(every: boolean) {
    this.#every = every;
  }

  resize(count: number): void {
    this.#trues = grownFloat64(this.#trues, count);
    this.#falses = grownFloat64(this.#falses, count);
    if (count < this.#size) {
      this.#trues.fill(0, count, this.#size);
      this.#falses.fill(0, count, this.#size);
    }
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const { bits, validity } = args[0] as BooleanColumn;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const counts = bitAt(bits, row) ? this.#trues : this.#falses;
      counts[group] = (counts[group] as number) + (retract !== null && retract[row] === 1 ? -1 : 1);
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#trues, groups, rows, states[0]);
    mergeCounts(this.#falses, groups, rows, states[1]);
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#trues, groups, rows, states[0], -1);
    mergeCounts(this.#falses, groups, rows, states[1], -1);
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#trues, groups, rows, (from as TruthAccumulator).#trues, sources);
    mergeCountsOf(this.#falses, groups, rows, (from as TruthAccumulator).#falses, sources);
  }

  subtractGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#trues, groups, rows, (from as TruthAccumulator).#trues, sources, -1);
    mergeCountsOf(this.#falses, groups, rows, (from as TruthAccumulator).#falses, sources, -1);
  }

  stateColumns(groups: Int32Array): Column[] {
    return [countColumn(this.#trues, groups), countColumn(this.#falses, groups)];
  }

  results(groups: Int32Array): Column {
    const none = (group: number): boolean => this.#trues[group] === 0 && this.#falses[group] === 0;
    const column = makeBoolean(groups.length, presentGroups(groups, none));
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const isTrue = this.#every ? this.#falses[group] === 0 : (this.#trues[group] as number) > 0;
      if (isTrue) setBit(column.bits, row);
    }
    return column;
  }

  bytes(): number {
    return this.#trues.byteLength + this.#falses.byteLength;
  }
}
