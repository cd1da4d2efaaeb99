/**
 * count(*) and count(x): rows, or rows where x is not NULL. An empty group counts 0. Invertible.
 * State: one BIGINT, the count.
 */
import type { Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { countColumn, grownFloat64, mergeCounts, mergeCountsOf } from './group-arrays.ts';
import { runCounts } from './run-sums.ts';

export class CountAccumulator implements Accumulator {
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
    const counts = this.#counts;
    const validity = args[0]?.validity ?? null;
    if (validity === null && retract === null) {
      for (let row = 0; row < rows; row++) {
        const group = groups[row] as number;
        if (group >= 0) counts[group] = (counts[group] as number) + 1;
      }
      return;
    }
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      counts[group] = (counts[group] as number) + (retract !== null && retract[row] === 1 ? -1 : 1);
    }
  }

  addRuns(
    { lo, hi }: { lo: Int32Array; hi: Int32Array },
    rows: number,
    args: readonly Column[],
    passes: Uint8Array | null,
  ): boolean {
    const before = runCounts(args[0]?.validity ?? null, rows, passes);
    for (let group = 0; group < lo.length; group++) {
      const [from, to] = [lo[group] as number, hi[group] as number];
      if (to > from)
        this.#counts[group] =
          (this.#counts[group] as number) + (before[to] as number) - (before[from] as number);
    }
    return true;
  }

  /** As `update` with arguments that are all there, of the rows that a filter lets through. */
  countPassing(groups: Int32Array, rows: number, passes: Uint8Array, from: number): void {
    const counts = this.#counts;
    let last = -1;
    let passed = 0;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group !== last) {
        if (last >= 0) counts[last] = (counts[last] as number) + passed;
        last = group;
        passed = 0;
      }
      passed += passes[from + row] as number;
    }
    if (last >= 0) counts[last] = (counts[last] as number) + passed;
  }

  /** As `update` with arguments that are all there, of those of some rows that have a bit. */
  countFlips(
    groups: Int32Array,
    rows: Int32Array,
    bits: Int32Array,
    bit: number,
    retract: Uint8Array | null,
  ): void {
    const counts = this.#counts;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number;
      const step = ((bits[row] as number) >> bit) & 1;
      const group = groups[row] as number;
      counts[group] =
        (counts[group] as number) + (retract !== null && retract[row] === 1 ? -step : step);
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0]);
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0], -1);
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#counts, groups, rows, (from as CountAccumulator).#counts, sources);
  }

  subtractGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    mergeCountsOf(this.#counts, groups, rows, (from as CountAccumulator).#counts, sources, -1);
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
