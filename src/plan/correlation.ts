/** The conditions by which a subquery hangs on the query outside, sorted by what can be done with them. */
import type { Span } from '../base/errors.ts';
import type { Expr } from '../expr/expr.ts';
import { mapChildren, mapColumns } from '../expr/expr-tools.ts';
import type { Condition } from './bind-join.ts';
import type { Diagnostics } from './diagnostics.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';
import { shift } from './subquery-rows.ts';

/** An expression of the subquery that must equal one of the query outside. */
export type Pair = { own: Expr; outer: Expr; span: Span };

/** An expression over the columns of a query → the same over rows made of it. */
export type Move = (expr: Expr) => Expr;

export const unmoved: Move = (expr) => expr;

/** Whose columns an expression reads: only ones of the query outside, some, or none. */
export function isOutside(expr: Expr): 'all' | 'none' | 'some' {
  const columns: number[] = [];
  mapColumns(expr, (column) => {
    columns.push(column.index);
    return column;
  });
  const outside = columns.filter((column) => column >= OUTER_COLUMNS).length;
  return outside === 0 ? 'none' : outside === columns.length ? 'all' : 'some';
}

/** The condition as an equality of both queries; null: it is none. */
export function pairOf({ expr, span }: Condition): Pair | null {
  const [first, second] = expr.tag === 'call' && expr.fn === 'equal' ? expr.args : [];
  if (first === undefined || second === undefined) return null;
  const [one, other] = [isOutside(first), isOutside(second)];
  if (one === 'all' && other === 'none') return { own: second, outer: first, span };
  if (one === 'none' && other === 'all') return { own: first, outer: second, span };
  return null;
}

/** The equalities a subquery is correlated by; null after an error: it is by something else too. */
export function pairsOf(
  correlated: readonly Condition[],
  { diagnostics }: { diagnostics: Diagnostics },
): Pair[] | null {
  const pairs: Pair[] = [];
  for (const condition of correlated) {
    const pair = pairOf(condition);
    if (pair === null) {
      diagnostics.error(
        'UNSUPPORTED',
        'a correlated subquery for one value is connected by equalities only',
        condition.span,
        { hint: 'join the tables in FROM, and group by the columns of the outer one' },
      );
      return null;
    }
    pairs.push(pair);
  }
  return pairs;
}

/** The condition with what it reads of the query outside moved: whole expressions first, since a key may be one. */
export const moveOutside = ({ expr, span }: Condition, move: Move): Condition => ({
  expr: outsideMoved(expr, move),
  span,
});

function outsideMoved(expr: Expr, move: Move): Expr {
  const side = isOutside(expr);
  if (side === 'none') return expr;
  if (side === 'all') return shift(move(shift(expr, -OUTER_COLUMNS)), OUTER_COLUMNS);
  return mapChildren(expr, (part) => outsideMoved(part, move));
}
