/** Dropping columns around UNNEST: lists that nobody else reads end there, as does the place of an element. */
import { must } from '../../base/assert.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import { columnsOf } from '../expressions.ts';
import type { UnnestNode } from '../logical.ts';
import { makeUnnest } from '../unnest.ts';
import type { Pruned } from './pruned.ts';

const handedOn = (node: UnnestNode, own: ReadonlySet<number>): number[] =>
  [...node.kept.keys()].filter((place) => own.has(place));

/** Every list is read: they say together how many rows there are. */
export const unnestNeeds = (node: UnnestNode, own: ReadonlySet<number>): Iterable<number> => [
  ...handedOn(node, own).map((place) => must(node.kept[place], 'a column')),
  ...columnsOf(node.lists),
];

/** A list that is handed on is copied for each of its elements, so only what is read goes on. */
export function pruneUnnest(node: UnnestNode, own: ReadonlySet<number>, given: Pruned): Pruned {
  const width = node.kept.length;
  const place = width + node.lists.length;
  const ordinality = node.ordinality && own.has(place);
  const added = [...node.lists.map((_, at) => width + at), ...(ordinality ? [place] : [])];
  const moved = (column: number): number => must(given.places.get(column), 'column that is read');
  const on = handedOn(node, own);
  const unnest = makeUnnest(given.node, {
    kept: on.map((at) => moved(must(node.kept[at], 'a column'))),
    lists: node.lists.map((list) =>
      mapColumns(list, (column) => ({ ...column, index: moved(column.index) })),
    ),
    names: added.map((column) => must(node.schema[column], 'column').name),
    ordinality,
    outer: node.outer,
  });
  const places = [...on, ...added].map((column, at): [number, number] => [column, at]);
  return { node: unnest, places: new Map(places) };
}
