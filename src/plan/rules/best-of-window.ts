/**
 * Rows joined back to the greatest (or least) value of their window are the best rows of the window: nothing need be joined.
 *
 *     SELECT … FROM counts c JOIN (SELECT max(num) AS top, window FROM counts GROUP BY window) m
 *     ON c.window = m.window AND c.num = m.top
 *
 * Both sides must read the same rows. Where the rows joined are groups, and the value is one of their keys, the rows that
 * are grouped are chosen already: those of other groups need not be grouped.
 */
import { layoutOf, sameType, type SqlType } from '../../batch/types.ts';
import type { Expr } from '../../expr/expr.ts';
import type { JoinNode, PlanNode, WindowAggregateNode } from '../logical.ts';
import { columnExpr, makeProjectAs, makeWindowBest } from '../nodes.ts';
import { type Shared, rewritePlan } from '../rewrite.ts';
import type { Rule } from './rule.ts';
import { canBeShared, sameCall } from './share-windows.ts';

export const bestOfWindowRule: Rule = {
  name: 'best of a window',
  apply: (plan) =>
    rewritePlan(plan, (node, shared) => (node.tag === 'join' ? rewrite(node, shared) : node)),
};

/** A column of a node that computes it. */
type Place = { node: PlanNode; index: number };

/** One side of a join, seen from its keys: the columns of the window and of the value. */
type Side = { node: PlanNode; window: number; value: number };

/** The best values of all windows, and where the rows they are of stand. */
type Extremes = { of: WindowAggregateNode; greatest: boolean; argument: number };

function rewrite(join: JoinNode, shared: Shared): PlanNode {
  const { kind, residual, time, left, right } = join;
  const stays = [left, right].every(({ updating, eventTime }) => !updating && eventTime);
  if (kind !== 'inner' || residual !== null || time.tag !== 'window' || !stays) return join;
  for (const place of [0, 1])
    for (const rowsLeft of [true, false]) {
      const sides = sidesOf(join, place, rowsLeft);
      const chosen = sides === null ? null : choose(sides.rows, sides.best, shared);
      if (chosen !== null && sides !== null) return shown(join, chosen, sides, rowsLeft);
    }
  return join;
}

/** The sides when the key at `place` is the window and the other one the value; null: the keys are not so. */
function sidesOf(
  { left, right, leftKeys, rightKeys, nullsMeet }: JoinNode,
  place: number,
  rowsLeft: boolean,
): { rows: Side; best: Side } | null {
  if (leftKeys.length !== 2 || nullsMeet[1 - place] === true) return null;
  const side = (node: PlanNode, keys: readonly Expr[]): Side | null => {
    const window = keys[place];
    const value = keys[1 - place];
    return window?.tag === 'column' && value?.tag === 'column'
      ? { node, window: window.index, value: value.index }
      : null;
  };
  const one = side(left, leftKeys);
  const other = side(right, rightKeys);
  if (one === null || other === null) return null;
  return rowsLeft ? { rows: one, best: other } : { rows: other, best: one };
}

/** What computes a column, behind projections that hand it on. */
function placeOf(node: PlanNode, index: number): Place {
  let place = { node, index };
  while (place.node.tag === 'project') {
    const expr = place.node.exprs[place.index];
    if (expr?.tag !== 'column') break;
    place = { node: place.node.input, index: expr.index };
  }
  return place;
}

/** The node of the side's rows with those that are not the best left out; null: the best side is about other rows. */
function choose(rows: Side, best: Side, shared: Shared): PlanNode | null {
  const extremes = extremesOf(best);
  const type = rows.node.schema[rows.value]?.type;
  const bestType = best.node.schema[best.value]?.type;
  if (extremes === null || type === undefined || bestType === undefined) return null;
  if (!isComparable(type) || !sameType(type, bestType)) return null;
  const { of, greatest, argument } = extremes;
  const { window } = of;
  if (window.tag === 'session' || of.input.updating) return null;
  const value = placeOf(rows.node, rows.value);
  const ofWindow = placeOf(rows.node, rows.window);
  if (value.node !== ofWindow.node) return null;
  const compared = placeOf(of.input, argument);
  const byColumn = makeBest(rows, of, greatest);
  if (of.windowColumn !== null) {
    const within = placeOf(of.input, of.windowColumn);
    const same = isAlike(value, compared) && isAlike(ofWindow, within);
    return same && within.node === compared.node ? byColumn : null;
  }
  const groups = value.node;
  const key = keyOf(groups, value.index, ofWindow.index, of);
  if (key === null || groups.tag !== 'window-aggregate') return null;
  const grouped = placeOf(groups.input, key);
  if (grouped.node !== compared.node || grouped.index !== compared.index) return null;
  // Of windows that overlap a row may be the best of one and not of the other.
  const isSplit = window.tag === 'tumble' && window.timezone === undefined;
  const readers = chainOf(rows.node, groups);
  if (!isSplit || readers.some(shared)) return byColumn;
  const input = makeWindowBest(groups.input, { window, windowColumn: null, column: key, greatest });
  return over(readers, { ...groups, input });
}

const makeBest = (rows: Side, { window }: WindowAggregateNode, greatest: boolean): PlanNode =>
  makeWindowBest(rows.node, { window, windowColumn: rows.window, column: rows.value, greatest });

/** A whole number or a time, which compare as their words do. */
const isComparable = (type: SqlType): boolean =>
  ['int32', 'int64', 'timestamp'].includes(layoutOf(type)) && type.tag !== 'uint64';

/** What the side computes, when that is one extreme value of each window and nothing else. */
function extremesOf({ node, window, value }: Side): Extremes | null {
  const of = placeOf(node, value).node;
  if (of.tag !== 'window-aggregate' || of.groupBy.length > 0 || of.aggregates.length !== 1)
    return null;
  const outputs = node.schema.map((_, index) => {
    const place = placeOf(node, index);
    return place.node === of ? of.outputs[place.index]?.tag : undefined;
  });
  const isPure = outputs.every((tag) => tag === 'window' || tag === 'aggregate');
  if (!isPure || outputs[window] !== 'window' || outputs[value] !== 'aggregate') return null;
  const [call] = of.aggregates;
  const [argument] = call?.args ?? [];
  if (call === undefined || (call.fn !== 'max' && call.fn !== 'min')) return null;
  if (call.filter !== null || call.args.length !== 1 || argument?.tag !== 'column') return null;
  return { of, greatest: call.fn === 'max', argument: argument.index };
}

/** Whether two columns hold the same: one column, or one of two windowed aggregates that compute the same. */
function isAlike(one: Place, other: Place): boolean {
  if (one.node === other.node) return one.index === other.index;
  const [left, right] = [one.node, other.node];
  if (left.tag !== 'window-aggregate' || right.tag !== 'window-aggregate') return false;
  const { input, window, windowColumn, groupBy } = left;
  if (input !== right.input || !canBeShared(left) || !canBeShared(right)) return false;
  const grouping = JSON.stringify([window, windowColumn, groupBy]);
  if (grouping !== JSON.stringify([right.window, right.windowColumn, right.groupBy])) return false;
  const output = left.outputs[one.index];
  const wanted = right.outputs[other.index];
  if (output?.tag !== 'aggregate' || wanted?.tag !== 'aggregate')
    return JSON.stringify(output) === JSON.stringify(wanted);
  const call = left.aggregates[output.index];
  const match = right.aggregates[wanted.index];
  return call !== undefined && match !== undefined && sameCall(call, match);
}

/** The column that groups of the same windows have as the key in column `value`; null: they are no such groups. */
function keyOf(
  node: PlanNode,
  value: number,
  window: number,
  of: WindowAggregateNode,
): number | null {
  if (node.tag !== 'window-aggregate' || node.windowColumn !== null || node.input.updating)
    return null;
  if (JSON.stringify(node.window) !== JSON.stringify(of.window)) return null;
  const output = node.outputs[value];
  if (output?.tag !== 'key' || node.outputs[window]?.tag !== 'window') return null;
  const key = node.groupBy[output.index];
  return key?.tag === 'column' ? key.index : null;
}

/** The projections from `top` down to `bottom`, and that. */
function chainOf(top: PlanNode, bottom: PlanNode): PlanNode[] {
  const chain: PlanNode[] = [top];
  for (let node = top; node !== bottom && node.tag === 'project'; node = node.input)
    chain.push(node.input);
  return chain;
}

/** The projections of a chain over another node than its last. */
const over = (chain: readonly PlanNode[], bottom: PlanNode): PlanNode =>
  chain
    .slice(0, -1)
    .reduceRight(
      (input, node) =>
        node.tag === 'project' ? makeProjectAs(input, node.exprs, node.schema) : input,
      bottom,
    );

/** The columns of the join, of the chosen rows alone. */
function shown(
  join: JoinNode,
  chosen: PlanNode,
  { rows, best }: { rows: Side; best: Side },
  rowsLeft: boolean,
): PlanNode {
  const own = rows.node.schema.map((_, index) => columnExpr(chosen.schema, index));
  const others = best.node.schema.map((_, index) => {
    const { node, index: place } = placeOf(best.node, index);
    const isWindow = node.tag === 'window-aggregate' && node.outputs[place]?.tag === 'window';
    return columnExpr(chosen.schema, isWindow ? rows.window : rows.value);
  });
  const exprs = rowsLeft ? [...own, ...others] : [...others, ...own];
  return makeProjectAs(chosen, exprs, join.schema);
}
