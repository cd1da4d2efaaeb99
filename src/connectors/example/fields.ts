/** What the datasets share: how their columns are declared, and how a value is written into a column that may not be wanted. */
import { assert } from '../../base/assert.ts';
import {
  DecimalBuilder,
  Float64Builder,
  Int64Builder,
  TextBuilder,
  type ColumnBuilder,
} from '../../batch/column-builder.ts';
import { decimalType, type Field, type Schema, type SqlType } from '../../batch/types.ts';

/** Of each column of a dataset the builder, null where nobody reads the column. */
export type Builders = readonly (ColumnBuilder | null)[];

/** What a dataset's rows are made from; `startMicros` is the event time of row 0. */
export type Beginning = { seed: number; rowsPerSecond: number; startMicros: number };

/** Writes row number `row` and gives its event time in microseconds. A function of `row` and the beginning alone. */
export interface RowMaker {
  write(row: number, columns: Builders): number;
  /** Of changes: whether the row takes the row of its key away. */
  takesAway?(row: number): boolean;
}

export type Dataset = {
  schema: Schema;
  /** What it is called with when the table does not say how many rows come in a second. */
  rowsPerSecond: number;
  /** So much of it has happened already when the pipeline is made. */
  historySeconds: number;
  /** When rows come, where that is not row i at i / rowsPerSecond. */
  pace?(rowsPerSecond: number): { rowsPerSecond: number; delaySeconds: number };
  /** Its rows are changes of a table with this key. */
  changesOf?: string;
  make(beginning: Beginning): RowMaker;
};

export const MONEY = decimalType(10, 2);

export const field = (name: string, type: SqlType): Field => ({ name, type, nullable: false });

const encoder = new TextEncoder();

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** The parts of a list that is written with commas. */
export const listOf = (text: string): Uint8Array[] => text.split(',').map(bytesOf);

export function whole(columns: Builders, index: number, value: number): void {
  const builder = columns[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof Int64Builder, 'a column of whole numbers or times');
  builder.appendNumber(value);
}

/** An amount that is not negative, in cents. */
export function money(columns: Builders, index: number, cents: number): void {
  const builder = columns[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof DecimalBuilder, 'a column of money');
  builder.append(cents | 0, Math.floor(cents / 4294967296), 0, 0);
}

export function real(columns: Builders, index: number, value: number): void {
  const builder = columns[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof Float64Builder, 'a column of real numbers');
  builder.append(value);
}

export function text(columns: Builders, index: number, bytes: Uint8Array, end?: number): void {
  const builder = columns[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof TextBuilder, 'a column of text');
  builder.append(bytes, 0, end ?? bytes.length);
}

/** Writes the last `digits` digits of a number before `end`. */
export function putDigits(bytes: Uint8Array, end: number, number: number, digits: number): void {
  let rest = number;
  for (let at = end - 1; at >= end - digits; at--) {
    bytes[at] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** Microseconds between rows. */
export const stepOf = ({ rowsPerSecond }: Beginning): number => 1_000_000 / rowsPerSecond;
