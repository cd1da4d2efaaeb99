/**
 * Two relations and the conditions between them → a join.
 *
 * Conditions on one side only filter that side, equalities become keys, bounds between event times bound the state,
 * and what is left is tested pair by pair. A join without a key is refused unless one side has a single row: it would
 * hold every row of both sides in one place.
 */
import type { Span } from '../base/errors.ts';
import { BOOLEAN, sameType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { mapColumns, usesRowTime } from '../expr/expr-tools.ts';
import { functionById } from '../expr/registry.ts';
import { sameWindow } from './bind-window.ts';
import type { Diagnostics } from './diagnostics.ts';
import { boundsOf } from './event-time.ts';
import { columnsOf } from './expressions.ts';
import { keepsLeftOnly, makeJoin, padsLeft, padsRight } from './join.ts';
import type { JoinKind, JoinNode, JoinTime, PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeNewestByKey, makeProjectAs } from './nodes.ts';

/** A condition that must hold, over the columns of both sides, and where it is written. */
export type Condition = { expr: Expr; span: Span };

export type JoinContext = {
  diagnostics: Diagnostics;
  span: Span;
  /** `SET updating_ttl`; null: none. */
  ttlMicros: number | null;
};

/** What a join is decided to be, before the node is made. */
export type Draft = {
  left: PlanNode;
  right: PlanNode;
  leftKeys: Expr[];
  rightKeys: Expr[];
  nullsMeet: boolean[];
  /** Neither of one side only, nor an equality. */
  others: Expr[];
};

/** The join, or null after an error was reported. */
export function planJoin(
  kind: JoinKind,
  left: PlanNode,
  right: PlanNode,
  conditions: readonly Condition[],
  context: JoinContext,
): JoinNode | null {
  const draft = sortConditions(kind, left, right, conditions);
  if (isLookup(left) && !isConstant(left) && !isLookup(right) && kind !== 'inner')
    return refuse(
      context,
      'a TEMPORARY table stands on the right side of a join',
      'exchange the sides',
    );
  const lookup = isLookup(right) && !(isConstant(right) && padsLeft(kind));
  if (lookup && padsLeft(kind))
    return refuse(
      context,
      `a ${kind} join with a TEMPORARY table is not supported`,
      'its rows are looked up for those of the left side: use JOIN or LEFT JOIN',
    );
  const time = lookup ? lookupTime(draft) : timeOf(kind, draft, context);
  if (time.tag === 'lookup' && time.lastWins !== true) draft.right = lastRows(draft.right);
  if (draft.leftKeys.length === 0 && !lookup && !isSingleRow(left) && !isSingleRow(right)) {
    context.diagnostics.error(
      'UNSUPPORTED',
      conditions.length === 0
        ? 'a cross join of two streams is not supported'
        : 'a join of two streams needs an equality between them',
      context.span,
      {
        detail:
          'Without one every row must be compared with every other, and all of them kept in one place.',
        hint: 'join ON a.key = b.key; one side may also be a single row, such as SELECT max(x) FROM t',
      },
    );
    return null;
  }
  return makeJoin({ kind, ...draft, residual: allOf(draft.others), time });
}

function refuse({ diagnostics, span }: JoinContext, message: string, hint: string): null {
  diagnostics.error('UNSUPPORTED', message, span, { hint });
  return null;
}

/** Whether the rows are those of a TEMPORARY table, or are written in the query. */
export function isLookup(node: PlanNode): boolean {
  if (node.tag === 'scan') return node.temporary || node.connector === 'values';
  const passes = node.tag === 'project' || node.tag === 'filter' || node.tag === 'newest-by-key';
  return passes && isLookup(node.input);
}

/** The rows with the last one of each PRIMARY KEY only. */
export function lastRows(node: PlanNode): PlanNode {
  switch (node.tag) {
    case 'scan':
      return node.primaryKey === undefined ? node : makeNewestByKey(node, node.primaryKey);
    case 'project':
      return makeProjectAs(lastRows(node.input), node.exprs, node.schema);
    case 'filter':
      return makeFilter(lastRows(node.input), node.predicate);
    default:
      return node;
  }
}

/** Where rows are looked up by just their PRIMARY KEY, the last one can be kept in the place of those before it. */
function lookupTime({ right, rightKeys, nullsMeet }: Draft): JoinTime {
  let keys: readonly Expr[] = rightKeys;
  let node = right;
  for (; node.tag === 'project'; node = node.input) {
    const { exprs } = node;
    keys = keys.map((key) => (key.tag === 'column' ? (exprs[key.index] ?? key) : key));
  }
  const own = node.tag === 'scan' ? node.primaryKey : undefined;
  const named = keys.flatMap((key) => (key.tag === 'column' ? [key.index] : []));
  const isKey =
    own !== undefined &&
    named.length === keys.length &&
    !nullsMeet.includes(true) &&
    own.every((key) => named.includes(key)) &&
    named.every((key) => own.includes(key));
  return isKey ? { tag: 'lookup', lastWins: true } : { tag: 'lookup' };
}

/** Whether the rows are written in the query. */
function isConstant(node: PlanNode): boolean {
  if (node.tag === 'scan') return node.connector === 'values';
  return (node.tag === 'project' || node.tag === 'filter') && isConstant(node.input);
}

/** Whether there is at most one row at any time. */
export function isSingleRow(node: PlanNode): boolean {
  switch (node.tag) {
    case 'updating-aggregate':
      return node.groupBy.length === 0;
    case 'top-n':
      return node.partitionBy.length === 0 && node.limit === 1 && !node.ties;
    case 'project':
    case 'filter':
      return isSingleRow(node.input);
    case 'join':
      return isSingleRow(node.left) && (keepsLeftOnly(node.kind) || isSingleRow(node.right));
    default:
      return false;
  }
}

export const allOf = (conditions: readonly Expr[]): Expr | null =>
  conditions.length === 0
    ? null
    : conditions.length === 1
      ? (conditions[0] as Expr)
      : { tag: 'and', args: conditions, type: BOOLEAN };

/** Over the columns of the right side alone. */
export const toRight = (expr: Expr, width: number): Expr =>
  mapColumns(expr, (column) => ({ ...column, index: column.index - width }));

export function sortConditions(
  kind: JoinKind,
  left: PlanNode,
  right: PlanNode,
  conditions: readonly Condition[],
): Draft {
  const width = left.schema.length;
  const ofLeft: Expr[] = [];
  const ofRight: Expr[] = [];
  const draft: Draft = { left, right, leftKeys: [], rightKeys: [], nullsMeet: [], others: [] };
  for (const { expr } of conditions) {
    const side = sideOf(expr, width);
    // A row that is kept without a match must not be filtered by what decides about matches.
    if (side === 'left' && !padsRight(kind) && kind !== 'anti') ofLeft.push(expr);
    else if (side === 'right' && !padsLeft(kind)) ofRight.push(toRight(expr, width));
    else if (!takeKey(expr, width, draft)) draft.others.push(expr);
  }
  const leftFilter = allOf(ofLeft);
  const rightFilter = allOf(ofRight);
  if (leftFilter !== null) draft.left = makeFilter(left, leftFilter);
  if (rightFilter !== null) draft.right = makeFilter(right, rightFilter);
  return draft;
}

/** Which side all columns of the expression are of; null: neither. */
export function sideOf(expr: Expr, width: number): 'left' | 'right' | null {
  const columns = [...columnsOf([expr])];
  if (columns.length === 0) return null;
  if (columns.every((column) => column < width)) return 'left';
  return columns.every((column) => column >= width) ? 'right' : null;
}

/** Makes an equality between the sides a key. */
function takeKey(expr: Expr, width: number, draft: Draft): boolean {
  if (expr.tag !== 'call') return false;
  const { name } = functionById(expr.fn);
  const nullsMeet = name === 'is not distinct from';
  if (name !== '=' && !nullsMeet) return false;
  const [first, second] = expr.args;
  if (first === undefined || second === undefined) return false;
  if (!sameType(first.type, second.type) || usesRowTime(first) || usesRowTime(second)) return false;
  const sides = [sideOf(first, width), sideOf(second, width)];
  if (sides[0] === null || sides[1] === null || sides[0] === sides[1]) return false;
  const [ofLeft, ofRight] = sides[0] === 'left' ? [first, second] : [second, first];
  draft.leftKeys.push(ofLeft);
  draft.rightKeys.push(toRight(ofRight, width));
  draft.nullsMeet.push(nullsMeet);
  return true;
}

/** Decides what time has to do with the join; takes the conditions it stands for out of `draft.others`. */
function timeOf(kind: JoinKind, draft: Draft, context: JoinContext): JoinTime {
  const { left, right } = draft;
  const any: JoinTime = { tag: 'any', ttlMicros: context.ttlMicros };
  const timed = !left.updating && !right.updating && left.eventTime && right.eventTime;
  if (!timed) return any;
  const window = commonWindow(draft, context);
  if (window !== null) return window;
  let low: number | null = null;
  let high: number | null = null;
  const bounding = new Set<Expr>();
  const equalities = draft.leftKeys.map((key, index): Expr => equality(key, index, draft));
  for (const condition of [...draft.others, ...equalities]) {
    const bounds = boundsOf(condition, left, right);
    if (bounds === null) continue;
    bounding.add(condition);
    if (bounds.low !== null) low = Math.max(low ?? -Infinity, bounds.low);
    if (bounds.high !== null) high = Math.min(high ?? Infinity, bounds.high);
  }
  if (low === null && high === null) return any;
  // Whether a row has no match is known only if both bounds are.
  if (kind !== 'inner' && (low === null || high === null)) return any;
  draft.others = draft.others.filter((condition) => !bounding.has(condition));
  const { ttlMicros } = context;
  return {
    tag: 'interval',
    lowMicros: low ?? (ttlMicros === null ? null : -ttlMicros),
    highMicros: high ?? ttlMicros,
  };
}

function equality(key: Expr, index: number, { left, rightKeys }: Draft): Expr {
  const width = left.schema.length;
  const other = mapColumns(rightKeys[index] as Expr, (column) => ({
    ...column,
    index: column.index + width,
  }));
  return { tag: 'call', fn: 'equal', args: [key, other], type: BOOLEAN };
}

/** The window both sides are computed in and meet by. */
function commonWindow(draft: Draft, context: JoinContext): JoinTime | null {
  const { left, right } = draft;
  const leftAt = left.windows.findIndex((window) => window !== null);
  const rightAt = right.windows.findIndex((window) => window !== null);
  const [one, other] = [left.windows[leftAt], right.windows[rightAt]];
  if (one === undefined || one === null || other === undefined || other === null) return null;
  if (!sameWindow(one, other)) return null;
  const meets = draft.leftKeys.some((key, index) =>
    sameWindowOf(key, draft.rightKeys[index] as Expr, draft),
  );
  if (meets) return { tag: 'window', window: one };
  const width = left.schema.length;
  const mentioned = [...draft.others, ...draft.leftKeys].some((expr) =>
    [...columnsOf([expr])].some(
      (column) =>
        (left.windows[column] ?? null) !== null || (right.windows[column - width] ?? null) !== null,
    ),
  );
  if (mentioned) return null;
  context.diagnostics.warn(
    'INVALID_WINDOW',
    'rows of these two windowed queries meet within the same window only',
    context.span,
    { hint: 'say so: add AND a.window = b.window to the join condition' },
  );
  draft.leftKeys.push(columnExpr(left.schema, leftAt));
  draft.rightKeys.push(columnExpr(right.schema, rightAt));
  draft.nullsMeet.push(false);
  return { tag: 'window', window: one };
}

/** Whether equal keys mean the same window. */
function sameWindowOf(key: Expr, other: Expr, { left, right }: Draft): boolean {
  const columnOf = (expr: Expr): number =>
    expr.tag === 'column'
      ? expr.index
      : expr.tag === 'field' && expr.input.tag === 'column'
        ? expr.input.index
        : -1;
  const one = left.windows[columnOf(key)] ?? null;
  const two = right.windows[columnOf(other)] ?? null;
  if (one === null || two === null || !sameWindow(one, two)) return false;
  if (key.tag === 'column') return other.tag === 'column';
  if (key.tag !== 'field' || other.tag !== 'field' || key.index !== other.index) return false;
  // Where windows have one width, one start means one end; and one end is one event time.
  return key.index === 1 || one.tag === 'tumble' || one.tag === 'hop';
}
