/**
 * Variance, deviation, covariance, correlation and regression, over the DOUBLE values of their arguments.
 *
 * Everything is a function of the exact sums Σx, Σx², Σy, Σy², Σxy and the count, rounded once at the end
 * (twice where a root is taken): the answer does not depend on the order of rows or merges, and taking a row
 * back leaves nothing behind. A pair counts when neither value is NULL. With a NaN or an infinity among the
 * values the result is NaN.
 * State: BIGINT counts of values and of those that are not finite, then each sum as text.
 */
import type { Column, Float64Column, TextColumn } from '../../batch/column.ts';
import { bitAt } from '../../batch/column.ts';
import type { SqlType } from '../../batch/types.ts';
import { INT64, TEXT } from '../../batch/types.ts';
import type { Accumulator } from '../accumulator.ts';
import type { RowErrors } from '../row-errors.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { Outcome, makeFloat64 } from '../vector.ts';
import type { Dyadic } from './dyadic.ts';
import { add, dyadicText, multiply, negate, parseDyadic, ratioOf, times } from './dyadic.ts';
import { ExactFloats } from './exact-floats.ts';
import { countColumn, grownFloat64, mergeCounts } from './group-arrays.ts';

/** What is known of a group: n and the exact sums, and from them the n-fold central moments. */
type Sums = { n: number; x: Dyadic; xx: Dyadic; y: Dyadic; yy: Dyadic; xy: Dyadic };

const whole = (value: number): Dyadic => ({ m: BigInt(value), e: 0 });
/** n·Σx² − (Σx)². */
const spread = (n: number, sum: Dyadic, squares: Dyadic): Dyadic =>
  add(times(squares, n), negate(multiply(sum, sum)));
const dx = ({ n, x, xx }: Sums): Dyadic => spread(n, x, xx);
const dy = ({ n, y, yy }: Sums): Dyadic => spread(n, y, yy);
/** n·Σxy − Σx·Σy. */
const dxy = ({ n, x, y, xy }: Sums): Dyadic => add(times(xy, n), negate(multiply(x, y)));

const pop = (moment: Dyadic, n: number): number => ratioOf(moment, multiply(whole(n), whole(n)));
const samp = (moment: Dyadic, n: number): number | null =>
  n < 2 ? null : ratioOf(moment, multiply(whole(n), whole(n - 1)));
const root = (value: number | null): number | null => (value === null ? null : Math.sqrt(value));

/** Dxy² / (Dx·Dy); the caller knows that neither is zero. */
const determination = (sums: Sums): number =>
  ratioOf(multiply(dxy(sums), dxy(sums)), multiply(dx(sums), dy(sums)));

function corr(sums: Sums): number | null {
  if (dx(sums).m === 0n || dy(sums).m === 0n) return null;
  const size = Math.sqrt(determination(sums));
  return dxy(sums).m < 0n ? -size : size;
}

function regrR2(sums: Sums): number | null {
  if (dx(sums).m === 0n) return null;
  return dy(sums).m === 0n ? 1 : determination(sums);
}

function regrIntercept(sums: Sums): number | null {
  const spreadX = dx(sums);
  if (spreadX.m === 0n) return null;
  const numerator = add(multiply(sums.y, spreadX), negate(multiply(sums.x, dxy(sums))));
  return ratioOf(numerator, times(spreadX, sums.n));
}

/** By id; n is at least 1. Of two arguments the first is y, the second x. */
export const MOMENTS: Readonly<Record<string, (sums: Sums) => number | null>> = {
  'var-pop': (sums) => pop(dx(sums), sums.n),
  'var-samp': (sums) => samp(dx(sums), sums.n),
  'stddev-pop': (sums) => root(pop(dx(sums), sums.n)),
  'stddev-samp': (sums) => root(samp(dx(sums), sums.n)),
  'covar-pop': (sums) => pop(dxy(sums), sums.n),
  'covar-samp': (sums) => samp(dxy(sums), sums.n),
  corr,
  'regr-slope': (sums) => (dx(sums).m === 0n ? null : ratioOf(dxy(sums), dx(sums))),
  'regr-intercept': regrIntercept,
  'regr-r2': regrR2,
  'regr-avgx': ({ n, x }) => ratioOf(x, whole(n)),
  'regr-avgy': ({ n, y }) => ratioOf(y, whole(n)),
  'regr-sxx': (sums) => ratioOf(dx(sums), whole(sums.n)),
  'regr-syy': (sums) => ratioOf(dy(sums), whole(sums.n)),
  'regr-sxy': (sums) => ratioOf(dxy(sums), whole(sums.n)),
};

export class MomentsAccumulator implements Accumulator {
  readonly stateTypes: readonly SqlType[];
  readonly invertible = true;
  readonly #label: string;
  readonly #finish: (sums: Sums) => number | null;
  readonly #paired: boolean;
  /** Sums of a group: Σx, Σx², and with two arguments Σy, Σy², Σxy. */
  readonly #width: 2 | 5;
  readonly #sums = new ExactFloats();
  #counts: Float64Array = new Float64Array(0);
  #strange: Float64Array = new Float64Array(0);
  #size = 0;

  constructor(call: { fn: string; label: string; paired: boolean }) {
    this.#label = call.label;
    this.#finish = MOMENTS[call.fn] as (sums: Sums) => number | null;
    this.#paired = call.paired;
    this.#width = call.paired ? 5 : 2;
    this.stateTypes = [INT64, INT64, ...Array.from({ length: this.#width }, () => TEXT)];
  }

  resize(count: number): void {
    this.#counts = grownFloat64(this.#counts, count);
    this.#strange = grownFloat64(this.#strange, count);
    if (count < this.#size) {
      this.#counts.fill(0, count, this.#size);
      this.#strange.fill(0, count, this.#size);
    }
    this.#sums.resize(count * this.#width);
    this.#size = count;
  }

  update(
    groups: Int32Array,
    rows: number,
    args: readonly Column[],
    retract: Uint8Array | null,
  ): void {
    const [first, second] = args as readonly [Float64Column, Float64Column?];
    const x = this.#paired ? (second as Float64Column) : first;
    for (let row = 0; row < rows; row++) {
      const group = groups[row] as number;
      if (group < 0 || (first.validity !== null && !bitAt(first.validity, row))) continue;
      if (x.validity !== null && !bitAt(x.validity, row)) continue;
      const direction = retract !== null && retract[row] === 1 ? -1 : 1;
      this.#add(group, x.values[row] as number, first.values[row] as number, direction);
    }
  }

  #add(group: number, x: number, y: number, direction: 1 | -1): void {
    this.#counts[group] = (this.#counts[group] as number) + direction;
    if (!Number.isFinite(x) || (this.#paired && !Number.isFinite(y))) {
      this.#strange[group] = (this.#strange[group] as number) + direction;
      return;
    }
    const at = group * this.#width;
    const sums = this.#sums;
    sums.add(at, direction * x);
    sums.addProduct(at + 1, x, x, direction);
    if (!this.#paired) return;
    sums.add(at + 2, direction * y);
    sums.addProduct(at + 3, y, y, direction);
    sums.addProduct(at + 4, x, y, direction);
  }

  merge(groups: Int32Array, rows: number, states: readonly Column[]): void {
    mergeCounts(this.#counts, groups, rows, states[0]);
    mergeCounts(this.#strange, groups, rows, states[1]);
    for (let part = 0; part < this.#width; part++) {
      const column = states[2 + part] as TextColumn;
      for (let row = 0; row < rows; row++) {
        const group = groups[row] as number;
        if (group >= 0)
          this.#sums.addExact(group * this.#width + part, parseDyadic(textAt(column, row)));
      }
    }
  }

  stateColumns(groups: Int32Array): Column[] {
    const sums = Array.from({ length: this.#width }, (_, part) => {
      const sink = new TextSink(groups.length, 24 * groups.length);
      for (const group of groups) {
        sink.appendString(dyadicText(this.#sums.total(group * this.#width + part)));
        sink.endRow();
      }
      return sink.finish(null);
    });
    return [countColumn(this.#counts, groups), countColumn(this.#strange, groups), ...sums];
  }

  #sumsOf(group: number): Sums {
    const total = (part: number): Dyadic =>
      this.#paired || part < 2 ? this.#sums.total(group * this.#width + part) : whole(0);
    return {
      n: this.#counts[group] as number,
      x: total(0),
      xx: total(1),
      y: total(2),
      yy: total(3),
      xy: total(4),
    };
  }

  results(groups: Int32Array, errors: RowErrors): Column {
    const column = makeFloat64(groups.length);
    const outcome = new Outcome([column], groups.length, errors);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      const count = this.#counts[group] as number;
      const strange = this.#strange[group] as number;
      const value = count <= 0 ? null : strange > 0 ? NaN : this.#finish(this.#sumsOf(group));
      if (value === null) outcome.makeNull(row);
      else if (value === Infinity || value === -Infinity)
        outcome.fail(row, 'NUMERIC_OVERFLOW', () => `${this.#label} is too large for DOUBLE`);
      else column.values[row] = value;
    }
    return { ...column, validity: outcome.validity };
  }

  bytes(): number {
    return this.#sums.bytes() + this.#counts.byteLength + this.#strange.byteLength;
  }
}
