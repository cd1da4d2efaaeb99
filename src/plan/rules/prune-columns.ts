/**
 * Drops columns nobody reads, down to what a source decodes.
 *
 * What a node must give is gathered from ALL its readers first, so that a shared node serves each of them.
 * Columns declared NOT NULL are decoded even so: a row without them is a bad row, whatever a query reads;
 * but a connector that makes its rows itself makes no bad ones.
 * A table that keeps its late rows keeps all columns.
 */
import { must } from '../../base/assert.ts';
import { columnsOf } from '../expressions.ts';
import type {
  JoinNode,
  LogicalPlan,
  PlanNode,
  ScanNode,
  SetOperationNode,
  SinkPlan,
  UnionNode,
  WindowBestNode,
} from '../logical.ts';
import { inputsOf, makeFilter, makeNewestByKey, makeProjectAs, makeUnion } from '../nodes.ts';
import { nodesOf } from '../rewrite.ts';
import {
  aggregateNeeds,
  pruneUpdatingAggregate,
  pruneWindowAggregate,
} from './prune-aggregates.ts';
import { joinNeeds, pruneJoin } from './prune-join.ts';
import { matchNeeds, pruneMatch } from './prune-match.ts';
import { overNeeds, pruneOver, pruneTopN, topNNeeds } from './prune-over.ts';
import { pruneUnnest, unnestNeeds } from './prune-unnest.ts';
import { pruneUserFunctions, userFunctionNeeds } from './prune-user-functions.ts';
import { ascending, movedTo, pick, placeIn, placesOf, type Pruned, subset } from './pruned.ts';
import type { Rule } from './rule.ts';

export const pruneColumnsRule: Rule = { name: 'prune columns', apply: prune };

type Needs = ReadonlyMap<PlanNode, ReadonlySet<number>>;

function prune(plan: LogicalPlan): LogicalPlan {
  const nodes = nodesOf(plan);
  const needs = needsOf(plan, nodes);
  const pruned = new Map<PlanNode, Pruned>();
  for (const node of nodes) pruned.set(node, rebuild(node, needs, pruned));
  return {
    sinks: plan.sinks.map((sink) => ({
      ...sink,
      input: inOrder(sink, must(pruned.get(sink.input), 'input of a sink')),
    })),
  };
}

function inOrder(sink: SinkPlan, input: Pruned): PlanNode {
  return pick(
    input,
    sink.schema.map((_, index) => index),
    sink.schema,
  );
}

/** For every node the columns its readers need, from the sinks down. */
function needsOf(plan: LogicalPlan, nodes: readonly PlanNode[]): Needs {
  const needs = new Map<PlanNode, Set<number>>(nodes.map((node) => [node, new Set()]));
  const need = (node: PlanNode, columns: Iterable<number>): void => {
    const set = must(needs.get(node), 'node of the plan');
    for (const column of columns) set.add(column);
  };
  for (const sink of plan.sinks) need(sink.input, sink.schema.keys());
  for (const node of [...nodes].reverse()) {
    const own = must(needs.get(node), 'node of the plan');
    if (node.tag === 'join') {
      const { left, right } = joinNeeds(node, own);
      need(node.left, left);
      need(node.right, right);
      continue;
    }
    for (const input of inputsOf(node)) need(input, needOfInput(node, own));
  }
  return needs;
}

function needOfInput(
  node: Exclude<PlanNode, JoinNode>,
  own: ReadonlySet<number>,
): Iterable<number> {
  switch (node.tag) {
    case 'scan':
      return [];
    case 'union':
      return own;
    case 'over':
      return overNeeds(node, own);
    case 'top-n':
      return topNNeeds(node, own);
    case 'unnest':
      return unnestNeeds(node, own);
    case 'user-function':
      return userFunctionNeeds(node, own);
    case 'match':
      return matchNeeds(node, own);
    // Rows are told apart by all their columns.
    case 'set-operation':
      return node.schema.keys();
    case 'filter':
      return [...own, ...columnsOf([node.predicate])];
    case 'window-best':
      return [...own, node.column, ...(node.windowColumn === null ? [] : [node.windowColumn])];
    case 'newest-by-key':
      return [...own, ...node.keyColumns];
    case 'project':
      return columnsOf(node.exprs.filter((_, index) => own.has(index)));
    case 'window-aggregate':
    case 'updating-aggregate':
      return aggregateNeeds(node, own);
  }
}

function rebuild(node: PlanNode, needs: Needs, pruned: ReadonlyMap<PlanNode, Pruned>): Pruned {
  const own = must(needs.get(node), 'node of the plan');
  if (node.tag === 'scan') return pruneScan(node, own);
  if (node.tag === 'union') return pruneUnion(node, own, pruned);
  if (node.tag === 'join')
    return pruneJoin(
      node,
      own,
      must(pruned.get(node.left), 'left side'),
      must(pruned.get(node.right), 'right side'),
    );
  if (node.tag === 'set-operation') return pruneSetOperation(node, pruned);
  const input = must(pruned.get(node.input), 'input');
  const move = movedTo(input.places);
  switch (node.tag) {
    case 'over':
      return pruneOver(node, own, input);
    case 'top-n':
      return pruneTopN(node, own, input);
    case 'unnest':
      return pruneUnnest(node, own, input);
    case 'user-function':
      return pruneUserFunctions(node, own, input);
    case 'match':
      return pruneMatch(node, own, input);
    case 'filter':
      return { node: makeFilter(input.node, move(node.predicate)), places: input.places };
    case 'window-best':
      return pruneBest(node, input);
    case 'newest-by-key': {
      const keys = node.keyColumns.map((key) => placeIn(input.places, key));
      return { node: makeNewestByKey(input.node, keys), places: input.places };
    }
    case 'project': {
      const kept = ascending(own);
      const exprs = kept.map((index) => move(must(node.exprs[index], 'expression')));
      return {
        node: makeProjectAs(input.node, exprs, subset(node.schema, kept)),
        places: placesOf(kept),
      };
    }
    case 'window-aggregate':
      return pruneWindowAggregate(node, own, input);
    case 'updating-aggregate':
      return pruneUpdatingAggregate(node, own, input);
  }
}

function pruneBest(node: WindowBestNode, input: Pruned): Pruned {
  const { windowColumn } = node;
  const kept: PlanNode = {
    ...node,
    input: input.node,
    windowColumn: windowColumn === null ? null : placeIn(input.places, windowColumn),
    column: placeIn(input.places, node.column),
    schema: input.node.schema,
    windows: input.node.windows,
  };
  return { node: kept, places: input.places };
}

/** All inputs of a union give the same columns in the same order. */
function pruneUnion(
  node: UnionNode,
  own: ReadonlySet<number>,
  pruned: ReadonlyMap<PlanNode, Pruned>,
): Pruned {
  const kept = ascending(own);
  const inputs = node.inputs.map((input) =>
    pick(must(pruned.get(input), 'input'), kept, input.schema),
  );
  return { node: makeUnion(inputs), places: placesOf(kept) };
}

/** Both sides keep every column. */
function pruneSetOperation(node: SetOperationNode, pruned: ReadonlyMap<PlanNode, Pruned>): Pruned {
  const all = [...node.schema.keys()];
  const inputs = node.inputs.map((input) =>
    pick(must(pruned.get(input), 'input'), all, input.schema),
  );
  return { node: { ...node, inputs }, places: placesOf(all) };
}

function pruneScan(scan: ScanNode, own: ReadonlySet<number>): Pruned {
  const { watermark } = scan;
  // A late row is kept for its reader, who may want any column of it.
  if (scan.lateRows === 'dead_letter')
    return { node: scan, places: placesOf([...scan.schema.keys()]) };
  const kept = ascending(
    new Set([
      ...own,
      ...columnsOf(watermark === null ? [] : [watermark.eventTime, watermark.watermark]),
    ]),
  );
  const computed = kept.map((index) => must(scan.computed[index], 'computed column'));
  const read = columnsOf(computed);
  const decoded = scan.physical.flatMap((column, index) =>
    read.has(index) || (!column.nullable && !scan.generated) ? [index] : [],
  );
  const toDecoded = movedTo(placesOf(decoded));
  const toKept = movedTo(placesOf(kept));
  // What names a row has done its work when joins were planned.
  const { primaryKey: _, ...rest } = scan;
  const node: ScanNode = {
    ...rest,
    physical: decoded.map((index) => must(scan.physical[index], 'physical column')),
    computed: computed.map(toDecoded),
    watermark:
      watermark === null
        ? null
        : {
            ...watermark,
            eventTime: toKept(watermark.eventTime),
            watermark: toKept(watermark.watermark),
          },
    schema: subset(scan.schema, kept),
    windows: kept.map(() => null),
  };
  return { node, places: placesOf(kept) };
}
