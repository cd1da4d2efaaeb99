/** Walking, rewriting and comparing typed expressions, beyond `expr/expr-tools.ts`. */
import type { AggregateCall, Expr } from '../expr/expr.ts';
import type { OverCall, SortKey } from '../expr/over.ts';
import { exprColumns } from '../expr/expr-tools.ts';
import type { UserCall } from './logical.ts';

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

/** What an OVER node or a Top-N reads of its input, besides handing its columns on. */
export const overOperands = (node: {
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  calls?: readonly OverCall[];
}): readonly Expr[] => [
  ...node.partitionBy,
  ...node.orderBy.map(({ expr }) => expr),
  ...(node.calls ?? []).flatMap(callOperands),
];

export const callOperands = (call: OverCall): readonly Expr[] => [
  ...call.args,
  ...(call.aggregate === null ? [] : aggregateOperands(call.aggregate)),
];

/** What a call of a user's function reads. */
export const userCallOperands = ({ args, guard }: UserCall): readonly Expr[] =>
  guard === null ? args : [...args, guard];

/** The call over other columns. */
export const mapOverCall = (call: OverCall, change: (expr: Expr) => Expr): OverCall => ({
  ...call,
  args: call.args.map(change),
  aggregate: call.aggregate === null ? null : mapAggregate(call.aggregate, change),
});

/** Equal texts mean equal expressions. */
export const canonical = (value: unknown): string => JSON.stringify(value);

/** The conditions that must all hold. */
export const conjunctsOf = (predicate: Expr): readonly Expr[] =>
  predicate.tag === 'and' ? predicate.args.flatMap(conjunctsOf) : [predicate];
