/** A total of rows that were all taken back again is gone, as if they had never come: which of both was, is a matter of timing. */
import { expect, test } from 'vitest';
import { runRows } from '../operators/run-graph.ts';

const table = (name: string): string =>
  `CREATE TABLE ${name} (id INT NOT NULL, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts) WITH (connector = 'http', type = 'source');`;

test.each([[[0, 1]], [[1, 0]]])('whichever side of an anti join comes first: %s', (turns) => {
  const rows = [{ id: 1, ts: 0n }];
  const query = 'SELECT count(*) AS n FROM (SELECT a.id FROM a ANTI JOIN b ON a.id = b.id) AS q;';
  const result = runRows(`${table('a')}${table('b')}${query}`, { a: rows, b: rows }, 1, turns);
  expect(result.rows).toEqual([]);
});
