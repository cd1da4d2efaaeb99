/** Dropping columns around MATCH_RECOGNIZE: measures nobody reads, columns that nothing reads. */
import { must } from '../../base/assert.ts';
import type { Expr } from '../../expr/expr.ts';
import { columnsOf } from '../expressions.ts';
import type { MatchNode } from '../logical.ts';
import { makeMatch, mapMatchExpr, matchOperands } from '../match-nodes.ts';
import type { Pruned } from './pruned.ts';
import { narrowed } from './prune-over.ts';

const keptMeasures = (node: MatchNode, own: ReadonlySet<number>): number[] =>
  node.measures.flatMap((_, at) => (own.has(node.partitionBy.length + at) ? [at] : []));

const withMeasures = (node: MatchNode, kept: readonly number[]): MatchNode => ({
  ...node,
  measures: kept.map((at) => must(node.measures[at], 'a measure')),
});

export const matchNeeds = (node: MatchNode, own: ReadonlySet<number>): Iterable<number> =>
  columnsOf(matchOperands(withMeasures(node, keptMeasures(node, own))));

export function pruneMatch(node: MatchNode, own: ReadonlySet<number>, given: Pruned): Pruned {
  const { input, move } = narrowed(given, node.input, matchNeeds(node, own));
  const kept = keptMeasures(node, own);
  const moved = (column: Expr & { tag: 'column' }): Expr & { tag: 'column' } =>
    move(column) as Expr & { tag: 'column' };
  const width = node.partitionBy.length;
  const match = makeMatch(
    input.node,
    {
      partitionBy: node.partitionBy.map(move),
      orderBy: node.orderBy.map((key) => ({ ...key, expr: move(key.expr) })),
      variables: node.variables,
      program: node.program,
      conditions: node.conditions.map((each) => (each === null ? null : mapMatchExpr(each, moved))),
      measures: kept.map((at) => mapMatchExpr(must(node.measures[at], 'a measure'), moved)),
      skip: node.skip,
      withinMicros: node.withinMicros,
    },
    node.pattern,
    kept.map((at) => must(node.schema[width + at], 'column of a measure')),
  );
  const places = new Map<number, number>();
  for (let at = 0; at < width; at++) places.set(at, at);
  kept.forEach((at, place) => places.set(width + at, width + place));
  return { node: match, places };
}
