/** Whether an expression may be NULL, judged from below: "no" is certain, "yes" may be too careful. */
import type { Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { functionById } from '../expr/registry.ts';

export function isNullable(expr: Expr, input: Schema): boolean {
  const some = (args: readonly Expr[]): boolean => args.some((arg) => isNullable(arg, input));
  switch (expr.tag) {
    case 'column':
      return input[expr.index]?.nullable ?? true;
    case 'literal':
      return expr.value === null;
    case 'row-time':
    case 'struct':
      return false;
    case 'and':
    case 'or':
      return some(expr.args);
    case 'cast':
      return expr.orNull || isNullable(expr.input, input);
    case 'field':
      return isNullable(expr.input, input) || fieldNullable(expr);
    case 'case':
      return (
        expr.otherwise === null ||
        some([expr.otherwise, ...expr.branches.map((branch) => branch.then)])
      );
    case 'call':
      return callNullable(expr, input);
  }
}

function fieldNullable(expr: Expr & { tag: 'field' }): boolean {
  const { type } = expr.input;
  return type.tag !== 'struct' || (type.fields[expr.index]?.nullable ?? true);
}

function callNullable(call: Expr & { tag: 'call' }, input: Schema): boolean {
  const { name, mayBeNull } = functionById(call.fn);
  if (mayBeNull === true) return true;
  if (name.startsWith('is ')) return false;
  if (name === 'nullif') return true;
  const test = (arg: Expr): boolean => isNullable(arg, input);
  return name === 'coalesce' || name === 'greatest' || name === 'least'
    ? call.args.every(test)
    : call.args.some(test);
}

/** Columns that can not be NULL in a row for which the condition is true. */
export function provenPresent(condition: Expr): number[] {
  if (condition.tag === 'column') return [condition.index];
  if (condition.tag !== 'call') return [];
  const fn = functionById(condition.fn);
  // NULL in gives NULL out, which is not true.
  const proves = fn.name === 'is not null' || fn.nullRule === 'strict';
  return proves ? condition.args.flatMap((arg) => (arg.tag === 'column' ? [arg.index] : [])) : [];
}
