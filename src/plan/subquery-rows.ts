/** Rows that subqueries are joined to, and small expressions over them. */
import { must } from '../base/assert.ts';
import type { Span } from '../base/errors.ts';
import { INT64 } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Environment } from './bind-from.ts';
import { type Condition, planJoin } from './bind-join.ts';
import { POISON } from './expression-context.ts';
import { resolveCall } from './functions.ts';
import { numberLiteral } from './literals.ts';
import type { JoinKind, PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeUpdatingAggregate } from './nodes.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';

/** Rows that subqueries are joined to: columns are only added behind those there are. */
export class Rows {
  node: PlanNode | null;

  constructor(node: PlanNode | null) {
    this.node = node;
  }

  filter(predicate: Expr): void {
    if (predicate === POISON) this.node = null;
    if (this.node !== null) this.node = makeFilter(this.node, predicate);
  }
}

/** count(*), and count(of) if that is asked for, behind the keys they are counted by. */
export function countOf(
  node: PlanNode,
  of: Expr | null,
  keys: readonly Expr[] = [],
  ttlMicros: number | null = null,
): PlanNode {
  const call = (fn: string, args: readonly Expr[], label: string): AggregateCall => ({
    fn,
    args,
    distinct: false,
    filter: null,
    type: INT64,
    label,
  });
  const aggregates = [call('count-rows', [], 'count(*)')];
  if (of !== null) aggregates.push(call('count', [of], 'count'));
  const fields = aggregates.map(({ label }) => ({ name: label, type: INT64, nullable: false }));
  return makeUpdatingAggregate(
    node,
    { keys, keyNames: keys.map(() => 'key'), aggregates },
    fields,
    ttlMicros,
  );
}

/** Joins rows that are at most one for each row there is; the place of their first column, null after an error. */
export function attach(
  rows: Rows,
  node: PlanNode,
  conditions: readonly Condition[],
  span: Span,
  environment: Environment,
): number | null {
  const at = rows.node?.schema.length ?? 0;
  join('left', rows, node, conditions, span, environment);
  return rows.node === null ? null : at;
}

/** @param conditions  over the columns of `inner`, and those of the rows as columns of the query outside */
export function join(
  kind: JoinKind,
  rows: Rows,
  inner: PlanNode,
  conditions: readonly Condition[],
  span: Span,
  environment: Environment,
): void {
  if (rows.node === null) return;
  const width = rows.node.schema.length;
  const moved = conditions.map(({ expr, span: at }) => ({
    expr: mapColumns(expr, (column) => ({
      ...column,
      index: column.index >= OUTER_COLUMNS ? column.index - OUTER_COLUMNS : column.index + width,
    })),
    span: at,
  }));
  rows.node = planJoin(kind, rows.node, inner, moved, {
    diagnostics: environment.diagnostics,
    span,
    ttlMicros: environment.settings.updatingTtlMicros,
  });
}

export const shift = (expr: Expr, by: number): Expr =>
  mapColumns(expr, (column) => ({ ...column, index: column.index + by }));

export function resolved(name: string, args: readonly Expr[]): Expr {
  const call = resolveCall(name, args);
  return call.tag === 'expr' ? call.expr : POISON;
}

export const compare = (name: string, left: Expr, right: Expr): Expr =>
  resolved(name, [left, right]);

export const orZeroOf = (expr: Expr): Expr =>
  resolved('coalesce', [expr, numberLiteral('0', false) as Expr]);

export const orZero = (at: number, node: PlanNode | null): Expr =>
  orZeroOf(columnExpr(must(node, 'rows').schema, at));
