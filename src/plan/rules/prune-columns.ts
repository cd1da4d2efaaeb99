/**
 * Drops columns nobody reads, down to what a source decodes.
 *
 * What a node must give is gathered from ALL its readers first, so that a shared node serves each of them.
 * Columns declared NOT NULL are decoded even so: a row without them is a bad row, whatever a query reads;
 * but a connector that makes its rows itself makes no bad ones.
 * A table that keeps its late rows keeps all columns.
 */
import { must } from '../../base/assert.ts';
import type { Schema } from '../../batch/types.ts';
import type { Expr } from '../../expr/expr.ts';
import { exprColumns, mapColumns } from '../../expr/expr-tools.ts';
import { aggregateOperands, columnsOf, mapAggregate } from '../expressions.ts';
import type {
  JoinNode,
  LogicalPlan,
  PlanNode,
  ScanNode,
  SetOperationNode,
  SinkPlan,
  UnionNode,
  UpdatingAggregateNode,
  WindowAggregateNode,
} from '../logical.ts';
import {
  columnExpr,
  inputsOf,
  makeFilter,
  makeNewestByKey,
  makeProjectAs,
  makeUnion,
} from '../nodes.ts';
import { nodesOf } from '../rewrite.ts';
import { joinNeeds, pruneJoin } from './prune-join.ts';
import { matchNeeds, pruneMatch } from './prune-match.ts';
import { overNeeds, pruneOver, pruneTopN, topNNeeds } from './prune-over.ts';
import { pruneUnnest, unnestNeeds } from './prune-unnest.ts';
import { pruneUserFunctions, userFunctionNeeds } from './prune-user-functions.ts';
import type { Rule } from './rule.ts';

export const pruneColumnsRule: Rule = { name: 'prune columns', apply: prune };

/** A rebuilt node, and where each old column is now. */
export type Pruned = { node: PlanNode; places: ReadonlyMap<number, number> };

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

/** The given old columns in the given order. */
export function pick(
  { node, places }: Pruned,
  wanted: readonly number[],
  schema: Schema,
): PlanNode {
  const now = wanted.map((index) => must(places.get(index), 'column that is read'));
  if (now.length === node.schema.length && now.every((place, index) => place === index))
    return node;
  return makeProjectAs(
    node,
    now.map((place) => columnExpr(node.schema, place)),
    wanted.map((index) => must(schema[index], 'column')),
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
    case 'updating-aggregate': {
      const columns = columnsOf(node.groupBy);
      if (node.tag === 'window-aggregate' && node.windowColumn !== null)
        columns.add(node.windowColumn);
      for (const index of keptAggregates(node, own)) {
        for (const operand of aggregateOperands(must(node.aggregates[index], 'aggregate')))
          exprColumns(operand, columns);
      }
      return columns;
    }
  }
}

function keptAggregates(
  node: WindowAggregateNode | UpdatingAggregateNode,
  own: ReadonlySet<number>,
): number[] {
  return node.aggregates.flatMap((_, index) => {
    const column =
      node.tag === 'updating-aggregate'
        ? node.groupBy.length + index
        : node.outputs.findIndex(
            (output, place) =>
              output.tag === 'aggregate' && output.index === index && own.has(place),
          );
    return column >= 0 && own.has(column) ? [index] : [];
  });
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
  const move = (expr: Expr): Expr =>
    mapColumns(expr, (column) => ({
      ...column,
      index: must(input.places.get(column.index), 'column that is read'),
    }));
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
    case 'window-best': {
      const place = (column: number): number =>
        must(input.places.get(column), 'column that is read');
      const { windowColumn } = node;
      const kept: PlanNode = {
        ...node,
        input: input.node,
        windowColumn: windowColumn === null ? null : place(windowColumn),
        column: place(node.column),
        schema: input.node.schema,
        windows: input.node.windows,
      };
      return { node: kept, places: input.places };
    }
    case 'newest-by-key': {
      const keys = node.keyColumns.map((key) => must(input.places.get(key), 'column that is read'));
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
    case 'window-aggregate': {
      const aggregates = keptAggregates(node, own);
      const kept = ascending(own);
      const outputs = kept.map((index) => {
        const output = must(node.outputs[index], 'output');
        return output.tag === 'aggregate'
          ? { ...output, index: aggregates.indexOf(output.index) }
          : output;
      });
      const calls = aggregates.map((index) =>
        mapAggregate(must(node.aggregates[index], 'aggregate'), move),
      );
      const windows = kept.map((index) => node.windows[index] ?? null);
      return {
        node: {
          ...node,
          input: input.node,
          groupBy: node.groupBy.map(move),
          aggregates: calls,
          windowColumn:
            node.windowColumn === null
              ? null
              : must(input.places.get(node.windowColumn), 'column that is read'),
          outputs,
          schema: subset(node.schema, kept),
          keys: keysAmong(node.keys, kept),
          windows,
        },
        places: placesOf(kept),
      };
    }
    case 'updating-aggregate': {
      const keys = node.groupBy.map((_, index) => index);
      const kept = [...keys, ...keptAggregates(node, own).map((index) => keys.length + index)];
      const calls = keptAggregates(node, own).map((index) =>
        mapAggregate(must(node.aggregates[index], 'aggregate'), move),
      );
      return {
        node: {
          ...node,
          input: input.node,
          groupBy: node.groupBy.map(move),
          aggregates: calls,
          schema: subset(node.schema, kept),
          windows: kept.map(() => null),
        },
        places: placesOf(kept),
      };
    }
  }
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
  const moveColumn =
    (places: ReadonlyMap<number, number>) =>
    (expr: Expr): Expr =>
      mapColumns(expr, (column) => ({
        ...column,
        index: must(places.get(column.index), 'column that is read'),
      }));
  const toDecoded = moveColumn(placesOf(decoded));
  const toKept = moveColumn(placesOf(kept));
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

/** Where the columns that identify a row are now; null when one of them is gone. */
function keysAmong(
  keys: readonly number[] | null,
  kept: readonly number[],
): readonly number[] | null {
  const places = keys?.map((key) => kept.indexOf(key)) ?? null;
  return places === null || places.includes(-1) ? null : places;
}

const ascending = (columns: ReadonlySet<number>): number[] =>
  [...columns].sort((left, right) => left - right);

const placesOf = (kept: readonly number[]): Map<number, number> =>
  new Map(kept.map((column, place) => [column, place]));

const subset = (schema: Schema, kept: readonly number[]): Schema =>
  kept.map((index) => must(schema[index], 'column'));
