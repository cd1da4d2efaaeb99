/**
 * Rows as JSON text for people: what the error and late tables show. Not for hot paths.
 */
import { isValid, type Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { timestampText } from '../batch/timestamp-text.ts';
import type { Field, Schema } from '../batch/types.ts';
import { valueAt } from '../batch/values.ts';
import type { RowErrors } from '../expr/row-errors.ts';
import type { RowProblem } from './operator.ts';

/** Row `row` as one JSON object; numbers keep all their digits, NaN and the infinities become null. */
export function rowJson(batch: RecordBatch, schema: Schema, row: number): string {
  return objectJson(schema, batch.columns, row);
}

function objectJson(schema: Schema, columns: readonly Column[], row: number): string {
  const members = schema.map((field: Field, index) => {
    const column = columns[index] as Column;
    return `${JSON.stringify(field.name)}:${valueJson(column, row)}`;
  });
  return `{${members.join(',')}}`;
}

function valueJson(column: Column, row: number): string {
  if (!isValid(column, row)) return 'null';
  if (column.tag === 'struct') return objectJson(column.type.fields, column.children, row);
  const value = valueAt(column, row);
  if (column.tag === 'timestamp') return JSON.stringify(timestampText(value as bigint));
  if (column.tag === 'decimal' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value);
}

/** The failed rows as problems, with their text. */
export function problemsOf(errors: RowErrors, raw: (row: number) => string | null): RowProblem[] {
  return errors.list.map((error) => ({ ...error, raw: raw(error.row) }));
}
