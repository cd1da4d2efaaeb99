/** EXPLAIN: answered where a plan is asked for, refused where a pipeline would run. */
import { expect, test } from 'vitest';
import { planSql } from '../../src/graph/plan-sql.ts';
import { CONNECTORS } from './catalog.ts';

const TABLE = "CREATE TABLE t (a INT) WITH (connector = 'http');";

const plan = (sql: string, explain: boolean): ReturnType<typeof planSql> =>
  planSql(`${TABLE} ${sql}`, CONNECTORS, { defaultSink: 'preview', explain });

test.each([
  ['EXPLAIN SELECT a FROM t', true, true],
  ['EXPLAIN LOGICAL SELECT a FROM t', true, false],
  ['EXPLAIN PHYSICAL SELECT a FROM t', false, true],
])('%s shows the plans it asks for', (sql, logical, physical) => {
  const asked = plan(sql, true);
  const written = plan('SELECT a FROM t', true);
  expect(asked.errors).toEqual([]);
  expect([asked.explained, written.explained]).toEqual([true, false]);
  expect(asked.logical).toBe(logical ? written.logical : '');
  expect(asked.physical).toBe(physical ? written.physical : '');
});

test('as a statement of a pipeline it is refused', () => {
  const { graph, errors } = plan('EXPLAIN SELECT a FROM t', false);
  expect(graph).toBeNull();
  expect(errors).toMatchObject([{ code: 'UNSUPPORTED' }]);
});

test('a mistake in what is explained is told as elsewhere', () => {
  expect(plan('EXPLAIN SELECT b FROM t', true).errors).toMatchObject([{ code: 'UNKNOWN_COLUMN' }]);
});
