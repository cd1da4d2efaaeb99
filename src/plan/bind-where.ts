/**
 * WHERE → the rows of FROM for which it is true.
 *
 * Conditions without a subquery decide how the tables of FROM are joined; those with one are applied behind that, in
 * the order they are written.
 */
import type { Span } from '../base/errors.ts';
import type { Expression } from '../sql/ast-expression.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type Environment, type Relation, joinParts } from './bind-from.ts';
import type { Condition } from './bind-join.ts';
import { filterBySubquery } from './bind-subquery.ts';
import { Rows } from './subquery-rows.ts';
import { type ExpressionContext, POISON } from './expression-context.ts';
import { conjunctsOf } from './expressions.ts';
import type { PlanNode } from './logical.ts';
import { makeFilter } from './nodes.ts';
import { readsOutside } from './outer-columns.ts';

export type Where = {
  /** Null after an error. */
  node: PlanNode | null;
  /** Conditions that read columns of the query outside, which are for that one to apply. */
  correlated: readonly Condition[];
};

/** @param place  where FROM is written */
export function applyWhere(
  where: Expression | null,
  relation: Relation,
  place: Span,
  context: ExpressionContext,
  environment: Environment,
): Where {
  const written = where === null ? [] : writtenConjuncts(where);
  const plain = written.filter((part) => !hasSubquery(part));
  const bound = plain.map((part) => ({
    expr: new ExpressionBinder(context).bindCondition(part),
    span: part.span,
  }));
  const failed = bound.some(({ expr }) => expr === POISON);
  const conditions = bound.flatMap(({ expr, span }) =>
    conjunctsOf(expr).map((each): Condition => ({ expr: each, span })),
  );
  const correlated = conditions.filter(({ expr }) => readsOutside(expr));
  const own = conditions.filter(({ expr }) => !readsOutside(expr));
  const rows = new Rows(failed ? null : joinRows(relation, own, place, environment));
  for (const part of written) {
    if (!hasSubquery(part)) continue;
    correlated.push(...filterBySubquery(part, rows, context, environment));
  }
  return { node: rows.node, correlated };
}

function joinRows(
  relation: Relation,
  conditions: readonly Condition[],
  place: Span,
  environment: Environment,
): PlanNode | null {
  const [only] = relation.parts ?? [];
  if (relation.parts?.length !== 1 || only === undefined || relation.conditions.length > 0)
    return joinParts(relation, conditions, place, environment);
  const exprs = conditions.map(({ expr }) => expr);
  const [first] = exprs;
  if (first === undefined) return only;
  return makeFilter(
    only,
    exprs.length === 1 ? first : { tag: 'and', args: exprs, type: first.type },
  );
}

/** The conditions that AND connects. */
export function writtenConjuncts(expression: Expression): Expression[] {
  if (expression.tag === 'binary' && expression.operator === 'and')
    return [...writtenConjuncts(expression.left), ...writtenConjuncts(expression.right)];
  return [expression];
}

/** Whether a query stands anywhere in the expression. */
export function hasSubquery(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasSubquery);
  if ((value as { tag?: string }).tag === 'query') return true;
  return Object.values(value).some(hasSubquery);
}
