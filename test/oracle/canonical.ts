/** What the engine and DuckDB gave, as the texts that `canonical` makes of the evaluator's values. */
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Schema, SqlType } from '../../src/batch/types.ts';
import type { Row, Value } from '../../src/batch/values.ts';
import { doubleText, plainNumber } from './value.ts';

export const engineLines = (rows: readonly Row[], schema: Schema): string[] =>
  rows
    .map((row) => schema.map(({ name, type }) => ofEngine(row[name] ?? null, type)).join('|'))
    .sort();

function ofEngine(value: Value, type: SqlType): string {
  if (value === null || typeof value === 'boolean') return String(value);
  switch (type.tag) {
    case 'float32':
    case 'float64':
      return doubleText(value as number);
    case 'decimal':
      return plainNumber(value as string);
    case 'timestamp':
    case 'timestamptz':
      return `t${value as bigint}`;
    case 'date':
      return `d${value as number}`;
    case 'list':
      return `[${(value as readonly Value[]).map((each) => ofEngine(each, type.element)).join()}]`;
    case 'struct': {
      const struct = value as Row;
      return `{${type.fields.map((field) => ofEngine(struct[field.name] ?? null, field.type)).join()}}`;
    }
    case 'text':
    case 'json':
    case 'bytea':
      return JSON.stringify(value);
    case 'interval':
      throw new Error('intervals are not compared');
    default:
      return String(value);
  }
}

export const duckLines = (rows: readonly (readonly DuckDBValue[])[]): string[] =>
  rows.map((row) => row.map(ofDuck).join('|')).sort();

function ofDuck(value: DuckDBValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return doubleText(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof DuckDBDecimalValue) return plainNumber(value.toString());
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return `t${value.micros}`;
  if (value instanceof DuckDBDateValue) return `d${value.days}`;
  if (value instanceof DuckDBListValue) return `[${value.items.map(ofDuck).join()}]`;
  return String(value);
}
