/** Removes projections that give the columns as they are: names do not matter below a sink. */
import type { PlanNode } from '../logical.ts';
import { rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const dropIdentityRule: Rule = {
  name: 'drop identity projections',
  apply: (plan) => rewritePlan(plan, (node) => (isIdentity(node) ? node.input : node)),
};

function isIdentity(node: PlanNode): node is PlanNode & { tag: 'project' } {
  if (node.tag !== 'project' || node.exprs.length !== node.input.schema.length) return false;
  return node.exprs.every((expr, index) => expr.tag === 'column' && expr.index === index);
}
