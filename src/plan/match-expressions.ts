/**
 * Conditions and measures of MATCH_RECOGNIZE.
 *
 * `X.col`, FIRST, LAST and PREV become navigations and aggregates calls over rows of the match; both are bound as
 * stand-in columns first and numbered when the whole expression is known. `X.col` is LAST(X.col); a column without
 * variable is the row's in hand in DEFINE, and the last row's in MEASURES. An operation inside FIRST or LAST is
 * computed from navigations to each column it reads, where there is such a row.
 * Failure: none; what is wrong is reported and gives null.
 */
import { must } from '../base/assert.ts';
import type { Span } from '../base/errors.ts';
import { BOOLEAN, INT64, type Schema, type SqlType, TEXT, TIMESTAMP } from '../batch/types.ts';
import { mapChildren, mapColumns } from '../expr/expr-tools.ts';
import type { Expr } from '../expr/expr.ts';
import type { MatchAggregate, MatchExpr, Navigation, NavigationRead } from '../expr/match.ts';
import type { CallExpression, Expression } from '../sql/ast-expression.ts';
import { mayGiveNull, neverGivesNull, resolveAggregateCall, sortOrder } from './aggregate-calls.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Diagnostics } from './diagnostics.ts';
import { type ExpressionContext, POISON } from './expression-context.ts';
import { canonical, columnsOf } from './expressions.ts';
import { quoteName } from './name-text.ts';
import { isNullable } from './nullability.ts';
import { type Scope, type ScopeColumn } from './scope.ts';

/** What conditions and measures may name. */
export type MatchRows = {
  /** Columns of the input. */
  scope: Scope;
  schema: Schema;
  variables: readonly string[];
  diagnostics: Diagnostics;
};

/** Aggregates' stand-ins lie so far behind the navigations'. */
const AGGREGATES = 1 << 16;

type Step = Pick<Navigation, 'from' | 'offset' | 'back'>;

const HERE: Step = { from: 'last', offset: 0, back: 0 };

export class MatchBinder {
  readonly #rows: MatchRows;
  /** The variable whose condition this is; null: a measure. */
  readonly #own: number | null;
  readonly #navigations: Navigation[] = [];
  readonly #aggregates: MatchAggregate[] = [];
  readonly #context: ExpressionContext;

  constructor(rows: MatchRows, own: number | null) {
    this.#rows = rows;
    this.#own = own;
    this.#context = {
      scope: scopeOfVariables(rows),
      open: false,
      diagnostics: rows.diagnostics,
      place: own === null ? 'MEASURES' : 'DEFINE',
      rowTime: true,
      aggregate: (call) => this.#aggregate(call),
      window: null,
      match: (call) => this.#navigation(call),
      aliases: new Map(),
      origins: new WeakMap(),
    };
  }

  bind(expression: Expression, isCondition: boolean): MatchExpr | null {
    const binder = new ExpressionBinder(this.#context);
    const bound = isCondition ? binder.bindCondition(expression) : binder.bind(expression);
    if (bound === POISON) return null;
    const named = this.#named(bound);
    const count = this.#navigations.length;
    const expr = mapColumns(named, (column) => {
      const at = column.index - this.#base;
      return { ...column, index: at < AGGREGATES ? at : count + at - AGGREGATES };
    });
    return { navigations: this.#navigations, aggregates: this.#aggregates, expr };
  }

  /** Stand-ins lie behind the columns of the input and of each variable. */
  get #base(): number {
    return (this.#rows.variables.length + 1) * this.#rows.schema.length;
  }

  #refuse(code: 'INVALID_PATTERN' | 'UNSUPPORTED', message: string, at: Span, hint: string): Expr {
    this.#rows.diagnostics.error(code, message, at, { hint });
    return POISON;
  }

  /** The expression with navigations in the place of plain columns. */
  #named(expr: Expr): Expr {
    if (expr.tag === 'row-time') return this.#navigate(HERE, null, { tag: 'time' }, expr.type);
    if (expr.tag !== 'column') return mapChildren(expr, (part) => this.#named(part));
    return expr.index < this.#base ? this.#navigateColumn(HERE, expr) : expr;
  }

  #navigateColumn(step: Step, { index, type }: Expr & { tag: 'column' }): Expr {
    const read: NavigationRead = { tag: 'column', index: index % this.#rows.schema.length };
    return this.#navigate(step, this.#variableOf(index), read, type);
  }

  #variableOf(index: number): number | null {
    const variable = Math.floor(index / this.#rows.schema.length) - 1;
    return variable < 0 ? null : variable;
  }

  #navigate(step: Step, variable: number | null, read: NavigationRead, type: SqlType): Expr {
    // The row in hand is the last one of the variable whose condition it is held against.
    const isHere = step.from === 'last' && step.offset === 0 && variable === this.#own;
    const navigation: Navigation = { ...step, variable: isHere ? null : variable, read, type };
    const text = canonical(navigation);
    const known = this.#navigations.findIndex((each) => canonical(each) === text);
    const at = known >= 0 ? known : this.#navigations.push(navigation) - 1;
    return { tag: 'column', index: this.#base + at, type };
  }

  /** Null: another call. */
  #navigation(call: CallExpression): Expr | null {
    if (call.name.quoted || call.over !== null) return null;
    const name = call.name.name;
    switch (name) {
      case 'first':
      case 'last':
      case 'prev':
        return this.#step(call, name);
      case 'next':
        return this.#refuse(
          'UNSUPPORTED',
          'NEXT() is not supported: rows are matched as they come',
          call.span,
          'give the next row a variable of its own in PATTERN',
        );
      case 'classifier':
      case 'match_number':
      case 'match_rowtime':
        return this.#fact(call, name);
      default:
        return null;
    }
  }

  #fact(call: CallExpression, name: 'classifier' | 'match_number' | 'match_rowtime'): Expr {
    if (call.args.length > 0 || call.star)
      return this.#refuse(
        'INVALID_PATTERN',
        `${name}() takes no arguments`,
        call.span,
        'it tells of the last row of the match',
      );
    if (this.#own !== null)
      return this.#refuse(
        'INVALID_PATTERN',
        `${name}() is not known in DEFINE`,
        call.span,
        'it belongs to MEASURES',
      );
    if (name === 'match_rowtime') return this.#navigate(HERE, null, { tag: 'time' }, TIMESTAMP);
    return this.#navigate(HERE, null, { tag: name }, name === 'classifier' ? TEXT : INT64);
  }

  #step(call: CallExpression, name: 'first' | 'last' | 'prev'): Expr {
    const upper = name.toUpperCase();
    const [value, distance] = call.args;
    if (value === undefined || call.args.length > 2 || call.distinct || call.filter !== null)
      return this.#refuse(
        'INVALID_PATTERN',
        `${upper}() takes a value of a row and, if wanted, how many rows further`,
        call.span,
        `${upper}(x.price), ${upper}(x.price, 1)`,
      );
    const offset = distance === undefined ? (name === 'prev' ? 1 : 0) : wholeNumber(distance.value);
    if (offset === null)
      return this.#refuse(
        'INVALID_PATTERN',
        `${upper}() goes a whole number of rows`,
        distance?.span ?? call.span,
        'write it as a constant from 0',
      );
    const bound = new ExpressionBinder(this.#inside(upper)).bind(value.value);
    if (bound === POISON) return POISON;
    const read = this.#oneVariable([bound], upper, call.span);
    if (read === null) return POISON;
    const step: Step =
      name === 'prev' ? { ...HERE, back: offset } : { from: name, offset, back: 0 };
    if (bound.tag === 'column') return this.#navigateColumn(step, bound);
    const moved = this.#moved(bound, step, read.variable);
    const present = this.#navigate(step, read.variable, { tag: 'present' }, BOOLEAN);
    return {
      tag: 'case',
      branches: [{ when: present, then: moved }],
      otherwise: null,
      type: bound.type,
    };
  }

  #moved(expr: Expr, step: Step, variable: number | null): Expr {
    if (expr.tag === 'row-time') return this.#navigate(step, variable, { tag: 'time' }, expr.type);
    if (expr.tag === 'column') return this.#navigateColumn(step, expr);
    return mapChildren(expr, (part) => this.#moved(part, step, variable));
  }

  /** The context of what a navigation or an aggregate takes. */
  #inside(name: string): ExpressionContext {
    return {
      ...this.#context,
      place: `${name}()`,
      aggregate: null,
      match: (call) =>
        ['first', 'last', 'prev', 'next', 'classifier', 'match_number', 'match_rowtime'].includes(
          call.name.name,
        )
          ? this.#refuse(
              'UNSUPPORTED',
              `${call.name.name}() inside ${name}() is not supported`,
              call.span,
              'aggregates and navigations take columns of one variable',
            )
          : null,
    };
  }

  /** The one variable whose columns are read (null: columns without a variable); null after an error. */
  #oneVariable(
    exprs: readonly Expr[],
    name: string,
    span: Span,
  ): { variable: number | null } | null {
    const found = new Set([...columnsOf(exprs)].map((index) => this.#variableOf(index)));
    const [variable = null] = found;
    if (found.size <= 1) return { variable };
    const names = [...found].map((each) =>
      each === null ? 'no variable' : quoteName(this.#rows.variables[each] ?? ''),
    );
    this.#refuse(
      'INVALID_PATTERN',
      `${name}() reads columns of ${names.join(' and ')}`,
      span,
      'all of its columns must be of one variable',
    );
    return null;
  }

  #aggregate(call: CallExpression): Expr {
    const rowsOf = this.#rowsOf(call);
    if (rowsOf === 'unknown') return POISON;
    const plain: CallExpression = rowsOf === null ? call : { ...call, args: [], star: true };
    const bound = this.#operands(plain);
    if (bound === null) return POISON;
    const { args, filter, keys } = bound;
    const exprs = [...args, ...(filter === null ? [] : [filter]), ...keys.map(({ expr }) => expr)];
    const read = this.#oneVariable(exprs, call.name.name, call.span);
    if (read === null) return POISON;
    const width = this.#rows.schema.length;
    const toInput = (expr: Expr): Expr =>
      mapColumns(expr, (column) => ({ ...column, index: column.index % width }));
    const names = this.#rows.schema.map((field) => quoteName(field.name));
    const resolution = resolveAggregateCall(
      plain,
      {
        args: args.map(toInput),
        filter: filter === null ? null : toInput(filter),
        keys: keys.map((key) => ({ ...key, expr: toInput(key.expr) })),
        rowTime: true,
      },
      names,
    );
    if (resolution.tag === 'error') {
      const { code, message, extras } = resolution;
      this.#rows.diagnostics.error(code, message, call.span, extras);
      return POISON;
    }
    return this.#keep({ variable: rowsOf ?? read.variable, call: resolution.call });
  }

  #keep(aggregate: MatchAggregate): Expr {
    const meaning = canonical({ ...aggregate, call: { ...aggregate.call, label: '' } });
    const known = this.#aggregates.findIndex(
      (each) => canonical({ ...each, call: { ...each.call, label: '' } }) === meaning,
    );
    const at = known >= 0 ? known : this.#aggregates.push(aggregate) - 1;
    return { tag: 'column', index: this.#base + AGGREGATES + at, type: aggregate.call.type };
  }

  #operands(call: CallExpression): {
    args: readonly Expr[];
    filter: Expr | null;
    keys: { expr: Expr; order: ReturnType<typeof sortOrder> }[];
  } | null {
    const binder = new ExpressionBinder(this.#inside(call.name.name));
    const named = call.args.find((arg) => arg.name !== null);
    if (named !== undefined) {
      const message = `the named argument "${named.name?.text}" is not supported`;
      this.#refuse('UNSUPPORTED', message, named.span, 'give arguments by position');
      return null;
    }
    const args = call.args.map((arg) => binder.bind(arg.value));
    const filter = call.filter === null ? null : binder.bindCondition(call.filter);
    const keys = [...call.orderBy, ...call.withinGroup].map((item) => ({
      expr: binder.bind(item.expression),
      order: sortOrder(item),
    }));
    const all = [...args, ...(filter === null ? [] : [filter]), ...keys.map(({ expr }) => expr)];
    return all.includes(POISON) ? null : { args, filter, keys };
  }

  /** The variable of `count(x.*)`; null: no such call. */
  #rowsOf(call: CallExpression): number | null | 'unknown' {
    const [only] = call.args;
    if (only?.value.tag !== 'path' || call.args.length !== 1 || call.name.name !== 'count')
      return null;
    const [name, star] = only.value.parts;
    if (name === undefined || star?.name !== '*') return null;
    const variable = this.#rows.variables.indexOf(name.name);
    if (variable >= 0) return variable;
    const hint = `the variables are ${this.#rows.variables.map(quoteName).join(', ')}`;
    this.#refuse('INVALID_PATTERN', `there is no variable "${name.text}"`, name.span, hint);
    return 'unknown';
  }
}

/** Columns as such, and again for each variable. */
function scopeOfVariables({ scope, schema, variables }: MatchRows): ScopeColumn[] {
  const plain = scope.map((column) => ({ ...column, qualifier: null, window: null }));
  const unique = plain.filter((column) => column.merged !== true);
  return [
    ...plain,
    ...variables.flatMap((name, variable) =>
      unique.map((column) => ({
        ...column,
        qualifier: name,
        index: (variable + 1) * schema.length + column.index,
        merged: true,
      })),
    ),
  ];
}

function wholeNumber(expression: Expression): number | null {
  if (expression.tag !== 'number') return null;
  const value = Number(expression.text);
  return Number.isSafeInteger(value) && value <= 1_000_000 ? value : null;
}

/**
 * Whether a measure may be NULL.
 *
 * @param certain  variables that every match has a row of
 */
export function mayBeNull(
  { navigations, aggregates, expr }: MatchExpr,
  schema: Schema,
  certain: ReadonlySet<number>,
): boolean {
  const ofNavigation = ({ variable, offset, back, read }: Navigation): boolean => {
    if (read.tag === 'present') return false;
    if (back > 0 || offset > 0 || (variable !== null && !certain.has(variable))) return true;
    return read.tag === 'column' && must(schema[read.index], 'a column').nullable;
  };
  // A variable with a row gives its aggregate a value, if the row has one.
  const ofAggregate = ({ variable, call }: MatchAggregate): boolean => {
    if (neverGivesNull(call)) return false;
    const hasRow = (variable === null || certain.has(variable)) && call.filter === null;
    return !hasRow || mayGiveNull(call) || call.args.some((arg) => isNullable(arg, schema));
  };
  const columns: Schema = [
    ...navigations.map((each) => ({ name: '', type: each.type, nullable: ofNavigation(each) })),
    ...aggregates.map((each) => ({ name: '', type: each.call.type, nullable: ofAggregate(each) })),
  ];
  return isNullable(expr, columns);
}
