/** Whether an order follows event time, and whether rows come with the window they were aggregated in. */
import type { Expr } from '../expr/expr.ts';
import type { PlanNode, Window } from './logical.ts';

/** `exact`: the value is the event time, but for a constant. `monotone`: it grows with it. */
export type EventOrder = 'exact' | 'monotone';

/** How the values of an expression over a node's rows follow their event time; null: not that we know. */
export function eventOrderOf(expr: Expr, node: PlanNode): EventOrder | null {
  if (!node.eventTime) return null;
  if (expr.tag === 'row-time') return 'exact';
  const window = windowRead(expr, node);
  if (window !== null) {
    if (expr.tag === 'field' && expr.index === 1) return 'exact';
    return hasFixedWidth(window) ? 'monotone' : null;
  }
  if (expr.tag !== 'column') return null;
  const { index } = expr;
  switch (node.tag) {
    case 'scan': {
      const time = node.watermark?.eventTime;
      return time?.tag === 'column' && time.index === index ? 'exact' : null;
    }
    case 'project': {
      const inner = node.exprs[index];
      return inner === undefined ? null : eventOrderOf(inner, node.input);
    }
    case 'filter':
      return eventOrderOf(expr, node.input);
    case 'over':
    case 'user-function':
      return index < node.input.schema.length ? eventOrderOf(expr, node.input) : null;
    case 'unnest': {
      const kept = node.kept[index];
      return kept === undefined ? null : eventOrderOf({ ...expr, index: kept }, node.input);
    }
    case 'union': {
      const all = node.inputs.map((input) => eventOrderOf(expr, input));
      return all.every((each) => each === 'exact') ? 'exact' : null;
    }
    default:
      return null;
  }
}

/** Whether rows with equal values of the expression share their event time, because they are of one window. */
export function namesWindow(expr: Expr, node: PlanNode): boolean {
  const window = windowRead(expr, node);
  if (window !== null)
    return (
      expr.tag === 'column' || hasFixedWidth(window) || (expr.tag === 'field' && expr.index === 1)
    );
  if (expr.tag !== 'column') return false;
  switch (node.tag) {
    case 'project': {
      const inner = node.exprs[expr.index];
      return inner !== undefined && namesWindow(inner, node.input);
    }
    case 'filter':
      return namesWindow(expr, node.input);
    case 'over':
    case 'user-function':
      return expr.index < node.input.schema.length && namesWindow(expr, node.input);
    case 'unnest': {
      const kept = node.kept[expr.index];
      return kept !== undefined && namesWindow({ ...expr, index: kept }, node.input);
    }
    case 'union':
      return node.inputs.every((input) => namesWindow(expr, input));
    default:
      return false;
  }
}

/** Whether rows come window by window, each with the event time of its window. */
export function isWindowed(node: PlanNode): boolean {
  if (node.updating || !node.eventTime) return false;
  if (node.windows.some((window) => window !== null)) return true;
  switch (node.tag) {
    case 'window-aggregate':
      return true;
    case 'project':
    case 'filter':
    case 'over':
    case 'unnest':
    case 'user-function':
      return isWindowed(node.input);
    case 'union':
      return node.inputs.every(isWindowed);
    default:
      return false;
  }
}

/** The window of a column, or of the column that a field is read from. */
function windowRead(expr: Expr, node: PlanNode): Window | null {
  if (expr.tag === 'column') return node.windows[expr.index] ?? null;
  if (expr.tag !== 'field' || expr.input.tag !== 'column') return null;
  return node.windows[expr.input.index] ?? null;
}

/** Windows that all are of one width: their starts are in the order of their ends. */
const hasFixedWidth = (window: { tag: string }): boolean =>
  window.tag === 'tumble' || window.tag === 'hop';
