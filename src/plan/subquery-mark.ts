/**
 * Whether a row has a partner among those of a subquery: a boolean column that is added to the rows.
 *
 * Where equalities connect the two, the partners are counted by them and the count is joined: one row per key is kept.
 * Any other condition is tested pair by pair: a semi join gives the rows that have a partner, an anti join the others. So it
 * is with a time to live: who is a partner then depends on the times of both.
 */
import type { Span } from '../base/errors.ts';
import { BOOLEAN } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Environment } from './bind-from.ts';
import { type Condition, allOf } from './bind-join.ts';
import { type Pair, isOutside, pairOf } from './correlation.ts';
import { POISON } from './expression-context.ts';
import { numberLiteral } from './literals.ts';
import type { JoinKind, PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeProject, makeUnion } from './nodes.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';
import { Rows, attach, compare, countOf, join, orZero, resolved, shift } from './subquery-rows.ts';

export const ZERO = numberLiteral('0', false) as Expr;

export const booleanOf = (value: boolean | null): Expr => ({
  tag: 'literal',
  value,
  type: BOOLEAN,
});

/** @param conditions  over the columns of `inner`, and those of the rows as columns of the query outside */
export function mark(
  inner: PlanNode,
  conditions: readonly Condition[],
  rows: Rows,
  span: Span,
  environment: Environment,
): Expr {
  const partners = new Partners(inner, conditions);
  const { pairs, outside } = partners;
  const lives = environment.settings.updatingTtlMicros !== null && pairs?.length !== 0;
  const found =
    pairs === null || lives
      ? markByPairs(partners, rows, span, environment)
      : markByCount(partners.node, pairs, rows, span, environment);
  if (found === POISON || outside.length === 0) return found;
  // A condition that is NULL finds no partner, and so does one that is not true.
  const sure = outside.map((expr) => resolved('coalesce', [expr, booleanOf(false)]));
  return { tag: 'and', args: [...sure, found], type: BOOLEAN };
}

/** The rows of a subquery and what connects them, each condition where it can be tested. */
export class Partners {
  /** The rows for which the conditions on them alone hold. */
  readonly node: PlanNode;
  /** What connects both; null in `pairs`: not by equalities only. */
  readonly both: readonly Condition[];
  readonly pairs: readonly Pair[] | null;
  /** Conditions on the query outside alone, over its rows. */
  readonly outside: readonly Expr[];

  constructor(inner: PlanNode, conditions: readonly Condition[]) {
    const of = (side: string): Condition[] =>
      conditions.filter(({ expr }) => isOutside(expr) === side);
    const own = allOf(of('none').map(({ expr }) => expr));
    this.node = own === null ? inner : makeFilter(inner, own);
    this.outside = of('all').map(({ expr }) => shift(expr, -OUTER_COLUMNS));
    this.both = of('some');
    const pairs = this.both.map(pairOf);
    const known = pairs.filter((pair) => pair !== null);
    this.pairs = known.length === pairs.length ? known : null;
  }
}

function markByCount(
  node: PlanNode,
  pairs: readonly Pair[],
  rows: Rows,
  span: Span,
  environment: Environment,
): Expr {
  const at = attachCounts(node, null, pairs, rows, span, environment);
  return at === null ? POISON : compare('>', orZero(at, rows.node), ZERO);
}

/** Joins count(*), and count(of) behind it; the place of the first one, null after an error. */
export function attachCounts(
  node: PlanNode,
  of: Expr | null,
  pairs: readonly Pair[],
  rows: Rows,
  span: Span,
  environment: Environment,
): number | null {
  const counts = countOf(
    node,
    of,
    pairs.map(({ own }) => own),
    environment.settings.updatingTtlMicros,
  );
  const conditions = pairs.map(({ outer, span: at }, index) => ({
    expr: compare('=', outer, columnExpr(counts.schema, index)),
    span: at,
  }));
  const at = attach(rows, counts, conditions, span, environment);
  return at === null ? null : at + pairs.length;
}

function markByPairs(
  { node, both }: Partners,
  rows: Rows,
  span: Span,
  environment: Environment,
): Expr {
  const part = (kind: JoinKind, value: boolean): PlanNode | null => {
    const side = new Rows(rows.node);
    join(kind, side, node, both, span, environment);
    if (side.node === null) return null;
    const { schema } = side.node;
    return makeProject(
      side.node,
      [...schema.map((_, index) => columnExpr(schema, index)), booleanOf(value)],
      [...schema.map(({ name }) => name), 'found'],
    );
  };
  const found = part('semi', true);
  const missing = found === null ? null : part('anti', false);
  rows.node = found === null || missing === null ? null : makeUnion([found, missing]);
  return rows.node === null ? POISON : columnExpr(rows.node.schema, rows.node.schema.length - 1);
}
