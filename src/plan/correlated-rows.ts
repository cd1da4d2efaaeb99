/** ORDER BY and LIMIT of a correlated subquery → the first rows for each value that it is correlated by. */
import type { Expr } from '../expr/expr.ts';
import type { Expression } from '../sql/ast-expression.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import type { OpenQuery } from './bind-inner-query.ts';
import type { Condition } from './bind-join.ts';
import { rowsWanted, sortKeys } from './bind-order.ts';
import { pairsOf } from './correlation.ts';
import { POISON } from './expression-context.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeProject } from './nodes.ts';
import { makeTopN } from './over-nodes.ts';
import { compare } from './subquery-rows.ts';

export type FirstRows = {
  /** Its first columns are the values. */
  node: PlanNode;
  limit: number;
  /** Over the columns of `node`, and those of the query outside. */
  conditions: readonly Condition[];
};

/**
 * Null after an error.
 *
 * @param values  what the SELECT list gives, over the rows of the subquery
 */
export function firstRows(
  inner: OpenQuery,
  values: readonly Expr[],
  environment: Environment,
): FirstRows | null {
  const { query, select, context, correlated, node } = inner;
  const pairs = pairsOf(correlated, environment);
  const wanted = rowsWanted(query, environment.diagnostics);
  if (pairs === null || wanted === null || node === null) return null;
  if (wanted.limit === null) {
    environment.diagnostics.error(
      'UNSUPPORTED',
      'ORDER BY of a correlated subquery needs a LIMIT',
      query.span,
      { hint: 'leave it out, or add LIMIT' },
    );
    return null;
  }
  const aliases = new Map<string, Expression>();
  for (const item of select.items)
    if (item.tag === 'expression' && item.alias !== null)
      aliases.set(item.alias.name, item.expression);
  const binder = new ExpressionBinder({ ...context, place: 'ORDER BY', aliases });
  const orders = query.orderBy.map(({ expression }) =>
    expression.tag === 'number'
      ? (values[Number(expression.text) - 1] ?? binder.bind(expression))
      : binder.bind(expression),
  );
  if (orders.includes(POISON)) return null;
  const exprs = [...values, ...orders, ...pairs.map(({ own }) => own)];
  const rows = makeProject(
    node,
    exprs,
    exprs.map((_, at) => `c${at}`),
  );
  const columns = exprs.map((_, at) => columnExpr(rows.schema, at));
  const keys = columns.slice(values.length + orders.length);
  const top = makeTopN(rows, {
    partitionBy: keys,
    orderBy: sortKeys(query.orderBy, columns.slice(values.length)),
    limit: wanted.limit,
    offset: wanted.offset,
    ties: false,
    rank: null,
  });
  const conditions = pairs.map(({ outer, span }, at) => ({
    expr: compare('=', outer, keys[at] ?? POISON),
    span,
  }));
  return { node: top, limit: wanted.limit, conditions };
}
