/**
 * A subquery in an expression → an expression over the rows it is joined to.
 *
 * First it is prepared, which tells its type; then it is attached, to the rows of FROM or to those of GROUP BY.
 * A subquery for one value has one row by its form: an aggregate without GROUP BY, LIMIT 1, or rows whose key is bound by
 * equalities. EXISTS and IN are marks, see `mark`; IN with its third value, unknown, where NULLs are compared.
 * Failure: any other form is refused by name.
 */
import { must } from '../base/assert.ts';
import type { Span } from '../base/errors.ts';
import { BOOLEAN } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { InQueryExpression } from '../sql/ast-expression.ts';
import type { Select } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import { type Inner, type OpenQuery, bindInner, isOrdered } from './bind-inner-query.ts';
import { firstRows } from './correlated-rows.ts';
import { type Condition, isSingleRow, lastRows } from './bind-join.ts';
import { type Move, moveOutside, pairOf } from './correlation.ts';
import { type ExpressionContext, POISON, type Subquery } from './expression-context.ts';
import { resolveCall } from './functions.ts';
import { hasAggregate } from './grouping.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeProject } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { OUTER_COLUMNS, readsOutside } from './outer-columns.ts';
import { type Prepared, isOneGroup, prepareAggregates } from './subquery-aggregate.ts';
import { Partners, ZERO, attachCounts, booleanOf, mark } from './subquery-mark.ts';
import { type Rows, attach, compare, orZero, resolved, shift } from './subquery-rows.ts';

/** Null after an error. */
export function prepareSubquery(
  expression: Subquery,
  context: ExpressionContext,
  environment: Environment,
): Prepared | null {
  if (expression.tag === 'in_query') return prepareIn(expression, context, environment);
  const { span } = expression;
  const isValue = expression.tag === 'subquery';
  const inner = bindInner(expression.query, context, environment, isValue);
  if (inner.node === null) return null;
  if (expression.tag === 'exists') return prepareExists(inner, span, environment);
  if (inner.tag === 'closed') return prepareSingle(inner.node, span, environment);
  return isOneGroup(inner.select)
    ? prepareOpen(inner, span, environment)
    : prepareByKey(inner, span, environment);
}

function prepareExists(inner: Inner, span: Span, environment: Environment): Prepared | null {
  const { node } = inner;
  if (node === null) return null;
  if (inner.tag === 'open' && !isPlain(inner.select, span, environment)) return null;
  const correlated = inner.tag === 'open' ? inner.correlated : [];
  return {
    types: [BOOLEAN],
    attach: (rows, move) => {
      const conditions = movedAll(correlated, move);
      return conditions === null ? null : oneOf(mark(node, conditions, rows, span, environment));
    },
  };
}

const oneOf = (expr: Expr): Expr[] | null => (expr === POISON ? null : [expr]);

function movedAll(conditions: readonly Condition[], move: Move): Condition[] | null {
  const moved: Condition[] = [];
  for (const condition of conditions) {
    let poisoned = false;
    const result = moveOutside(condition, (expr) => {
      const outer = move(expr);
      poisoned ||= outer === POISON;
      return outer;
    });
    if (poisoned) return null;
    moved.push(result);
  }
  return moved;
}

/** Over which rows EXISTS and IN ask: what groups or aggregates is refused where it is correlated. */
export function isPlain(select: Select, span: Span, { diagnostics }: Environment): boolean {
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

/** What `x IN (SELECT y …)` compares, and where. */
export type Comparison = {
  inner: Inner;
  node: PlanNode;
  /** x, over the query outside. */
  operand: Expr;
  /** y, over the rows of the subquery. */
  found: Expr;
  /** x = y, with x as of the query outside. */
  equality: Expr;
  correlated: readonly Condition[];
};

/** Null after an error. */
export function bindComparison(
  expression: InQueryExpression,
  context: ExpressionContext,
  environment: Environment,
): Comparison | null {
  const { diagnostics } = environment;
  const { span } = expression;
  const operand = new ExpressionBinder(context).bind(expression.operand);
  const inner = bindInner(expression.query, context, environment);
  const found = inner.node === null ? null : comparedColumn(inner, span, environment);
  if (operand === POISON || found === null || inner.node === null) return null;
  if (readsOutside(operand)) {
    diagnostics.error(
      'UNSUPPORTED',
      'a subquery reads columns of the query right outside only',
      span,
      { hint: 'join the tables in FROM' },
    );
    return null;
  }
  const call = resolveCall('=', [shift(operand, OUTER_COLUMNS), found]);
  if (call.tag === 'error') {
    diagnostics.error(call.code, call.message, span, call.extras);
    return null;
  }
  const correlated = inner.tag === 'open' ? inner.correlated : [];
  return { inner, node: inner.node, operand, found, equality: call.expr, correlated };
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

function prepareIn(
  expression: InQueryExpression,
  context: ExpressionContext,
  environment: Environment,
): Prepared | null {
  const comparison = bindComparison(expression, context, environment);
  if (comparison === null) return null;
  return {
    types: [BOOLEAN],
    attach: (rows, move) => {
      const value = membership(comparison, rows, move, expression.span, environment);
      return oneOf(expression.negated && value !== POISON ? resolved('not', [value]) : value);
    },
  };
}

/** `x IN (SELECT y …)` over the rows: true, false, or unknown when only a NULL could have been equal. */
export function membership(
  { node, operand, found, equality, correlated }: Comparison,
  rows: Rows,
  move: Move,
  span: Span,
  environment: Environment,
): Expr {
  const x = move(operand);
  const conditions = movedAll(correlated, move);
  const equal = movedAll([{ expr: equality, span }], move);
  if (x === POISON || conditions === null || equal === null || rows.node === null) return POISON;
  const xNullable = isNullable(x, rows.node.schema);
  const yNullable = isNullable(found, node.schema);
  const isFound = mark(node, [...conditions, ...equal], rows, span, environment);
  if (isFound === POISON || (!xNullable && !yNullable)) return isFound;
  const unknown = isUnknown(node, x, found, conditions, rows, span, environment);
  if (unknown === POISON) return POISON;
  return {
    tag: 'case',
    branches: [
      { when: isFound, then: booleanOf(true) },
      { when: unknown, then: booleanOf(null) },
    ],
    otherwise: booleanOf(false),
    type: BOOLEAN,
  };
}

/** Whether x is compared with a NULL, or is one and compared with anything. */
function isUnknown(
  node: PlanNode,
  x: Expr,
  found: Expr,
  conditions: readonly Condition[],
  rows: Rows,
  span: Span,
  environment: Environment,
): Expr {
  const isNull = resolved('is null', [x]);
  const partners = new Partners(node, conditions);
  if (partners.pairs !== null && partners.outside.length === 0) {
    const at = attachCounts(partners.node, found, partners.pairs, rows, span, environment);
    if (at === null) return POISON;
    const [total, present] = [orZero(at, rows.node), orZero(at + 1, rows.node)];
    const any: Expr = { tag: 'and', args: [isNull, compare('>', total, ZERO)], type: BOOLEAN };
    return { tag: 'or', args: [compare('>', total, present), any], type: BOOLEAN };
  }
  const nulls = makeFilter(node, resolved('is null', [found]));
  const metNull = mark(nulls, conditions, rows, span, environment);
  const metAny = mark(node, conditions, rows, span, environment);
  if (metNull === POISON || metAny === POISON) return POISON;
  const any: Expr = { tag: 'and', args: [isNull, metAny], type: BOOLEAN };
  return { tag: 'or', args: [metNull, any], type: BOOLEAN };
}

/** A query of one row, connected with nothing. */
function prepareSingle(node: PlanNode, span: Span, environment: Environment): Prepared | null {
  const { diagnostics } = environment;
  const [field, second] = node.schema;
  if (field === undefined || second !== undefined) {
    diagnostics.error(
      'TYPE_ERROR',
      `a subquery for one value has ${node.schema.length} columns`,
      span,
    );
    return null;
  }
  if (!isSingleRow(node)) {
    refuseRows(span, environment);
    return null;
  }
  return {
    types: [field.type],
    attach: (rows) => {
      const at = attach(rows, node, [], span, environment);
      return at === null ? null : [columnExpr(must(rows.node, 'rows').schema, at)];
    },
  };
}

const refuseRows = (span: Span, { diagnostics }: Environment): void =>
  diagnostics.error('UNSUPPORTED', 'a subquery for one value must have one row by its form', span, {
    hint: 'take an aggregate, such as max(x), or join the query in FROM',
  });

/** `(SELECT f(agg(x), …) FROM … WHERE key = outer.key)`. */
function prepareOpen(inner: OpenQuery, span: Span, environment: Environment): Prepared | null {
  const [item, second] = inner.select.items;
  if (item?.tag === 'expression' && second === undefined)
    return prepareAggregates(inner, [item], span, environment);
  environment.diagnostics.error(
    'UNSUPPORTED',
    'a correlated subquery for one value must have one column',
    span,
    { hint: 'select the one value' },
  );
  return null;
}

/** `(SELECT f(x) FROM … WHERE key = outer.key)`, of rows that `key` tells apart. */
function prepareByKey(inner: OpenQuery, span: Span, environment: Environment): Prepared | null {
  const { select, correlated, node } = inner;
  const [item, second] = select.items;
  const isRow = select.groupBy.length === 0 && select.having === null && select.qualify === null;
  if (node === null) return null;
  const ordered = isOrdered(inner.query);
  const isOne = isRow && (ordered || hasOneRow(node, correlated));
  if (item?.tag !== 'expression' || second !== undefined || !isOne) {
    environment.diagnostics.error(
      'UNSUPPORTED',
      'a correlated subquery for one value must be an aggregate without GROUP BY, or bind the whole key of its rows',
      span,
      { hint: 'take max(x) of it, add ORDER BY … LIMIT 1, or join the query in FROM' },
    );
    return null;
  }
  const value = new ExpressionBinder(inner.context).bind(item.expression);
  if (value === POISON) return null;
  const first = ordered ? firstRows(inner, [value], environment) : null;
  if (ordered && first === null) return null;
  if (first !== null && first.limit !== 1) {
    refuseRows(span, environment);
    return null;
  }
  // Computed before the join, so that it is NULL where there is no row.
  const valued =
    first?.node ??
    makeProject(
      node,
      [value, ...node.schema.map((_, index) => columnExpr(node.schema, index))],
      ['value', ...node.schema.map(({ name }) => name)],
    );
  const conditions = first?.conditions ?? correlated.map(ownMoved);
  return {
    types: [value.type],
    attach: (rows, move) => {
      const moved = movedAll(conditions, move);
      const at = moved === null ? null : attach(rows, valued, moved, span, environment);
      return at === null ? null : [columnExpr(must(rows.node, 'rows').schema, at)];
    },
  };
}

/** The condition with the subquery's own columns one place further on. */
const ownMoved = ({ expr, span }: Condition): Condition => ({
  expr: mapColumns(expr, (column) =>
    column.index >= OUTER_COLUMNS ? column : { ...column, index: column.index + 1 },
  ),
  span,
});

/** Whether equalities bind every column that tells the rows apart. */
function hasOneRow(node: PlanNode, correlated: readonly Condition[]): boolean {
  const { keys } = lastRows(node);
  if (keys === null || keys.length === 0) return false;
  const bound = new Set<number>();
  for (const condition of correlated) {
    const own = pairOf(condition)?.own;
    if (own?.tag === 'column') bound.add(own.index);
  }
  return keys.every((key) => bound.has(key));
}
