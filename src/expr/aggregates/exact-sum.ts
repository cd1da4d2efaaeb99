/**
 * sum and avg of INT, BIGINT and DECIMAL, exact whatever the order of rows, merges and retractions.
 *
 * A group's total is the sum of two parts: a double that stays inside ±2^53, where it is exact, and takes every value
 * that leaves it there; and, for the rest, a two's complement number of 4 words (whole numbers) or 6 words (decimals),
 * which 2^63 rows cannot wrap. The words exist once one group needs them. State: BIGINT count of values, then the total as 2 or 3 BIGINT columns,
 * low words first. Only the final result can overflow its type: NUMERIC_OVERFLOW naming the call.
 * sum: BIGINT, or DECIMAL(38, s). avg: the DOUBLE nearest to the exact mean, or DECIMAL(38, max(s, 6))
 * rounded half away from zero. Both are NULL for a group without values.
 */
import type { Column, DecimalColumn, Int32Column, Int64Column } from '../../batch/column.ts';
import { bitAt, bitmapBytes, setBit, wordsToNumber } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT64, typeName } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { DecimalType } from '../functions/arithmetic-decimal.ts';
import type { RowErrors } from '../row-errors.ts';
import { Outcome, makeDecimal, makeFloat64, makeInt64 } from '../vector.ts';
import {
  decimalAsNumber,
  divideHalfUp,
  fitsInt64,
  fitsPrecision,
  int64AsNumber,
  isSafe,
  placePoint,
  powerOfTen,
  ratioToNumber,
  writeDecimal,
  writeInt64,
  writeSafeInt64,
} from '../wide.ts';
import { grownFloat64, grownInt32 } from './group-arrays.ts';
import { runSums } from './run-sums.ts';

type Sums = { label: string; kind: 'sum' | 'avg'; input: SqlType; result: SqlType };

/** A group's two doubles: the number of values, and the part of the total that is a double. */
const COUNT = 0;
const LIGHT = 1;
const FIELDS = 2;

const SAFE = 9007199254740992;

export class ExactSumAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = true;
  readonly #call: Sums;
  /** Words of a total. */
  readonly #width: 4 | 6;
  #sums: Float64Array = new Float64Array(0);
  /** What does not fit the doubles; null: every total does. */
  #totals: Int32Array | null = null;
  #size = 0;

  constructor(call: Sums) {
    this.#call = call;
    this.#width = call.input.tag === 'decimal' ? 6 : 4;
    this.stateTypes = this.#width === 6 ? [INT64, INT64, INT64, INT64] : [INT64, INT64, INT64];
  }

  resize(count: number): void {
    this.#sums = grownFloat64(this.#sums, count * FIELDS);
    if (this.#totals !== null) this.#totals = grownInt32(this.#totals, count * this.#width);
    if (count < this.#size) {
      this.#sums.fill(0, count * FIELDS, this.#size * FIELDS);
      this.#totals?.fill(0, count * this.#width, this.#size * this.#width);
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
    else if (input.tag === 'int32') this.#updateInt32(groups, rows, input, retract);
    else this.#updateInt64(groups, rows, input as Int64Column, retract);
  }

  #updateInt32(
    groups: Int32Array,
    rows: number,
    { validity, values }: Int32Column,
    retract: Uint8Array | null,
  ): void {
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#addSafe(group, (values[row] as number) * direction, direction);
    }
  }

  #updateInt64(
    groups: Int32Array,
    rows: number,
    { validity, words }: Int64Column,
    retract: Uint8Array | null,
  ): void {
    const sums = this.#sums;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const low = words[2 * row] as number;
      const high = words[2 * row + 1] as number;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      const at = group * FIELDS;
      const light = (sums[at + LIGHT] as number) + wordsToNumber(low, high) * direction;
      if (isNear(high) && light < SAFE && light > -SAFE) {
        sums[at + COUNT] = (sums[at + COUNT] as number) + direction;
        sums[at + LIGHT] = light;
      } else {
        this.#addWords(group, words, 2 * row, 2, direction < 0);
        sums[at + COUNT] = (sums[at + COUNT] as number) + direction;
      }
    }
  }

  #updateDecimal(
    groups: Int32Array,
    rows: number,
    { validity, words }: DecimalColumn,
    retract: Uint8Array | null,
  ): void {
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (validity !== null && !bitAt(validity, row))) continue;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      const value = decimalAsNumber(words, row);
      if (isSafe(value)) this.#addSafe(group, value * direction, direction);
      else {
        this.#addWords(group, words, 4 * row, 4, direction < 0);
        this.#sums[group * FIELDS] = (this.#sums[group * FIELDS] as number) + direction;
      }
    }
  }

  addRuns(
    { lo, hi }: { lo: Int32Array; hi: Int32Array },
    rows: number,
    args: readonly Column[],
    passes: Uint8Array | null,
  ): boolean {
    const before = runSums(args[0] as Column, rows, passes);
    if (before === null) return false;
    const { counts, sums } = before;
    for (let group = 0; group < lo.length; group++) {
      const [from, to] = [lo[group] as number, hi[group] as number];
      if (to <= from) continue;
      const sum = (sums[to] as number) - (sums[from] as number);
      this.#addSafe(group, sum, (counts[to] as number) - (counts[from] as number));
    }
    return true;
  }

  /** Adds an integer inside ±2^53, and `count` to the number of values. */
  #addSafe(group: number, value: number, count: number): void {
    const sums = this.#sums;
    const at = group * FIELDS;
    const light = (sums[at + LIGHT] as number) + value;
    sums[at + COUNT] = (sums[at + COUNT] as number) + count;
    if (light < SAFE && light > -SAFE) {
      sums[at + LIGHT] = light;
      return;
    }
    writeSafeInt64(cell, 0, value);
    this.#addWords(group, cell, 0, 2, false);
  }

  /** Adds `count` words with their sign extension, or their negation, to the words of a total. */
  #addWords(group: number, words: Int32Array, from: number, count: number, negate: boolean): void {
    const width = this.#width;
    this.#totals ??= new Int32Array((this.#sums.length / FIELDS) * width);
    const totals = this.#totals;
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
    this.#fold(groups, rows, states, 1);
  }

  subtract(groups: Int32Array, rows: number, states: readonly Column[]): void {
    this.#fold(groups, rows, states, -1);
  }

  #fold(groups: Int32Array, rows: number, states: readonly Column[], direction: 1 | -1): void {
    const width = this.#width;
    const words = new Int32Array(width);
    const [counts, ...parts] = states as readonly Int64Column[];
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      const count = direction * int64AsNumber((counts as Int64Column).words, row);
      for (let part = 0; part < parts.length; part++) {
        const source = (parts[part] as Int64Column).words;
        words[2 * part] = source[2 * row] as number;
        words[2 * part + 1] = source[2 * row + 1] as number;
      }
      this.#addTotal(group, words, direction, count);
    }
  }

  /** Adds a whole total or takes it off, and `count` to the number of values. */
  #addTotal(group: number, words: Int32Array, direction: 1 | -1, count: number): void {
    const width = this.#width;
    const high = words[1] as number;
    if (isNear(high) && isSignOf(words, 2, width, high >> 31))
      this.#addSafe(group, wordsToNumber(words[0] as number, high) * direction, count);
    else {
      this.#addWords(group, words, 0, width, direction < 0);
      this.#sums[group * FIELDS] = (this.#sums[group * FIELDS] as number) + count;
    }
  }

  mergeGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    this.#foldGroups(groups, rows, from as ExactSumAccumulator, sources, 1);
  }

  subtractGroups(groups: Int32Array, rows: number, from: Accumulator, sources: Int32Array): void {
    this.#foldGroups(groups, rows, from as ExactSumAccumulator, sources, -1);
  }

  #foldGroups(
    groups: Int32Array,
    rows: number,
    from: ExactSumAccumulator,
    sources: Int32Array,
    direction: 1 | -1,
  ): void {
    const words = from.#totals === null ? cell : new Int32Array(this.#width);
    for (let row = 0; row < rows; row++) {
      const source = sources[row] as number;
      if (source < 0) continue;
      const count = direction * (from.#sums[source * FIELDS + COUNT] as number);
      if (from.#isLight(source)) {
        const light = from.#sums[source * FIELDS + LIGHT] as number;
        this.#addSafe(groups[row] as number, direction * light, count);
        continue;
      }
      from.#wordsOf(source, words);
      this.#addTotal(groups[row] as number, words, direction, count);
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    const width = this.#width;
    const rows = groups.length;
    const counts = makeInt64(rows, INT64);
    const parts = Array.from({ length: width / 2 }, () => makeInt64(rows, INT64));
    const sums = this.#sums;
    for (let row = 0; row < rows; row++)
      writeSafeInt64(counts.words, row, sums[(groups[row] as number) * FIELDS + COUNT] as number);
    if (this.#totals === null) {
      this.#lightParts(groups, parts);
      return [counts, ...parts];
    }
    const words = new Int32Array(width);
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      this.#wordsOf(group, words);
      for (let part = 0; part < parts.length; part++) {
        const target = (parts[part] as Int64Column).words;
        target[2 * row] = words[2 * part] as number;
        target[2 * row + 1] = words[2 * part + 1] as number;
      }
    }
    return [counts, ...parts];
  }

  /** The totals while none is beyond what a double holds: words behind the first two are but the sign. */
  #lightParts(groups: Int32Array, parts: readonly Int64Column[]): void {
    const { words } = parts[0] as Int64Column;
    const sums = this.#sums;
    let signs = 0;
    for (let row = 0; row < groups.length; row++) {
      writeSafeInt64(words, row, sums[(groups[row] as number) * FIELDS + LIGHT] as number);
      signs |= words[2 * row + 1] as number;
    }
    if (signs >= 0) return;
    for (let part = 1; part < parts.length; part++)
      for (let row = 0; row < groups.length; row++)
        (parts[part] as Int64Column).words.fill(
          (words[2 * row + 1] as number) >> 31,
          2 * row,
          2 * row + 2,
        );
  }

  /** The whole total of a group as words. */
  #wordsOf(group: number, into: Int32Array): void {
    const width = this.#width;
    writeSafeInt64(into, 0, this.#sums[group * FIELDS + LIGHT] as number);
    into.fill((into[1] as number) >> 31, 2, width);
    if (this.#totals === null) return;
    let carry = 0;
    for (let word = 0; word < width; word++) {
      const own = (this.#totals[group * width + word] as number) >>> 0;
      const sum = own + ((into[word] as number) >>> 0) + carry;
      into[word] = sum;
      carry = sum >= 4294967296 ? 1 : 0;
    }
  }

  /** Whether the double of the group is its whole total. */
  #isLight(group: number): boolean {
    return (
      this.#totals === null ||
      isSignOf(this.#totals, group * this.#width, (group + 1) * this.#width, 0)
    );
  }

  #total(group: number): bigint {
    const width = this.#width;
    const words = new Int32Array(width);
    this.#wordsOf(group, words);
    let value = BigInt(words[width - 1] as number);
    for (let word = width - 2; word >= 0; word--)
      value = (value << 32n) | BigInt((words[word] as number) >>> 0);
    return value;
  }

  #presence(groups: Int32Array): Uint8Array | null {
    const validity = new Uint8Array(bitmapBytes(groups.length));
    let present = 0;
    for (let row = 0; row < groups.length; row++) {
      if (this.#sums[(groups[row] as number) * FIELDS + COUNT] === 0) continue;
      setBit(validity, row);
      present++;
    }
    return present === groups.length ? null : validity;
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const validity = this.#presence(groups);
    const { kind, result } = this.#call;
    if (result.tag === 'decimal') return this.#decimals(groups, validity, errors, result);
    return kind === 'sum'
      ? this.#sumColumn(groups, validity, errors)
      : this.#means(groups, validity);
  }

  #sumColumn(groups: Int32Array, validity: Uint8Array | null, errors: RowErrors): Column {
    const column: Int64Column = { ...makeInt64(groups.length, INT64), validity };
    const outcome = new Outcome([column], groups.length, errors);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (this.#isLight(group))
        writeSafeInt64(column.words, row, this.#sums[group * FIELDS + LIGHT] as number);
      else {
        const total = this.#total(group);
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
      const count = this.#sums[group * FIELDS + COUNT] as number;
      if (count <= 0) continue;
      if (this.#isLight(group)) {
        column.values[row] = (this.#sums[group * FIELDS + LIGHT] as number) / count;
        continue;
      }
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
      const count = this.#sums[group * FIELDS + COUNT] as number;
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
    return this.#sums.byteLength + (this.#totals?.byteLength ?? 0);
  }
}

const cell = new Int32Array(2);

/** Whether an int64 with this high word lies in [-2^53, 2^53), where doubles are exact. */
const isNear = (high: number): boolean => (high + 0x200000) >>> 0 < 0x400000;

/** Whether all words of `[from, to)` are `sign`. */
function isSignOf(words: Int32Array, from: number, to: number, sign: number): boolean {
  for (let word = from; word < to; word++) if (words[word] !== sign) return false;
  return true;
}
