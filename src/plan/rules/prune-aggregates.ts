/** Dropping columns around aggregates: calls nobody reads, and columns nobody reads. Groups keep all their keys. */
import { must } from '../../base/assert.ts';
import { exprColumns } from '../../expr/expr-tools.ts';
import { aggregateOperands, columnsOf, mapAggregate } from '../expressions.ts';
import type { UpdatingAggregateNode, WindowAggregateNode } from '../logical.ts';
import { ascending, keysAmong, movedTo, placeIn, placesOf, type Pruned, subset } from './pruned.ts';

/** Calls whose column is read. */
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

export function aggregateNeeds(
  node: WindowAggregateNode | UpdatingAggregateNode,
  own: ReadonlySet<number>,
): Iterable<number> {
  const columns = columnsOf(node.groupBy);
  if (node.tag === 'window-aggregate' && node.windowColumn !== null) columns.add(node.windowColumn);
  for (const index of keptAggregates(node, own)) {
    for (const operand of aggregateOperands(must(node.aggregates[index], 'aggregate')))
      exprColumns(operand, columns);
  }
  return columns;
}

export function pruneWindowAggregate(
  node: WindowAggregateNode,
  own: ReadonlySet<number>,
  input: Pruned,
): Pruned {
  const move = movedTo(input.places);
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
      windowColumn: node.windowColumn === null ? null : placeIn(input.places, node.windowColumn),
      outputs,
      schema: subset(node.schema, kept),
      keys: keysAmong(node.keys, kept),
      windows,
    },
    places: placesOf(kept),
  };
}

export function pruneUpdatingAggregate(
  node: UpdatingAggregateNode,
  own: ReadonlySet<number>,
  input: Pruned,
): Pruned {
  const move = movedTo(input.places);
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
