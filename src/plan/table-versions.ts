/**
 * The rows that make up the versions of a keyed result, where they can be told.
 *
 * The newest row of each key, of a table of changes or by `row_number() … ORDER BY ts DESC` and `DISTINCT ON`, changes as rows come;
 * the rows below it, each with its own time, are the history of it. Projections and conditions over it are those of a version.
 */
import { must } from '../base/assert.ts';
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { SortKey } from '../expr/over.ts';
import { functionById } from '../expr/registry.ts';
import { eventOrderOf } from './event-order.ts';
import { conjunctsOf } from './expressions.ts';
import { sideOf, toRight } from './bind-join.ts';
import type { OverNode, PlanNode, TopNNode } from './logical.ts';
import { columnExpr } from './nodes.ts';

export type Versions = {
  /** Rows as they came; those with `retract` set end a version. */
  changes: PlanNode;
  /** Columns of `changes` that name what has versions. */
  keys: readonly number[];
  /** The columns of the result, over those of `changes`. */
  exprs: readonly Expr[];
  /** What must hold of a version to be there, over the columns of `changes`. */
  conditions: readonly Expr[];
};

/** Stands for a rank that a condition has to set to 1. */
const RANK = 1 << 20;

/** Null: not known. */
export function versionsOf(node: PlanNode): Versions | null {
  const found = historyOf(node);
  const ranked = found?.exprs.some((expr) => readsRank(expr)) === true;
  const open = found?.conditions.some((expr) => readsRank(expr)) === true;
  return ranked || open ? null : found;
}

function historyOf(node: PlanNode): Versions | null {
  switch (node.tag) {
    case 'newest-by-key':
      return {
        changes: node.input,
        keys: node.keyColumns,
        exprs: same(node.input),
        conditions: [],
      };
    case 'top-n':
      return newestOfTopN(node);
    case 'over':
      return newestOfOver(node);
    case 'project': {
      const inner = historyOf(node.input);
      return inner === null
        ? null
        : { ...inner, exprs: node.exprs.map((expr) => over(expr, inner.exprs)) };
    }
    case 'filter': {
      const inner = historyOf(node.input);
      return inner === null ? null : filtered(inner, node.predicate);
    }
    default:
      return null;
  }
}

const same = ({ schema }: PlanNode): Expr[] => schema.map((_, index) => columnExpr(schema, index));

const over = (expr: Expr, exprs: readonly Expr[]): Expr =>
  mapColumns(expr, (column) => must(exprs[column.index], 'a column'));

function readsRank(expr: Expr): boolean {
  let reads = false;
  mapColumns(expr, (column) => {
    reads ||= column.index === RANK;
    return column;
  });
  return reads;
}

/** `rank = 1` and `rank <= 1` make of ranked rows the newest ones. */
function filtered(inner: Versions, predicate: Expr): Versions {
  const conditions = conjunctsOf(predicate).map((expr) => over(expr, inner.exprs));
  const kept = conditions.filter((expr) => !isFirst(expr));
  const one: Expr = { tag: 'literal', value: '1', type: { tag: 'int64' } };
  const settle = (expr: Expr): Expr =>
    kept.length === conditions.length
      ? expr
      : mapColumns(expr, (column) => (column.index === RANK ? one : column));
  return {
    ...inner,
    exprs: inner.exprs.map(settle),
    conditions: [...inner.conditions, ...kept].map(settle),
  };
}

function isFirst(expr: Expr): boolean {
  if (expr.tag !== 'call') return false;
  const { name } = functionById(expr.fn);
  const [left, right] = expr.args;
  if ((name !== '=' && name !== '<=') || left === undefined || right === undefined) return false;
  const inside = left.tag === 'cast' ? left.input : left;
  return (
    inside.tag === 'column' &&
    inside.index === RANK &&
    right.tag === 'literal' &&
    Number(right.value) === 1
  );
}

function newestOfTopN(node: TopNNode): Versions | null {
  const { input, partitionBy, orderBy, limit, offset, ties, rank } = node;
  const keys = keysOf(partitionBy);
  if (limit !== 1 || offset !== 0 || ties || rank !== null || keys === null) return null;
  if (!isNewestFirst(orderBy, input)) return null;
  return { changes: input, keys, exprs: same(input), conditions: [] };
}

function newestOfOver(node: OverNode): Versions | null {
  const { input, partitionBy, orderBy, calls } = node;
  const [call, second] = calls;
  const keys = keysOf(partitionBy);
  if (call?.fn !== 'row_number' || second !== undefined || keys === null) return null;
  if (!isNewestFirst(orderBy, input)) return null;
  const rank: Expr = { tag: 'column', index: RANK, type: call.type };
  return { changes: input, keys, exprs: [...same(input), rank], conditions: [] };
}

function keysOf(partitionBy: readonly Expr[]): number[] | null {
  const keys = partitionBy.flatMap((expr) => (expr.tag === 'column' ? [expr.index] : []));
  return keys.length === partitionBy.length && keys.length > 0 ? keys : null;
}

function isNewestFirst(orderBy: readonly SortKey[], input: PlanNode): boolean {
  const [first] = orderBy;
  return (
    first !== undefined &&
    first.descending &&
    !input.updating &&
    eventOrderOf(first.expr, input) === 'exact'
  );
}

/** What connects a left row with the versions of one key: pairs of equal keys, the key of `changes` second, and the rest. */
export function bindKeys(
  { keys, exprs }: Versions,
  conditions: readonly Expr[],
  width: number,
): { pairs: readonly (readonly [Expr, Expr])[] | null; rest: readonly Expr[] } {
  const found = new Map<number, readonly [Expr, Expr]>();
  const rest: Expr[] = [];
  for (const condition of conditions) {
    const pair = equalityOf(condition, width);
    const key = pair === null ? undefined : over(pair[1], exprs);
    if (pair !== null && key?.tag === 'column' && keys.includes(key.index) && !found.has(key.index))
      found.set(key.index, [pair[0], key]);
    else rest.push(condition);
  }
  const pairs = keys.map((key) => found.get(key));
  const known = pairs.filter((pair) => pair !== undefined);
  return { pairs: known.length === keys.length ? known : null, rest };
}

/** The sides of an equality, the left one's first; each over the columns of its side. */
function equalityOf(condition: Expr, width: number): readonly [Expr, Expr] | null {
  if (condition.tag !== 'call' || functionById(condition.fn).name !== '=') return null;
  const [first, second] = condition.args;
  if (first === undefined || second === undefined) return null;
  const [one, other] = [sideOf(first, width), sideOf(second, width)];
  if (one === 'left' && other === 'right') return [first, toRight(second, width)];
  if (one === 'right' && other === 'left') return [second, toRight(first, width)];
  return null;
}
