/** Short ways to build expressions and to run them on a few rows. */
import type { Value } from '../../src/batch/values.ts';
import { columnFromValues, valueAt } from '../../src/batch/values.ts';
import type { Column } from '../../src/batch/column.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { BOOLEAN } from '../../src/batch/types.ts';
import { compileExpr } from '../../src/expr/compile.ts';
import { coerceExpr } from '../../src/expr/expr-tools.ts';
import type { Expr, LiteralValue } from '../../src/expr/expr.ts';
import { resolveFunction } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';

export const column = (index: number, type: SqlType): Expr => ({ tag: 'column', index, type });
export const literal = (type: SqlType, value: LiteralValue): Expr => ({
  tag: 'literal',
  type,
  value,
});
export const cast = (input: Expr, type: SqlType, orNull = false): Expr => ({
  tag: 'cast',
  input,
  type,
  orNull,
});
export const and = (...args: Expr[]): Expr => ({ tag: 'and', args, type: BOOLEAN });
export const or = (...args: Expr[]): Expr => ({ tag: 'or', args, type: BOOLEAN });

/** The call as a binder makes it; text literals are untyped. */
export function call(name: string, ...args: Expr[]): Expr {
  const untyped = args.map((arg) => arg.tag === 'literal' && arg.type.tag === 'text');
  const resolved = resolveFunction(
    name,
    args.map((arg) => arg.type),
    untyped,
  );
  if ('error' in resolved)
    throw new Error(`${resolved.error}: ${resolved.message}; ${resolved.hint ?? ''}`);
  return {
    tag: 'call',
    fn: resolved.fn,
    args: args.map((arg, index) => coerceExpr(arg, resolved.coerced[index] as SqlType)),
    type: resolved.type,
  };
}

export const batchOf = (
  columns: readonly Column[],
  rows = columns[0]?.length ?? 0,
): RecordBatch => ({
  rows,
  columns,
  eventTime: null,
  retract: null,
});

export const valuesOf = (column_: Column): Value[] =>
  Array.from({ length: column_.length }, (_, index) => valueAt(column_, index));

export type Outcome = {
  values: Value[];
  errors: { row: number; code: string }[];
  messages: string[];
};

/** Runs an expression over columns given as [type, values]. */
export function run(expr: Expr, ...inputs: [SqlType, readonly (Value | undefined)[]][]): Outcome {
  const columns = inputs.map(([type, values]) => columnFromValues(type, values));
  const rows = inputs[0]?.[1].length ?? 1;
  const errors = new RowErrors(rows);
  const result = compileExpr(expr)(batchOf(columns, rows), errors);
  if (result.length !== rows) throw new Error(`${result.length} values for ${rows} rows`);
  return {
    values: valuesOf(result),
    errors: errors.list.map(({ row, code }) => ({ row, code })).sort((a, b) => a.row - b.row),
    messages: errors.list.map(({ message }) => message),
  };
}

/** A function of columns 0, 1, … applied to rows of arguments. */
export function apply(
  name: string,
  types: readonly SqlType[],
  rows: readonly (readonly (Value | undefined)[])[],
): Outcome {
  const expr = call(name, ...types.map((type, index) => column(index, type)));
  return run(
    expr,
    ...types.map((type, index): [SqlType, (Value | undefined)[]] => [
      type,
      rows.map((row) => row[index]),
    ]),
  );
}

/** The one value of a constant expression. */
export const constant = (expr: Expr): Value => run(expr).values[0] as Value;
