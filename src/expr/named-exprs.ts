/**
 * Expressions that are computed side by side, each with what people know it by: the column it becomes, or its text. A row
 * that one of them cannot be computed for is told with that name.
 */
import type { Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import { compileExpr, type CompiledExpr } from './compile.ts';
import type { Expr } from './expr.ts';
import { printExpr } from './print.ts';
import type { RowErrors } from './row-errors.ts';

/** Longer texts of expressions end with an ellipsis. */
const NAME_MAX = 120;

export class NamedExprs {
  readonly #compiled: readonly CompiledExpr[];
  readonly #nameOf: (at: number) => string;

  /** @param nameOf  asked when a row has failed */
  constructor(exprs: readonly Expr[], nameOf: (at: number) => string) {
    this.#compiled = exprs.map(compileExpr);
    this.#nameOf = nameOf;
  }

  /** Named by their texts over the columns of `input`. */
  static byText(exprs: readonly Expr[], input: Schema): NamedExprs {
    return new NamedExprs(exprs, (at) => {
      const expr = exprs[at];
      return expr === undefined ? '' : exprName(expr, input);
    });
  }

  evaluate(batch: RecordBatch, errors: RowErrors): Column[] {
    return this.#compiled.map((expr, at) => {
      const before = errors.list.length;
      const column = expr(batch, errors);
      if (errors.list.length > before) errors.nameSince(before, this.#nameOf(at));
      return column;
    });
  }
}

export function exprName(expr: Expr, input: Schema): string {
  const names = input.map(({ name }) => name);
  const text = printExpr(expr, names);
  return text.length > NAME_MAX ? `${text.slice(0, NAME_MAX - 1)}…` : text;
}
