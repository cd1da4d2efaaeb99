/** Columns of the query outside, as a correlated subquery reads them. */
import type { Expr } from '../expr/expr.ts';
import { columnsOf } from './expressions.ts';
import type { Scope } from './scope.ts';

/** Column i of the query outside is column `OUTER_COLUMNS + i` until the two are joined. */
export const OUTER_COLUMNS = 1 << 24;

/** The scope of the query outside, under its stand-in columns. */
export const outerScopeOf = (scope: Scope): Scope =>
  scope.map((column) => ({ ...column, index: OUTER_COLUMNS + column.index }));

/** Whether columns of the query outside are read. */
export const readsOutside = (expr: Expr): boolean =>
  [...columnsOf([expr])].some((column) => column >= OUTER_COLUMNS);
