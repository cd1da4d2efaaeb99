/**
 * ORDER BY, LIMIT, OFFSET and DISTINCT ON around a SELECT.
 *
 * With LIMIT the order is a Top-N of the whole result. Without it rows must come in an order of their own that can be
 * finished: by event time, or window by window. Keys that the SELECT list does not have are added to it as hidden columns.
 */
import { canonical } from './expressions.ts';
import type { Span } from '../base/errors.ts';
import { INT64 } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { SortKey } from '../expr/over.ts';
import type { Expression } from '../sql/ast-expression.ts';
import type { OrderItem, Query, Select, SelectItem } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import type { Diagnostics } from './diagnostics.ts';
import { eventOrderOf, isWindowed } from './event-order.ts';
import { POISON, tableContext } from './expression-context.ts';
import { foldExpr, resolveCall } from './functions.ts';
import { numberLiteral } from './literals.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeProject } from './nodes.ts';
import { makeOver, makeTopN } from './over-nodes.ts';
import { type BoundQuery, scopeOf } from './scope.ts';

export const hasOrder = (query: Query): boolean =>
  query.orderBy.length > 0 ||
  query.limit !== null ||
  query.offset !== null ||
  (query.body.tag === 'select' && query.body.distinctOn.length > 0);

/** @param bindBody  binds the query without what stands around its body */
export function bindOrdered(
  query: Query,
  environment: Environment,
  bindBody: (body: Query['body']) => BoundQuery,
): BoundQuery {
  const { diagnostics } = environment;
  const { body, orderBy } = query;
  const on = body.tag === 'select' ? body.distinctOn : [];
  const wanted = [...on, ...orderBy.map((item) => item.expression)];
  const extended = body.tag === 'select' && !body.distinct ? withHidden(body, wanted) : null;
  const bound = bindBody(extended?.select ?? body);
  const places = wanted.map((expression, index) =>
    placeOf(expression, extended?.hidden.get(index) ?? null, bound, diagnostics),
  );
  const shown = bound.columns.length - (extended?.hidden.size ?? 0);
  const visible: BoundQuery = { ...bound, columns: bound.columns.slice(0, shown) };
  const rows = rowsWanted(query, diagnostics);
  const { node } = bound;
  if (node === null || rows === null || places.includes(null)) return { ...visible, node: null };
  const columns = places.map((place) =>
    columnExpr(node.schema, sameColumn(node, place ?? 0, shown)),
  );
  const first = on.length === 0 ? node : distinctOn(node, columns, on.length, query, diagnostics);
  const keys = sortKeys(orderBy, columns.slice(on.length));
  const ordered = on.length > 0 ? first : inOrder(node, keys, rows, query, diagnostics);
  if (ordered === null) return { ...visible, node: null };
  const kept = node.schema.slice(0, shown);
  return {
    ...visible,
    node: makeProject(
      ordered,
      kept.map((_, index) => columnExpr(node.schema, index)),
      kept.map((field) => field.name),
    ),
  };
}

/** The SELECT with keys as further columns, where they are neither positions nor names of the list. */
function withHidden(
  select: Select,
  wanted: readonly Expression[],
): { select: Select; hidden: ReadonlyMap<number, string> } {
  const aliases = new Set(
    select.items.flatMap((item) =>
      item.tag === 'expression' && item.alias !== null ? [item.alias.name] : [],
    ),
  );
  const hidden = new Map<number, string>();
  const items: SelectItem[] = [];
  wanted.forEach((expression, index) => {
    const [only, more] = expression.tag === 'path' ? expression.parts : [];
    const named = only !== undefined && more === undefined && aliases.has(only.name);
    if (named || expression.tag === 'number') return;
    const { span } = expression;
    const name = `order key ${index + 1}`;
    hidden.set(index, name);
    items.push({
      tag: 'expression',
      expression,
      alias: { name, quoted: true, text: name, span },
      span,
    });
  });
  return { select: { ...select, distinctOn: [], items: [...select.items, ...items] }, hidden };
}

/** The column of the result that a key is; null after an error. */
function placeOf(
  expression: Expression,
  hidden: string | null,
  query: BoundQuery,
  diagnostics: Diagnostics,
): number | null {
  if (query.node === null) return null;
  if (hidden !== null) return query.columns.findIndex((column) => column.name === hidden);
  if (expression.tag === 'number') {
    const place = Number(expression.text) - 1;
    if (query.columns[place] !== undefined && Number.isInteger(place)) return place;
    diagnostics.error(
      'TYPE_ERROR',
      `ORDER BY ${expression.text} names no column of the SELECT list`,
      expression.span,
      { hint: `positions go from 1 to ${query.columns.length}` },
    );
    return null;
  }
  const context = tableContext(scopeOf(null, query), 'ORDER BY', diagnostics);
  const bound = new ExpressionBinder(context).bind(expression);
  if (bound === POISON) return null;
  if (bound.tag === 'column') return bound.index;
  diagnostics.error('UNSUPPORTED', 'ORDER BY takes columns of this result only', expression.span, {
    hint: 'compute the key in the SELECT list of a query around it',
  });
  return null;
}

/** A visible column that is computed as a hidden one is takes its place. */
function sameColumn(node: PlanNode, place: number, shown: number): number {
  if (node.tag !== 'project' || place < shown) return place;
  const text = canonical(node.exprs[place]);
  const same = node.exprs.findIndex((expr) => canonical(expr) === text);
  return same;
}

export const sortKeys = (items: readonly OrderItem[], columns: readonly Expr[]): SortKey[] =>
  items.map(({ descending, nulls }, index) => ({
    expr: columns[index] as Expr,
    descending,
    nullsFirst: nulls === null ? descending : nulls === 'first',
  }));

type RowsWanted = { limit: number | null; offset: number };

export function rowsWanted(query: Query, diagnostics: Diagnostics): RowsWanted | null {
  const { limit, offset } = query;
  const most = limit === null ? null : constantCount(limit, 'LIMIT', 1, diagnostics);
  const skipped = offset === null ? 0 : constantCount(offset, 'OFFSET', 0, diagnostics);
  if ((limit !== null && most === null) || skipped === null) return null;
  return { limit: most, offset: skipped };
}

function constantCount(
  expression: Expression,
  word: string,
  least: number,
  diagnostics: Diagnostics,
): number | null {
  const bound = foldExpr(
    new ExpressionBinder(tableContext([], word, diagnostics)).bind(expression),
  );
  if (bound === POISON) return null;
  const value = bound.tag === 'literal' && bound.type.tag === 'int32' ? Number(bound.value) : null;
  if (value !== null && value >= least && value <= 1_000_000) return value;
  diagnostics.error(
    'TYPE_ERROR',
    `${word} takes a whole number from ${least} to 1000000`,
    expression.span,
    { hint: 'it must be a constant' },
  );
  return null;
}

/** The first row of each key, as `row_number() … = 1`. */
function distinctOn(
  node: PlanNode,
  columns: readonly Expr[],
  count: number,
  query: Query,
  diagnostics: Diagnostics,
): PlanNode | null {
  const on = columns.slice(0, count);
  const keys = sortKeys(query.orderBy, columns.slice(count));
  const around = query.limit ?? query.offset;
  if (around !== null) {
    diagnostics.error('UNSUPPORTED', 'LIMIT of DISTINCT ON is not supported', around.span, {
      hint: 'put the DISTINCT ON into a subquery',
    });
    return null;
  }
  const names = new Set(on.map(canonical));
  const leading = keys.slice(0, names.size).map(({ expr }) => expr);
  if (keys.length > 0 && !leading.every((expr) => names.has(canonical(expr)))) {
    diagnostics.error(
      'TYPE_ERROR',
      'ORDER BY must begin with the expressions of DISTINCT ON',
      query.orderBy[0]?.span ?? query.span,
      { hint: 'the expressions behind them say which row of each key is the first' },
    );
    return null;
  }
  const order = keys.filter(({ expr }) => !names.has(canonical(expr)));
  const [first] = order;
  const byTime =
    first !== undefined && !first.descending && eventOrderOf(first.expr, node) !== null;
  if (!byTime || node.updating)
    return makeTopN(node, {
      partitionBy: on,
      orderBy: order,
      limit: 1,
      offset: 0,
      ties: false,
      rank: null,
    });
  return firstByTime(node, on, order);
}

/** The first row of each key by event time is final when the watermark passes it. */
function firstByTime(node: PlanNode, on: readonly Expr[], order: readonly SortKey[]): PlanNode {
  const call = {
    fn: 'row_number' as const,
    args: [],
    count: 0,
    ignoreNulls: false,
    aggregate: null,
    frame: {
      unit: 'range' as const,
      start: { tag: 'unbounded_preceding' as const },
      end: { tag: 'current_row' as const },
    },
    type: INT64,
    label: 'row_number()',
  };
  const field = { name: 'row_number()', type: INT64, nullable: false };
  const over = makeOver(node, { form: 'timed', partitionBy: on, orderBy: order, calls: [call] }, [
    field,
  ]);
  const rank = columnExpr(over.schema, node.schema.length);
  const one = numberLiteral('1', false);
  const first = one === null ? null : resolveCall('=', [rank, one]);
  return first?.tag === 'expr' ? makeFilter(over, first.expr) : over;
}

function inOrder(
  node: PlanNode,
  keys: readonly SortKey[],
  { limit, offset }: RowsWanted,
  query: Query,
  diagnostics: Diagnostics,
): PlanNode | null {
  const refuse = (message: string, span: Span, hint: string): null => {
    diagnostics.error('UNSUPPORTED', message, span, { hint });
    return null;
  };
  const [first] = keys;
  if (first === undefined)
    return refuse(
      `${limit === null ? 'OFFSET' : 'LIMIT'} needs an ORDER BY`,
      (query.limit ?? query.offset ?? query).span,
      'rows come in another order in each run; say which ones are the first',
    );
  if (limit !== null)
    return makeTopN(node, {
      partitionBy: [],
      orderBy: keys,
      limit,
      offset,
      ties: false,
      rank: null,
    });
  if (query.offset !== null) return refuse('OFFSET needs a LIMIT', query.offset.span, 'add LIMIT');
  const place = query.orderBy[0]?.span ?? query.span;
  if (node.updating || !node.eventTime)
    return refuse(
      'ORDER BY of an updated result needs a LIMIT',
      place,
      'a row may still move; keep the first ones with LIMIT, or sort where you read the result',
    );
  const byTime = !first.descending && eventOrderOf(first.expr, node) !== null;
  if (!byTime && !isWindowed(node))
    return refuse(
      'ORDER BY without LIMIT needs event time or a window',
      place,
      'rows of an endless stream have no last place: order by the event time first, group by a window, or add LIMIT',
    );
  return makeOver(node, { form: 'closed', partitionBy: [], orderBy: keys, calls: [] }, []);
}
