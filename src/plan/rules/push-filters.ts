/**
 * Moves conditions towards the sources, so that rows leave early, and makes one filter of several.
 *
 * A condition passes a projection when the columns it reads are cheap to compute twice. It never passes
 * a node that others read too. Inner conditions stay in front of outer ones, which they may guard.
 */
import { BOOLEAN } from '../../batch/types.ts';
import type { Expr } from '../../expr/expr.ts';
import { mapColumns } from '../../expr/expr-tools.ts';
import { columnsOf, conjunctsOf } from '../expressions.ts';
import type { PlanNode, ProjectNode, UnnestNode, UserFunctionNode } from '../logical.ts';
import { makeFilter, makeProjectAs, makeUnion } from '../nodes.ts';
import { type Shared, rewritePlan, withInputs } from '../rewrite.ts';
import { makeUnnest } from '../unnest.ts';
import { pushIntoJoin } from './push-into-join.ts';
import type { Rule } from './rule.ts';

export const pushFiltersRule: Rule = {
  name: 'push filters',
  apply: (plan) =>
    rewritePlan(plan, (node, shared) =>
      node.tag === 'filter' ? push(conjunctsOf(node.predicate), node.input, shared) : node,
    ),
};

function push(conditions: readonly Expr[], node: PlanNode, shared: Shared): PlanNode {
  const needed = conditions.filter(
    (condition) => !(condition.tag === 'literal' && condition.value === true),
  );
  if (needed.length === 0) return node;
  if (shared(node)) return makeFilter(node, all(needed));
  switch (node.tag) {
    case 'filter':
      return push([...conjunctsOf(node.predicate), ...needed], node.input, shared);
    case 'user-function':
      return pushThroughCalls(needed, node, shared);
    case 'union':
      return makeUnion(node.inputs.map((input) => push(needed, input, shared)));
    case 'project':
      return pushThroughProject(needed, node, shared);
    case 'unnest':
      return pushThroughUnnest(needed, node, shared);
    case 'join':
      return pushIntoJoin(needed, node, (conditions, side) => push(conditions, side, shared));
    default:
      return makeFilter(node, all(needed));
  }
}

function pushThroughProject(
  conditions: readonly Expr[],
  project: ProjectNode,
  shared: Shared,
): PlanNode {
  const passes = (condition: Expr): boolean =>
    [...columnsOf([condition])].every((index) => isCheap(project.exprs[index] as Expr));
  // A condition behind one that stays must stay too: it may rely on it.
  const firstStaying = conditions.findIndex((condition) => !passes(condition));
  const count = firstStaying < 0 ? conditions.length : firstStaying;
  const moved = conditions
    .slice(0, count)
    .map((condition) => mapColumns(condition, (column) => project.exprs[column.index] as Expr));
  const staying = conditions.slice(count);
  const below = makeProjectAs(push(moved, project.input, shared), project.exprs, project.schema);
  return staying.length === 0 ? below : makeFilter(below, all(staying));
}

/** What is tested of the row itself can be tested before its lists are taken apart. */
function pushThroughUnnest(
  conditions: readonly Expr[],
  unnest: UnnestNode,
  shared: Shared,
): PlanNode {
  const { kept } = unnest;
  const ofRow = (condition: Expr): boolean =>
    [...columnsOf([condition])].every((column) => column < kept.length);
  const firstStaying = conditions.findIndex((condition) => !ofRow(condition));
  const count = firstStaying < 0 ? conditions.length : firstStaying;
  const moved = conditions
    .slice(0, count)
    .map((condition) =>
      mapColumns(condition, (column) => ({ ...column, index: kept[column.index] as number })),
    );
  const names = unnest.schema.slice(kept.length).map(({ name }) => name);
  const below = makeUnnest(push(moved, unnest.input, shared), { ...unnest, names });
  return count === conditions.length ? below : makeFilter(below, all(conditions.slice(count)));
}

/** A row that leaves early is not asked about; conditions on results, and those behind them, stay. */
function pushThroughCalls(
  conditions: readonly Expr[],
  node: UserFunctionNode,
  shared: Shared,
): PlanNode {
  const width = node.input.schema.length;
  const first = conditions.findIndex((condition) =>
    [...columnsOf([condition])].some((column) => column >= width),
  );
  const count = first < 0 ? conditions.length : first;
  const below = withInputs(node, [push(conditions.slice(0, count), node.input, shared)]);
  return count === conditions.length ? below : makeFilter(below, all(conditions.slice(count)));
}

/** A column, a field of one or a constant: computing it twice costs nothing and can not fail. */
export function isCheap(expr: Expr): boolean {
  if (expr.tag === 'field') return isCheap(expr.input);
  return expr.tag === 'column' || expr.tag === 'literal' || expr.tag === 'row-time';
}

const all = (conditions: readonly Expr[]): Expr =>
  conditions.length === 1
    ? (conditions[0] as Expr)
    : { tag: 'and', args: conditions, type: BOOLEAN };
