/** VALUES, and the one row that a SELECT without FROM reads. */
import type { Span } from '../base/errors.ts';
import type { Schema } from '../batch/types.ts';
import type { Expr, LiteralValue } from '../expr/expr.ts';
import { JSON_FORMAT } from '../formats/format.ts';
import type { Values } from '../sql/ast-query.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Environment } from './bind-from.ts';
import { POISON, tableContext } from './expression-context.ts';
import { castTo, foldExpr, sharedType } from './functions.ts';
import type { PlanNode, ScanNode } from './logical.ts';
import { columnExpr, makeProject, makeUnion } from './nodes.ts';
import { isNullable } from './nullability.ts';
import { type BoundQuery, UNKNOWN_QUERY, queryOf } from './scope.ts';

/** Constants of a plan as rows. */
function scanOf(schema: Schema, rows: readonly (readonly LiteralValue[])[]): ScanNode {
  const values = Object.fromEntries(
    schema.map((field, index) => [field.name, rows.map((row) => row[index] ?? null)]),
  );
  const physical = schema.map((field) => ({ ...field, default: null }));
  return {
    tag: 'scan',
    table: 'values',
    connector: 'values',
    options: { rows: rows.length, values: JSON.stringify(values) },
    format: JSON_FORMAT,
    declared: physical,
    generated: true,
    physical,
    computed: schema.map((_, index) => columnExpr(schema, index)),
    watermark: null,
    lateRows: 'count',
    temporary: false,
    schema,
    updating: false,
    keys: null,
    eventTime: true,
    windows: schema.map(() => null),
  };
}

/** One row without columns. */
export const oneRow = (): PlanNode => scanOf([], [[]]);

export function bindValues(values: Values, environment: Environment): BoundQuery {
  const { diagnostics } = environment;
  const binder = new ExpressionBinder(tableContext([], 'VALUES', diagnostics));
  const rows = values.rows.map((row) => row.map((value) => foldExpr(binder.bind(value))));
  const width = rows[0]?.length ?? 0;
  const ragged = rows.findIndex((row) => row.length !== width);
  if (ragged >= 0) {
    const place = values.rows[ragged]?.[0]?.span ?? values.span;
    diagnostics.error(
      'TYPE_ERROR',
      `the rows of VALUES have ${width} and ${rows[ragged]?.length} values`,
      place,
    );
    return UNKNOWN_QUERY;
  }
  if (rows.some((row) => row.includes(POISON))) return UNKNOWN_QUERY;
  const typed = castRows(rows, values, environment);
  if (typed === null) return UNKNOWN_QUERY;
  const schema = (typed[0] ?? []).map((expr, index) => ({
    name: `column${index + 1}`,
    type: expr.type,
    nullable: typed.some((row) => isNullable(row[index] as Expr, [])),
  }));
  const literals = typed.map((row) =>
    row.flatMap((expr) => (expr.tag === 'literal' ? [expr.value] : [])),
  );
  if (literals.every((row) => row.length === width)) return queryOf(scanOf(schema, literals));
  // What has no form as a constant is computed over one row.
  const names = schema.map((field) => field.name);
  const [first, ...others] = typed.map((row) => makeProject(oneRow(), row, names));
  if (first === undefined) return UNKNOWN_QUERY;
  return queryOf(others.length === 0 ? first : makeUnion([first, ...others]));
}

/** Every column in the one type that all its values have. */
function castRows(
  rows: readonly (readonly Expr[])[],
  { span }: { span: Span },
  { diagnostics }: Environment,
): Expr[][] | null {
  const before = diagnostics.count;
  const types = (rows[0] ?? []).map((_, index) => {
    const column = rows.map((row) => row[index] as Expr);
    const type = sharedType(column);
    if (type === null)
      diagnostics.error(
        'TYPE_ERROR',
        `the values of column ${index + 1} have no common type`,
        span,
        {
          hint: 'cast them to one type',
        },
      );
    return type;
  });
  const typed = rows.map((row) =>
    row.map((expr, index) => {
      const type = types[index];
      if (type === null || type === undefined) return expr;
      const cast = castTo(expr, type, false);
      if (cast.tag === 'expr') return foldExpr(cast.expr);
      diagnostics.error('TYPE_ERROR', cast.message, span, { hint: cast.hint });
      return expr;
    }),
  );
  return diagnostics.count > before ? null : typed;
}
