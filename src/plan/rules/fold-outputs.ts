/** A projection that only picks columns of a window aggregate becomes the aggregate's own output list. */
import type { Expr } from '../../expr/expr.ts';
import type { AggregateOutput, PlanNode } from '../logical.ts';
import { type Shared, rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const foldOutputsRule: Rule = {
  name: 'fold output lists',
  apply: (plan) => rewritePlan(plan, fold),
};

const isColumn = (expr: Expr): expr is Expr & { tag: 'column' } => expr.tag === 'column';

function fold(node: PlanNode, shared: Shared): PlanNode {
  if (node.tag !== 'project' || node.input.tag !== 'window-aggregate' || shared(node.input))
    return node;
  const aggregate = node.input;
  const columns = node.exprs.filter(isColumn);
  if (columns.length < node.exprs.length) return node;
  const outputs = columns.map((column) => aggregate.outputs[column.index] as AggregateOutput);
  return { ...aggregate, outputs, schema: node.schema, keys: node.keys, windows: node.windows };
}
