/**
 * The 24 Nexmark queries, as `bench/nexmark` has them, over the rows of our own generator: the engine and DuckDB give
 * the same number of rows and the same hash, whatever their order. Event time is stretched, so that a few thousand
 * events fill several windows; q12 is over event time.
 */
import { createHash } from 'node:crypto';
import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { NEXMARK } from '../../bench/nexmark/queries.ts';
import type { Row } from '../../src/batch/values.ts';
import { runRows, runSql } from '../operators/run-graph.ts';
import { duckLines, engineLines } from './canonical.ts';
import { openDuck } from './duck.ts';

const EVENTS = 8_000;
const STRETCH = 90n;

const COLUMNS = {
  bid: 'auction BIGINT, bidder BIGINT, price BIGINT, channel TEXT, url TEXT, datetime TIMESTAMP, extra TEXT',
  auction:
    'id BIGINT, item_name TEXT, description TEXT, initial_bid BIGINT, reserve BIGINT, datetime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra TEXT',
  person:
    'id BIGINT, name TEXT, email_address TEXT, credit_card TEXT, city TEXT, state TEXT, datetime TIMESTAMP, extra TEXT',
} as const;
type Name = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Name[];

const SOURCES = `${NAMES.map(
  (name) =>
    `CREATE TABLE ${name} (${COLUMNS[name].replace('datetime TIMESTAMP', 'datetime TIMESTAMP NOT NULL')}, WATERMARK FOR datetime AS datetime - interval '4 seconds') WITH (connector = 'single_file', path = '${name}.json', format = 'json', type = 'source');`,
).join('\n')}
CREATE TEMPORARY TABLE side_input (key BIGINT PRIMARY KEY, value TEXT) WITH (connector = 'single_file', path = 's.json', format = 'json');`;

const sideInput: Row[] = Array.from({ length: 10_000 }, (_, key) => ({ key, value: `${key}` }));

/** Rows of the generator, their times spread out. */
function generated(name: Name, seed: number): Row[] {
  const { rows } = runSql(
    `CREATE TABLE ${name} WITH (connector = 'nexmark', table = '${name}', events = ${EVENTS}, seed = ${seed}); SELECT * FROM ${name};`,
  );
  const base = BigInt(Date.UTC(2026, 0, 1)) * 1000n;
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        column === 'datetime' || column === 'expires'
          ? base + ((value as bigint) - base) * STRETCH
          : value,
      ]),
    ),
  );
}

async function load(connection: DuckDBConnection, name: Name, rows: readonly Row[]): Promise<void> {
  await connection.run(`CREATE OR REPLACE TABLE ${name} (${COLUMNS[name]})`);
  const constant = (value: Row[string], column: string): string => {
    if (column === 'datetime' || column === 'expires') return `make_timestamp(${value as bigint})`;
    return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : `${value as bigint}`;
  };
  for (let from = 0; from < rows.length; from += 1000) {
    const values = rows.slice(from, from + 1000).map(
      (row) =>
        `(${Object.entries(row)
          .map(([column, value]) => constant(value, column))
          .join(', ')})`,
    );
    await connection.run(`INSERT INTO ${name} VALUES ${values.join(', ')}`);
  }
}

const digest = (lines: readonly string[]): string =>
  `${lines.length} rows, ${createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16)}`;

describe.each([0, 20_260_101])('seed %i', (seed) => {
  const inputs: Record<string, readonly Row[]> = { side_input: sideInput };
  let connection: DuckDBConnection;
  beforeAll(async () => {
    connection = await openDuck();
    for (const name of NAMES) {
      const rows = generated(name, seed);
      inputs[name] = rows;
      await load(connection, name, rows);
    }
    await connection.run(
      'CREATE TABLE side_input AS SELECT range AS key, range::VARCHAR AS value FROM range(10000)',
    );
  }, 60_000);

  test('there are 24 queries', () => expect(NEXMARK).toHaveLength(24));

  test.each(NEXMARK)(
    '$name, $summary',
    async ({ thalweg, duckdb }) => {
      const result = runRows(`${SOURCES}\n${thalweg};`, inputs);
      expect([result.failed, result.late]).toEqual([[], []]);
      const found = engineLines(result.rows, result.schema);
      const wanted = duckLines(
        (await connection.runAndReadAll(must(duckdb, 'a query for DuckDB'))).getRows(),
      );
      expect(wanted.length).toBeGreaterThan(0);
      expect(digest(found)).toBe(digest(wanted));
    },
    30_000,
  );
});
