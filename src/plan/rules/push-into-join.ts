/**
 * Moves conditions over a join to the side whose columns they read, and those that read both into the join.
 *
 * A side keeps its rows only if a row without a match does not come out of the other side's: what is tested of the
 * side that is padded with NULLs must be tested after the padding. An as-of join looks for the last right row, and
 * must see those that a condition would drop; so must a lookup of the last row of each key.
 */
import type { Expr } from '../../expr/expr.ts';
import { canFail, usesRowTime } from '../../expr/expr-tools.ts';
import { allOf, sideOf, toRight } from '../bind-join.ts';
import { padsLeft, padsRight, makeJoin } from '../join.ts';
import type { JoinNode, PlanNode } from '../logical.ts';
import { makeFilter } from '../nodes.ts';
import { provenPresent } from '../nullability.ts';

export function pushIntoJoin(
  conditions: readonly Expr[],
  given: JoinNode,
  push: (conditions: readonly Expr[], side: PlanNode) => PlanNode,
): PlanNode {
  const join = withoutPadding(given, conditions);
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
    else if (side === 'right' && !padsRight(join.kind) && !looksForLast(join))
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

const looksForLast = ({ time }: JoinNode): boolean =>
  time.tag === 'as-of' || (time.tag === 'lookup' && time.lastWins === true);

/**
 * A left join whose padded rows a condition drops is an inner join. Its result is taken back from time to time in
 * either case, so that nothing else changes.
 */
function withoutPadding(join: JoinNode, conditions: readonly Expr[]): JoinNode {
  const width = join.left.schema.length;
  const drops = conditions.flatMap(provenPresent).some((column) => column >= width);
  return join.kind === 'left' && join.time.tag === 'any' && join.right.updating && drops
    ? makeJoin({ ...join, kind: 'inner' })
    : join;
}
