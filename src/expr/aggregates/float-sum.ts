/**
 * sum and avg of DOUBLE, with the rounding error of each addition carried along (Neumaier), so that
 * the result is nearly that of exact arithmetic.
 *
 * Not guaranteed: bit-equal results for different orders of rows or merges, and after a retraction a
 * residue of the order of the last place may remain (a group that becomes empty is exactly empty).
 * NaN and the infinities are counted apart, so taking one back works.
 * State: BIGINT count of values; DOUBLE sum and correction of the finite ones; BIGINT counts of NaN,
 * Infinity and -Infinity.
 */
import type { Column, Float64Column, Int64Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import { FLOAT64, INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { makeFloat64 } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';
import { countColumn, grownFloat64, presentGroups } from './group-arrays.ts';

/** Fields of a group in the flat array. */
const WIDTH = 6;
const COUNT = 0;
const SUM = 1;
const CORRECTION = 2;
const NAN = 3;
const POSITIVE = 4;
const NEGATIVE = 5;
const COUNTS = [COUNT, NAN, POSITIVE, NEGATIVE];

export class FloatSumAccumulator implements Accumulator {
  readonly stateTypes = [INT64, FLOAT64, FLOAT64, INT64, INT64, INT64];
  readonly invertible = true;
  readonly #mean: boolean;
  #fields: Float64Array = new Float64Array(0);
  #size = 0;

  constructor(kind: 'sum' | 'avg') {
    this.#mean = kind === 'avg';
  }

  resize(count: number): void {
    this.#fields = grownFloat64(this.#fields, count * WIDTH);
    if (count < this.#size) this.#fields.fill(0, count * WIDTH, this.#size * WIDTH);
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const { validity, values } = args[0] as Float64Column;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#add(group * WIDTH, values[row] as number, direction);
    }
  }

  #bump(at: number, by: number): void {
    this.#fields[at] = (this.#fields[at] as number) + by;
  }

  #add(at: number, value: number, direction: 1 | -1): void {
    this.#bump(at + COUNT, direction);
    if (value - value === 0) this.#addFinite(at, value * direction);
    else this.#bump(at + (value !== value ? NAN : value > 0 ? POSITIVE : NEGATIVE), direction);
    if (this.#fields[at + COUNT] === 0 && direction === -1) {
      this.#fields[at + SUM] = 0;
      this.#fields[at + CORRECTION] = 0;
    }
  }

  #addFinite(at: number, value: number): void {
    const fields = this.#fields;
    const sum = fields[at + SUM] as number;
    const next = sum + value;
    const lost = Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    fields[at + SUM] = next;
    fields[at + CORRECTION] = (fields[at + CORRECTION] as number) + lost;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    const sums = (states[1] as Float64Column).values;
    const corrections = (states[2] as Float64Column).values;
    const counts = [states[0], states[3], states[4], states[5]] as readonly Int64Column[];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const at = group * WIDTH;
      for (let part = 0; part < COUNTS.length; part++)
        this.#bump(
          at + (COUNTS[part] as number),
          int64AsNumber((counts[part] as Int64Column).words, row),
        );
      this.#addFinite(at, sums[row] as number);
      this.#bump(at + CORRECTION, corrections[row] as number);
    }
  }

  #column(groups: Int32Array, field: number): Column {
    const column = makeFloat64(groups.length);
    for (let row = 0; row < groups.length; row++)
      column.values[row] = this.#fields[(groups[row] as number) * WIDTH + field] as number;
    return column;
  }

  #counts(groups: Int32Array, field: number): Column {
    const counts = (this.#column(groups, field) as Float64Column).values;
    return countColumn(counts, Int32Array.from(counts.keys()));
  }

  stateColumns(groups: Int32Array): Column[] {
    return [
      this.#counts(groups, COUNT),
      this.#column(groups, SUM),
      this.#column(groups, CORRECTION),
      this.#counts(groups, NAN),
      this.#counts(groups, POSITIVE),
      this.#counts(groups, NEGATIVE),
    ];
  }

  #total(at: number): number {
    const fields = this.#fields;
    const positive = (fields[at + POSITIVE] as number) > 0;
    const negative = (fields[at + NEGATIVE] as number) > 0;
    if ((fields[at + NAN] as number) > 0 || (positive && negative)) return NaN;
    if (positive) return Infinity;
    if (negative) return -Infinity;
    const sum = fields[at + SUM] as number;
    // A sum that left the finite range has no meaningful correction.
    return Number.isFinite(sum) ? sum + (fields[at + CORRECTION] as number) : sum;
  }

  results(groups: Int32Array): Column {
    const column = makeFloat64(groups.length);
    for (let row = 0; row < groups.length; row++) {
      const at = (groups[row] as number) * WIDTH;
      const total = this.#total(at);
      column.values[row] = this.#mean ? total / (this.#fields[at + COUNT] as number) : total;
    }
    column.validity = presentGroups(groups, (group) => this.#fields[group * WIDTH + COUNT] === 0);
    return column;
  }

  bytes(): number {
    return this.#fields.byteLength;
  }
}
