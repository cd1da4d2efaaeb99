/**
 * `row_number() … <= n` over an updating OVER becomes a Top-N, which keeps and emits the first rows only.
 *
 * Stands for row_number and rank, compared with a constant: `rn <= 3`, `rn < 4`, `3 >= rn`, `rn = 1`. Other conditions on
 * the same rows stay behind it. OVER in the forms `closed` and `timed` stays: its rows are final when they leave.
 */
import { INT64 } from '../../batch/types.ts';
import type { Expr } from '../../expr/expr.ts';
import { functionById } from '../../expr/registry.ts';
import { conjunctsOf } from '../expressions.ts';
import type { OverNode, PlanNode } from '../logical.ts';
import { columnExpr, makeFilter, makeProjectAs } from '../nodes.ts';
import { makeTopN } from '../over-nodes.ts';
import { type Shared, rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const topNRule: Rule = {
  name: 'Top-N',
  apply: (plan) =>
    rewritePlan(plan, (node, shared) => (node.tag === 'filter' ? rewrite(node, shared) : node)),
};

function rewrite(filter: PlanNode & { tag: 'filter' }, shared: Shared): PlanNode {
  const over = filter.input;
  if (over.tag !== 'over' || over.form !== 'updating' || shared(over)) return filter;
  const [call] = over.calls;
  if (over.calls.length !== 1 || (call?.fn !== 'row_number' && call?.fn !== 'rank')) return filter;
  const column = over.input.schema.length;
  const conditions = conjunctsOf(filter.predicate);
  const limits = conditions.map((condition) => limitOf(condition, column));
  const known = limits.filter((limit) => limit !== null);
  if (known.length === 0) return filter;
  const limit = Math.min(...known.map(({ at }) => at));
  // `rn = 2` keeps what `rn <= 2` keeps, less what comes before it.
  const rest = conditions.filter((_, index) => limits[index]?.exact !== true);
  if (limit < 1) return filter;
  const top = topOf(over, limit, call.fn === 'rank');
  if (top === null) return filter;
  const shown = makeProjectAs(
    top,
    top.schema.map((_, index) => columnExpr(top.schema, index)),
    filter.schema,
  );
  return rest.length === 0 ? shown : makeFilter(shown, conjunction(rest));
}

/** Without an order rows are ordered by all their columns, as OVER does; but then they all share rank 1. */
function topOf(over: OverNode, limit: number, ties: boolean): PlanNode | null {
  const { input, partitionBy, orderBy } = over;
  const name = over.schema[input.schema.length]?.name ?? 'rank';
  if (orderBy.length === 0 && ties) return null;
  return makeTopN(input, { partitionBy, orderBy, limit, offset: 0, ties, rank: name });
}

/** The largest rank that a condition lets through; null: it says nothing of the kind. */
function limitOf(condition: Expr, column: number): { at: number; exact: boolean } | null {
  if (condition.tag !== 'call' || condition.args.length !== 2) return null;
  const { name } = functionById(condition.fn);
  const [left, right] = condition.args as readonly [Expr, Expr];
  const turned = isRank(right, column);
  if (!turned && !isRank(left, column)) return null;
  const value = constant(turned ? left : right);
  if (value === null) return null;
  const operator = turned ? TURNED[name] : name;
  switch (operator) {
    case '<=':
      return { at: Math.floor(value), exact: true };
    case '<':
      return { at: Math.ceil(value) - 1, exact: true };
    case '=':
      return Number.isInteger(value) ? { at: value, exact: value === 1 } : null;
    default:
      return null;
  }
}

const TURNED: Readonly<Record<string, string>> = { '>=': '<=', '>': '<', '=': '=' };

/** The rank itself, or cast to a number type that holds it. */
const isRank = (expr: Expr, column: number): boolean =>
  expr.tag === 'cast'
    ? isRank(expr.input, column)
    : expr.tag === 'column' && expr.index === column && expr.type.tag === INT64.tag;

function constant(expr: Expr): number | null {
  if (expr.tag !== 'literal' || expr.value === null) return null;
  const { tag } = expr.type;
  const whole = tag === 'int32' || tag === 'int64' || tag === 'float64';
  const value = Number(expr.value);
  return whole && Number.isFinite(value) && Math.abs(value) < 1_000_000_000 ? value : null;
}

const conjunction = (conditions: readonly Expr[]): Expr =>
  conditions.length === 1
    ? (conditions[0] as Expr)
    : { tag: 'and', args: conditions, type: { tag: 'boolean' } };
