/** Makes one projection of two that follow each other, unless that computes something twice. */
import type { Expr } from '../../expr/expr.ts';
import { childrenOf, mapColumns } from '../../expr/expr-tools.ts';

import type { PlanNode } from '../logical.ts';
import { makeProjectAs } from '../nodes.ts';
import { type Shared, rewritePlan } from '../rewrite.ts';
import { isCheap } from './push-filters.ts';
import type { Rule } from './rule.ts';

export const mergeProjectsRule: Rule = {
  name: 'merge projections',
  apply: (plan) => rewritePlan(plan, merge),
};

function merge(node: PlanNode, shared: Shared): PlanNode {
  if (node.tag !== 'project' || node.input.tag !== 'project' || shared(node.input)) return node;
  const inner = node.input;
  const uses = new Map<number, number>();
  for (const expr of node.exprs) countUses(expr, uses);
  const twice = inner.exprs.some((expr, index) => !isCheap(expr) && (uses.get(index) ?? 0) > 1);
  if (twice) return node;
  const exprs = node.exprs.map((expr) =>
    mapColumns(expr, (column) => inner.exprs[column.index] as Expr),
  );
  return makeProjectAs(inner.input, exprs, node.schema);
}

function countUses(expr: Expr, uses: Map<number, number>): void {
  if (expr.tag === 'column') uses.set(expr.index, (uses.get(expr.index) ?? 0) + 1);
  for (const operand of childrenOf(expr)) countUses(operand, uses);
}
