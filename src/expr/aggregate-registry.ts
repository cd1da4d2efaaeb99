/** Aggregate functions: how a name resolves, and the accumulator of a resolved call. */
import { assert, must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { SqlType } from '../batch/types.ts';
import {
  FLOAT64,
  INT64,
  decimalType,
  isIntegerTag,
  isNested,
  layoutOf,
  typeName,
} from '../batch/types.ts';
import type { Accumulator } from './accumulator.ts';
import { CountAccumulator } from './aggregates/count.ts';
import { ExactSumAccumulator } from './aggregates/exact-sum.ts';
import { FloatExtremeAccumulator, WordExtremeAccumulator } from './aggregates/extreme-fixed.ts';
import { TextExtremeAccumulator } from './aggregates/extreme-text.ts';
import { FloatSumAccumulator } from './aggregates/float-sum.ts';
import type { AggregateCall } from './expr.ts';
import type { ResolveError, ResolvedFunction } from './registry.ts';
import { nearestNames } from './spelling.ts';

type Aggregate = {
  id: string;
  name: string;
  /** 0 for count(*). */
  argCount: 0 | 1;
  /** The result type, or null when the argument type does not fit. */
  result: (type: SqlType | undefined) => SqlType | null;
  doc: string;
};

function sumType(type: SqlType | undefined): SqlType | null {
  if (type === undefined) return null;
  if (type.tag === 'uint64') return decimalType(38, 0);
  if (isIntegerTag(type.tag)) return INT64;
  if (type.tag === 'decimal') return decimalType(38, type.scale);
  return type.tag === 'float64' || type.tag === 'float32' ? FLOAT64 : null;
}

function meanType(type: SqlType | undefined): SqlType | null {
  if (type?.tag === 'decimal') return decimalType(38, Math.max(type.scale, 6));
  if (type?.tag === 'uint64') return decimalType(38, 6);
  return sumType(type) === null ? null : FLOAT64;
}

const ordered = (type: SqlType | undefined): SqlType | null =>
  type === undefined || isNested(type) ? null : type;

export const AGGREGATES: readonly Aggregate[] = [
  { id: 'count-rows', name: 'count', argCount: 0, result: () => INT64, doc: 'the number of rows' },
  {
    id: 'count',
    name: 'count',
    argCount: 1,
    result: () => INT64,
    doc: 'the number of values that are not NULL',
  },
  { id: 'sum', name: 'sum', argCount: 1, result: sumType, doc: 'the sum; NULL without values' },
  {
    id: 'min',
    name: 'min',
    argCount: 1,
    result: ordered,
    doc: 'the smallest value; NULL without values',
  },
  {
    id: 'max',
    name: 'max',
    argCount: 1,
    result: ordered,
    doc: 'the largest value; NULL without values',
  },
  { id: 'avg', name: 'avg', argCount: 1, result: meanType, doc: 'the mean; NULL without values' },
];

const ALIASES: Readonly<Record<string, string>> = { mean: 'avg' };

/** Aggregates that users may know and that are not there yet. */
const LATER: readonly string[] = [
  'array_agg',
  'string_agg',
  'stddev',
  'stddev_pop',
  'stddev_samp',
  'var',
  'var_pop',
  'var_samp',
  'variance',
  'median',
  'approx_distinct',
  'approx_median',
  'approx_percentile_cont',
  'first_value',
  'last_value',
  'bool_and',
  'bool_or',
  'bit_and',
  'bit_or',
  'bit_xor',
  'corr',
  'covar_pop',
  'covar_samp',
];

const canonicalName = (name: string): string => {
  const lower = name.toLowerCase();
  return ALIASES[lower] ?? lower;
};

export const isAggregateName = (name: string): boolean => {
  const canonical = canonicalName(name);
  return LATER.includes(canonical) || AGGREGATES.some((aggregate) => aggregate.name === canonical);
};

export const aggregateNames = (): string[] =>
  [...new Set(AGGREGATES.map(({ name }) => name)), ...Object.keys(ALIASES)].sort();

/**
 * The aggregate a call means; count(*) has no argument types.
 *
 * @param untyped  per argument: whether it is a NULL or text literal
 */
export function resolveAggregate(
  name: string,
  types: readonly SqlType[],
  distinct: boolean,
): ResolvedFunction | ResolveError {
  const canonical = canonicalName(name);
  if (LATER.includes(canonical)) {
    return {
      error: 'UNSUPPORTED',
      message: `the aggregate ${canonical} is not supported yet`,
      candidates: aggregateNames(),
    };
  }
  const named = AGGREGATES.filter((aggregate) => aggregate.name === canonical);
  if (named.length === 0) {
    const candidates = nearestNames(name, aggregateNames());
    return { error: 'UNKNOWN_FUNCTION', message: `there is no aggregate ${name}`, candidates };
  }
  const found = named.find((aggregate) => aggregate.argCount === types.length);
  const type = found?.result(types[0]);
  if (found === undefined || type === null || type === undefined) {
    const given = types.map(typeName).join(', ');
    const hint =
      found === undefined
        ? `${canonical} takes one argument.`
        : `${canonical} does not work on ${given}; a CAST may help.`;
    return {
      error: 'TYPE_ERROR',
      message: `${canonical}(${given}) is not defined`,
      hint,
      candidates: [],
    };
  }
  // The smallest and the largest value are the same with and without duplicates.
  if (distinct && canonical !== 'min' && canonical !== 'max') {
    return {
      error: 'UNSUPPORTED',
      message: `${canonical}(DISTINCT …) is not supported yet`,
      hint: 'Group by the value in a subquery first.',
      candidates: [],
    };
  }
  // Totals of BIGINT UNSIGNED are kept as those of DECIMAL.
  const sums = canonical === 'sum' || canonical === 'avg';
  const coerced = sums && types[0]?.tag === 'uint64' ? [decimalType(20, 0)] : types;
  return { fn: found.id, coerced, type };
}

/**
 * An empty accumulator without groups. The caller evaluates arguments and the filter, and gives rows
 * that the filter rejects a negative group.
 */
export function makeAccumulator(call: AggregateCall): Accumulator {
  const { fn, label } = call;
  if (call.distinct && fn !== 'min' && fn !== 'max')
    throw new EngineError('UNSUPPORTED', `DISTINCT in ${label} is not supported yet`);
  if (fn === 'count' || fn === 'count-rows') return new CountAccumulator();
  const input = must(call.args[0], 'the argument of an aggregate').type;
  if (fn === 'min' || fn === 'max') {
    if (layoutOf(input) === 'text') return new TextExtremeAccumulator(input, fn === 'max');
    if (layoutOf(input) === 'float64') return new FloatExtremeAccumulator(input, fn === 'max');
    return new WordExtremeAccumulator(input, fn === 'max');
  }
  assert(fn === 'sum' || fn === 'avg', `an aggregate with the id ${fn}`);
  if (layoutOf(input) === 'float64') return new FloatSumAccumulator(fn);
  return new ExactSumAccumulator({ label, kind: fn, input, result: call.type });
}
