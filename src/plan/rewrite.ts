/** Walking and rewriting plans as graphs: a node with several readers is visited once and stays one node. */
import { must } from '../base/assert.ts';
import type { Expr } from '../expr/expr.ts';
import { mapAggregate } from './expressions.ts';
import type { LogicalPlan, PlanNode } from './logical.ts';
import { makeJoin } from './join.ts';
import { makeTableFunction, makeUserFunctions } from './user-function-nodes.ts';
import { inputsOf, makeFilter, makeNewestByKey, makeProjectAs, makeUnion } from './nodes.ts';

/** All nodes, each after its inputs, in an order that depends on the plan only. */
export function nodesOf(plan: LogicalPlan): PlanNode[] {
  const seen = new Set<PlanNode>();
  const visit = (node: PlanNode): void => {
    if (seen.has(node)) return;
    for (const input of inputsOf(node)) visit(input);
    seen.add(node);
  };
  for (const sink of plan.sinks) visit(sink.input);
  return [...seen];
}

/** How many nodes and sinks read each node. */
export function countReaders(plan: LogicalPlan): Map<PlanNode, number> {
  const readers = new Map<PlanNode, number>();
  const count = (node: PlanNode): void => void readers.set(node, (readers.get(node) ?? 0) + 1);
  for (const node of nodesOf(plan)) for (const input of inputsOf(node)) count(input);
  for (const sink of plan.sinks) count(sink.input);
  return readers;
}

/** Tells whether a node of the plan being built has readers besides the one that asks. */
export type Shared = (node: PlanNode) => boolean;

/**
 * Rebuilds the plan from its sources up.
 *
 * @param change  gets a node whose inputs are already rebuilt, and gives what stands for it from now on
 */
export function rewritePlan(
  plan: LogicalPlan,
  change: (node: PlanNode, shared: Shared) => PlanNode,
): LogicalPlan {
  const readers = countReaders(plan);
  const rebuilt = new Map<PlanNode, PlanNode>();
  const sharedNodes = new Set<PlanNode>();
  const shared: Shared = (node) => sharedNodes.has(node);
  for (const node of nodesOf(plan)) {
    const result = change(
      withInputs(
        node,
        inputsOf(node).map((input) => must(rebuilt.get(input), 'rebuilt input')),
      ),
      shared,
    );
    rebuilt.set(node, result);
    if ((readers.get(node) ?? 0) > 1) sharedNodes.add(result);
  }
  return {
    sinks: plan.sinks.map((sink) => ({
      ...sink,
      input: must(rebuilt.get(sink.input), 'rebuilt input'),
    })),
  };
}

/** The node over other inputs with the same columns; the very same object when they are the same. */
export function withInputs(node: PlanNode, inputs: readonly PlanNode[]): PlanNode {
  const before = inputsOf(node);
  if (inputs.every((input, index) => input === before[index])) return node;
  if (node.tag === 'scan') return node;
  if (node.tag === 'union') return makeUnion(inputs);
  if (node.tag === 'join')
    return makeJoin({ ...node, left: must(inputs[0], 'input'), right: must(inputs[1], 'input') });
  if (node.tag === 'set-operation') return { ...node, inputs };
  if (node.tag === 'user-function') {
    const [input] = inputs;
    const [call] = node.calls;
    return node.rows === null || call === undefined
      ? makeUserFunctions(must(input, 'input'), node.calls)
      : makeTableFunction(must(input, 'input'), call, node.rows);
  }
  if (node.tag === 'newest-by-key')
    return makeNewestByKey(must(inputs[0], 'input'), node.keyColumns);
  return { ...node, input: must(inputs[0], 'input') };
}

/** The node with every expression changed; the very same object when none does. */
export function mapExpressions(node: PlanNode, change: (expr: Expr) => Expr): PlanNode {
  switch (node.tag) {
    case 'scan': {
      const { watermark } = node;
      const changed =
        watermark === null
          ? null
          : {
              ...watermark,
              eventTime: change(watermark.eventTime),
              watermark: change(watermark.watermark),
            };
      return { ...node, computed: node.computed.map(change), watermark: changed };
    }
    case 'project':
      return makeProjectAs(node.input, node.exprs.map(change), node.schema);
    case 'filter':
      return makeFilter(node.input, change(node.predicate));
    case 'window-aggregate':
    case 'updating-aggregate':
      return {
        ...node,
        groupBy: node.groupBy.map(change),
        aggregates: node.aggregates.map((call) => mapAggregate(call, change)),
      };
    case 'join':
      return makeJoin({
        ...node,
        leftKeys: node.leftKeys.map(change),
        rightKeys: node.rightKeys.map(change),
        residual: node.residual === null ? null : change(node.residual),
      });
    case 'unnest':
      return { ...node, lists: node.lists.map(change) };
    case 'user-function':
      return {
        ...node,
        calls: node.calls.map(({ fn, args, guard }) => ({
          fn,
          args: args.map(change),
          guard: guard === null ? null : change(guard),
        })),
      };
    // What these read are columns, which nothing folds.
    case 'over':
    case 'window-best':
    case 'top-n':
    case 'match':
    case 'set-operation':
    case 'newest-by-key':
    case 'union':
      return node;
  }
}
