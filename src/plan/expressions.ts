/** Walking, rewriting and comparing typed expressions, beyond `expr/expr-tools.ts`. */
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { exprColumns } from '../expr/expr-tools.ts';

export function columnsOf(exprs: Iterable<Expr>): Set<number> {
  const columns = new Set<number>();
  for (const expr of exprs) exprColumns(expr, columns);
  return columns;
}

export const mapAggregate = (call: AggregateCall, change: (expr: Expr) => Expr): AggregateCall => ({
  ...call,
  args: call.args.map(change),
  filter: call.filter === null ? null : change(call.filter),
});

/** What an aggregate reads. */
export const aggregateOperands = (call: AggregateCall): readonly Expr[] =>
  call.filter === null ? call.args : [...call.args, call.filter];

/** Equal texts mean equal expressions. */
export const canonical = (value: unknown): string => JSON.stringify(value);

/** The conditions that must all hold. */
export const conjunctsOf = (predicate: Expr): readonly Expr[] =>
  predicate.tag === 'and' ? predicate.args.flatMap(conjunctsOf) : [predicate];
