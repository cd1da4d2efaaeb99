/**
 * Moves conditions over a join to the side whose columns they read, and those that read both into the join.
 *
 * A side keeps its rows only if a row without a match does not come out of the other side's: what is tested of the
 * side that is padded with NULLs must be tested after the padding. An as-of join looks for the last right row, and
 * must see those that a condition would drop.
 */
import type { Expr } from '../../expr/expr.ts';
import { canFail, usesRowTime } from '../../expr/expr-tools.ts';
import { allOf, sideOf, toRight } from '../bind-join.ts';
import { padsLeft, padsRight, makeJoin } from '../join.ts';
import type { JoinNode, PlanNode } from '../logical.ts';
import { makeFilter } from '../nodes.ts';

export function pushIntoJoin(
  conditions: readonly Expr[],
  join: JoinNode,
  push: (conditions: readonly Expr[], side: PlanNode) => PlanNode,
): PlanNode {
  const width = join.left.schema.length;
  const toLeft: Expr[] = [];
  const toTheRight: Expr[] = [];
  const inside: Expr[] = [];
  const staying: Expr[] = [];
  for (const condition of conditions) {
    const side = sideOf(condition, width);
    const mayMove = !usesRowTime(condition) && (staying.length === 0 || !canFail(condition));
    if (!mayMove) staying.push(condition);
    else if (side === 'left' && !padsLeft(join.kind)) toLeft.push(condition);
    else if (side === 'right' && !padsRight(join.kind) && join.time.tag !== 'as-of')
      toTheRight.push(toRight(condition, width));
    else if (join.kind === 'inner' && side === null && join.time.tag !== 'as-of')
      inside.push(condition);
    else staying.push(condition);
  }
  const residual = allOf([...(join.residual === null ? [] : [join.residual]), ...inside]);
  const below = makeJoin({
    ...join,
    left: push(toLeft, join.left),
    right: push(toTheRight, join.right),
    residual,
  });
  const above = allOf(staying);
  return above === null ? below : makeFilter(below, above);
}
