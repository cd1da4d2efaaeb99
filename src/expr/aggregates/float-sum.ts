/**
 * sum and avg of DOUBLE, exact and rounded once: the answer depends on the values only, not on the order of rows, batches
 * or merges, and taking a value back leaves no trace.
 *
 * A group's total is two doubles whose sum is exact: each addition carries its rounding error into the second, which
 * has room for those of ordinary values. What it has no room for, and what could leave the range of doubles, goes to
 * the exact sums of the few groups that need one (`ExactFloats`). NaN and the infinities are counted apart.
 * State: BIGINT count of values; DOUBLE total rounded, and DOUBLE what that leaves over; TEXT, NULL for most groups: the
 * counts of NaN, Infinity and -Infinity, and what two doubles cannot hold. It is the same for the same values.
 * Only a sum can fail: NUMERIC_OVERFLOW, when finite values add up to more than DOUBLE can hold.
 */
import type { Column, Float64Column, Int64Column, TextColumn } from '../../batch/column.ts';
import { bitAt, bitmapBytes, setBit } from '../../batch/column.ts';
import { FLOAT64, INT64, TEXT } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { RowErrors } from '../row-errors.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { Outcome, makeFloat64 } from '../vector.ts';
import { int64AsNumber } from '../wide.ts';
import type { Dyadic } from './dyadic.ts';
import { ZERO, add, dyadicOf, dyadicText, negate, parseDyadic, ratioOf } from './dyadic.ts';
import { countColumn, grownFloat64 } from './group-arrays.ts';
import { RareSums } from './rare-sums.ts';

/** Fields of a group in the flat array. */
const WIDTH = 3;
const COUNT = 0;
const HIGH = 1;
const LOW = 2;

/** Totals stay below this in the flat array, far from where additions overflow. */
const LARGE = 2 ** 1000;
/** Quotients above this are far from where errors of a multiplication get lost. */
const SMALL = 2 ** -900;
/** Splits a double in two halves of 26 bits. */
const SPLITTER = 134217729;
const ONE: Dyadic = { m: 1n, e: 0 };

export class FloatSumAccumulator implements Accumulator {
  readonly stateTypes = [INT64, FLOAT64, FLOAT64, TEXT];
  readonly invertible = true;
  readonly #mean: boolean;
  readonly #label: string;
  #fields: Float64Array = new Float64Array(0);
  #rare: RareSums | null = null;
  #size = 0;

  constructor(kind: 'sum' | 'avg', label: string) {
    this.#mean = kind === 'avg';
    this.#label = label;
  }

  resize(count: number): void {
    this.#fields = grownFloat64(this.#fields, count * WIDTH);
    if (count < this.#size) {
      this.#fields.fill(0, count * WIDTH, this.#size * WIDTH);
      this.#rare?.keepBelow(count);
    }
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const { validity, values } = args[0] as Float64Column;
    const fields = this.#fields;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      const at = group * WIDTH;
      fields[at + COUNT] = (fields[at + COUNT] as number) + direction;
      const value = (values[row] as number) * direction;
      const high = fields[at + HIGH] as number;
      const sum = high + value;
      // Also false for NaN.
      if (sum < LARGE && sum > -LARGE) {
        const part = sum - high;
        const lost = high - (sum - part) + (value - part);
        fields[at + HIGH] = sum;
        if (lost !== 0) this.#addLow(group, lost);
      } else this.#addRare(group, values[row] as number, direction);
    }
  }

  /** Adds a small value to the second double of a group. */
  #addLow(group: number, value: number): void {
    const at = group * WIDTH + LOW;
    const low = this.#fields[at] as number;
    const sum = low + value;
    const part = sum - low;
    const lost = low - (sum - part) + (value - part);
    this.#fields[at] = sum;
    if (lost !== 0) this.#rareSums().addFinite(group, lost);
  }

  #addHigh(group: number, value: number): void {
    const at = group * WIDTH + HIGH;
    const high = this.#fields[at] as number;
    const sum = high + value;
    if (!(sum < LARGE && sum > -LARGE)) {
      this.#addRare(group, value, 1);
      return;
    }
    const part = sum - high;
    const lost = high - (sum - part) + (value - part);
    this.#fields[at] = sum;
    if (lost !== 0) this.#addLow(group, lost);
  }

  #addRare(group: number, value: number, direction: 1 | -1): void {
    const rare = this.#rareSums();
    if (value - value === 0) rare.addFinite(group, value * direction);
    else rare.count(group, value, direction);
  }

  #rareSums(): RareSums {
    this.#rare ??= new RareSums();
    return this.#rare;
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#fold(groups, rows, states, 1);
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#fold(groups, rows, states, -1);
  }

  #fold(groups: Int32Array, rows: number, states: readonly Column[], direction: 1 | -1): void {
    const { words } = states[0] as Int64Column;
    const highs = (states[1] as Float64Column).values;
    const lows = (states[2] as Float64Column).values;
    const rest = states[3] as TextColumn;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const at = group * WIDTH + COUNT;
      this.#fields[at] = (this.#fields[at] as number) + direction * int64AsNumber(words, row);
      this.#addHigh(group, direction * (highs[row] as number));
      const low = direction * (lows[row] as number);
      if (low !== 0) this.#addHigh(group, low);
      if (rest.validity !== null && !bitAt(rest.validity, row)) continue;
      const [nan, positive, negative, exact] = textAt(rest, row).split(' ');
      const sum = parseDyadic(exact as string);
      this.#rareSums().merge(
        group,
        [Number(nan), Number(positive), Number(negative)],
        direction === 1 ? sum : negate(sum),
        direction,
      );
    }
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    this.#foldGroups(groups, rows, from as FloatSumAccumulator, sources, 1);
  }

  subtractGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    this.#foldGroups(groups, rows, from as FloatSumAccumulator, sources, -1);
  }

  #foldGroups(
    groups: Int32Array,
    rows: number,
    from: FloatSumAccumulator,
    sources: Int32Array,
    direction: 1 | -1,
  ): void {
    for (let row = 0; row < rows; row++) {
      const source = sources[row] as number;
      if (source < 0) continue;
      const group = groups[row] as number;
      if (from.#rare?.has(source) === true) {
        this.#fold(Int32Array.of(group), 1, from.stateColumns(Int32Array.of(source)), direction);
        continue;
      }
      const at = source * WIDTH;
      const count = direction * (from.#fields[at + COUNT] as number);
      this.#fields[group * WIDTH] = (this.#fields[group * WIDTH] as number) + count;
      this.#addHigh(group, direction * (from.#fields[at + HIGH] as number));
      const low = direction * (from.#fields[at + LOW] as number);
      if (low !== 0) this.#addHigh(group, low);
    }
  }

  /** The finite part of a total, which may be far outside the range of doubles. */
  #exact(group: number): Dyadic {
    const at = group * WIDTH;
    const two = add(
      dyadicOf(this.#fields[at + HIGH] as number),
      dyadicOf(this.#fields[at + LOW] as number),
    );
    return add(two, this.#rare?.exactOf(group) ?? ZERO);
  }

  stateColumns(groups: Int32Array): Column[] {
    const rows = groups.length;
    const counts = new Float64Array(rows);
    const highs = makeFloat64(rows);
    const lows = makeFloat64(rows);
    const rests = new TextSink(rows, 16);
    const validity = new Uint8Array(bitmapBytes(rows));
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      const at = group * WIDTH;
      counts[row] = this.#fields[at + COUNT] as number;
      if (this.#rare?.has(group) === true) {
        const rest = this.#splitRare(this.#rare, group);
        highs.values[row] = pair[0] as number;
        lows.values[row] = pair[1] as number;
        if (rest !== null) {
          rests.appendString(rest);
          setBit(validity, row);
        }
      } else {
        twoSum(this.#fields[at + HIGH] as number, this.#fields[at + LOW] as number);
        highs.values[row] = pair[0] as number;
        lows.values[row] = pair[1] as number;
      }
      rests.endRow();
    }
    const numbers = countColumn(counts, Int32Array.from(counts.keys()));
    return [numbers, highs, lows, rests.finish(validity)];
  }

  /** Puts the first doubles of a total into `pair`; the rest of it as text, null when there is none. */
  #splitRare(rare: RareSums, group: number): string | null {
    const counts = rare.countsOf(group);
    let rest = this.#exact(group);
    for (let part = 0; part < 2; part++) {
      const value = nearest(rest);
      // What is too large for a double stays whole.
      pair[part] = Number.isFinite(value) ? value : 0;
      rest = add(rest, negate(dyadicOf(pair[part] as number)));
    }
    return rest.m === 0n && counts.every((count) => count === 0)
      ? null
      : `${counts.join(' ')} ${dyadicText(rest)}`;
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const column = makeFloat64(groups.length);
    const outcome = new Outcome([column], groups.length, errors);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const count = this.#fields[group * WIDTH + COUNT] as number;
      // Fewer values than none: more were taken back than came.
      if (count <= 0) outcome.makeNull(row);
      else {
        const strange = this.#rare === null ? 0 : this.#rare.strangeOf(group);
        const value =
          strange !== 0 ? strange : this.#mean ? this.#meanOf(group, count) : this.#sumOf(group);
        if (strange === 0 && value - value !== 0)
          outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${this.#label} is too large for DOUBLE`);
        else column.values[row] = value;
      }
    }
    return { ...column, validity: outcome.validity };
  }

  #sumOf(group: number): number {
    const at = group * WIDTH;
    if (this.#rare?.has(group) === true) return nearest(this.#exact(group));
    return (this.#fields[at + HIGH] as number) + (this.#fields[at + LOW] as number) + 0;
  }

  /**
   * The mean, rounded once. A quotient of two doubles gets the quotient of what it left over; when that could tip it
   * either way, whole numbers decide.
   */
  #meanOf(group: number, count: number): number {
    const at = group * WIDTH;
    const high = this.#fields[at + HIGH] as number;
    const low = this.#fields[at + LOW] as number;
    if (this.#rare?.has(group) !== true) {
      if (low === 0) return high / count + 0;
      twoSum(high, low);
      const sum = pair[0] as number;
      const near = sum / count;
      if (near > SMALL || near < -SMALL) {
        const rest = (pair[1] as number) + remainder(sum, near, count);
        const step = rest / count;
        const slack = Math.abs(step) * 2 ** -40;
        if (near + (step - slack) === near + (step + slack)) return near + step;
      }
    }
    return ratioOf(this.#exact(group), { m: BigInt(count), e: 0 });
  }

  bytes(): number {
    return this.#fields.byteLength + (this.#rare?.bytes() ?? 0);
  }
}

/** What `twoSum` found: the sum rounded, and what that lost. */
const pair = new Float64Array(2);

function twoSum(left: number, right: number): void {
  const sum = left + right;
  const part = sum - left;
  // Adding 0 makes 0 of -0.
  pair[0] = sum + 0;
  pair[1] = left - (sum - part) + (right - part) + 0;
}

const nearest = (value: Dyadic): number => ratioOf(value, ONE);

/** sum − quotient · count, exactly, where quotient is sum / count rounded. */
function remainder(sum: number, quotient: number, count: number): number {
  const product = quotient * count;
  const scaledX = SPLITTER * quotient;
  const highX = scaledX - (scaledX - quotient);
  const lowX = quotient - highX;
  const scaledY = SPLITTER * count;
  const highY = scaledY - (scaledY - count);
  const lowY = count - highY;
  const lost = lowX * lowY - (product - highX * highY - lowX * highY - highX * lowY);
  return sum - product - lost;
}
