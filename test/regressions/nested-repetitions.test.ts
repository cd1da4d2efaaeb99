/** Lists of lists were bounded in the number of their elements only, and so grew without bound. */
import { expect, test } from 'vitest';
import { runRows } from '../operators/run-graph.ts';

test('a list of lists that would be too large is an error of its row', () => {
  const sql = `
    CREATE TABLE t (k BIGINT NOT NULL) WITH (connector = 'single_file', path = 't', format = 'json', type = 'source');
    SELECT cardinality(array_repeat(array_repeat(k, 1000), k)) AS n FROM t;`;
  const { rows, failed } = runRows(sql, { t: [{ k: 100n }, { k: 100_000n }] });
  expect(rows).toEqual([{ n: 100_000n }]);
  expect(failed.map(({ code }) => code)).toEqual(['ROW_TOO_LARGE']);
});
