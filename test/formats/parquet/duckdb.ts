/** Parquet files as DuckDB reads them, in the values of `src/batch/values.ts`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { type IntervalParts, intervalLiteral } from '../../../src/batch/interval.ts';
import type { Schema, SqlType } from '../../../src/batch/types.ts';
import type { Row, Value } from '../../../src/batch/values.ts';

const hex = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;

function decimalText(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const cut = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}.${digits.slice(cut)}`;
}

function valueOf(value: DuckDBValue, type: SqlType): Value {
  if (value === null) return null;
  if (value instanceof DuckDBDecimalValue) return decimalText(value.value, value.scale);
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return value.micros;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.nanos;
  if (value instanceof DuckDBTimeValue) return value.micros;
  if (value instanceof DuckDBDateValue) return value.days;
  if (value instanceof DuckDBBlobValue) return hex(value.bytes);
  if (value instanceof DuckDBListValue && type.tag === 'list')
    return value.items.map((item) => valueOf(item, type.element));
  if (value instanceof DuckDBStructValue && type.tag === 'struct')
    return Object.fromEntries(
      type.fields.map((field) => [
        field.name,
        valueOf(value.entries[field.name] as DuckDBValue, field.type),
      ]),
    );
  if (value instanceof DuckDBStructValue && type.tag === 'interval')
    return intervalLiteral(value.entries as unknown as IntervalParts);
  if (type.tag === 'uint32') return BigInt(value as number);
  return value as Value;
}

export class Reader {
  readonly #folder = mkdtempSync(join(tmpdir(), 'thalweg-parquet-'));
  readonly #connection: DuckDBConnection;
  #files = 0;

  private constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  static async open(): Promise<Reader> {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run("SET TimeZone = 'UTC'; SET threads = 1");
    return new Reader(connection);
  }

  close(): void {
    this.#connection.closeSync();
    rmSync(this.#folder, { recursive: true });
  }

  write(bytes: Uint8Array): string {
    const path = join(this.#folder, `${this.#files++}.parquet`);
    writeFileSync(path, bytes);
    return path;
  }

  async rows(bytes: Uint8Array, schema: Schema): Promise<Row[]> {
    const path = this.write(bytes);
    const found = await this.ask(`SELECT * FROM read_parquet('${path}')`);
    rmSync(path);
    return found.map((row) =>
      Object.fromEntries(
        schema.map(({ name, type }) => [name, valueOf(row[name] as DuckDBValue, type)]),
      ),
    );
  }

  async ask(sql: string): Promise<Record<string, DuckDBValue>[]> {
    return (await this.#connection.runAndReadAll(sql)).getRowObjects();
  }
}
