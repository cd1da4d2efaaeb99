/**
 * Lets the rows through for which a condition is true: neither false nor NULL.
 *
 * Place in the walk: stage 6. Keeps no state. Invariants: rows keep their order, event times and retractions; a batch
 * that passes as a whole is handed on as it is.
 * Failure: a row whose condition cannot be computed is reported with its text and leaves; the others go on.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import { takeBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import { compilePredicate, type CompiledPredicate } from '../expr/compile.ts';
import type { Expr } from '../expr/expr.ts';
import { exprName } from '../expr/named-exprs.ts';
import { RowErrors, inParts } from '../expr/row-errors.ts';
import type { Output } from './operator.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { StatelessOperator } from './stateless-operator.ts';

export class Filter extends StatelessOperator {
  readonly #predicate: CompiledPredicate;
  readonly #expr: Expr;
  readonly #inputSchema: Schema;

  constructor(predicate: Expr, inputSchema: Schema) {
    super();
    this.#predicate = compilePredicate(predicate);
    this.#expr = predicate;
    this.#inputSchema = inputSchema;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    inParts(batch, (part) => this.#pass(part, output));
  }

  #pass(batch: RecordBatch, output: Output): void {
    const errors = RowErrors.divisible(batch.rows);
    const { indices, count } = this.#predicate(batch, errors);
    if (errors.failed) {
      errors.nameSince(0, exprName(this.#expr, this.#inputSchema));
      output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
    }
    output.emit(count === batch.rows ? batch : takeBatch(batch, indices, count));
  }
}
