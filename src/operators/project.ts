/**
 * Computes each output column from the row's columns.
 *
 * Place in the walk: stage 6. Keeps no state. Invariants: rows keep their order, event times and retractions.
 * Failure: a row that an expression cannot compute is reported with its text and leaves; the others go on.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { NamedExprs } from '../expr/named-exprs.ts';
import { RowErrors, inParts } from '../expr/row-errors.ts';
import { filterBatch } from '../batch/take.ts';
import type { Output } from './operator.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { StatelessOperator } from './stateless-operator.ts';

export class Project extends StatelessOperator {
  readonly #exprs: NamedExprs;
  readonly #inputSchema: Schema;

  constructor(exprs: readonly Expr[], inputSchema: Schema, outputSchema: Schema) {
    super();
    this.#exprs = new NamedExprs(exprs, (at) => outputSchema[at]?.name ?? '');
    this.#inputSchema = inputSchema;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    inParts(batch, (part) => this.#project(part, output));
  }

  #project(batch: RecordBatch, output: Output): void {
    const errors = RowErrors.divisible(batch.rows);
    const columns = this.#exprs.evaluate(batch, errors);
    const projected: RecordBatch = {
      rows: batch.rows,
      columns,
      eventTime: batch.eventTime,
      retract: batch.retract,
    };
    if (!errors.failed) {
      output.emit(projected);
      return;
    }
    output.fail(problemsOf(errors, (row) => rowJson(batch, this.#inputSchema, row)));
    output.emit(filterBatch(projected, survivors(batch.rows, errors)));
  }
}

/** 1 for each row that has not failed. */
export function survivors(rows: number, errors: RowErrors): Uint8Array {
  const keep = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) keep[row] = errors.hasFailed(row) ? 0 : 1;
  return keep;
}
