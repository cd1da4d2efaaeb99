/**
 * LATERAL subqueries, which read columns of the tables before them → joins.
 *
 * An aggregate of all rows becomes a left join with one group per value it is correlated by; rows as they are become
 * an inner or left join by the conditions of the subquery; the first rows by ORDER BY and LIMIT, a Top-N per value of them. Any other form is refused by name.
 */
import type { DerivedTable } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type Environment, type Relation, joinParts } from './bind-from.ts';
import { type OpenQuery, bindInner, isOrdered } from './bind-inner-query.ts';
import { firstRows } from './correlated-rows.ts';
import { nameOf } from './bind-select.ts';
import { isOneGroup, prepareAggregates } from './subquery-aggregate.ts';
import { unmoved } from './correlation.ts';
import { type ExpressionContext, POISON } from './expression-context.ts';
import type { Expr } from '../expr/expr.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject } from './nodes.ts';
import type { Scope } from './scope.ts';
import { Rows, join, shift } from './subquery-rows.ts';

/** What comes of a LATERAL subquery: the relation with its columns, or the plan of one that reads nothing outside. */
export type Lateral =
  | { tag: 'joined'; relation: Relation }
  | { tag: 'closed'; node: PlanNode | null };

export function bindLateral(
  reference: DerivedTable,
  left: Relation,
  kind: 'inner' | 'left',
  environment: Environment,
): Lateral {
  const { span, query } = reference;
  const context: ExpressionContext = {
    scope: left.scope,
    open: left.open,
    diagnostics: environment.diagnostics,
    place: 'LATERAL',
    rowTime: false,
    aggregate: null,
    window: null,
    aliases: new Map(),
    origins: new WeakMap(),
  };
  const inner = bindInner(query, context, environment, true);
  if (inner.tag === 'closed') return { tag: 'closed', node: inner.node };
  const nothing: Relation = { parts: null, conditions: [], scope: left.scope, open: true };
  const rows = new Rows(joinParts(left, [], span, environment));
  const width = rows.node?.schema.length ?? 0;
  const values = valuesOf(inner, rows, kind, reference, environment);
  if (values === null || rows.node === null) return { tag: 'joined', relation: nothing };
  const { node } = rows;
  const names = reference.alias?.columns ?? [];
  const named = values.map(({ expr, name }, index) => ({
    expr,
    name: names[index]?.name ?? name,
  }));
  const kept = node.schema.slice(0, width);
  const project = makeProject(
    node,
    [...kept.map((_, index) => columnExpr(node.schema, index)), ...named.map(({ expr }) => expr)],
    [...kept.map((field) => field.name), ...named.map(({ name }) => name)],
  );
  const added: Scope = named.map(({ name }, index) => {
    const field = project.schema[width + index];
    return {
      qualifier: reference.alias?.name.name ?? null,
      name,
      index: width + index,
      type: field?.type ?? POISON.type,
      nullable: field?.nullable ?? true,
      window: null,
      broken: false,
    };
  });
  const relation = {
    parts: [project],
    conditions: [],
    scope: [...left.scope, ...added],
    open: left.open,
  };
  return { tag: 'joined', relation };
}

type Named = { expr: Expr; name: string };

function valuesOf(
  inner: OpenQuery,
  rows: Rows,
  kind: 'inner' | 'left',
  { span }: DerivedTable,
  environment: Environment,
): Named[] | null {
  const { select } = inner;
  const items = select.items.flatMap((item) => (item.tag === 'expression' ? [item] : []));
  const isPlain = select.groupBy.length === 0 && select.having === null && !select.distinct;
  if (items.length < select.items.length || !isPlain || select.qualify !== null) {
    environment.diagnostics.error(
      'UNSUPPORTED',
      'LATERAL takes a SELECT of named columns without groups and DISTINCT',
      span,
      { hint: 'join a query in FROM, grouped by the columns it is joined by' },
    );
    return null;
  }
  if (inner.node === null || rows.node === null) return null;
  const name = (at: number): string => {
    const item = items[at];
    return (
      item?.alias?.name ??
      (item === undefined ? null : nameOf(item.expression)) ??
      `column_${at + 1}`
    );
  };
  if (isOneGroup(select)) {
    const prepared = prepareAggregates(inner, items, span, environment);
    const values = prepared?.attach(rows, unmoved);
    return values?.map((expr, at) => ({ expr, name: name(at) })) ?? null;
  }
  const width = rows.node.schema.length;
  const binder = new ExpressionBinder(inner.context);
  const exprs = items.map((item) => binder.bind(item.expression));
  if (exprs.includes(POISON)) return null;
  if (isOrdered(inner.query)) {
    const first = firstRows(inner, exprs, environment);
    if (first === null) return null;
    join(kind, rows, first.node, first.conditions, span, environment);
    const { schema } = first.node;
    return exprs.map((_, at) => ({ expr: shift(columnExpr(schema, at), width), name: name(at) }));
  }
  join(kind, rows, inner.node, inner.correlated, span, environment);
  return exprs.map((expr, at) => ({ expr: shift(expr, width), name: name(at) }));
}
