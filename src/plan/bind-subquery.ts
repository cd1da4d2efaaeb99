/**
 * Subqueries in WHERE → joins.
 *
 * `EXISTS` and `IN` as conditions of their own are semi joins, their negations anti joins; NOT IN counts the NULLs of the
 * subquery, since one of them leaves no row. Anywhere else they are columns that are joined to the rows, see
 * `subquery-value.ts`. A correlated subquery reads columns of the query outside by conditions of its WHERE.
 */
import type { Span } from '../base/errors.ts';
import { BOOLEAN } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Expression, InQueryExpression } from '../sql/ast-expression.ts';
import type { Query } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import { bindInner } from './bind-inner-query.ts';
import type { Condition } from './bind-join.ts';
import { unmoved } from './correlation.ts';
import { type ExpressionContext, POISON, type Subquery } from './expression-context.ts';
import { conjunctsOf, columnsOf } from './expressions.ts';
import type { PlanNode } from './logical.ts';
import { isNullable } from './nullability.ts';
import { readsOutside } from './outer-columns.ts';
import { ZERO } from './subquery-mark.ts';
import { type Rows, attach, compare, countOf, join, orZero, resolved } from './subquery-rows.ts';
import { bindComparison, isPlain, membership, prepareSubquery } from './subquery-value.ts';

/**
 * What binds subqueries inside an expression over `rows`.
 *
 * @param known  takes what each stands for
 */
export const withSubqueries = (
  context: ExpressionContext,
  rows: Rows,
  environment: Environment,
  known: Map<Subquery, Expr> = new Map(),
): ExpressionContext => {
  const inside: ExpressionContext = {
    ...context,
    subquery: (expression) => {
      const prepared = rows.node === null ? null : prepareSubquery(expression, inside, environment);
      const value = prepared?.attach(rows, unmoved)?.[0] ?? POISON;
      known.set(expression, value);
      return value;
    },
  };
  return inside;
};

/**
 * Applies a condition of WHERE that holds a subquery.
 *
 * @returns  the conditions that read columns of the query outside, which are for that one to apply
 */
export function filterBySubquery(
  condition: Expression,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): Condition[] {
  const negated = condition.tag === 'unary' && condition.operator === 'not';
  const inside = negated ? condition.operand : condition;
  if (inside.tag === 'exists')
    exists(inside.query, negated, inside.span, rows, context, environment);
  else if (inside.tag === 'in_query')
    isIn(inside, inside.negated !== negated, rows, context, environment);
  else {
    const binder = new ExpressionBinder(withSubqueries(context, rows, environment));
    const bound = conjunctsOf(binder.bindCondition(condition));
    const span = condition.span;
    const outside = bound.filter(readsOutside);
    for (const expr of bound) if (!readsOutside(expr)) rows.filter(expr);
    return outside.map((expr) => ({ expr, span }));
  }
  return [];
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
  const at = attach(rows, countOf(inner.node, null), [], span, environment);
  if (at !== null) rows.filter(compare(negated ? '=' : '>', orZero(at, rows.node), ZERO));
}

function isIn(
  expression: InQueryExpression,
  negated: boolean,
  rows: Rows,
  context: ExpressionContext,
  environment: Environment,
): void {
  const { span } = expression;
  const full = withSubqueries(context, rows, environment);
  const comparison = bindComparison(expression, full, environment);
  if (comparison === null || rows.node === null) {
    rows.node = null;
    return;
  }
  const { node, operand, found, equality, correlated } = comparison;
  const mayBeNull = isNullable(operand, rows.node.schema) || isNullable(found, node.schema);
  if (columnsOf([operand]).size === 0 || (negated && mayBeNull && correlated.length > 0)) {
    const value = membership(comparison, rows, unmoved, span, environment);
    rows.filter(negated && value !== POISON ? resolved('not', [value]) : value);
    return;
  }
  if (negated && mayBeNull) dropUnknown(operand, found, rows, node, span, environment);
  const conditions = [{ expr: equality, span }, ...correlated];
  join(negated ? 'anti' : 'semi', rows, node, conditions, span, environment);
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
  const total = orZero(at, rows.node);
  const present = orZero(at + 1, rows.node);
  const isEmpty = compare('=', total, ZERO);
  const isKnown: Expr = {
    tag: 'and',
    args: [compare('=', total, present), resolved('is not null', [operand])],
    type: BOOLEAN,
  };
  rows.filter({ tag: 'or', args: [isEmpty, isKnown], type: BOOLEAN });
}
