/**
 * Subqueries in expressions → joins.
 *
 * - `EXISTS` and `IN` in WHERE are semi joins, their negations anti joins; NOT IN counts the NULLs of the subquery, since
 *   one of them leaves no row.
 * - A subquery for one value must be a single row by its form: an aggregate without GROUP BY. It becomes a left join, of
 *   the one group, or of one group for each value of the columns it is correlated by.
 * - A correlated subquery reads columns of the query outside by conditions of its WHERE; for one value these must be
 *   equalities. A count over no rows is 0, as if the subquery had been run for each row.
 * Failure: any other form is refused by name.
 */
import type { Span } from '../base/errors.ts';
import { must } from '../base/assert.ts';
import { BOOLEAN } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Expression, InQueryExpression } from '../sql/ast-expression.ts';
import type { ExpressionItem, Query, Select } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import { type Inner, type OpenQuery, bindInner } from './bind-inner-query.ts';
import { type Condition, isSingleRow } from './bind-join.ts';
import { type ExpressionContext, POISON, type Subquery } from './expression-context.ts';
import { resolveCall } from './functions.ts';
import { Grouping, hasAggregate } from './grouping.ts';
import { numberLiteral } from './literals.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';
import {
  type Rows,
  attach,
  compare,
  countOf,
  join,
  orZero,
  orZeroOf,
  resolved,
  shift,
} from './subquery-rows.ts';

/** What binds subqueries inside an expression over `rows`. */
export const withSubqueries = (
  context: ExpressionContext,
  rows: Rows,
  environment: Environment,
): ExpressionContext => ({
  ...context,
  subquery: (expression) => valueOf(expression, rows, context, environment),
});

/** Applies a condition of WHERE that holds a subquery. */
export function filterBySubquery(
  condition: Expression,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): void {
  const negated = condition.tag === 'unary' && condition.operator === 'not';
  const inside = negated ? condition.operand : condition;
  if (inside.tag === 'exists')
    return exists(inside.query, negated, inside.span, rows, context, environment);
  if (inside.tag === 'in_query')
    return isIn(inside, inside.negated !== negated, rows, context, environment);
  const binder = new ExpressionBinder(withSubqueries(context, rows, environment));
  rows.filter(binder.bindCondition(condition));
}

function exists(
  query: Query,
  negated: boolean,
  span: Span,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): void {
  const inner = bindInner(query, context, environment);
  if (inner.node === null || rows.node === null) {
    rows.node = null;
    return;
  }
  if (inner.tag === 'open' && !isPlain(inner.select, span, environment)) {
    rows.node = null;
    return;
  }
  if (inner.tag === 'open' && inner.correlated.length > 0) {
    join(negated ? 'anti' : 'semi', rows, inner.node, inner.correlated, span, environment);
    return;
  }
  const count = countOf(inner.node, null);
  const at = attach(rows, count, [], span, environment);
  if (at !== null)
    rows.filter(
      compare(negated ? '=' : '>', orZero(at, rows.node), numberLiteral('0', false) as Expr),
    );
}

/** Over which rows EXISTS asks: what groups or aggregates is refused where it is correlated. */
function isPlain(select: Select, span: Span, { diagnostics }: Environment): boolean {
  const refused = select.having ?? select.groupBy[0];
  const aggregated = select.items.some(
    (item) => item.tag === 'expression' && hasAggregate(item.expression),
  );
  if (refused === undefined && !aggregated) return true;
  diagnostics.error(
    'UNSUPPORTED',
    'a correlated subquery with groups is not supported here',
    span,
    {
      hint: 'group in a query in FROM, and join that',
    },
  );
  return false;
}

function isIn(
  expression: InQueryExpression,
  negated: boolean,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): void {
  const { diagnostics } = environment;
  const { span } = expression;
  const operand = new ExpressionBinder(context).bind(expression.operand);
  const inner = bindInner(expression.query, context, environment);
  const found = inner.node === null ? null : comparedColumn(inner, span, environment);
  if (operand === POISON || found === null || rows.node === null || inner.node === null) {
    rows.node = null;
    return;
  }
  const width = OUTER_COLUMNS;
  const call = resolveCall('=', [shift(operand, width), found]);
  if (call.tag === 'error') {
    diagnostics.error(call.code, call.message, span, call.extras);
    rows.node = null;
    return;
  }
  const correlated = inner.tag === 'open' ? inner.correlated : [];
  const mayBeNull = isNullable(operand, rows.node.schema) || isNullable(found, inner.node.schema);
  if (negated && mayBeNull) {
    if (correlated.length > 0) {
      diagnostics.error(
        'UNSUPPORTED',
        'NOT IN with a correlated subquery is supported only where neither side can be NULL',
        span,
        { hint: 'use NOT EXISTS, or add … IS NOT NULL to both sides' },
      );
      rows.node = null;
      return;
    }
    dropUnknown(operand, found, rows, inner.node, span, environment);
  }
  const conditions = [{ expr: call.expr, span }, ...correlated];
  join(negated ? 'anti' : 'semi', rows, inner.node, conditions, span, environment);
}

/** `x NOT IN (…)` is unknown, and so not true, when x or anything it is compared with is NULL. */
function dropUnknown(
  operand: Expr,
  found: Expr,
  rows: Rows,
  inner: PlanNode,
  span: Span,
  environment: Environment,
): void {
  const at = attach(rows, countOf(inner, found), [], span, environment);
  if (at === null) return;
  const zero = numberLiteral('0', false) as Expr;
  const total = orZero(at, rows.node);
  const present = orZero(at + 1, rows.node);
  const isEmpty = compare('=', total, zero);
  const isKnown: Expr = {
    tag: 'and',
    args: [compare('=', total, present), resolved('is not null', [operand])],
    type: BOOLEAN,
  };
  rows.filter({ tag: 'or', args: [isEmpty, isKnown], type: BOOLEAN });
}

/** The column that IN compares with, over the rows of the subquery. */
function comparedColumn(inner: Inner, span: Span, environment: Environment): Expr | null {
  const { diagnostics } = environment;
  if (inner.tag === 'closed') {
    const schema = inner.node?.schema ?? [];
    if (schema.length === 1) return columnExpr(schema, 0);
    diagnostics.error('TYPE_ERROR', `the subquery of IN has ${schema.length} columns`, span, {
      hint: 'select the one column to compare with',
    });
    return null;
  }
  if (!isPlain(inner.select, span, environment)) return null;
  const [item, second] = inner.select.items;
  if (item?.tag !== 'expression' || second !== undefined) {
    diagnostics.error('TYPE_ERROR', 'the subquery of IN must have one column', span, {
      hint: 'select the one column to compare with',
    });
    return null;
  }
  const bound = new ExpressionBinder(inner.context).bind(item.expression);
  return bound === POISON ? null : bound;
}

/** One value for each row: the place of a subquery in an expression. */
function valueOf(
  expression: Subquery,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): Expr {
  const { diagnostics } = environment;
  const { span } = expression;
  const refuse = (message: string, hint: string): Expr => {
    diagnostics.error('UNSUPPORTED', message, span, { hint });
    return POISON;
  };
  if (expression.tag === 'in_query')
    return refuse(
      'IN with a query is supported as a condition of WHERE, with AND between it and others',
      'write it as a condition of its own, or use EXISTS',
    );
  const inner = bindInner(expression.query, context, environment);
  if (inner.node === null || rows.node === null) return POISON;
  if (expression.tag === 'exists') return existsValue(inner, rows, span, environment);
  if (inner.tag === 'open') return aggregateValue(inner, rows, span, environment);
  const { schema } = inner.node;
  if (schema.length !== 1) {
    diagnostics.error('TYPE_ERROR', `a subquery for one value has ${schema.length} columns`, span);
    return POISON;
  }
  if (!isSingleRow(inner.node))
    return refuse(
      'a subquery for one value must have one row by its form',
      'take an aggregate, such as max(x), or join the query in FROM',
    );
  const at = attach(rows, inner.node, [], span, environment);
  return at === null || rows.node === null ? POISON : columnExpr(rows.node.schema, at);
}

/** EXISTS among other conditions: whether there are rows, by counting them. */
function existsValue(inner: Inner, rows: Rows, span: Span, environment: Environment): Expr {
  if (inner.node === null) return POISON;
  if (inner.tag === 'open' && !isPlain(inner.select, span, environment)) return POISON;
  const pairs = inner.tag === 'open' ? keysOf(inner.correlated, span, environment) : [];
  if (pairs === null) return POISON;
  const counts = countOf(
    inner.node,
    null,
    pairs.map(({ own }) => own),
  );
  const conditions = pairs.map(({ outer, span: at }, index) => ({
    expr: compare('=', outer, columnExpr(counts.schema, index)),
    span: at,
  }));
  const from = attach(rows, counts, conditions, span, environment);
  if (from === null) return POISON;
  return compare('>', orZero(from + pairs.length, rows.node), numberLiteral('0', false) as Expr);
}

/** `(SELECT f(agg(x), …) FROM … WHERE key = outer.key)`. */
function aggregateValue(inner: OpenQuery, rows: Rows, span: Span, environment: Environment): Expr {
  const [item, second] = inner.select.items;
  if (item?.tag !== 'expression' || second !== undefined || !isOneGroup(inner.select)) {
    environment.diagnostics.error(
      'UNSUPPORTED',
      'a correlated subquery for one value must be an aggregate without GROUP BY',
      span,
      { hint: 'take max(x) of it, or join the query in FROM' },
    );
    return POISON;
  }
  return aggregateValues(inner, [item], rows, span, environment)?.[0] ?? POISON;
}

/** Whether a SELECT aggregates all its rows. */
export const isOneGroup = ({ items, groupBy, having }: Select): boolean =>
  groupBy.length === 0 &&
  having === null &&
  items.some((item) => item.tag === 'expression' && hasAggregate(item.expression));

/** Joins the aggregates of a subquery to the rows; the items over the rows, null after an error. */
export function aggregateValues(
  inner: OpenQuery,
  items: readonly ExpressionItem[],
  rows: Rows,
  span: Span,
  environment: Environment,
): Expr[] | null {
  const { context, correlated } = inner;
  const [first] = items;
  const pairs = keysOf(correlated, span, environment);
  if (pairs === null || first === undefined || inner.node === null) return null;
  const grouping = new Grouping(context);
  for (const { own } of pairs) grouping.addKey(own, 'key', first.expression);
  const binder = new ExpressionBinder({
    ...context,
    aggregate: grouping.addAggregate.bind(grouping),
  });
  const collected = items.map((item) => binder.bind(item.expression));
  const values = collected.map((value, index) => grouping.regroup(value, items[index] ?? first));
  const keys = pairs.map(({ own }) => grouping.regroup(own, first));
  const groups = grouping.build(inner.node, first);
  if (values.includes(POISON) || keys.includes(POISON) || groups === null) return null;
  const conditions = pairs.map(({ outer, span: at }, index) => ({
    expr: compare('=', outer, must(keys[index], 'key')),
    span: at,
  }));
  const from = attach(rows, groups, conditions, span, environment);
  if (from === null || groups.tag !== 'updating-aggregate') return null;
  return values.map((value) =>
    mapColumns(value, (column) => {
      const call = groups.aggregates[column.index - groups.groupBy.length];
      const moved: Expr = { ...column, index: from + column.index };
      return call !== undefined && isCount(call) ? orZeroOf(moved) : moved;
    }),
  );
}

/** Whether an aggregate over no rows is 0 and not NULL. */
const isCount = (call: AggregateCall): boolean =>
  /^(count|approx.distinct|regr.count)/.test(call.fn);

/** The equalities a subquery is correlated by. */
function keysOf(
  correlated: readonly Condition[],
  span: Span,
  { diagnostics }: Environment,
): { own: Expr; outer: Expr; span: Span }[] | null {
  const pairs: { own: Expr; outer: Expr; span: Span }[] = [];
  for (const { expr, span: at } of correlated) {
    const [first, second] = expr.tag === 'call' && expr.fn === 'equal' ? expr.args : [];
    if (first !== undefined && second !== undefined) {
      const [one, other] = [isOutside(first), isOutside(second)];
      if (one === 'all' && other === 'none') {
        pairs.push({ own: second, outer: first, span: at });
        continue;
      }
      if (one === 'none' && other === 'all') {
        pairs.push({ own: first, outer: second, span: at });
        continue;
      }
    }
    diagnostics.error(
      'UNSUPPORTED',
      'a correlated subquery for one value is connected by equalities only',
      at ?? span,
      { hint: 'join the tables in FROM, and group by the columns of the outer one' },
    );
    return null;
  }
  return pairs;
}

function isOutside(expr: Expr): 'all' | 'none' | 'some' {
  const columns: number[] = [];
  mapColumns(expr, (column) => {
    columns.push(column.index);
    return column;
  });
  const outside = columns.filter((column) => column >= OUTER_COLUMNS).length;
  return outside === 0 ? 'none' : outside === columns.length ? 'all' : 'some';
}
