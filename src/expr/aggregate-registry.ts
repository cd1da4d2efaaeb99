/** Aggregate functions: how a name with argument types finds its record. Their accumulators: `aggregates/make.ts`. */
import type { SqlType } from '../batch/types.ts';
import { typeName } from '../batch/types.ts';
import type { Aggregate } from './aggregate-types.ts';
import { AGGREGATES, AGGREGATE_ALIASES } from './aggregates/declared.ts';
import type { ResolveError, ResolvedFunction } from './registry.ts';
import { nearestNames } from './spelling.ts';

export { AGGREGATES };
export { CountAccumulator } from './aggregates/count.ts';
export { DistinctAccumulator, type SharedDistinct } from './aggregates/distinct.ts';
export { makeAccumulator, makeAccumulators } from './aggregates/make.ts';

const canonicalName = (name: string): string => {
  const lower = name.toLowerCase();
  return AGGREGATE_ALIASES[lower] ?? lower;
};

const NAMES: ReadonlySet<string> = new Set(AGGREGATES.map(({ name }) => name));
const BY_ID: ReadonlyMap<string, Aggregate> = new Map(AGGREGATES.map((each) => [each.id, each]));

export const isAggregateName = (name: string): boolean => NAMES.has(canonicalName(name));

export const aggregateNames = (): string[] => [...NAMES, ...Object.keys(AGGREGATE_ALIASES)].sort();

export const aggregateById = (id: string): Aggregate | undefined => BY_ID.get(id);

/** The record of a name that takes this many arguments, constants among them. */
export const aggregateOf = (name: string, count: number): Aggregate | undefined => {
  const canonical = canonicalName(name);
  return AGGREGATES.find(({ name: own, values, constants = [] }) => {
    const needed = constants.filter(({ fallback }) => fallback === undefined).length;
    return own === canonical && count >= values + needed && count <= values + constants.length;
  });
};

export type ResolvedAggregate = ResolvedFunction & { aggregate: Aggregate };

/**
 * The aggregate a call means; count(*) has no argument types.
 *
 * @param types  of all arguments, constants at the end; `coerced` is for the values only
 */
export function resolveAggregate(
  name: string,
  types: readonly SqlType[],
  _distinct: boolean,
): ResolvedAggregate | ResolveError {
  const canonical = canonicalName(name);
  const named = AGGREGATES.filter((aggregate) => aggregate.name === canonical);
  if (named.length === 0) {
    const candidates = nearestNames(name, aggregateNames());
    return { error: 'UNKNOWN_FUNCTION', message: `there is no aggregate ${name}`, candidates };
  }
  const aggregate = aggregateOf(name, types.length);
  const values = types.slice(0, aggregate?.values ?? 0);
  const found = aggregate?.result(values) ?? null;
  if (aggregate === undefined || found === null) {
    const given = types.map(typeName).join(', ');
    const forms = named.map(({ call }) => call).join(' or ');
    const hint =
      aggregate === undefined
        ? `It is called as ${forms}.`
        : `${canonical} does not work on ${values.map(typeName).join(', ')}; a CAST may help.`;
    return {
      error: 'TYPE_ERROR',
      message: `${canonical}(${given}) is not defined`,
      hint,
      candidates: [],
    };
  }
  return { fn: aggregate.id, coerced: found.coerced, type: found.type, aggregate };
}
