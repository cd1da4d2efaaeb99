/** From an aggregate as written, with its operands bound, to a call of the aggregate registry. */
import type { ErrorCode } from '../base/errors.ts';
import { TIMESTAMP } from '../batch/types.ts';
import type { Aggregate, Constant } from '../expr/aggregate-types.ts';
import { aggregateById, aggregateOf, resolveAggregate } from '../expr/aggregate-registry.ts';
import type { AggregateCall, Expr, LiteralValue, SortOrder } from '../expr/expr.ts';
import { printExpr } from '../expr/print.ts';
import type { CallExpression } from '../sql/ast-expression.ts';
import type { OrderItem } from '../sql/ast-query.ts';
import { type CallError, castAll, foldExpr, refusal } from './functions.ts';
import { canonical } from './expressions.ts';

/** A key of ORDER BY inside the call, or of WITHIN GROUP. */
export type SortKey = { expr: Expr; order: SortOrder };

/** As Postgres: without NULLS FIRST or LAST a NULL counts as larger than everything. */
export const sortOrder = ({ descending, nulls }: OrderItem): SortOrder => ({
  descending,
  nullsFirst: nulls === null ? descending : nulls === 'first',
});

const error = (code: ErrorCode, message: string, hint: string): CallError => ({
  tag: 'error',
  code,
  message,
  extras: { hint },
});

export type AggregateOperands = {
  args: readonly Expr[];
  filter: Expr | null;
  keys: readonly SortKey[];
  /** Whether rows have an event time: the order of those that need one and name none. */
  rowTime: boolean;
};

/**
 * The aggregate that a call means.
 *
 * @param columnNames  names of the input columns, for the label
 */
export function resolveAggregateCall(
  call: CallExpression,
  operands: AggregateOperands,
  columnNames: readonly string[],
): { tag: 'aggregate'; call: AggregateCall } | CallError {
  const name = call.name.name;
  const { filter, keys } = operands;
  const isWithin =
    call.withinGroup.length > 0 && aggregateOf(name, operands.args.length + 1)?.within;
  const [place] = keys;
  const args = isWithin && place !== undefined ? [place.expr, ...operands.args] : operands.args;
  if (args.length === 0 && !call.star) {
    const extras = name === 'count' ? { hint: 'count(*) counts rows', suggestion: 'count(*)' } : {};
    return { tag: 'error', code: 'TYPE_ERROR', message: `${name}() needs an argument`, extras };
  }
  const resolved = resolveAggregate(
    name,
    args.map((arg) => arg.type),
    call.distinct,
  );
  if ('error' in resolved) return refusal(name, resolved);
  const { aggregate } = resolved;
  const cast = castAll(args.slice(0, aggregate.values), resolved.coerced);
  if (cast.tag === 'error') return cast;
  const params = constantsOf(name, aggregate, args.slice(aggregate.values));
  if ('tag' in params) return params;
  const order = isWithin
    ? withinOrder(name, aggregate, keys, params)
    : orderOf(call, aggregate, operands, args);
  if ('tag' in order) return order;
  if (call.nullTreatment !== null && aggregate.ordered !== true)
    return error(
      'UNSUPPORTED',
      `${name}() takes no IGNORE NULLS or RESPECT NULLS`,
      'its result does not depend on NULLs',
    );
  return {
    tag: 'aggregate',
    call: {
      fn: resolved.fn,
      args: [...cast.args, ...order.args],
      ...(params.length === 0 ? {} : { params }),
      ...(order.orders.length === 0 ? {} : { order: order.orders }),
      ...(call.nullTreatment === 'ignore' ? { ignoreNulls: true as const } : {}),
      distinct: call.distinct,
      filter,
      type: resolved.type,
      label: labelOf(call, operands, columnNames),
    },
  };
}

type Order = { args: readonly Expr[]; orders: readonly SortOrder[] };

const NO_ORDER: Order = { args: [], orders: [] };

/** The sorted value is an argument already; a weighted percentile from above is one from below. */
function withinOrder(
  name: string,
  aggregate: Aggregate,
  keys: readonly SortKey[],
  params: LiteralValue[],
): Order | CallError {
  const [key, ...more] = keys;
  if (more.length > 0)
    return error(
      'TYPE_ERROR',
      `${name}() sorts by one value`,
      'give WITHIN GROUP one ORDER BY key',
    );
  if (key?.order.descending !== true) return NO_ORDER;
  if (aggregate.values === 1) return { args: [], orders: [key.order] };
  params[0] = 1 - Number(params[0]);
  return NO_ORDER;
}

function orderOf(
  call: CallExpression,
  aggregate: Aggregate,
  { keys, rowTime }: AggregateOperands,
  args: readonly Expr[],
): Order | CallError {
  // The order of rows makes no difference to the others.
  if (aggregate.ordered !== true) return NO_ORDER;
  if (call.distinct && aggregate.ignoresDuplicates !== true) {
    const known = new Set(args.map(canonical));
    if (keys.some(({ expr }) => !known.has(canonical(expr))))
      return error(
        'TYPE_ERROR',
        `with DISTINCT, ${call.name.name}() can be ordered by its argument only`,
        'which of several equal values would give the key is not defined',
      );
  } else if (keys.length === 0 && rowTime) {
    const byTime: SortOrder = { descending: false, nullsFirst: false };
    return { args: [{ tag: 'row-time', type: TIMESTAMP }], orders: [byTime] };
  }
  return { args: keys.map(({ expr }) => expr), orders: keys.map(({ order }) => order) };
}

function constantsOf(
  name: string,
  aggregate: Aggregate,
  args: readonly Expr[],
): LiteralValue[] | CallError {
  const values: LiteralValue[] = [];
  for (const [index, constant] of (aggregate.constants ?? []).entries()) {
    const arg = args[index];
    const value = arg === undefined ? (constant.fallback ?? null) : constantOf(constant, arg);
    if (value === null)
      return error(
        'TYPE_ERROR',
        `${name}() takes ${NEEDS[constant.type]} as ${constant.name}`,
        `write it as a constant: ${aggregate.call}`,
      );
    values.push(value);
  }
  return values;
}

const NEEDS: Readonly<Record<Constant['type'], string>> = {
  fraction: 'a fraction between 0 and 1',
  count: 'a whole number from 1',
  text: 'a text',
};

function constantOf(constant: Constant, arg: Expr): LiteralValue {
  const folded = foldExpr(arg);
  if (folded.tag !== 'literal' || folded.value === null) return null;
  const { type, value } = folded;
  if (constant.type === 'text') return type.tag === 'text' ? value : null;
  const number = type.tag === 'decimal' ? Number(value) / 10 ** type.scale : Number(value);
  if (type.tag === 'boolean' || type.tag === 'text' || !Number.isFinite(number)) return null;
  if (constant.type === 'count') return Number.isSafeInteger(number) && number >= 1 ? number : null;
  return number >= 0 && number <= 1 ? number : null;
}

function labelOf(
  call: CallExpression,
  { args, filter, keys }: AggregateOperands,
  columnNames: readonly string[],
): string {
  const inner = call.star ? '*' : args.map((arg) => printExpr(arg, columnNames)).join(', ');
  const sorted = keys
    .map(({ expr, order: { descending, nullsFirst } }) => {
      const nulls = nullsFirst === descending ? '' : ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
      return `${printExpr(expr, columnNames)}${descending ? ' DESC' : ''}${nulls}`;
    })
    .join(', ');
  const isWithin = call.withinGroup.length > 0;
  const within = isWithin ? ` WITHIN GROUP (ORDER BY ${sorted})` : '';
  const order = sorted === '' || isWithin ? '' : ` ORDER BY ${sorted}`;
  const nulls = call.nullTreatment === 'ignore' ? ' IGNORE NULLS' : '';
  const where = filter === null ? '' : ` FILTER (WHERE ${printExpr(filter, columnNames)})`;
  return `${call.name.name}(${call.distinct ? 'DISTINCT ' : ''}${inner}${order})${within}${nulls}${where}`;
}

/** Whether the result may be NULL although a group has a row and no argument is NULL. */
export const mayGiveNull = (call: AggregateCall): boolean =>
  aggregateById(call.fn)?.nullable === 'sometimes';

/** Whether the result is never NULL. */
export const neverGivesNull = (call: AggregateCall): boolean =>
  aggregateById(call.fn)?.nullable === 'never';
