/**
 * Calls with OVER of one SELECT.
 *
 * They are bound like aggregates: each gives a stand-in column, and `build` puts the nodes that compute them between
 * the rows (grouped or not) and the SELECT list (`place-overs.ts`).
 */
import type { Span } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { FLOAT64, INT64, type SqlType } from '../batch/types.ts';
import { aggregateById, isAggregateName } from '../expr/aggregate-registry.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall, OverFunction, SortKey } from '../expr/over.ts';
import type { CallExpression, WindowSpecification } from '../sql/ast-expression.ts';
import type { NamedWindow, OrderItem } from '../sql/ast-query.ts';
import { resolveAggregateCall, sortOrder } from './aggregate-calls.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { DEFAULT_FRAME, bindFrame } from './bind-frame.ts';
import type { Diagnostics } from './diagnostics.ts';
import { withSuggestion } from './diagnostics.ts';
import { type ExpressionContext, OVER_STAND_INS, POISON } from './expression-context.ts';
import { canonical } from './expressions.ts';
import { castTo } from './functions.ts';
import type { PlanNode } from './logical.ts';
import { nearestName, quoteName } from './name-text.ts';
import { OVER_FUNCTIONS } from './over-functions.ts';
import { type BoundOver, placeOvers, type Regroup } from './place-overs.ts';

type Operands = { args: readonly Expr[]; filter: Expr | null; orderBy: readonly SortKey[] };

export class Overs {
  readonly #named: ReadonlyMap<string, NamedWindow>;
  readonly #diagnostics: Diagnostics;
  readonly #bound: BoundOver[] = [];
  readonly #known = new Map<string, number>();

  constructor(windows: readonly NamedWindow[], diagnostics: Diagnostics) {
    this.#named = new Map(windows.map((window) => [window.name.name, window]));
    this.#diagnostics = diagnostics;
    for (const [index, { name }] of windows.entries())
      if (windows.findIndex((other) => other.name.name === name.name) < index)
        diagnostics.error(
          'DUPLICATE_NAME',
          `the window "${name.text}" is defined twice`,
          name.span,
        );
  }

  /** The stand-in for a call. */
  add(call: CallExpression, context: ExpressionContext): Expr {
    const bound = this.#bind(call, { ...context, place: 'OVER', aliases: new Map() });
    if (bound === null) return POISON;
    const { label: _, ...meaning } = bound.call;
    const aggregate = meaning.aggregate === null ? null : { ...meaning.aggregate, label: '' };
    const text = canonical([{ ...meaning, aggregate }, bound.partitionBy, bound.orderBy]);
    const at = this.#known.get(text) ?? this.#bound.push(bound) - 1;
    this.#known.set(text, at);
    return { tag: 'column', index: OVER_STAND_INS + at, type: bound.call.type };
  }

  #bind(call: CallExpression, context: ExpressionContext): BoundOver | null {
    const window = call.over === null ? null : this.#resolve(call.over, new Set());
    if (window === null) return null;
    const binder = new ExpressionBinder(context);
    const partitionBy = window.partitionBy.map((key) => binder.bind(key));
    const orderBy = bindSortKeys(window.orderBy, binder);
    if (partitionBy.includes(POISON) || orderBy === null) return null;
    const interval = [...partitionBy, ...orderBy.map(({ expr }) => expr)].some(
      ({ type }) => type.tag === 'interval',
    );
    if (interval)
      return this.#refuse('rows can not be divided or ordered by an INTERVAL', window.span);
    const frame =
      window.frame === null
        ? DEFAULT_FRAME
        : bindFrame(window.frame, orderBy, (value) => binder.bind(value), this.#diagnostics);
    if (frame === null) return null;
    const bound = this.#bindCall(call, context, binder, orderBy);
    if (bound === null) return null;
    const framed = ['aggregate', 'first_value', 'last_value', 'nth_value'].includes(bound.fn);
    return {
      call: { ...bound, frame: framed ? frame : DEFAULT_FRAME },
      partitionBy,
      orderBy,
      span: call.span,
    };
  }

  #refuse(message: string, span: Span, hint?: string): null {
    this.#diagnostics.error('INVALID_WINDOW', message, span, hint === undefined ? {} : { hint });
    return null;
  }

  /** The window with what it takes from the one it names. */
  #resolve(window: WindowSpecification, following: Set<string>): WindowSpecification | null {
    const { base } = window;
    if (base === null) return window;
    const named = this.#named.get(base.name);
    if (named === undefined || following.has(base.name)) {
      this.#diagnostics.error(
        'INVALID_WINDOW',
        named === undefined
          ? `unknown window "${base.text}"`
          : `the window "${base.text}" is made of itself`,
        base.span,
        withSuggestion(
          named === undefined ? nearestName(base.name, [...this.#named.keys()]) : null,
          'WINDOW name AS (PARTITION BY … ORDER BY …) stands behind HAVING',
        ),
      );
      return null;
    }
    const inner = this.#resolve(named.window, new Set([...following, base.name]));
    if (inner === null) return null;
    if (window.partitionBy.length > 0)
      return this.#refuse(
        `the partition is that of window "${base.text}"`,
        window.span,
        'leave PARTITION BY out, or write the window out',
      );
    if (window.orderBy.length > 0 && inner.orderBy.length > 0)
      return this.#refuse(
        `the window "${base.text}" has an order already`,
        window.span,
        'leave ORDER BY out, or write the window out',
      );
    return {
      ...window,
      base: null,
      partitionBy: inner.partitionBy,
      orderBy: inner.orderBy.length > 0 ? inner.orderBy : window.orderBy,
      frame: window.frame ?? inner.frame,
    };
  }

  #bindCall(
    call: CallExpression,
    context: ExpressionContext,
    binder: ExpressionBinder,
    orderBy: readonly SortKey[],
  ): OverCall | null {
    const name = call.name.name;
    const args = call.args.map((arg) => binder.bind(arg.value));
    const filter = call.filter === null ? null : binder.bindCondition(call.filter);
    if (args.includes(POISON) || filter === POISON) return null;
    const named = call.args.find((arg) => arg.name !== null);
    if (named !== undefined) {
      const message = `the named argument "${named.name?.text}" is not supported`;
      this.#diagnostics.error('UNSUPPORTED', message, named.span, {
        hint: 'give arguments by position',
      });
      return null;
    }
    const found = OVER_FUNCTIONS.get(name);
    if (found === undefined)
      return this.#bindAggregate(call, { args, filter, orderBy }, context, binder);
    if (filter !== null || call.distinct || call.star || call.orderBy.length > 0)
      return this.#refuse(`${name}() takes no DISTINCT, *, ORDER BY or FILTER`, call.span);
    if (args.length < found.least || args.length > found.most)
      return this.#refuse(
        `${name}() takes ${found.least === found.most ? found.least : `${found.least} to ${found.most}`} arguments, not ${args.length}`,
        call.span,
      );
    return this.#bindFunction(found.fn, args, call, context);
  }

  #bindAggregate(
    call: CallExpression,
    { args, filter, orderBy }: Operands,
    context: ExpressionContext,
    binder: ExpressionBinder,
  ): OverCall | null {
    const name = call.name.name;
    if (!isAggregateName(name)) {
      const known = [...OVER_FUNCTIONS.keys()];
      this.#diagnostics.error(
        'UNKNOWN_FUNCTION',
        `${name}() is neither an aggregate nor a function of OVER`,
        call.name.span,
        withSuggestion(nearest(name, known), `besides aggregates there are ${known.join(', ')}`),
      );
      return null;
    }
    const names = context.scope.map((column) => quoteName(column.name));
    const written = [...call.orderBy, ...call.withinGroup].map((item) => ({
      expr: binder.bind(item.expression),
      order: sortOrder(item),
    }));
    if (written.some(({ expr }) => expr === POISON)) return null;
    // Aggregates that depend on the order of rows take that of the window.
    const ordered = orderBy.map(({ expr, descending, nullsFirst }) => ({
      expr,
      order: { descending, nullsFirst },
    }));
    const resolve = (keys: typeof written): ReturnType<typeof resolveAggregateCall> =>
      resolveAggregateCall(call, { args, filter, keys, rowTime: false }, names);
    const plain = resolve(written);
    if (plain.tag === 'error') {
      const { code, message, extras } = plain;
      this.#diagnostics.error(code, message, call.span, extras);
      return null;
    }
    const { label, fn } = plain.call;
    const takesOrder = written.length === 0 && aggregateById(fn)?.ordered === true;
    const resolution = takesOrder ? resolve(ordered) : plain;
    if (resolution.tag === 'error') return this.#refuse(resolution.message, call.span);
    return overCall('aggregate', resolution.call.type, label, {
      aggregate: { ...resolution.call, label },
    });
  }

  #bindFunction(
    fn: OverFunction,
    args: readonly Expr[],
    call: CallExpression,
    context: ExpressionContext,
  ): OverCall | null {
    const label = `${fn}(${args.map((arg) => labelOf(arg, context)).join(', ')})`;
    const ignoreNulls = call.nullTreatment === 'ignore';
    const [value, second, third] = args;
    if (fn === 'ntile') {
      const count = wholeNumber(value);
      if (count === null || count < 1)
        return this.#refuse('ntile() takes a whole number above zero', call.span);
      return overCall(fn, INT64, label, { count });
    }
    if (value === undefined) {
      const ratio = fn === 'percent_rank' || fn === 'cume_dist';
      return overCall(fn, ratio ? FLOAT64 : INT64, label, {});
    }
    if (fn === 'nth_value') {
      const count = wholeNumber(second);
      if (count === null || count < 1)
        return this.#refuse('nth_value() takes a whole number above zero', call.span);
      return overCall(fn, value.type, label, { args: [value], count, ignoreNulls });
    }
    if (fn !== 'lag' && fn !== 'lead')
      return overCall(fn, value.type, label, { args: [value], ignoreNulls });
    const written = second === undefined ? 1 : wholeNumber(second);
    if (written === null)
      return this.#refuse(
        `${fn}() takes a whole number of rows`,
        call.span,
        'it must be a constant',
      );
    const cast = third === undefined ? null : castTo(third, value.type, false);
    if (cast?.tag === 'refused') {
      this.#diagnostics.error('TYPE_ERROR', `the default of ${fn}(): ${cast.message}`, call.span, {
        hint: cast.hint,
      });
      return null;
    }
    // Backwards by less than nothing is forwards.
    const turned: OverFunction = written < 0 ? (fn === 'lag' ? 'lead' : 'lag') : fn;
    const count = Math.abs(written);
    const all = cast === null ? [value] : [value, cast.expr];
    return overCall(turned, value.type, label, { args: all, count, ignoreNulls });
  }

  /** The rows with every call computed, and the expressions over them. */
  build(
    input: PlanNode,
    exprs: readonly Expr[],
    regroup: Regroup | null,
  ): { node: PlanNode; exprs: readonly Expr[] } | null {
    return placeOvers(this.#bound, input, exprs, regroup);
  }
}

/** Order keys; NULL is the largest value, so it comes first in a descending order. Null after an error. */
export function bindSortKeys(
  items: readonly OrderItem[],
  binder: { bind: (expression: OrderItem['expression']) => Expr },
): SortKey[] | null {
  const keys = items.map(({ expression, descending, nulls }) => ({
    expr: binder.bind(expression),
    descending,
    nullsFirst: nulls === null ? descending : nulls === 'first',
  }));
  return keys.some(({ expr }) => expr === POISON) ? null : keys;
}

function overCall(
  fn: OverFunction,
  type: SqlType,
  label: string,
  more: Partial<OverCall>,
): OverCall {
  return {
    fn,
    args: [],
    count: 0,
    ignoreNulls: false,
    aggregate: null,
    frame: DEFAULT_FRAME,
    type,
    label,
    ...more,
  };
}

function labelOf(expr: Expr, context: ExpressionContext): string {
  if (expr.tag === 'column') return context.scope[expr.index]?.name ?? '…';
  return expr.tag === 'literal' ? String(expr.value) : '…';
}

function wholeNumber(expr: Expr | undefined): number | null {
  if (expr?.tag !== 'literal') return null;
  const whole = expr.type.tag === 'int32' || expr.type.tag === 'int64';
  const value = Number(expr.value);
  return whole && Number.isSafeInteger(value) ? value : null;
}
