/** DISTINCT over rows that are taken back: the planner did not ask for a table that counts them, and what was gone stayed counted. */
import { expect, test } from 'vitest';
import { runRows } from '../operators/run-graph.ts';

const table = (name: string): string =>
  `CREATE TABLE ${name} (id INT NOT NULL, v INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts) WITH (connector = 'http', type = 'source');`;
const row = (id: number, v: number) => ({ id, v, ts: 0n });

test.each(['', 'FILTER (WHERE v < 100)'])(
  'a value that no row has any more is not counted %s',
  (filter) => {
    const query = `SELECT g, count(DISTINCT v) ${filter} AS n, sum(DISTINCT v) ${filter} AS s FROM (
    SELECT a.id % 2 AS g, a.v FROM a ANTI JOIN b ON a.id = b.id) AS q GROUP BY g;`;
    const a = [row(1, 10), row(3, 10), row(5, 20), row(7, 30), row(2, 10)];
    const b = [row(1, 0), row(5, 0), row(2, 0)];
    // All of the first table, then all of the second one: every match takes a row back.
    const { rows } = runRows(
      `${table('a')}${table('b')}${query}`,
      { a, b },
      1,
      [0, 0, 0, 0, 0, 1, 1, 1],
    );
    expect(rows).toEqual([{ g: 1, n: 2n, s: 40n }]);
  },
);
