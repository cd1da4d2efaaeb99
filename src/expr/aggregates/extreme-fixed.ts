/**
 * min and max of values of fixed width: BOOLEAN, numbers, dates, times, moments and intervals.
 *
 * Order is that of comparisons: NaN is the largest DOUBLE. Not invertible. State: the value, NULL for
 * an empty group. A value is kept as 1, 2 or 4 words; a DOUBLE as the bits of a Float64Array.
 */
import { assert } from '../../base/assert.ts';
import type { Column, Int64Column } from '../../batch/column.ts';
import { bitAt, bitmapBytes, setBit } from '../../batch/column.ts';
import { gatherWords } from '../../batch/index-run.ts';
import { compareIntervals } from '../../batch/interval.ts';
import { layoutOf } from '../../batch/types.ts';
import type { SqlType } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { DecimalType } from '../functions/arithmetic-decimal.ts';
import { makeDecimal, makeInt64 } from '../vector.ts';
import { compareDecimal, compareInt64, compareUint64 } from '../wide.ts';
import { grownBytes, grownFloat64, grownInt32, presentGroups } from './group-arrays.ts';

type Compare = (
  left: Int32Array,
  leftIndex: number,
  right: Int32Array,
  rightIndex: number,
) => number;

const compareInt32: Compare = (left, leftIndex, right, rightIndex) =>
  (left[leftIndex] as number) - (right[rightIndex] as number);

/** Values as words: booleans become 0 and 1. */
function wordsOf(column: Column, rows: number): Int32Array {
  switch (column.tag) {
    case 'boolean': {
      const words = new Int32Array(rows);
      for (let row = 0; row < rows; row++) words[row] = bitAt(column.bits, row) ? 1 : 0;
      return words;
    }
    case 'int32':
      return column.values;
    case 'int64':
    case 'timestamp':
    case 'decimal':
    case 'interval':
      return column.words;
    default:
      assert(false, 'a type of fixed-width words');
  }
}

function widthOf(type: SqlType): 1 | 2 | 4 {
  const layout = layoutOf(type);
  if (layout === 'boolean' || layout === 'int32') return 1;
  return layout === 'decimal' || layout === 'interval' ? 4 : 2;
}

function comparisonOf(type: SqlType): Compare {
  if (type.tag === 'uint64') return compareUint64;
  if (type.tag === 'interval')
    return (left, at, right, other) => compareIntervals(left, at * 4, right, other * 4);
  const width = widthOf(type);
  return width === 1 ? compareInt32 : width === 2 ? compareInt64 : compareDecimal;
}

export class WordExtremeAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = false;
  readonly #type: SqlType;
  readonly #direction: 1 | -1;
  readonly #width: 1 | 2 | 4;
  readonly #compare: Compare;
  #words: Int32Array = new Int32Array(0);
  #filled: Uint8Array = new Uint8Array(0);
  #size = 0;

  constructor(type: SqlType, largest: boolean) {
    this.#type = type;
    this.stateTypes = [type];
    this.#direction = largest ? 1 : -1;
    this.#width = widthOf(type);
    this.#compare = comparisonOf(type);
  }

  resize(count: number): void {
    this.#words = grownInt32(this.#words, count * this.#width);
    this.#filled = grownBytes(this.#filled, count);
    if (count < this.#size) {
      this.#words.fill(0, count * this.#width, this.#size * this.#width);
      this.#filled.fill(0, count, this.#size);
    }
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'min and max take nothing back');
    const column = args[0] as Column;
    if (this.#width === 2 && this.#type.tag !== 'uint64') {
      this.#updatePairs(groups, rows, column as Int64Column);
      return;
    }
    const { validity } = column;
    const words = wordsOf(column, rows);
    const width = this.#width;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      if (
        this.#filled[group] === 1 &&
        this.#compare(words, row, this.#words, group) * this.#direction <= 0
      )
        continue;
      this.#filled[group] = 1;
      for (let word = 0; word < width; word++)
        this.#words[group * width + word] = words[row * width + word] as number;
    }
  }

  /** The most common width, with the comparison in the loop. */
  #updatePairs(groups: Int32Array, rows: number, { validity, words }: Int64Column): void {
    const best = this.#words;
    const filled = this.#filled;
    const largest = this.#direction === 1;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const low = words[2 * row] as number;
      const high = words[2 * row + 1] as number;
      if (filled[group] === 1) {
        const bestHigh = best[2 * group + 1] as number;
        const bestLow = (best[2 * group] as number) >>> 0;
        const isBetter =
          high === bestHigh
            ? largest
              ? low >>> 0 > bestLow
              : low >>> 0 < bestLow
            : high > bestHigh === largest;
        if (!isBetter) continue;
      } else filled[group] = 1;
      best[2 * group] = low;
      best[2 * group + 1] = high;
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.update(groups, rows, states, null);
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    const other = from as WordExtremeAccumulator;
    const words = this.#words;
    const others = other.#words;
    const width = this.#width;
    for (let row = 0; row < rows; row++) {
      const source = sources[row] as number;
      if (source < 0 || other.#filled[source] !== 1) continue;
      const group = groups[row] as number;
      if (
        this.#filled[group] === 1 &&
        this.#compare(others, source, words, group) * this.#direction <= 0
      )
        continue;
      this.#filled[group] = 1;
      for (let word = 0; word < width; word++)
        words[group * width + word] = others[source * width + word] as number;
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    return [this.results(groups)];
  }

  results(groups: Int32Array): Column {
    const length = groups.length;
    const width = this.#width;
    const words = gatherWords(this.#words, groups, width);
    const validity = presentGroups(groups, (group) => this.#filled[group] !== 1);
    const type = this.#type;
    if (type.tag === 'decimal')
      return { ...makeDecimal(length, type as DecimalType), words, validity };
    if (width === 2) return { ...makeInt64(length, type), words, validity };
    if (type.tag === 'interval') return { tag: 'interval', type, length, validity, words };
    if (layoutOf(type) === 'int32') return { tag: 'int32', type, length, validity, values: words };
    const bits = new Uint8Array(bitmapBytes(length));
    for (let row = 0; row < length; row++) if (words[row] === 1) setBit(bits, row);
    return { tag: 'boolean', type, length, validity, bits };
  }

  bytes(): number {
    return this.#words.byteLength + this.#filled.byteLength;
  }
}

export class FloatExtremeAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = false;
  readonly #type: SqlType;
  readonly #largest: boolean;
  #values: Float64Array = new Float64Array(0);
  #filled: Uint8Array = new Uint8Array(0);
  #size = 0;

  constructor(type: SqlType, largest: boolean) {
    this.#type = type;
    this.stateTypes = [type];
    this.#largest = largest;
  }

  resize(count: number): void {
    this.#values = grownFloat64(this.#values, count);
    this.#filled = grownBytes(this.#filled, count);
    if (count < this.#size) {
      this.#values.fill(0, count, this.#size);
      this.#filled.fill(0, count, this.#size);
    }
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    assert(retract === null, 'min and max take nothing back');
    const column = args[0] as Column;
    assert(column.tag === 'float64', 'a DOUBLE column');
    const { validity, values } = column;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      this.#take(group, values[row] as number);
    }
  }

  #take(group: number, value: number): void {
    if (this.#filled[group] === 1) {
      const best = this.#values[group] as number;
      // NaN comes last: it beats everything as maximum and yields to everything as minimum.
      const isGreater = value > best || (value !== value && best === best);
      const isLess = value < best || (best !== best && value === value);
      if (this.#largest ? !isGreater : !isLess) return;
    }
    this.#filled[group] = 1;
    // -0 and 0 are equal; keeping 0 makes the result independent of the order of rows.
    this.#values[group] = value === 0 ? 0 : value;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.update(groups, rows, states, null);
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    const other = from as FloatExtremeAccumulator;
    for (let row = 0; row < rows; row++) {
      const source = sources[row] as number;
      if (source >= 0 && other.#filled[source] === 1)
        this.#take(groups[row] as number, other.#values[source] as number);
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    return [this.results(groups)];
  }

  results(groups: Int32Array): Column {
    const values = new Float64Array(groups.length);
    for (let row = 0; row < groups.length; row++)
      values[row] = this.#values[groups[row] as number] as number;
    const validity = presentGroups(groups, (group) => this.#filled[group] !== 1);
    return { tag: 'float64', type: this.#type, length: groups.length, validity, values };
  }

  bytes(): number {
    return this.#values.byteLength + this.#filled.byteLength;
  }
}
