/**
 * sum and avg of INTERVAL: months, days and microseconds are added each for itself, exactly.
 *
 * Microseconds are kept as two sums, of the high words and of the low ones, so that no order of rows
 * overflows on the way. State: BIGINT count of values, then the four sums. Only a result can be too
 * long: NUMERIC_OVERFLOW naming the call.
 */
import type { Column, IntervalColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { intervalFits, writeIntervalWords } from '../../batch/interval.ts';
import type { IntervalParts } from '../../batch/interval.ts';
import { INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { divideInterval } from '../functions/interval-scale.ts';
import type { RowErrors } from '../row-errors.ts';
import { Outcome, makeInterval } from '../vector.ts';
import { countColumn, grownFloat64, mergeCounts, presentGroups } from './group-arrays.ts';

export class IntervalSumAccumulator implements Accumulator {
  readonly stateTypes = [INT64, INT64, INT64, INT64, INT64];
  readonly invertible = true;
  readonly #mean: boolean;
  readonly #label: string;
  /** Count, months, days, and the sums of the high and of the low words. */
  #sums: Float64Array[] = Array.from({ length: 5 }, () => new Float64Array(0));
  #size = 0;

  constructor(kind: 'sum' | 'avg', label: string) {
    this.#mean = kind === 'avg';
    this.#label = label;
  }

  resize(count: number): void {
    this.#sums = this.#sums.map((sums) => {
      const grown = grownFloat64(sums, count);
      if (count < this.#size) grown.fill(0, count, this.#size);
      return grown;
    });
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const { words, validity } = args[0] as IntervalColumn;
    const counts = this.#sums[0] as Float64Array;
    const months = this.#sums[1] as Float64Array;
    const days = this.#sums[2] as Float64Array;
    const highs = this.#sums[3] as Float64Array;
    const lows = this.#sums[4] as Float64Array;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const sign = retract !== null && retract[row] === 1 ? -1 : 1;
      counts[group] = (counts[group] as number) + sign;
      months[group] = (months[group] as number) + sign * (words[4 * row] as number);
      days[group] = (days[group] as number) + sign * (words[4 * row + 1] as number);
      lows[group] = (lows[group] as number) + sign * ((words[4 * row + 2] as number) >>> 0);
      highs[group] = (highs[group] as number) + sign * (words[4 * row + 3] as number);
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#sums.forEach((sums, at) => mergeCounts(sums, groups, rows, states[at]));
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#sums.forEach((sums, at) => mergeCounts(sums, groups, rows, states[at], -1));
  }

  stateColumns(groups: Int32Array): Column[] {
    return this.#sums.map((sums) => countColumn(sums, groups));
  }

  #total(group: number): IntervalParts {
    const [, months = 0, days = 0, highs = 0, lows = 0] = this.#sums.map((sums) => sums[group]);
    return { months, days, micros: BigInt(highs) * 4294967296n + BigInt(lows) };
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const counts = this.#sums[0] as Float64Array;
    const result = makeInterval(groups.length);
    result.validity = presentGroups(groups, (group) => counts[group] === 0);
    const outcome = new Outcome([result], groups.length, errors);
    for (let row = 0; row < groups.length; row++) {
      if (!outcome.has(row)) continue;
      const group = groups[row] as number;
      const total = this.#total(group);
      const count = this.#mean ? (counts[group] as number) : 1;
      const parts = count === 1 ? total : divideInterval(total, count);
      if (intervalFits(parts)) writeIntervalWords(result.words, 4 * row, parts);
      else outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${this.#label} does not fit INTERVAL`);
    }
    result.validity = outcome.validity;
    return result;
  }

  bytes(): number {
    return this.#sums.reduce((sum, sums) => sum + sums.byteLength, 0);
  }
}
