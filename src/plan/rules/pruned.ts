/** A node without the columns nobody reads, and what every rule of its kind needs to make one. */
import { must } from '../../base/assert.ts';
import type { Schema } from '../../batch/types.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import type { Expr } from '../../expr/expr.ts';
import type { PlanNode } from '../logical.ts';
import { columnExpr, makeProjectAs } from '../nodes.ts';

/** A rebuilt node, and where each old column is now. */
export type Pruned = { node: PlanNode; places: ReadonlyMap<number, number> };

/** Where the column is that was at `column`. */
export const placeIn = (places: ReadonlyMap<number, number>, column: number): number =>
  must(places.get(column), 'column that is read');

/** Expressions over old columns as expressions over what is left of them. */
export const movedTo =
  (places: ReadonlyMap<number, number>) =>
  (expr: Expr): Expr =>
    mapColumns(expr, (column) => ({ ...column, index: placeIn(places, column.index) }));

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

/** Where the columns that identify a row are now; null when one of them is gone. */
export function keysAmong(
  keys: readonly number[] | null,
  kept: readonly number[],
): readonly number[] | null {
  const places = keys?.map((key) => kept.indexOf(key)) ?? null;
  return places === null || places.includes(-1) ? null : places;
}

export const ascending = (columns: ReadonlySet<number>): number[] =>
  [...columns].sort((left, right) => left - right);

export const placesOf = (kept: readonly number[]): Map<number, number> =>
  new Map(kept.map((column, place) => [column, place]));

export const subset = (schema: Schema, kept: readonly number[]): Schema =>
  kept.map((index) => must(schema[index], 'column'));
