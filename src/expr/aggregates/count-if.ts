/** count_if(x) and regr_count(y, x): rows for which x is true; rows in which no argument is NULL. Invertible. State: the count. */
import type { BooleanColumn, Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { countColumn, grownFloat64, mergeCounts, mergeCountsOf } from './group-arrays.ts';

export class CountIfAccumulator implements Accumulator {
  readonly stateTypes = [INT64];
  readonly invertible = true;
  #counts: Float64Array = new Float64Array(0);
  #size = 0;

  resize(count: number): void {
    this.#counts = grownFloat64(this.#counts, count);
    if (count < this.#size) this.#counts.fill(0, count, this.#size);
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || !counts(args, row)) continue;
      const step = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#counts[group] = (this.#counts[group] as number) + step;
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0]);
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0], -1);
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#counts, groups, rows, (from as CountIfAccumulator).#counts, sources);
  }

  subtractGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#counts, groups, rows, (from as CountIfAccumulator).#counts, sources, -1);
  }

  stateColumns(groups: Int32Array): Column[] {
    return [countColumn(this.#counts, groups)];
  }

  results(groups: Int32Array): Column {
    return countColumn(this.#counts, groups);
  }

  bytes(): number {
    return this.#counts.byteLength;
  }
}

function counts(args: readonly Column[], row: number): boolean {
  for (const { validity } of args) if (validity !== null && !bitAt(validity, row)) return false;
  const [only] = args as readonly [Column];
  return args.length > 1 || bitAt((only as BooleanColumn).bits, row);
}
