/**
 * Which expressions are an event time, and how two event times are bounded by conditions.
 *
 * A column that holds the event time of its rows is known by its origin: the column a table's WATERMARK FOR names, or
 * the window of a windowed aggregate, whose rows have the time `window.end` less 1 µs.
 */
import { fixedMicros, intervalOfLiteral } from '../batch/interval.ts';
import type { Expr } from '../expr/expr.ts';
import { foldConstants } from '../expr/compile.ts';
import { functionById } from '../expr/registry.ts';
import type { PlanNode } from './logical.ts';

/** The micros by which `expr`, over the rows of `node`, is after their event time; null: not known. */
export function offsetFromEventTime(expr: Expr, node: PlanNode): number | null {
  if (!node.eventTime) return null;
  switch (expr.tag) {
    case 'row-time':
      return 0;
    case 'column':
      return expr.type.tag === 'timestamp' ? columnOffset(expr.index, node) : null;
    case 'field':
      return windowEndOffset(expr, node);
    case 'call': {
      const { name } = functionById(expr.fn);
      const [left, right] = expr.args;
      if (left === undefined || right === undefined) return null;
      if (name !== '+' && name !== '-') return null;
      const base = offsetFromEventTime(left, node);
      const length = intervalOf(right);
      if (base !== null && length !== null) return name === '+' ? base + length : base - length;
      if (name === '-') return null;
      const other = offsetFromEventTime(right, node);
      const first = intervalOf(left);
      return other === null || first === null ? null : other + first;
    }
    default:
      return null;
  }
}

function columnOffset(index: number, node: PlanNode): number | null {
  switch (node.tag) {
    case 'scan': {
      const time = node.watermark?.eventTime;
      if (time === undefined) return null;
      return time.tag === 'column' && time.index === index ? 0 : null;
    }
    case 'filter':
      return columnOffset(index, node.input);
    case 'unnest': {
      const kept = node.kept[index];
      return kept === undefined ? null : columnOffset(kept, node.input);
    }
    case 'user-function':
      return index < node.input.schema.length ? columnOffset(index, node.input) : null;
    case 'project': {
      const expr = node.exprs[index];
      return expr === undefined ? null : offsetFromEventTime(expr, node.input);
    }
    case 'union': {
      const offsets = node.inputs.map((input) => columnOffset(index, input));
      const [first] = offsets;
      return first !== undefined && offsets.every((offset) => offset === first) ? first : null;
    }
    case 'join':
      // A row has the later of two times; only where it has its left side's is that one known.
      return node.time.tag === 'lookup' || node.time.tag === 'as-of'
        ? index < node.left.schema.length
          ? columnOffset(index, node.left)
          : null
        : null;
    default:
      return null;
  }
}

function windowEndOffset(expr: Expr & { tag: 'field' }, node: PlanNode): number | null {
  if (expr.input.tag !== 'column') return null;
  const window = node.windows[expr.input.index] ?? null;
  if (window === null) return null;
  if (expr.index === 1) return 1;
  return window.tag === 'tumble' ? 1 - window.widthMicros : null;
}

/** A constant length of time in micros; null: it is none. */
export function intervalOf(expr: Expr): number | null {
  const folded = foldConstants(expr);
  if (folded.tag !== 'literal' || folded.type.tag !== 'interval') return null;
  if (folded.value === null) return null;
  const length = fixedMicros(intervalOfLiteral(String(folded.value)));
  const micros = Number(length);
  return length !== null && Number.isSafeInteger(micros) ? micros : null;
}

/** Bounds of the right row's event time less the left row's. */
export type TimeBounds = { low: number | null; high: number | null };

const MIRRORED: Readonly<Record<string, string>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '=': '=',
};

/** What one condition over the columns of both sides says of their event times; null: nothing. */
export function boundsOf(condition: Expr, left: PlanNode, right: PlanNode): TimeBounds | null {
  if (condition.tag !== 'call') return null;
  const { name } = functionById(condition.fn);
  const [first, second] = condition.args;
  if (MIRRORED[name] === undefined || first === undefined || second === undefined) return null;
  const difference = differenceOf(first, second, left, right);
  if (difference !== null) return bound(name, difference);
  const mirrored = differenceOf(second, first, left, right);
  return mirrored === null ? null : bound(MIRRORED[name] as string, mirrored);
}

/** `later.time + a <op> earlier.time + b`, with `later` of the right side: the micros `b - a`. */
function differenceOf(later: Expr, earlier: Expr, left: PlanNode, right: PlanNode): number | null {
  const width = left.schema.length;
  const rightOffset = offsetFromEventTime(shifted(later, width), right);
  const leftOffset = offsetFromEventTime(earlier, left);
  if (rightOffset !== null && leftOffset !== null && isOver(later, width, true))
    return isOver(earlier, width, false) ? leftOffset - rightOffset : null;
  // `right.time - left.time <op> interval`
  const length = intervalOf(earlier);
  if (length === null || later.tag !== 'call' || functionById(later.fn).name !== '-') return null;
  const [minuend, subtrahend] = later.args;
  if (minuend === undefined || subtrahend === undefined) return null;
  const between = differenceOf(minuend, subtrahend, left, right);
  return between === null ? null : between + length;
}

function bound(name: string, micros: number): TimeBounds {
  switch (name) {
    case '<':
      return { low: null, high: micros - 1 };
    case '<=':
      return { low: null, high: micros };
    case '>':
      return { low: micros + 1, high: null };
    case '>=':
      return { low: micros, high: null };
    default:
      return { low: micros, high: micros };
  }
}

/** The expression over the right side's own columns; columns of the left get negative places. */
function shifted(expr: Expr, width: number): Expr {
  switch (expr.tag) {
    case 'column':
      return { ...expr, index: expr.index - width };
    case 'field':
      return { ...expr, input: shifted(expr.input, width) };
    case 'call':
      return { ...expr, args: expr.args.map((arg) => shifted(arg, width)) };
    default:
      return expr;
  }
}

function isOver(expr: Expr, width: number, right: boolean): boolean {
  switch (expr.tag) {
    case 'column':
      return right === expr.index >= width;
    case 'field':
      return isOver(expr.input, width, right);
    case 'call':
      return expr.args.every((arg) => isOver(arg, width, right));
    case 'row-time':
      return false;
    default:
      return true;
  }
}
