/** Calls: windows and aggregates go where their query wants them, everything else to the function registry. */
import type { ErrorCode } from '../base/errors.ts';
import { TIMESTAMP } from '../batch/types.ts';
import { isAggregateName } from '../expr/aggregate-registry.ts';
import type { Expr } from '../expr/expr.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import { type ExpressionContext, POISON, isWindowCall } from './expression-context.ts';
import { bindForm } from './bind-forms.ts';
import { bindUserCall } from './bind-user-call.ts';
import { functionsOf } from './declared-functions.ts';
import { resolveCall } from './functions.ts';
import { isOverFunction } from './over-functions.ts';

/** @param binder  binds the arguments, in the same context */
export function bindCall(
  call: CallExpression,
  context: ExpressionContext,
  binder: { bind: (expression: Expression) => Expr },
): Expr {
  const name = call.name.name;
  const matched = context.match?.(call) ?? null;
  if (matched !== null) return matched;
  if (call.over !== null || isWindowCall(call)) return bindWindowed(call, context);
  if (isOverFunction(name) && !isAggregateName(name))
    return refuse(
      context,
      'INVALID_WINDOW',
      `${name}() needs OVER (…)`,
      call,
      `write ${name}() OVER (PARTITION BY … ORDER BY …)`,
    );
  if (isAggregateName(name)) return bindAggregated(call, context);
  if (refuseModifiers(call, context)) return POISON;
  const own = functionsOf(context.diagnostics).get(name);
  if (own !== undefined) {
    const values = call.args.map((arg) => binder.bind(arg.value));
    return values.includes(POISON)
      ? POISON
      : bindUserCall(own, values, call.span, context.diagnostics);
  }
  if (name === 'unnest') return bindUnnest(call, context);
  if (name === 'row_time') return bindRowTime(call, context);
  if (name === 'grouping') return bindGrouping(call, context, binder);
  const form = bindForm(call, context, binder);
  if (form !== null) return form;
  const args = call.args.map((arg) => binder.bind(arg.value));
  if (args.includes(POISON) || (ELSEWHERE.has(name) && refuseUnknown(call, context))) return POISON;
  const resolution = resolveCall(name, args);
  if (resolution.tag === 'expr') return resolution.expr;
  const { code, message, extras } = resolution;
  const place = code === 'UNKNOWN_FUNCTION' ? call.name.span : call.span;
  context.diagnostics.error(code, message, place, extras);
  return POISON;
}

function refuse(
  context: ExpressionContext,
  code: ErrorCode,
  message: string,
  at: { span: CallExpression['span'] },
  hint?: string,
): Expr {
  context.diagnostics.error(code, message, at.span, hint === undefined ? {} : { hint });
  return POISON;
}

function bindWindowed(call: CallExpression, context: ExpressionContext): Expr {
  const name = call.name.name;
  if (call.over !== null) {
    if (context.over !== undefined) return context.over(call);
    const hint =
      context.place === 'OVER'
        ? 'compute the inner one in a subquery'
        : 'it belongs to the SELECT list or QUALIFY; compute it in a subquery to use it elsewhere';
    const message = `${name}() OVER is not allowed in ${context.place}`;
    return refuse(context, 'INVALID_WINDOW', message, call, hint);
  }
  if (context.window !== null) return context.window(call);
  const hint = `put ${name}() in GROUP BY, or in the SELECT list of a query that groups by it`;
  return refuse(
    context,
    'INVALID_WINDOW',
    `${name}() is not allowed in ${context.place}`,
    call,
    hint,
  );
}

function bindAggregated(call: CallExpression, context: ExpressionContext): Expr {
  if (context.aggregate !== null) return context.aggregate(call);
  const hint =
    context.place === 'WHERE'
      ? 'conditions on aggregates go to HAVING'
      : 'aggregate in a subquery, then use its column';
  const message = `the aggregate ${call.name.text.toLowerCase()}() is not allowed in ${context.place}`;
  return refuse(context, 'INVALID_GROUPING', message, call, hint);
}

/** What other engines have functions for, and what stands for it here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  ['tumble', 'hop', 'session', 'cumulate'].flatMap((window) =>
    ['start', 'end', 'rowtime'].map((end): [string, string] => [
      `${window}_${end}`,
      `group by ${window}(…) AS window; ${end === 'rowtime' ? 'row_time()' : `window.${end}`} in an outer query is what ${window}_${end} gives`,
    ]),
  ),
);

/** A mistyped `count(*)` is no function that does without DISTINCT and the like, but a name that nothing has. */
function refuseUnknown(call: CallExpression, context: ExpressionContext): boolean {
  const name = call.name.name;
  if (functionsOf(context.diagnostics).has(name)) return false;
  const resolution = resolveCall(name, []);
  if (resolution.tag === 'expr' || resolution.code !== 'UNKNOWN_FUNCTION') return false;
  const hint = ELSEWHERE.get(name);
  const extras = hint === undefined ? resolution.extras : { hint };
  context.diagnostics.error(resolution.code, resolution.message, call.name.span, extras);
  return true;
}

function hasModifiers(call: CallExpression): boolean {
  const lists = [call.orderBy, call.withinGroup].some((list) => list.length > 0);
  return call.filter !== null || call.distinct || call.star || lists || call.nullTreatment !== null;
}

/** What only aggregates take, and named arguments, which no function takes yet. */
function refuseModifiers(call: CallExpression, context: ExpressionContext): boolean {
  const name = call.name.name;
  if (hasModifiers(call) && refuseUnknown(call, context)) return true;
  if (hasModifiers(call)) {
    const message = `${name}() is no aggregate: DISTINCT, *, FILTER, ORDER BY and null treatment do not apply`;
    refuse(context, 'TYPE_ERROR', message, call);
    return true;
  }
  const named = call.args.find((arg) => arg.name !== null);
  if (named === undefined) return false;
  const message = `the named argument "${named.name?.text}" is not supported yet`;
  refuse(context, 'UNSUPPORTED', message, named, 'give arguments by position');
  return true;
}

function bindUnnest(call: CallExpression, context: ExpressionContext): Expr {
  if (context.unnest !== undefined) return context.unnest(call);
  const message = `unnest() is not allowed in ${context.place}`;
  const hint =
    'it belongs to FROM, the SELECT list and GROUP BY; unnest in a subquery to use elements elsewhere';
  return refuse(context, 'UNSUPPORTED', message, call, hint);
}

function bindGrouping(
  call: CallExpression,
  context: ExpressionContext,
  binder: { bind: (expression: Expression) => Expr },
): Expr {
  if (context.grouping !== undefined)
    return context.grouping(
      call,
      call.args.map((arg) => binder.bind(arg.value)),
    );
  const message = `grouping() is not allowed in ${context.place}`;
  const hint = 'it belongs to the SELECT list, HAVING and QUALIFY of a query with GROUP BY';
  return refuse(context, 'INVALID_GROUPING', message, call, hint);
}

function bindRowTime(call: CallExpression, context: ExpressionContext): Expr {
  if (call.args.length > 0) {
    return refuse(context, 'TYPE_ERROR', 'row_time() takes no arguments', call);
  }
  if (context.rowTime) return { tag: 'row-time', type: TIMESTAMP };
  const message = `row_time() has no meaning in ${context.place}: its rows have no event time`;
  const hint = 'rows of a table have one, and so have those of a window';
  return refuse(context, 'TYPE_ERROR', message, call, hint);
}
