/** Which columns a join needs of its sides, and the join over sides that give only those. */
import { must } from '../../base/assert.ts';
import type { Expr } from '../../expr/expr.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import { columnsOf } from '../expressions.ts';
import { keepsLeftOnly, makeJoin } from '../join.ts';
import type { JoinNode } from '../logical.ts';
import { columnExpr, makeProjectAs } from '../nodes.ts';
import type { Pruned } from './pruned.ts';

export function joinNeeds(
  node: JoinNode,
  own: ReadonlySet<number>,
): { left: Set<number>; right: Set<number> } {
  const width = node.left.schema.length;
  const left = columnsOf(node.leftKeys);
  const right = columnsOf(node.rightKeys);
  const both = node.residual === null ? own : [...own, ...columnsOf([node.residual])];
  for (const column of both) {
    if (column < width) left.add(column);
    else right.add(column - width);
  }
  return { left, right };
}

/** @param own  columns of the join that are read */
export function pruneJoin(
  node: JoinNode,
  own: ReadonlySet<number>,
  leftInput: Pruned,
  rightInput: Pruned,
): Pruned {
  const needs = joinNeeds(node, own);
  const left = narrowed(leftInput, needs.left);
  const right = narrowed(rightInput, needs.right);
  const width = node.left.schema.length;
  const newWidth = left.node.schema.length;
  const moved =
    ({ places }: Pruned) =>
    (expr: Expr): Expr =>
      mapColumns(expr, (column) => ({
        ...column,
        index: must(places.get(column.index), 'column that is read'),
      }));
  const placeOf = (column: number): number | undefined => {
    if (column < width) return left.places.get(column);
    const place = right.places.get(column - width);
    return place === undefined ? undefined : newWidth + place;
  };
  const join = makeJoin({
    ...node,
    left: left.node,
    right: right.node,
    leftKeys: node.leftKeys.map(moved(left)),
    rightKeys: node.rightKeys.map(moved(right)),
    residual:
      node.residual === null
        ? null
        : mapColumns(node.residual, (column) => ({
            ...column,
            index: must(placeOf(column.index), 'column that is read'),
          })),
  });
  const places = new Map<number, number>();
  const total = keepsLeftOnly(node.kind) ? width : width + node.right.schema.length;
  for (let column = 0; column < total; column++) {
    const place = placeOf(column);
    if (place !== undefined) places.set(column, place);
  }
  return { node: join, places };
}

/** What a join keeps costs memory: a side that gives more, because others read it too, is cut down before. */
function narrowed({ node, places }: Pruned, needed: ReadonlySet<number>): Pruned {
  if (needed.size >= node.schema.length) return { node, places };
  const wanted = [...needed].sort((one, other) => one - other);
  const now = wanted.map((column) => must(places.get(column), 'column that is read'));
  const project = makeProjectAs(
    node,
    now.map((place) => columnExpr(node.schema, place)),
    now.map((place) => must(node.schema[place], 'column')),
  );
  return { node: project, places: new Map(wanted.map((column, place) => [column, place])) };
}
