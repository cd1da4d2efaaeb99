/**
 * Dropping columns around OVER and Top-N: calls nobody reads, the rank when it is not shown, columns nobody reads.
 *
 * Rows that their order does not tell apart are told apart by the columns that are left, so the first of them may be
 * another one than without the rule, as the order allows.
 */
import { must } from '../../base/assert.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import type { Expr } from '../../expr/expr.ts';
import { columnsOf, callOperands, mapOverCall } from '../expressions.ts';
import type { OverNode, PlanNode, TopNNode } from '../logical.ts';
import { makeOver, makeTopN } from '../over-nodes.ts';
import { pick, type Pruned } from './pruned.ts';

/** Calls whose column is read. */
const keptCalls = (node: OverNode, own: ReadonlySet<number>): number[] =>
  node.calls.flatMap((_, at) => (own.has(node.input.schema.length + at) ? [at] : []));

/** Nobody reads what it computes; ORDER BY computes nothing and is not meant. */
const isIdle = (node: OverNode, own: ReadonlySet<number>): boolean =>
  node.calls.length > 0 && keptCalls(node, own).length === 0;

const within = (input: PlanNode, own: ReadonlySet<number>): number[] =>
  [...own].filter((column) => column < input.schema.length);

export function overNeeds(node: OverNode, own: ReadonlySet<number>): Iterable<number> {
  const handedOn = within(node.input, own);
  if (isIdle(node, own)) return handedOn;
  const operands = keptCalls(node, own).flatMap((at) =>
    callOperands(must(node.calls[at], 'a call')),
  );
  return [
    ...handedOn,
    ...columnsOf([...node.partitionBy, ...node.orderBy.map(({ expr }) => expr), ...operands]),
  ];
}

export const topNNeeds = (node: TopNNode, own: ReadonlySet<number>): Iterable<number> => [
  ...within(node.input, own),
  ...columnsOf([...node.partitionBy, ...node.orderBy.map(({ expr }) => expr)]),
];

/** Rows are kept whole, so a shared input is cut to what this node needs of it. */
export function narrowed(
  given: Pruned,
  before: PlanNode,
  needs: Iterable<number>,
): { input: Pruned; move: (expr: Expr) => Expr } {
  const wanted = [...new Set(needs)].sort((left, right) => left - right);
  const places = new Map(wanted.map((column, place) => [column, place]));
  return {
    input: { node: pick(given, wanted, before.schema), places },
    move: (expr) =>
      mapColumns(expr, (column) => ({
        ...column,
        index: must(places.get(column.index), 'column that is read'),
      })),
  };
}

export function pruneOver(node: OverNode, own: ReadonlySet<number>, given: Pruned): Pruned {
  if (isIdle(node, own)) return given;
  const { input, move } = narrowed(given, node.input, overNeeds(node, own));
  const kept = keptCalls(node, own);
  const width = node.input.schema.length;
  const over = makeOver(
    input.node,
    {
      form: node.form,
      partitionBy: node.partitionBy.map(move),
      orderBy: node.orderBy.map((key) => ({ ...key, expr: move(key.expr) })),
      calls: kept.map((at) => mapOverCall(must(node.calls[at], 'a call'), move)),
    },
    kept.map((at) => must(node.schema[width + at], 'column of a call')),
  );
  const places = new Map(input.places);
  kept.forEach((at, place) => places.set(width + at, input.node.schema.length + place));
  return { node: over, places };
}

export function pruneTopN(node: TopNNode, own: ReadonlySet<number>, given: Pruned): Pruned {
  const { input, move } = narrowed(given, node.input, topNNeeds(node, own));
  const width = node.input.schema.length;
  const { limit, offset, ties } = node;
  const top = makeTopN(input.node, {
    partitionBy: node.partitionBy.map(move),
    orderBy: node.orderBy.map((key) => ({ ...key, expr: move(key.expr) })),
    limit,
    offset,
    ties,
    rank: own.has(width) ? node.rank : null,
  });
  return { node: top, places: new Map([...input.places, [width, input.node.schema.length]]) };
}
