/**
 * -0 written in a query is not the constant 0: neither where both stand in one expression, whose equal parts are computed
 * once, nor once the graph has been written as JSON.
 */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { runRows } from '../operators/run-graph.ts';

const table = `CREATE TABLE t (x INT, d DOUBLE, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'single_file', path = 't', format = 'json', type = 'source');`;

test('the signs of two zeros in one expression stay', () => {
  const query = `${table} SELECT CASE WHEN x > 1 THEN d * 0e0 ELSE d * -0e0 END AS zero FROM t;`;
  const { rows } = runRows(query, { t: [1n, 2n].map((x) => ({ x, d: 1.5, ts: 0n })) });
  expect(rows.map(({ zero }) => zero)).toEqual([-0, 0]);
});

test('a graph written as JSON and read again is the same', () => {
  const { graph } = planSql(`${table} SELECT d + -0e0 AS zero FROM t;`, DECLARATIONS, {
    defaultSink: 'stdout',
  });
  expect(graph).not.toBeNull();
  expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
});
