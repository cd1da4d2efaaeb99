/**
 * sum and avg of INT, BIGINT and DECIMAL, exact whatever the order of rows, merges and retractions.
 *
 * A group's total is a two's complement number of 4 words (whole numbers) or 6 words (decimals): with
 * 2^63 rows neither can wrap. State: BIGINT count of values, then the total as 2 or 3 BIGINT columns,
 * low words first. Only the final result can overflow its type: NUMERIC_OVERFLOW naming the call.
 * sum: BIGINT, or DECIMAL(38, s). avg: the DOUBLE nearest to the exact mean, or DECIMAL(38, max(s, 6))
 * rounded half away from zero. Both are NULL for a group without values.
 */
import type { Column, DecimalColumn, Int32Column, Int64Column } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT64, typeName } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { DecimalType } from '../functions/arithmetic-decimal.ts';
import type { RowErrors } from '../row-errors.ts';
import { Outcome, makeDecimal, makeFloat64, makeInt64 } from '../vector.ts';
import {
  divideHalfUp,
  fitsInt64,
  fitsPrecision,
  isSafe,
  placePoint,
  powerOfTen,
  ratioToNumber,
  writeDecimal,
  writeInt64,
} from '../wide.ts';
import {
  countColumn,
  grownFloat64,
  grownInt32,
  mergeCounts,
  presentGroups,
} from './group-arrays.ts';

type Sums = { label: string; kind: 'sum' | 'avg'; input: SqlType; result: SqlType };

export class ExactSumAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = true;
  readonly #call: Sums;
  /** Words of a total. */
  readonly #width: 4 | 6;
  #totals: Int32Array = new Int32Array(0);
  #counts: Float64Array = new Float64Array(0);
  #size = 0;

  constructor(call: Sums) {
    this.#call = call;
    this.#width = call.input.tag === 'decimal' ? 6 : 4;
    this.stateTypes = this.#width === 6 ? [INT64, INT64, INT64, INT64] : [INT64, INT64, INT64];
  }

  resize(count: number): void {
    this.#totals = grownInt32(this.#totals, count * this.#width);
    this.#counts = grownFloat64(this.#counts, count);
    if (count < this.#size) {
      this.#totals.fill(0, count * this.#width, this.#size * this.#width);
      this.#counts.fill(0, count, this.#size);
    }
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const input = args[0] as Column;
    if (input.tag === 'decimal') this.#updateDecimal(groups, rows, input, retract);
    else this.#updateWhole(groups, rows, input as Int32Column | Int64Column, retract);
  }

  #updateWhole(
    groups: Int32Array,
    rows: number,
    input: Int32Column | Int64Column,
    retract: Uint8Array | null,
  ): void {
    const { validity } = input;
    const narrow = input.tag === 'int32' ? input.values : null;
    const words = input.tag === 'int32' ? null : input.words;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      let low =
        narrow === null ? ((words as Int32Array)[2 * row] as number) : (narrow[row] as number);
      let high = narrow === null ? ((words as Int32Array)[2 * row + 1] as number) : low >> 31;
      const takesBack = retract !== null && retract[row] === 1;
      let sign = high >> 31;
      if (takesBack) {
        // Minus x is the complement of x plus one; the one goes in as carry.
        low = ~low;
        high = ~high;
        sign = ~sign;
      }
      this.#addPair(group, low, high, sign, takesBack ? 1 : 0);
      this.#counts[group] = (this.#counts[group] as number) + (takesBack ? -1 : 1);
    }
  }

  /** Adds two words with their sign extension to a total of four words. */
  #addPair(group: number, low: number, high: number, sign: number, carryIn: number): void {
    const totals = this.#totals;
    const at = group * 4;
    const first = ((totals[at] as number) >>> 0) + (low >>> 0) + carryIn;
    totals[at] = first;
    const second =
      ((totals[at + 1] as number) >>> 0) + (high >>> 0) + (first >= 4294967296 ? 1 : 0);
    totals[at + 1] = second;
    const rest = sign + (second >= 4294967296 ? 1 : 0);
    if (rest === 0) return;
    // The upper words as one number change by -1 or +1.
    const third = ((totals[at + 2] as number) + rest) | 0;
    totals[at + 2] = third;
    if (third === (rest < 0 ? -1 : 0)) totals[at + 3] = (totals[at + 3] as number) + rest;
  }

  #updateDecimal(
    groups: Int32Array,
    rows: number,
    input: DecimalColumn,
    retract: Uint8Array | null,
  ): void {
    const { validity, words } = input;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const takesBack = retract !== null && retract[row] === 1;
      this.#addWords(group, words, row * 4, 4, takesBack);
      this.#counts[group] = (this.#counts[group] as number) + (takesBack ? -1 : 1);
    }
  }

  /** Adds `count` words with their sign extension, or their negation, to a total. */
  #addWords(group: number, words: Int32Array, from: number, count: number, negate: boolean): void {
    const totals = this.#totals;
    const width = this.#width;
    const at = group * width;
    const flip = negate ? -1 : 0;
    const sign = (words[from + count - 1] as number) >> 31;
    let carry = negate ? 1 : 0;
    for (let word = 0; word < width; word++) {
      const value = (word < count ? (words[from + word] as number) : sign) ^ flip;
      const sum = ((totals[at + word] as number) >>> 0) + (value >>> 0) + carry;
      totals[at + word] = sum;
      carry = sum >= 4294967296 ? 1 : 0;
    }
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0]);
    const width = this.#width;
    const words = new Int32Array(width);
    const parts = states.slice(1) as readonly Int64Column[];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      parts.forEach((part, index) => {
        words[2 * index] = part.words[2 * row] as number;
        words[2 * index + 1] = part.words[2 * row + 1] as number;
      });
      this.#addWords(group, words, 0, width, false);
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    const width = this.#width;
    const parts = Array.from({ length: width / 2 }, () => makeInt64(groups.length, INT64));
    parts.forEach((part, index) => {
      for (let row = 0; row < groups.length; row++) {
        const at = (groups[row] as number) * width + 2 * index;
        part.words[2 * row] = this.#totals[at] as number;
        part.words[2 * row + 1] = this.#totals[at + 1] as number;
      }
    });
    return [countColumn(this.#counts, groups), ...parts];
  }

  #total(group: number): bigint {
    const width = this.#width;
    let value = BigInt(this.#totals[group * width + width - 1] as number);
    for (let word = width - 2; word >= 0; word--) {
      value = (value << 32n) | BigInt((this.#totals[group * width + word] as number) >>> 0);
    }
    return value;
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const validity = presentGroups(groups, (group) => this.#counts[group] === 0);
    const { kind, result } = this.#call;
    if (result.tag === 'decimal') return this.#decimals(groups, validity, errors, result);
    return kind === 'sum' ? this.#sums(groups, validity, errors) : this.#means(groups, validity);
  }

  #sums(groups: Int32Array, validity: Uint8Array | null, errors: RowErrors): Column {
    const column: Int64Column = { ...makeInt64(groups.length, INT64), validity };
    const outcome = new Outcome([column], groups.length, errors);
    for (let row = 0; row < groups.length; row++) {
      const at = (groups[row] as number) * 4;
      const high = this.#totals[at + 1] as number;
      const sign = high >> 31;
      if (this.#totals[at + 2] === sign && this.#totals[at + 3] === sign) {
        column.words[2 * row] = this.#totals[at] as number;
        column.words[2 * row + 1] = high;
      } else {
        const total = this.#total(groups[row] as number);
        if (fitsInt64(total)) writeInt64(column.words, row, total);
        else
          outcome.fail(
            row,
            'NUMERIC_OVERFLOW',
            () => `${this.#call.label} is ${total}, which does not fit BIGINT`,
          );
      }
    }
    return { ...column, validity: outcome.validity };
  }

  #means(groups: Int32Array, validity: Uint8Array | null): Column {
    const column = makeFloat64(groups.length);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const count = this.#counts[group] as number;
      if (count <= 0) continue;
      const total = this.#total(group);
      const near = Number(total);
      column.values[row] = isSafe(near) ? near / count : ratioToNumber(total, BigInt(count));
    }
    return { ...column, validity };
  }

  #decimals(
    groups: Int32Array,
    validity: Uint8Array | null,
    errors: RowErrors,
    type: DecimalType,
  ): Column {
    const column: DecimalColumn = { ...makeDecimal(groups.length, type), validity };
    const outcome = new Outcome([column], groups.length, errors);
    const up = powerOfTen(type.scale - (this.#call.input as DecimalType).scale);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const count = this.#counts[group] as number;
      const total = this.#total(group) * up;
      const value =
        this.#call.kind === 'sum' || count === 0 ? total : divideHalfUp(total, BigInt(count));
      if (fitsPrecision(value, type.precision)) writeDecimal(column.words, row, value);
      else
        outcome.fail(
          row,
          'NUMERIC_OVERFLOW',
          () =>
            `${this.#call.label} is ${placePoint(value, type.scale)}, which does not fit ${typeName(type)}`,
        );
    }
    return { ...column, validity: outcome.validity };
  }

  bytes(): number {
    return this.#totals.byteLength + this.#counts.byteLength;
  }
}
