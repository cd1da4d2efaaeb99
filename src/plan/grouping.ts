/**
 * What a grouped SELECT collects: keys, at most one window, aggregates.
 *
 * Expressions above the grouping are first bound over the input, with stand-in columns for the window and
 * the aggregates; `regroup` then turns them into expressions over the grouped rows, and finds the columns
 * that are neither grouped nor aggregated.
 */
import type { Span } from '../base/errors.ts';
import { type Field, INT32, type Schema, type SqlType, WINDOW } from '../batch/types.ts';
import type { AggregateCall, Expr } from '../expr/expr.ts';
import { isAggregateName } from '../expr/aggregate-registry.ts';
import { mapChildren } from '../expr/expr-tools.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type ExpressionContext, POISON, isStandIn } from './expression-context.ts';
import { bindWindow, isWindowEnd, sameWindow } from './bind-window.ts';
import type { Diagnostics } from './diagnostics.ts';
import { canonical, columnsOf } from './expressions.ts';
import { mayGiveNull, neverGivesNull, resolveAggregateCall, sortOrder } from './aggregate-calls.ts';
import { isInvertible } from './functions.ts';
import type { PlanNode, Window } from './logical.ts';
import { quoteName } from './name-text.ts';
import { type Grouped, makeUpdatingAggregate, makeWindowAggregate } from './nodes.ts';
import { groupedBySets, groupingBits, type Sets } from './grouping-sets.ts';
import { isNullable } from './nullability.ts';
import { type Scope } from './scope.ts';
import { warnOfArrival } from './warn-of-arrival.ts';

/** Stand-in columns for the window and the aggregates begin here: beyond any input's columns. */
const STAND_IN = 1 << 20;
/** Stands for the number of the grouping set. */
const SET_STAND_IN = STAND_IN - 1;
/** Keys that grouping sets name by the SELECT list, one after the other downwards from here. */
const KEY_STAND_IN = SET_STAND_IN - 1;
/** Where `addKey` found an expression that is the window, or made of it. */
const IN_WINDOW = -1;

function namesByIndex(scope: Scope): string[] {
  const names: string[] = [];
  for (const column of scope) names[column.index] ??= quoteName(column.name);
  return Array.from(names, (name) => name ?? '');
}

/** `item`: the expression of the SELECT list that it was named by, where that matters. */
type Key = { expr: Expr; name: string; item: Expression | null };

/** Over an updating result every aggregate must be able to forget a row. */
const forgetful = (grouped: Grouped): Grouped => ({
  ...grouped,
  aggregates: grouped.aggregates.map((call) =>
    isInvertible(call) ? call : { ...call, retracts: true },
  ),
});

export class Grouping {
  readonly #context: ExpressionContext;
  readonly #scope: Scope;
  readonly #diagnostics: Diagnostics;
  readonly #keys: Key[] = [];
  readonly #aggregates: AggregateCall[] = [];
  /** What stands for the expressions of the SELECT list that are keys of grouping sets. */
  readonly named = new Map<Expression, Expr>();
  /** Canonical text of an aggregate → its position. */
  readonly #known = new Map<string, number>();
  #window: Window | null = null;
  /** The input column that holds the window, when the window is not made here. */
  #windowColumn: number | null = null;
  /** A key or the window was refused: whether a column is grouped can not be told. */
  #broken = false;
  /** The keys of each grouping set; null: there is one grouping. */
  #sets: Sets | null = null;

  #windowType: SqlType;

  /**
   * @param context  what expressions over the input may use
   * @param windowType  what a window that is made here is a pair of
   */
  constructor(context: ExpressionContext, windowType: SqlType = WINDOW) {
    this.#windowType = windowType;
    this.#context = context;
    this.#scope = context.scope;
    this.#diagnostics = context.diagnostics;
  }

  get window(): Window | null {
    return this.#window;
  }

  /** Makes `tumble(…)` of GROUP BY the window; the stand-in column for it. */
  groupByWindow(call: CallExpression): Expr {
    const window = bindWindow(call, this.#diagnostics);
    if (window === null) {
      this.#broken = true;
      return POISON;
    }
    const column = this.#columnOf(window);
    if (column >= 0 && window.tag === 'session') {
      const name = quoteName(this.#scope[column]?.name ?? '');
      this.#diagnostics.error(
        'INVALID_WINDOW',
        'the input is grouped by this session already',
        call.span,
        { hint: `pass the window on: group by ${name}` },
      );
      this.#broken = true;
      return POISON;
    }
    this.#setWindow(this.#scope[column]?.window ?? window, column < 0 ? null : column, call);
    return this.#windowColumnExpr();
  }

  /** The input column that holds such windows already; -1: none. */
  #columnOf(window: Window): number {
    return this.#scope.findIndex(
      (column) => column.window !== null && sameWindow(column.window, window),
    );
  }

  /** The stand-in for `tumble(…)` of the SELECT list or HAVING, which must be the window that is grouped by. */
  useWindow(call: CallExpression): Expr {
    const window = bindWindow(call, this.#diagnostics);
    if (window === null || (this.#window === null && this.#broken)) return POISON;
    if (this.#window === null || !sameWindow(this.#window, window)) {
      const hint =
        this.#window === null
          ? 'add it to GROUP BY, by its alias or its position'
          : 'one query has one window; group by the same one';
      const message = `${call.name.name}() must appear in GROUP BY`;
      this.#diagnostics.error('INVALID_WINDOW', message, call.span, { hint });
      return POISON;
    }
    return this.#windowColumnExpr();
  }

  /**
   * Adds an expression of GROUP BY.
   * @param item  the expression of the SELECT list that is meant by a grouping set; equal ones are keys of their own
   * @returns the position of its key, or `IN_WINDOW`
   */
  addKey(expr: Expr, name: string, source: Expression, item: Expression | null = null): number {
    if (expr === POISON) {
      this.#broken = true;
      return IN_WINDOW;
    }
    if (this.#isWindowStandIn(expr)) return IN_WINDOW;
    const column = this.#windowOf(expr);
    if (column !== null) {
      const window = this.#columnAt(column)?.window ?? null;
      if (window !== null) {
        this.#setWindow(window, column, source);
        return IN_WINDOW;
      }
    }
    // What is made of the window only does not divide its group any further.
    const columns = columnsOf([expr]);
    if (
      columns.size > 0 &&
      [...columns].every((index) => index === this.#windowColumn || index === this.#standIn)
    )
      return IN_WINDOW;
    const text = canonical(expr);
    const known = this.#keys.findIndex((key) => canonical(key.expr) === text && key.item === item);
    const index = known >= 0 ? known : this.#keys.push({ expr, name, item }) - 1;
    if (item !== null)
      this.named.set(item, { tag: 'column', index: KEY_STAND_IN - index, type: expr.type });
    return index;
  }

  /** The key that an expression is; -1: none. A constant is one only where a grouping set names it. */
  #keyOf(expr: Expr): number {
    if (expr.tag === 'column' && expr.index <= KEY_STAND_IN) {
      const index = KEY_STAND_IN - expr.index;
      if (index < this.#keys.length) return index;
    }
    return this.#sets !== null && columnsOf([expr]).size === 0 ? -1 : this.#equalKey(expr);
  }

  #equalKey(expr: Expr): number {
    const text = canonical(expr);
    return this.#keys.findIndex((key) => canonical(key.expr) === text);
  }

  /** What is grouped by was refused. */
  refuse(): void {
    this.#broken = true;
  }

  /** Groups once for each of the sets, which hold what `addKey` returned. */
  groupBySets(sets: readonly (readonly number[])[], source: { span: Span }): void {
    this.#sets = sets.map((set) => new Set(set.filter((key) => key !== IN_WINDOW)));
    const windowed = sets.filter((set) => set.includes(IN_WINDOW)).length;
    if (this.#broken || windowed === 0 || windowed === sets.length) return;
    this.#diagnostics.error(
      'INVALID_GROUPING',
      'every grouping set must hold the window, or none',
      source.span,
      { hint: 'put the window beside the sets: GROUP BY w, ROLLUP (a, b)' },
    );
    this.#broken = true;
  }

  /** `grouping(…)` of expressions of GROUP BY. */
  groupingOf(call: CallExpression, args: readonly Expr[]): Expr {
    const keys = args.map((arg) => Math.max(this.#keyOf(arg), this.#equalKey(arg)));
    if (args.includes(POISON) || this.#broken) return POISON;
    const stranger = keys.indexOf(-1);
    if (args.length === 0 || args.length > 31 || stranger >= 0) {
      this.#diagnostics.error(
        'INVALID_GROUPING',
        'grouping() takes 1 to 31 expressions of GROUP BY',
        call.args[stranger]?.span ?? call.span,
        { hint: 'it tells which of them a row leaves out: GROUP BY ROLLUP (a, b), grouping(a, b)' },
      );
      return POISON;
    }
    const set: Expr = { tag: 'column', index: SET_STAND_IN, type: INT32 };
    return groupingBits(keys, this.#sets ?? [new Set(keys)], set);
  }

  /** The stand-in for an aggregate. */
  addAggregate(call: CallExpression): Expr {
    const bound = this.#bindAggregate(call);
    if (bound === null) return POISON;
    const { label: _, ...meaning } = bound;
    const text = canonical(meaning);
    const known = this.#known.get(text) ?? this.#aggregates.push(bound) - 1;
    this.#known.set(text, known);
    return { tag: 'column', index: this.#standIn + 1 + known, type: bound.type };
  }

  /** The grouped rows; null when something was refused. */
  build(input: PlanNode, source: { span: Span }, ttlMicros: number | null = null): PlanNode | null {
    if (this.#broken) return null;
    const grouped = {
      keys: this.#keys.map((key) => key.expr),
      keyNames: this.#keys.map((key) => key.name),
      aggregates: this.#aggregates,
    };
    const fields = this.#aggregates.map((call): Field => ({
      name: call.label,
      type: call.type,
      nullable: this.#mayBeNull(call, input.schema),
    }));
    const once = input.updating ? forgetful(grouped) : grouped;
    const { input: rows, grouped: kept } =
      this.#sets === null ? { input, grouped: once } : groupedBySets(input, once, this.#sets);
    if (this.#window === null) return makeUpdatingAggregate(rows, kept, fields, ttlMicros);
    if (input.updating && this.#refusesWindow(input, this.#window, source)) return null;
    if (this.#windowColumn === null) warnOfArrival(input, source.span, this.#diagnostics);
    return makeWindowAggregate(rows, this.#window, this.#windowColumn, kept, fields);
  }

  /** Expression over the input and the stand-ins → over the grouped rows. */
  regroup(expr: Expr, source: { span: Span }): Expr {
    if (expr === POISON || this.#broken) return POISON;
    if (isStandIn(expr)) return expr;
    const windowPlace = this.#keys.length + (this.#sets === null ? 0 : 1);
    const key = this.#keyOf(expr);
    if (key >= 0) return { tag: 'column', index: key, type: expr.type };
    if (expr.tag === 'column') {
      if (expr.index === SET_STAND_IN) return { ...expr, index: this.#keys.length };
      if (expr.index === this.#standIn || expr.index === this.#windowColumn)
        return { tag: 'column', index: windowPlace, type: this.#windowType };
      const aggregate = expr.index - this.#standIn - 1;
      if (aggregate >= 0)
        return { ...expr, index: windowPlace + (this.#window === null ? 0 : 1) + aggregate };
      this.#reportUngrouped(expr, source);
      return POISON;
    }
    if (expr.tag === 'row-time') {
      this.#diagnostics.error(
        'INVALID_GROUPING',
        'row_time() must appear in GROUP BY or inside an aggregate',
        source.span,
        { hint: 'use max(row_time())' },
      );
      return POISON;
    }
    let poisoned = false;
    const result = mapChildren(expr, (operand) => {
      const changed = this.regroup(operand, source);
      poisoned ||= changed === POISON;
      return changed;
    });
    return poisoned ? POISON : result;
  }

  /** Rows that are taken back fold into windows when they say when they were; sessions would have to come apart again. */
  #refusesWindow(input: PlanNode, window: Window, source: { span: Span }): boolean {
    if (input.eventTime && (window.tag !== 'session' || this.#windowColumn !== null)) return false;
    this.#diagnostics.error(
      'UNSUPPORTED',
      input.eventTime
        ? 'sessions can not be computed over an updating result'
        : 'a window can not be computed over an updating result',
      source.span,
      {
        detail: input.eventTime
          ? 'A row that is taken back would have to take a session apart again.'
          : 'The rows of an updating result can be taken back after the window that held them was emitted.',
        hint: `apply ${window.tag}() to the table itself, and aggregate again by the window column`,
      },
    );
    return true;
  }

  /** Beyond every column of the input. */
  get #standIn(): number {
    return STAND_IN;
  }

  #columnAt(index: number): Scope[number] | undefined {
    return this.#scope.find((column) => column.index === index);
  }

  #windowColumnExpr(): Expr {
    return { tag: 'column', index: this.#standIn, type: this.#windowType };
  }

  #isWindowStandIn(expr: Expr): boolean {
    return expr.tag === 'column' && expr.index === this.#standIn;
  }

  /** The input column an expression reads a window from, the whole of it or one of its ends. */
  #windowOf(expr: Expr): number | null {
    if (expr.tag === 'column') return expr.index;
    return isWindowEnd(expr) && expr.input.tag === 'column' ? expr.input.index : null;
  }

  #setWindow(window: Window, column: number | null, source: { span: Span }): void {
    if (this.#window !== null && !sameWindow(this.#window, window)) {
      this.#diagnostics.error(
        'INVALID_WINDOW',
        'a query can group by one window only',
        source.span,
        { hint: 'write one query per window' },
      );
      this.#broken = true;
      return;
    }
    this.#window = window;
    if (this.#windowColumn !== null || column === null) return;
    this.#windowColumn = column;
    this.#windowType = this.#scope[column]?.type ?? this.#windowType;
  }

  #bindAggregate(call: CallExpression): AggregateCall | null {
    const diagnostics = this.#diagnostics;
    const named = call.args.find((arg) => arg.name !== null);
    if (named !== undefined) {
      diagnostics.error(
        'UNSUPPORTED',
        `the named argument "${named.name?.text}" is not supported`,
        named.span,
        { hint: 'give arguments by position' },
      );
      return null;
    }
    const binder = new ExpressionBinder({
      ...this.#context,
      place: 'an aggregate',
      aggregate: null,
      window: null,
      aliases: new Map(),
    });
    const args = call.args.map((arg) => binder.bind(arg.value));
    const filter = call.filter === null ? null : binder.bindCondition(call.filter);
    const keys = [...call.orderBy, ...call.withinGroup].map((item) => ({
      expr: binder.bind(item.expression),
      order: sortOrder(item),
    }));
    if (args.includes(POISON) || filter === POISON || keys.some(({ expr }) => expr === POISON))
      return null;
    const resolution = resolveAggregateCall(
      call,
      { args, filter, keys, rowTime: this.#context.rowTime },
      namesByIndex(this.#scope),
    );
    if (resolution.tag === 'aggregate') return resolution.call;
    diagnostics.error(resolution.code, resolution.message, call.span, resolution.extras);
    return null;
  }

  /** A group of a window has a row; a group without key, and a filtered aggregate, may have none. */
  #mayBeNull(call: AggregateCall, schema: Schema): boolean {
    if (neverGivesNull(call)) return false;
    if (mayGiveNull(call)) return true;
    const grouped = this.#window !== null || this.#keys.length > 0;
    return !grouped || call.filter !== null || call.args.some((arg) => isNullable(arg, schema));
  }

  #reportUngrouped(expr: Expr, source: { span: Span }): void {
    const origin = this.#context.origins.get(expr);
    const name =
      origin === undefined ? this.#nameOf(expr) : origin.parts.map((part) => part.text).join('.');
    this.#diagnostics.error(
      'INVALID_GROUPING',
      `column "${name}" must appear in GROUP BY or inside an aggregate`,
      origin?.span ?? source.span,
      { hint: `add ${name} to GROUP BY, or take max(${name})` },
    );
  }

  #nameOf(expr: Expr): string {
    return expr.tag === 'column' ? (this.#columnAt(expr.index)?.name ?? '') : '';
  }
}

/** Whether an aggregate is called anywhere in the expression, inner queries aside. */
export function hasAggregate(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasAggregate);
  const node = value as { tag?: string; name?: { name?: string }; over?: unknown };
  if (node.tag === 'query') return false;
  if (
    node.tag === 'call' &&
    typeof node.name?.name === 'string' &&
    node.over === null &&
    isAggregateName(node.name.name)
  )
    return true;
  return Object.values(node).some(hasAggregate);
}
