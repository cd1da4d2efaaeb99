/** Questions about expressions and changes to them, for the planner. Expressions are never changed in place. */
import { valueAt } from '../batch/values.ts';
import { assert } from '../base/assert.ts';
import { isValid } from '../batch/column.ts';
import type { Column } from '../batch/column.ts';
import { sameType } from '../batch/types.ts';
import { castCanFail } from './cast.ts';
import type { Expr, LiteralValue } from './expr.ts';
import { functionById } from './registry.ts';
import { readDecimal } from './wide.ts';

/** The direct parts of an expression, in order of evaluation. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.tag) {
    case 'column':
    case 'literal':
    case 'row-time':
      return [];
    case 'call':
    case 'and':
    case 'or':
    case 'struct':
      return expr.args;
    case 'cast':
    case 'field':
      return [expr.input];
    case 'case': {
      const parts = expr.branches.flatMap(({ when, then }) => [when, then]);
      return expr.otherwise === null ? parts : [...parts, expr.otherwise];
    }
  }
}

/** The same expression over other parts; `change` gets each direct part. */
export function mapChildren(expr: Expr, change: (part: Expr) => Expr): Expr {
  switch (expr.tag) {
    case 'column':
    case 'literal':
    case 'row-time':
      return expr;
    case 'call':
    case 'and':
    case 'or':
    case 'struct':
      return { ...expr, args: expr.args.map(change) };
    case 'cast':
    case 'field':
      return { ...expr, input: change(expr.input) };
    case 'case':
      return {
        ...expr,
        branches: expr.branches.map(({ when, then }) => ({
          when: change(when),
          then: change(then),
        })),
        otherwise: expr.otherwise === null ? null : change(expr.otherwise),
      };
  }
}

/** Indices of the columns an expression reads. */
export function exprColumns(expr: Expr, into: Set<number> = new Set()): Set<number> {
  if (expr.tag === 'column') into.add(expr.index);
  for (const part of childrenOf(expr)) exprColumns(part, into);
  return into;
}

/** The expression with every column reference replaced. */
export function mapColumns(expr: Expr, change: (column: Expr & { tag: 'column' }) => Expr): Expr {
  return expr.tag === 'column'
    ? change(expr)
    : mapChildren(expr, (part) => mapColumns(part, change));
}

/** Whether an expression reads the row's event time. */
export const usesRowTime = (expr: Expr): boolean =>
  expr.tag === 'row-time' || childrenOf(expr).some(usesRowTime);

/** Whether every row gives the same value. */
export function isConstant(expr: Expr): boolean {
  if (expr.tag === 'column' || expr.tag === 'row-time') return false;
  if (expr.tag === 'call' && functionById(expr.fn).volatile === true) return false;
  return childrenOf(expr).every(isConstant);
}

/** Whether it gives the same whenever it is computed. */
export const isSteady = (expr: Expr): boolean =>
  !(expr.tag === 'call' && functionById(expr.fn).volatile === true) &&
  childrenOf(expr).every(isSteady);

/** Whether a row may fail in this expression. */
export function canFail(expr: Expr): boolean {
  if (expr.tag === 'call') {
    const { canFail: may, canFailWith } = functionById(expr.fn);
    const values = expr.args.map((arg) => (arg.tag === 'literal' ? arg.value : undefined));
    const types = expr.args.map((arg) => arg.type);
    if (may && canFailWith?.(values, types) !== false) return true;
  }
  if (expr.tag === 'cast' && !expr.orNull && castCanFail(expr.input.type, expr.type)) return true;
  return childrenOf(expr).some(canFail);
}

/** Value 0 of a column in the form literals have. */
export const literalOf = (column: Column): LiteralValue => literalAt(column, 0);

function literalAt(column: Column, row: number): LiteralValue {
  if (!isValid(column, row)) return null;
  if (column.tag === 'decimal') return readDecimal(column.words, row).toString();
  if (column.tag === 'list') {
    const literals: LiteralValue[] = [];
    const end = column.offsets[row + 1] as number;
    for (let at = column.offsets[row] as number; at < end; at++)
      literals.push(literalAt(column.child, at));
    return literals;
  }
  if (column.tag === 'struct') return column.children.map((child) => literalAt(child, row));
  const value = valueAt(column, row);
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return value.toString();
  assert(value === null || typeof value !== 'object', 'a scalar value');
  return value;
}

/** The expression as a value of a type: itself, a retyped NULL, or a cast. The pair must be castable. */
export function coerceExpr(expr: Expr, type: Expr['type']): Expr {
  if (sameType(expr.type, type)) return expr;
  if (expr.tag === 'literal' && expr.value === null) return { ...expr, type };
  return { tag: 'cast', input: expr, orNull: false, type };
}
