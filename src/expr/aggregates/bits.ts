/**
 * bit_and, bit_or and bit_xor of whole numbers; NULL without values. bit_xor is invertible, since it is its own
 * inverse. State: BIGINT count of values, BIGINT bits.
 */
import { assert } from '../../base/assert.ts';
import type { Column, Int32Column, Int64Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT64 } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import { makeInt32, makeInt64 } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';
import { countColumn, grownFloat64, grownInt32, presentGroups } from './group-arrays.ts';

export type BitFunction = 'and' | 'or' | 'xor';

export class BitAccumulator implements Accumulator {
  readonly stateTypes = [INT64, INT64];
  readonly invertible: boolean;
  readonly #kind: BitFunction;
  readonly #type: SqlType;
  #words: Int32Array = new Int32Array(0);
  #counts: Float64Array = new Float64Array(0);
  #size = 0;

  constructor(kind: BitFunction, type: SqlType) {
    this.#kind = kind;
    this.#type = type;
    this.invertible = kind === 'xor';
  }

  resize(count: number): void {
    this.#words = grownInt32(this.#words, count * 2);
    this.#counts = grownFloat64(this.#counts, count);
    if (count < this.#size) this.#counts.fill(0, count, this.#size);
    for (let group = Math.min(count, this.#size); group < Math.max(count, this.#size); group++)
      this.#words.fill(this.#kind === 'and' ? -1 : 0, group * 2, group * 2 + 2);
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null || this.invertible, 'bit_and and bit_or take nothing back');
    const column = args[0] as Int32Column | Int64Column;
    const { validity } = column;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const low = (column.tag === 'int32' ? column.values[row] : column.words[2 * row]) as number;
      const high = column.tag === 'int32' ? low >> 31 : (column.words[2 * row + 1] as number);
      this.#fold(group, low, high);
      const step = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#counts[group] = (this.#counts[group] as number) + step;
    }
  }

  #fold(group: number, low: number, high: number): void {
    const words = this.#words;
    const at = 2 * group;
    const first = words[at] as number;
    const second = words[at + 1] as number;
    const kind = this.#kind;
    words[at] = kind === 'and' ? first & low : kind === 'or' ? first | low : first ^ low;
    words[at + 1] = kind === 'and' ? second & high : kind === 'or' ? second | high : second ^ high;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    const [counts, bits] = states as readonly [Int64Column, Int64Column];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const count = int64AsNumber(counts.words, row);
      // An empty group of bit_and has all bits set, which changes nothing.
      if (group < 0) continue;
      this.#counts[group] = (this.#counts[group] as number) + count;
      this.#fold(group, bits.words[2 * row] as number, bits.words[2 * row + 1] as number);
    }
  }

  #bits(groups: Int32Array): Int64Column {
    const column = makeInt64(groups.length, INT64);
    for (let row = 0; row < groups.length; row++) {
      column.words[2 * row] = this.#words[2 * (groups[row] as number)] as number;
      column.words[2 * row + 1] = this.#words[2 * (groups[row] as number) + 1] as number;
    }
    return column;
  }

  stateColumns(groups: Int32Array): Column[] {
    return [countColumn(this.#counts, groups), this.#bits(groups)];
  }

  results(groups: Int32Array): Column {
    const validity = presentGroups(groups, (group) => this.#counts[group] === 0);
    const bits = this.#bits(groups);
    if (this.#type.tag === 'int64') return { ...bits, validity };
    const column = makeInt32(groups.length);
    for (let row = 0; row < groups.length; row++)
      column.values[row] = bits.words[2 * row] as number;
    return { ...column, type: this.#type, validity };
  }

  bytes(): number {
    return this.#words.byteLength + this.#counts.byteLength;
  }
}
