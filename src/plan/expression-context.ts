/** What binding an expression needs to know of the place it stands in. */
import { TEXT } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { CallExpression, Expression, PathExpression } from '../sql/ast-expression.ts';
import type { Diagnostics } from './diagnostics.ts';
import { OUTER_COLUMNS } from './outer-columns.ts';
import type { Scope } from './scope.ts';

/** Stands for an expression that was refused. */
export const POISON: Expr = { tag: 'literal', value: null, type: TEXT };

/** Columns from here to those of OVER stand for subqueries until they are joined to the groups. */
export const SUBQUERY_STAND_INS = 1 << 21;

export const isSubqueryStandIn = (expr: Expr): boolean =>
  expr.tag === 'column' && expr.index >= SUBQUERY_STAND_INS && expr.index < OVER_STAND_INS;

/** Columns from here to those of an outer query stand for calls with OVER until those are planned. */
export const OVER_STAND_INS = 1 << 22;

export const isOverStandIn = (expr: Expr): boolean =>
  expr.tag === 'column' && expr.index >= OVER_STAND_INS && expr.index < UNNEST_STAND_INS;

/** Columns from here to those of an outer query stand for elements of lists until those are taken apart. */
export const UNNEST_STAND_INS = 1 << 23;

/** What is computed behind the grouping. */
export const isStandIn = (expr: Expr): boolean =>
  expr.tag === 'column' && expr.index >= SUBQUERY_STAND_INS && expr.index < OUTER_COLUMNS;

const WINDOW_FUNCTIONS: ReadonlySet<string> = new Set(['tumble', 'hop', 'cumulate', 'session']);

export const isWindowCall = (expression: Expression): boolean =>
  expression.tag === 'call' && WINDOW_FUNCTIONS.has(expression.name.name);

/** What an expression may use besides the columns of its scope. */
export type ExpressionContext = {
  scope: Scope;
  /** Unknown names are no further error: the tables they may come from were refused. */
  open: boolean;
  diagnostics: Diagnostics;
  /** Where the expression stands, for messages: `WHERE`. */
  place: string;
  /** Whether rows have an event time that `row_time()` can read. */
  rowTime: boolean;
  /** Takes an aggregate call and gives the expression for its result; null: aggregates are refused here. */
  aggregate: ((call: CallExpression) => Expr) | null;
  /** Gives the expression for `tumble(…)`; null: windows are refused here. */
  window: ((call: CallExpression) => Expr) | null;
  /** Gives the expression for `grouping(…)` of bound arguments; absent: it is refused here. */
  grouping?: (call: CallExpression, args: readonly Expr[]) => Expr;
  /** Gives the expression for a call with OVER; absent: it is refused here. */
  over?: (call: CallExpression) => Expr;
  /** Gives the expression for an element of `unnest(…)`; absent: it is refused here. */
  unnest?: (call: CallExpression) => Expr;
  /** Takes the calls that only MATCH_RECOGNIZE has; null: it is another call. */
  match?: (call: CallExpression) => Expr | null;
  /** Names of other expressions of the same SELECT that may be used where no column has the name. */
  aliases: ReadonlyMap<string, Expression>;
  /** What stands for expressions of the SELECT list that GROUP BY names, where each of several equal ones is a key of its own. */
  keys?: ReadonlyMap<Expression, Expr>;
  /** Columns of the query outside that a correlated subquery may read where it has no such name itself. */
  outer?: Scope | undefined;
  /** Gives the expression for a subquery; none: subqueries are refused here. */
  subquery?: (expression: Subquery) => Expr;
  /** Which path a column expression came from. */
  origins: WeakMap<Expr, PathExpression>;
};

/** The context of expressions in a table's definition: columns, and nothing of a query. */
export const tableContext = (
  scope: Scope,
  place: string,
  diagnostics: Diagnostics,
): ExpressionContext => ({
  scope,
  open: false,
  diagnostics,
  place,
  rowTime: false,
  aggregate: null,
  window: null,
  aliases: new Map(),
  origins: new WeakMap(),
});

/** Forms that hold a query. */
export type Subquery = Extract<Expression, { tag: 'in_query' | 'exists' | 'subquery' }>;

/** Constants, and forms that are not planned yet: what has no operands to bind. */
export type OtherExpression = Extract<
  Expression,
  {
    tag:
      | 'number'
      | 'string'
      | 'boolean'
      | 'null'
      | 'typed_literal'
      | 'interval'
      | 'bytes'
      | 'slice'
      | 'array'
      | 'at_time_zone'
      | 'in_query'
      | 'exists'
      | 'subquery';
  }
>;
