/**
 * Flink's windows in FROM → the windows of GROUP BY.
 *
 * `window_start`, `window_end` and `window_time` of `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), …))` stand for ends of `tumble(…)`
 * wherever the query names them; grouping by one of them groups by the window.
 */
import type { Span } from '../base/errors.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import type { Select, SelectItem, WindowedTable } from '../sql/ast-query.ts';
import { plainCall } from '../sql/parse-call.ts';
import type { Diagnostics } from './diagnostics.ts';

const FUNCTIONS: ReadonlySet<string> = new Set(['tumble', 'hop', 'cumulate']);

/** The query in terms of the window itself; as it is when nothing in FROM has windows. */
export function withWindowColumns(select: Select, diagnostics: Diagnostics): Select {
  const [windowed, second] = select.from.filter((reference) => reference.tag === 'windowed');
  if (windowed === undefined) return select;
  const refuse = (message: string, at: { span: Span }, hint: string): Select => {
    diagnostics.error('INVALID_WINDOW', message, at.span, { hint });
    return select;
  };
  if (second !== undefined)
    return refuse('one query has one window', second, 'window each table in a query of its own');
  if (!FUNCTIONS.has(windowed.name.name))
    return refuse(
      `${windowed.name.text} gives no windows in FROM`,
      windowed.name,
      'they are given by TUMBLE, HOP and CUMULATE; sessions by GROUP BY session(…)',
    );
  const replaced = replace(select, windowed) as Select;
  if (!names(select.groupBy, windowed))
    return refuse(
      'rows have windows where they are grouped by them',
      windowed,
      'add GROUP BY window_start, window_end',
    );
  const items = replaced.items.map((item, at) => named(item, select.items[at], windowed));
  return { ...replaced, items };
}

/** A column keeps the name it was written by. */
function named(item: SelectItem, before: SelectItem | undefined, table: WindowedTable): SelectItem {
  if (item.tag !== 'expression' || item.alias !== null || before?.tag !== 'expression') return item;
  const { expression } = before;
  return expression.tag === 'path' && endOf(expression, table) !== null
    ? { ...item, alias: expression.parts.at(-1) ?? null }
    : item;
}

/** `start`, `end` or `time`, when an expression is such a column of the table. */
function endOf(expression: Expression, table: WindowedTable): string | null {
  if (expression.tag !== 'path') return null;
  const [first, second] = expression.parts;
  const own = table.alias?.name.name ?? table.table.name;
  const column = second === undefined ? first : first?.name === own ? second : undefined;
  const found = /^window_(start|end|time)$/.exec(column?.name ?? '');
  return found?.[1] ?? null;
}

function names(value: unknown, table: WindowedTable): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((part) => names(part, table));
  if (endOf(value as Expression, table) !== null) return true;
  return Object.values(value).some((part) => names(part, table));
}

/** The syntax with columns of the window replaced; queries inside see other tables, and stay. */
function replace(value: unknown, table: WindowedTable): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => replace(part, table));
  const { tag } = value as { tag?: string };
  if (tag === 'query' || tag === 'windowed') return value;
  const end = endOf(value as Expression, table);
  if (end !== null) return endOfWindow(end, table, (value as Expression).span);
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, replace(part, table)]),
  );
}

function endOfWindow(end: string, { name, args }: WindowedTable, span: Span): Expression {
  const call: CallExpression = plainCall(name, args, span);
  const field = end === 'time' ? 'end' : end;
  const read: Expression = {
    tag: 'field',
    base: call,
    name: { name: field, text: field, quoted: false, span },
    span,
  };
  if (end !== 'time') return read;
  // The event time of a windowed row.
  const last: Expression = { tag: 'interval', text: '1 microsecond', unit: null, span };
  return { tag: 'binary', operator: '-', operatorSpan: span, left: read, right: last, span };
}
