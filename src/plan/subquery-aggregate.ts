/** A subquery that aggregates all its rows → a left join with one group per value it is correlated by. */
import { must } from '../base/assert.ts';
import type { Span } from '../base/errors.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { ExpressionItem, Select } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import type { OpenQuery } from './bind-inner-query.ts';
import { type Move, pairsOf } from './correlation.ts';
import { POISON } from './expression-context.ts';
import { Grouping, hasAggregate } from './grouping.ts';
import { type Rows, attach, compare, orZeroOf, shift } from './subquery-rows.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';

/** Items of a SELECT list, known by their types and yet to be joined to the rows they are values for. */
export type Prepared = {
  types: readonly Expr['type'][];
  /** The items over the rows, null after an error. */
  attach: (rows: Rows, move: Move) => Expr[] | null;
};

/** Whether a SELECT aggregates all its rows. */
export const isOneGroup = ({ items, groupBy, having }: Select): boolean =>
  groupBy.length === 0 &&
  having === null &&
  items.some((item) => item.tag === 'expression' && hasAggregate(item.expression));

/** Null after an error. A count over no rows is 0, as if the subquery had been run for each row. */
export function prepareAggregates(
  inner: OpenQuery,
  items: readonly ExpressionItem[],
  span: Span,
  environment: Environment,
): Prepared | null {
  const { context, correlated } = inner;
  const [first] = items;
  const pairs = pairsOf(correlated, environment);
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
  // A group that started from zero without a retraction would be a second value: these are kept for ever.
  const groups = grouping.build(inner.node, first, null);
  if (values.includes(POISON) || keys.includes(POISON) || groups === null) return null;
  if (groups.tag !== 'updating-aggregate') return null;
  const join = (rows: Rows, move: Move): Expr[] | null => {
    const outer = pairs.map((pair) => move(shift(pair.outer, -OUTER_COLUMNS)));
    if (outer.includes(POISON)) return null;
    const conditions = pairs.map(({ span: at }, index) => ({
      expr: compare(
        '=',
        shift(must(outer[index], 'side'), OUTER_COLUMNS),
        must(keys[index], 'key'),
      ),
      span: at,
    }));
    const from = attach(rows, groups, conditions, span, environment);
    if (from === null) return null;
    return values.map((value) =>
      mapColumns(value, (column) => {
        const call = groups.aggregates[column.index - groups.groupBy.length];
        const moved: Expr = { ...column, index: from + column.index };
        return call !== undefined && isCount(call) ? orZeroOf(moved) : moved;
      }),
    );
  };
  return { types: values.map(({ type }) => type), attach: join };
}

/** Whether an aggregate over no rows is 0 and not NULL. */
const isCount = (call: AggregateCall): boolean =>
  /^(count|approx.distinct|regr.count)/.test(call.fn);
