/** DEFAULT of a column → a constant. */
import type { Expr } from '../expr/expr.ts';
import type { Expression } from '../sql/ast-expression.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Diagnostics } from './diagnostics.ts';
import { POISON, tableContext } from './expression-context.ts';
import { castTo, foldExpr } from './functions.ts';
import type { TableColumn } from './table.ts';

/** The value of DEFAULT in the column's own type. */
export function constantOf(
  expression: Expression,
  column: { name: string; type: TableColumn['type'] },
  diagnostics: Diagnostics,
): Expr | null {
  const binder = new ExpressionBinder(tableContext([], 'DEFAULT', diagnostics));
  const bound = binder.bind(expression);
  if (bound === POISON) return null;
  const cast = castTo(bound, column.type, false);
  if (cast.tag === 'refused') {
    diagnostics.error(
      'TYPE_ERROR',
      `the DEFAULT of column "${column.name}" does not fit: ${cast.message}`,
      expression.span,
      { hint: cast.hint },
    );
    return null;
  }
  const folded = foldExpr(cast.expr);
  if (folded.tag === 'literal') return folded;
  diagnostics.error(
    'TYPE_ERROR',
    `the DEFAULT of column "${column.name}" must be a constant`,
    expression.span,
  );
  return null;
}
