/**
 * Rows as JSON text for people: what the error and late tables show. Not for hot paths.
 */
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Schema } from '../batch/types.ts';
import { fieldsJson } from '../batch/value-json.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import type { RowProblem } from './operator.ts';

/** Row `row` as one JSON object; numbers keep all their digits, NaN and the infinities become null. */
export const rowJson = (batch: RecordBatch, schema: Schema, row: number): string =>
  fieldsJson(schema, batch.columns, row);

/** The failed rows as problems, with their text. */
export function problemsOf(errors: RowErrors, raw: (row: number) => string | null): RowProblem[] {
  return errors.list.map((error) => ({ ...error, raw: raw(error.row) }));
}

/** A row that is taken back and never came. */
export const nothingToRetract = (batch: RecordBatch, schema: Schema, row: number): RowProblem => ({
  row,
  code: 'NOTHING_TO_RETRACT',
  column: '',
  message: 'a row is taken back that did not come before',
  raw: rowJson(batch, schema, row),
});
