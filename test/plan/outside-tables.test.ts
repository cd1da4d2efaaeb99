import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { OutsideTable } from '../../src/plan/outside-tables.ts';

const ORDERS: OutsideTable = {
  name: 'orders',
  definition: `CREATE TABLE orders (id BIGINT NOT NULL, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds')
    WITH (connector = 'http', type = 'source')`,
};
const OUT: OutsideTable = {
  name: 'out',
  definition: `CREATE TABLE out (id BIGINT) WITH (connector = 'r2', path = 'out', type = 'sink')`,
};
const BROKEN: OutsideTable = {
  name: 'broken',
  definition: `CREATE TABLE broken (a LONGG) WITH (connector = 'htp')`,
};
const UNREADABLE: OutsideTable = { name: 'unreadable', definition: 'CREATE TABEL unreadable' };
const ALL = [ORDERS, OUT, BROKEN, UNREADABLE];

const plan = (query: string, tables: readonly OutsideTable[] = ALL) =>
  planSql(query, DECLARATIONS, { defaultSink: 'preview', tables });
const said = (query: string): string[] =>
  plan(query).errors.map(
    ({ code, message, span }) => `${span?.start.line}:${span?.start.column} ${code} ${message}`,
  );

test('a table from outside plans as if it were declared before the text', () => {
  const query = 'INSERT INTO out SELECT id FROM orders WHERE id > 3;';
  const { graph, errors, warnings, outside } = plan(query);
  expect(errors).toEqual([]);
  expect(warnings).toEqual([]);
  expect(outside.toSorted()).toEqual(['orders', 'out']);
  const declared = plan(`${ORDERS.definition};${OUT.definition};${query}`, []);
  expect(declared.errors).toEqual([]);
  expect(graph).toEqual(declared.graph);
});

test('what the text declares itself comes first, and what nobody names is not even read', () => {
  const own = plan(
    `CREATE TABLE orders (x INT) WITH (connector = 'http', type = 'source'); SELECT x FROM orders;`,
  );
  expect(own.errors).toEqual([]);
  expect(own.outside).toEqual([]);
  expect(said('SELECT id FROM orders')).toEqual([]);
  const common = plan('WITH orders AS (SELECT 1 AS one) SELECT one FROM orders');
  expect(common.errors).toEqual([]);
  expect(common.outside).toEqual([]);
});

test('mistakes in a stored table are told where it is named, and say whose they are', () => {
  expect(said('SELECT 1 AS x;\nSELECT a FROM broken')).toEqual([
    '2:15 UNKNOWN_CONNECTOR the stored table "broken": unknown connector "htp"',
    '2:15 UNKNOWN_TYPE the stored table "broken": unknown type LONGG',
  ]);
  expect(said('SELECT * FROM unreadable')).toEqual([
    expect.stringMatching(/^1:15 SYNTAX the stored table "unreadable": /),
  ]);
  expect(said('SELECT * FROM out')).toEqual([
    '1:15 INVALID_SINK "out" is a sink and can not be read',
  ]);
  expect(said('INSERT INTO orders SELECT 1')).toEqual([
    '1:13 INVALID_SINK "orders" is a source and can not be written',
  ]);
  expect(said('SELECT idd FROM orders')).toEqual(['1:8 UNKNOWN_COLUMN unknown column "idd"']);
});

test('a misspelt name is answered with those outside as well', () => {
  const [error] = plan('SELECT * FROM ordres').errors;
  expect(error).toMatchObject({ code: 'UNKNOWN_TABLE', suggestion: 'orders' });
});

test('a stored table that was named is taken: the text can not declare it below', () => {
  expect(
    said(
      `SELECT id FROM orders;\nCREATE TABLE orders (x INT) WITH (connector = 'http'); SELECT x FROM orders;`,
    ),
  ).toContain('2:14 DUPLICATE_NAME "orders" already exists');
});
