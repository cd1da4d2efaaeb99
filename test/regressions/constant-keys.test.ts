/** Grouping sets by expressions that are equal: a constant elsewhere was taken for the key and became NULL, and equal columns were one key. */
import { expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { runRows } from '../operators/run-graph.ts';

const TABLE = `CREATE TABLE a (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts) WITH (connector = 'http', type = 'source');`;

const run = (query: string): string[] => {
  const a = [1, 2, 2].map((k): Row => ({ k, ts: 0n }));
  const { rows } = runRows(`${TABLE} ${query};`, { a });
  return rows.map((row) => Object.values(row).map(String).join(' ')).sort();
};

test('a constant of HAVING or of the SELECT list is no key, whatever key it equals', () => {
  expect(
    run(
      `SELECT CAST(2 AS BIGINT) AS x, count(*) AS n FROM a GROUP BY ROLLUP (x) HAVING count(*) > 2`,
    ),
  ).toEqual(['2 3', 'null 3']);
  expect(
    run(
      `SELECT CAST(2 AS BIGINT) AS x, count(*) + CAST(2 AS BIGINT) AS n FROM a GROUP BY ROLLUP (x)`,
    ),
  ).toEqual(['2 5', 'null 5']);
});

test('a constant key is NULL where it is left out, named by alias, by position or as it is', () => {
  for (const key of ['x', '1', "'c'"])
    expect(run(`SELECT 'c' AS x, count(*) AS n FROM a GROUP BY ROLLUP (${key})`)).toEqual([
      'c 3',
      'null 3',
    ]);
  expect(run(`SELECT 1 AS x, count(*) AS n FROM a GROUP BY ROLLUP (x) HAVING x IS NULL`)).toEqual([
    'null 3',
  ]);
});

test('grouping() of a constant key tells where it is left out', () => {
  expect(run(`SELECT 'c' AS x, grouping('c') AS g FROM a GROUP BY ROLLUP (x)`)).toEqual([
    'c 0',
    'null 1',
  ]);
});

test('of two columns that are equal each is a key of its own', () => {
  const sets = (item: string): string[] =>
    run(`SELECT ${item} AS x, ${item} AS y, count(*) AS n FROM a GROUP BY ROLLUP (x, y)`);
  expect(sets('true')).toEqual(['null null 3', 'true null 3', 'true true 3']);
  for (const item of ['k', '(k + 0)'])
    expect(sets(item)).toEqual(['1 1 1', '1 null 1', '2 2 2', '2 null 2', 'null null 3']);
});
