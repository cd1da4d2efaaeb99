/** `tumble(width [, offset])` as written → a window. */
import type { Expr } from '../expr/expr.ts';
import type { CallExpression } from '../sql/ast-expression.ts';
import type { Diagnostics } from './diagnostics.ts';
import { parseInterval } from './interval.ts';
import type { Window } from './logical.ts';

const NOT_YET: ReadonlyMap<string, string> = new Map([
  ['hop', 'use tumble(); a finer tumble() can be aggregated again by a coarser one'],
  ['session', 'use tumble()'],
]);

/** The window, or null after an error was reported. */
export function bindWindow(call: CallExpression, diagnostics: Diagnostics): Window | null {
  const name = call.name.name;
  const later = NOT_YET.get(name);
  if (later !== undefined) {
    diagnostics.error('UNSUPPORTED', `${name}() windows are not supported yet`, call.span, {
      hint: later,
    });
    return null;
  }
  const named = call.args.find((arg) => arg.name !== null);
  if (named !== undefined) {
    diagnostics.error(
      'UNSUPPORTED',
      `tumble(${named.name?.text} => …) is not supported yet`,
      named.span,
      {
        hint: "windows start at multiples of their width since 1970-01-01 00:00 UTC; the second argument moves that start: tumble(interval '1 day', interval '5 hours')",
      },
    );
    return null;
  }
  if (
    call.star ||
    call.distinct ||
    call.filter !== null ||
    call.orderBy.length > 0 ||
    call.args.length < 1 ||
    call.args.length > 2
  ) {
    diagnostics.error(
      'INVALID_WINDOW',
      'tumble() takes a width and, if need be, an offset',
      call.span,
      {
        hint: "write tumble(interval '1 minute'); the time of a row comes from WATERMARK FOR of its table",
      },
    );
    return null;
  }
  const [width, offset] = call.args.map((arg, index) =>
    lengthMicros(arg.value, index === 0 ? 'width' : 'offset', diagnostics),
  );
  if (width === null || width === undefined || offset === null) return null;
  if (width <= 0n) {
    diagnostics.error(
      'INVALID_WINDOW',
      'the width of a window must be more than nothing',
      call.span,
    );
    return null;
  }
  // An offset of whole widths changes nothing; the smallest one that means the same is kept, so that equal windows are equal.
  const moved = (((offset ?? 0n) % width) + width) % width;
  return { tag: 'tumble', widthMicros: Number(width), offsetMicros: Number(moved) };
}

function lengthMicros(
  value: CallExpression['args'][number]['value'],
  what: string,
  diagnostics: Diagnostics,
): bigint | null {
  const negative = value.tag === 'unary' && value.operator === '-';
  const literal = negative ? value.operand : value;
  if (literal.tag !== 'interval') {
    diagnostics.error('INVALID_WINDOW', `the ${what} of a window must be an interval`, value.span, {
      hint: "write tumble(interval '1 minute'); the time of a row comes from WATERMARK FOR of its table",
    });
    return null;
  }
  const interval = parseInterval(literal.text, literal.unit);
  if (interval === null) {
    diagnostics.error('INVALID_WINDOW', `'${literal.text}' is not an interval`, literal.span, {
      hint: "write interval '1 hour 30 minutes'",
    });
    return null;
  }
  if (interval.months !== 0) {
    diagnostics.error(
      'INVALID_WINDOW',
      `the ${what} of a window can not be given in months, which have no fixed length`,
      literal.span,
      {
        hint: "give it in days, such as interval '30 days'; windows of calendar months are not supported yet",
      },
    );
    return null;
  }
  if (interval.micros > BigInt(Number.MAX_SAFE_INTEGER)) {
    diagnostics.error('INVALID_WINDOW', `the ${what} of the window is too long`, literal.span, {
      hint: 'the longest is 104249 days',
    });
    return null;
  }
  return negative ? -interval.micros : interval.micros;
}

/** Whether two windows divide time in the same way. */
export const sameWindow = (left: Window, right: Window): boolean =>
  left.widthMicros === right.widthMicros && left.offsetMicros === right.offsetMicros;

/** Whether an expression reads one of the two ends of a window column: it then says which window is meant. */
export const isWindowEnd = (expr: Expr): expr is Expr & { tag: 'field' } =>
  expr.tag === 'field' && expr.input.tag === 'column';
