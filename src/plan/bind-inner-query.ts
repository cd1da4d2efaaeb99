/** A subquery → the rows it stands for, and the conditions by which they hang on the query outside. */
import type { Query, Select } from '../sql/ast-query.ts';
import { type Environment, type Relation, bindFrom } from './bind-from.ts';
import type { Condition } from './bind-join.ts';
import { applyWhere } from './bind-where.ts';
import type { ExpressionContext } from './expression-context.ts';
import { hasAggregate } from './grouping.ts';
import type { PlanNode } from './logical.ts';
import { outerScopeOf } from './outer-columns.ts';
import { type Scope, resolvePath } from './scope.ts';

/** A subquery, taken apart as far as its joining needs. */
export type Inner =
  /** It can be planned by itself. */
  { tag: 'closed'; node: PlanNode | null } | OpenQuery;

/** Rows of a query's FROM and WHERE, and the conditions that connect them with the query outside. */
export type OpenQuery = {
  tag: 'open';
  /** Its ORDER BY and LIMIT are still to be applied. */
  query: Query;
  select: Select;
  relation: Relation;
  context: ExpressionContext;
  node: PlanNode | null;
  correlated: readonly Condition[];
};

/**
 * Binds a subquery as far as it needs to know whether it is correlated.
 *
 * @param takesOrder  whether the caller applies the ORDER BY and LIMIT of a correlated one
 */
export function bindInner(
  query: Query,
  context: ExpressionContext,
  environment: Environment,
  takesOrder = false,
): Inner {
  const { body } = query;
  const ordered = isOrdered(query);
  const isSimple =
    body.tag === 'select' && query.with.length === 0 && (!ordered || (takesOrder && isRows(body)));
  if (!isSimple || body.tag !== 'select')
    return { tag: 'closed', node: environment.bindQuery(query, environment).node };
  const relation = bindFrom(body, environment);
  const correlated = readsScope(body, relation.scope, context.scope);
  const aggregates = body.items.some(
    (item) => item.tag === 'expression' && hasAggregate(item.expression),
  );
  const isOneAggregate = aggregates && body.groupBy.length === 0 && body.having === null;
  if (!correlated && ordered)
    return { tag: 'closed', node: environment.bindQuery(query, environment).node };
  if (!correlated && !isOneAggregate)
    return { tag: 'closed', node: environment.bindSelect(body, relation, environment).node };
  const inside: ExpressionContext = {
    scope: relation.scope,
    open: relation.open,
    outer: outerScopeOf(context.scope),
    diagnostics: environment.diagnostics,
    place: 'a subquery',
    rowTime: relation.parts?.length === 1 && relation.parts[0]?.eventTime !== false,
    aggregate: null,
    window: null,
    aliases: new Map(),
    origins: new WeakMap(),
  };
  const { node, correlated: conditions } = applyWhere(
    body.where,
    relation,
    body.span,
    inside,
    environment,
  );
  return {
    tag: 'open',
    query,
    select: body,
    relation,
    context: { ...inside, outer: undefined },
    node,
    correlated: conditions,
  };
}

export const isOrdered = ({ orderBy, limit, offset }: Query): boolean =>
  orderBy.length > 0 || limit !== null || offset !== null;

/** Whether a SELECT gives rows of its FROM, one for one. */
const isRows = ({ items, groupBy, having, distinct, distinctOn, qualify }: Select): boolean =>
  groupBy.length === 0 &&
  having === null &&
  qualify === null &&
  !distinct &&
  distinctOn.length === 0 &&
  !items.some((item) => item.tag === 'expression' && hasAggregate(item.expression));

/** Whether the query names a column that only the query outside has. */
function readsScope(value: unknown, own: Scope, outer: Scope): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((part) => readsScope(part, own, outer));
  const node = value as { tag?: string; parts?: Parameters<typeof resolvePath>[0] };
  if (node.tag === 'path' && node.parts !== undefined)
    return (
      resolvePath(node.parts, own).tag === 'unknown' &&
      resolvePath(node.parts, outer).tag !== 'unknown'
    );
  return Object.values(value).some((part) => readsScope(part, own, outer));
}
