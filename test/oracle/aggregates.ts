/** Aggregates over all rows of a group at once. */
import type { CallExpression, Expression } from '../../src/sql/ast-expression.ts';
import type { OrderItem } from '../../src/sql/ast-query.ts';
import { arithmetic } from './arithmetic.ts';
import { textOf } from './cast.ts';
import type { Context } from './scope.ts';
import {
  asDouble,
  big,
  canonical,
  compare,
  compareNullable,
  Decimal,
  divideRounded,
  keyText,
  rescale,
  type Value,
  whole,
  Whole,
} from './value.ts';

type Evaluate = (expression: Expression, context: Context) => Value;
/** The arguments of one row. */
type Entry = readonly Value[];
type Aggregate = (entries: readonly Entry[], constants: Entry) => Value;

export const isAggregate = (name: string): boolean =>
  Object.hasOwn(AGGREGATES, ALIASES[name] ?? name);

/** Whether NULLs count, as they do in a list. */
const WITH_NULLS: readonly string[] = ['array_agg', 'first_value', 'last_value', 'nth_value'];

/** Whether only the second argument has to be there. */
const BY_ANOTHER: readonly string[] = ['arg_min', 'arg_max'];

export function aggregate(
  call: CallExpression,
  rows: readonly Context[],
  evaluate: Evaluate,
): Value {
  const name = ALIASES[call.name.name] ?? call.name.name;
  const fn = AGGREGATES[name] as Aggregate;
  const counted = rows.filter((row) => call.filter === null || evaluate(call.filter, row) === true);
  if (call.star) return big(counted.length);
  const within = call.withinGroup.map((item) => item.expression);
  const args = [...within, ...call.args.map((arg) => arg.value)];
  let entries: Entry[] = inOrder(counted, call.orderBy, args, evaluate).map((row) =>
    args.map((arg) => evaluate(arg, row)),
  );
  const counts = (entry: Entry): boolean =>
    BY_ANOTHER.includes(name) ? entry[1] !== null : entry.every((value) => value !== null);
  if (!WITH_NULLS.includes(name) || call.nullTreatment === 'ignore')
    entries = entries.filter(counts);
  if (call.distinct) entries = distinct(entries);
  const constants = call.args.slice(within.length > 0 ? 0 : 1).map((arg) => {
    return rows[0] === undefined ? null : evaluate(arg.value, rows[0]);
  });
  return fn(entries, constants);
}

/** By ORDER BY, or the event time if rows have one; then by their values. */
function inOrder(
  rows: readonly Context[],
  orderBy: readonly OrderItem[],
  args: readonly Expression[],
  evaluate: Evaluate,
): readonly Context[] {
  return [...rows].sort((left, right) => {
    const found = compareByItems(left, right, orderBy, evaluate);
    if (found !== 0) return found;
    const [here, there] = [left.scope.row.time, right.scope.row.time];
    if (orderBy.length === 0 && here !== null && there !== null && here !== there)
      return here < there ? -1 : 1;
    for (const arg of args) {
      const order = compareNullable(evaluate(arg, left), evaluate(arg, right));
      if (order !== 0) return order;
    }
    return 0;
  });
}

export function compareByItems(
  left: Context,
  right: Context,
  items: readonly OrderItem[],
  evaluate: Evaluate,
): number {
  for (const { expression, descending, nulls } of items) {
    const [a, b] = [evaluate(expression, left), evaluate(expression, right)];
    const found = compareAs(a, b, descending, nulls);
    if (found !== 0) return found;
  }
  return 0;
}

export function compareAs(
  left: Value,
  right: Value,
  descending: boolean,
  nulls: 'first' | 'last' | null,
): number {
  if (left !== null && right !== null) {
    const order = compare(left, right);
    return descending ? -order : order;
  }
  if (left === null && right === null) return 0;
  const first = (nulls ?? (descending ? 'first' : 'last')) === 'first';
  return (left === null) === first ? -1 : 1;
}

function distinct(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = keyText(entry.slice(0, 1));
    return seen.has(key) ? false : seen.add(key);
  });
}

const first = (entries: readonly Entry[]): Value[] => entries.map((entry) => entry[0] as Value);

const best =
  (sign: 1 | -1, by: 0 | 1): Aggregate =>
  (entries) => {
    let found: Entry | null = null;
    for (const entry of entries)
      if (
        found === null ||
        compare(entry[by] as Value, found[by] as Value) * sign > 0 ||
        // Of several with one key, the smallest value.
        (by === 1 &&
          compare(entry[1] as Value, found[1] as Value) === 0 &&
          compareNullable(entry[0] as Value, found[0] as Value) < 0)
      )
        found = entry;
    return found?.[0] ?? null;
  };

function sum(entries: readonly Entry[]): Value {
  const values = first(entries);
  if (values.length === 0) return null;
  if (values[0] instanceof Whole)
    return whole(
      values.reduce((total: bigint, value) => total + (value as Whole).value, 0n),
      64,
    );
  return values.reduce((total, value) => arithmetic('+', total, value));
}

/** Sums that pass the range of BIGINT on their way are none of the mean's business. */
function mean(entries: readonly Entry[]): Value {
  const values = first(entries);
  if (values.length === 0) return null;
  if (values[0] instanceof Decimal) {
    const { scale } = values[0];
    const to = Math.max(6, scale);
    const units = values.reduce((total: bigint, value) => total + (value as Decimal).units, 0n);
    const up = 10n ** BigInt(to - scale);
    return new Decimal(divideRounded(units * up, BigInt(values.length)), to);
  }
  if (values[0] instanceof Whole) {
    const total = values.reduce((all: bigint, value) => all + (value as Whole).value, 0n);
    return Number(total) / values.length;
  }
  return values.reduce((total: number, value) => total + (value as number), 0) / values.length;
}

const logic =
  (all: boolean): Aggregate =>
  (entries) =>
    entries.length === 0 ? null : all === first(entries).every((value) => value === all);

const bits =
  (combine: (left: bigint, right: bigint) => bigint): Aggregate =>
  (entries) => {
    const values = first(entries) as Whole[];
    if (values.length === 0) return null;
    return whole(values.map(({ value }) => value).reduce(combine), (values[0] as Whole).bits);
  };

const doubles = (entries: readonly Entry[], at = 0): number[] =>
  entries.map((entry) => asDouble(entry[at] as Whole));

const meanOf = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / values.length;

/** The sum of products about both means. */
function moment(entries: readonly Entry[], a: 0 | 1, b: 0 | 1): number {
  const [left, right] = [doubles(entries, a), doubles(entries, b)];
  const [meanLeft, meanRight] = [meanOf(left), meanOf(right)];
  return left.reduce(
    (total, value, at) => total + (value - meanLeft) * ((right[at] as number) - meanRight),
    0,
  );
}

const spread =
  (less: 0 | 1, root: boolean, second: 0 | 1 = 0): Aggregate =>
  (entries) => {
    if (entries.length - less < 1) return null;
    const value = moment(entries, 0, second) / (entries.length - less);
    return root ? Math.sqrt(value) : value;
  };

function median(entries: readonly Entry[]): Value {
  return percentile(first(entries), 0.5);
}

/** The value at a fraction of the sorted ones, in proportion between two. */
function percentile(values: readonly Value[], fraction: number): Value {
  if (values.length === 0) return null;
  const sorted = [...values].sort(compare);
  const place = (sorted.length - 1) * fraction;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]] as [Value, Value];
  if (low instanceof Decimal && high instanceof Decimal && fraction === 0.5) {
    const scale = low.scale + 1;
    const units = rescale(low, scale).units + rescale(high, scale).units;
    return new Decimal(units / 2n, scale);
  }
  const [a, b] = [asDouble(low as Whole), asDouble(high as Whole)];
  return a + (b - a) * (place - Math.floor(place));
}

function mostFrequent(entries: readonly Entry[]): Value {
  const counts = new Map<string, { value: Value; count: number }>();
  for (const value of first(entries)) {
    const known = counts.get(canonical(value)) ?? { value, count: 0 };
    counts.set(canonical(value), { value, count: known.count + 1 });
  }
  const [top] = [...counts.values()].sort(
    (left, right) => right.count - left.count || compare(left.value, right.value),
  );
  return top?.value ?? null;
}

const fractionOf = (constants: Entry): number =>
  asDouble(constants.find((value) => value !== null) as Decimal);

const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  count: (entries) => big(entries.length),
  count_if: (entries) => big(first(entries).filter((value) => value === true).length),
  sum,
  avg: mean,
  min: best(-1, 0),
  max: best(1, 0),
  arg_min: best(-1, 1),
  arg_max: best(1, 1),
  bool_and: logic(true),
  bool_or: (entries) => (entries.length === 0 ? null : first(entries).includes(true)),
  bit_and: bits((left, right) => left & right),
  bit_or: bits((left, right) => left | right),
  bit_xor: bits((left, right) => left ^ right),
  array_agg: (entries) => (entries.length === 0 ? null : first(entries)),
  string_agg: (entries) =>
    entries.length === 0
      ? null
      : first(entries)
          .map(textOf)
          .join(textOf(entries[0]?.[1] as Value)),
  first_value: (entries) => first(entries)[0] ?? null,
  last_value: (entries) => first(entries).at(-1) ?? null,
  any_value: (entries) => first(entries)[0] ?? null,
  nth_value: (entries) => first(entries)[Number((entries[0]?.[1] as Whole)?.value) - 1] ?? null,
  median,
  mode: mostFrequent,
  percentile_cont: (entries, constants) =>
    entries.length === 0 ? null : percentile(first(entries), fractionOf(constants)),
  percentile_disc: (entries, constants) => {
    if (entries.length === 0) return null;
    const sorted = first(entries).sort(compare);
    const place = Math.ceil(fractionOf(constants) * sorted.length);
    return sorted[Math.max(0, place - 1)] ?? null;
  },
  var_pop: spread(0, false),
  var_samp: spread(1, false),
  stddev_pop: spread(0, true),
  stddev_samp: spread(1, true),
  covar_pop: spread(0, false, 1),
  covar_samp: spread(1, false, 1),
  regr_count: (entries) => big(entries.length),
  regr_slope: (entries) => {
    const wide = entries.length === 0 ? 0 : moment(entries, 1, 1);
    return wide === 0 ? null : moment(entries, 0, 1) / wide;
  },
};

const ALIASES: Readonly<Record<string, string>> = {
  mean: 'avg',
  every: 'bool_and',
  stddev: 'stddev_samp',
  variance: 'var_samp',
  min_by: 'arg_min',
  max_by: 'arg_max',
};
