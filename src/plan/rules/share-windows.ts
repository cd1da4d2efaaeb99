/**
 * Computes windowed aggregates over the same rows, keys and windows once: a subquery that stands twice in a query, as
 * "the rows whose count is the highest count" needs it, is aggregated once. Each reader gets its own columns by a projection.
 */
import { must } from '../../base/assert.ts';
import type { AggregateCall, Expr } from '../../expr/expr.ts';
import { childrenOf } from '../../expr/expr-tools.ts';
import { functionById } from '../../expr/registry.ts';
import type { AggregateOutput, LogicalPlan, PlanNode, WindowAggregateNode } from '../logical.ts';
import { columnExpr, makeProjectAs } from '../nodes.ts';
import { nodesOf, rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const shareWindowsRule: Rule = { name: 'share windows', apply: share };

function share(plan: LogicalPlan): LogicalPlan {
  const alike = new Map<string, WindowAggregateNode[]>();
  const inputs = new Map<PlanNode, number>();
  for (const node of nodesOf(plan)) {
    inputs.set(node, inputs.size);
    if (node.tag !== 'window-aggregate' || !canBeShared(node)) continue;
    const { window, windowColumn, groupBy } = node;
    const input = must(inputs.get(node.input), 'an input comes first');
    const what = JSON.stringify([input, window, windowColumn, groupBy]);
    alike.set(what, [...(alike.get(what) ?? []), node]);
  }
  const merged = new Map<PlanNode, WindowAggregateNode>();
  for (const nodes of alike.values()) {
    if (nodes.length < 2) continue;
    const together = nodes.reduce(withColumnsOf);
    for (const node of nodes) merged.set(node, together);
  }
  return merged.size === 0 ? plan : replace(plan, merged);
}

/** Rows that are never taken back, from expressions that give the same twice. */
export const canBeShared = ({ updating, groupBy, aggregates }: WindowAggregateNode): boolean =>
  !updating &&
  groupBy.every(isSteady) &&
  aggregates.every(
    ({ args, filter }) => args.every(isSteady) && (filter === null || isSteady(filter)),
  );

const isSteady = (expr: Expr): boolean =>
  !(expr.tag === 'call' && functionById(expr.fn).volatile === true) &&
  childrenOf(expr).every(isSteady);

/** Also the columns of `other` that `node` does not have. */
function withColumnsOf(node: WindowAggregateNode, other: WindowAggregateNode): WindowAggregateNode {
  const aggregates = [...node.aggregates];
  const outputs = [...node.outputs];
  const schema = [...node.schema];
  const windows = [...node.windows];
  other.outputs.forEach((output, at) => {
    if (placeOf(outputs, aggregates, output, other.aggregates) >= 0) return;
    if (output.tag === 'aggregate') {
      const call = must(other.aggregates[output.index], 'an aggregate');
      if (indexOf(aggregates, call) < 0) aggregates.push(call);
      outputs.push({ tag: 'aggregate', index: indexOf(aggregates, call) });
    } else outputs.push(output);
    schema.push(must(other.schema[at], 'a column'));
    windows.push(other.windows[at] ?? null);
  });
  return { ...node, aggregates, outputs, schema, windows };
}

const indexOf = (calls: readonly AggregateCall[], call: AggregateCall): number =>
  calls.findIndex((each) => sameCall(each, call));

/** Names of aggregates do not matter. */
export const sameCall = (one: AggregateCall, other: AggregateCall): boolean =>
  JSON.stringify({ ...one, label: '' }) === JSON.stringify({ ...other, label: '' });

/** Which of the outputs is the given one of another node; -1: none. */
function placeOf(
  outputs: readonly AggregateOutput[],
  aggregates: readonly AggregateCall[],
  wanted: AggregateOutput,
  calls: readonly AggregateCall[],
): number {
  return outputs.findIndex((output) => {
    if (output.tag === 'window' || wanted.tag === 'window') return output.tag === wanted.tag;
    if (output.tag === 'key' || wanted.tag === 'key')
      return output.tag === wanted.tag && output.index === wanted.index;
    return sameCall(
      must(aggregates[output.index], 'an aggregate'),
      must(calls[wanted.index], 'an aggregate'),
    );
  });
}

function replace(
  plan: LogicalPlan,
  merged: ReadonlyMap<PlanNode, WindowAggregateNode>,
): LogicalPlan {
  const before = nodesOf(plan);
  const rebuilt = new Map<WindowAggregateNode, WindowAggregateNode>();
  let at = 0;
  return rewritePlan(plan, (node) => {
    const old = must(before[at++], 'a node of the plan');
    const together = merged.get(old);
    if (together === undefined || node.tag !== 'window-aggregate') return node;
    const shared = rebuilt.get(together) ?? { ...together, input: node.input };
    rebuilt.set(together, shared);
    const places = node.outputs.map((output) =>
      placeOf(shared.outputs, shared.aggregates, output, node.aggregates),
    );
    const isWhole =
      places.length === shared.outputs.length && places.every((place, index) => place === index);
    if (isWhole) return shared;
    const exprs = places.map((place) => columnExpr(shared.schema, place));
    return makeProjectAs(shared, exprs, node.schema);
  });
}
