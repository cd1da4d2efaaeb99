/**
 * Of several grouping sets' keys one may be a part of another. A set that keeps the larger and leaves the smaller out has
 * the value of the larger; what only reads a key that is left out is NULL. Found by `npm run oracle -- --seed 50652`, where
 * the plain evaluator looked within the key it kept.
 */
import { expect, test } from 'vitest';
import { runRows } from '../operators/run-graph.ts';
import { engineLines } from '../oracle/canonical.ts';
import { answerOf } from '../oracle/program.ts';
import { Moment, whole } from '../oracle/value.ts';

const table = `CREATE TABLE t (x INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts)
  WITH (connector = 'single_file', path = 't', format = 'json', type = 'source');`;

// What DuckDB answers too.
test.each([
  ['(abs(abs(x)))', ['2|null|null|null', 'null|null|null|null']],
  ['(abs(abs(x)), abs(x))', ['2|null|2|3', 'null|null|null|null']],
  ['(x)', ['null|-2|null|null', 'null|2|null|null', 'null|null|null|null']],
  ['(abs(abs(x)), x)', ['2|-2|null|null', '2|2|null|null', 'null|null|null|null']],
])('keys within keys, grouped by %s', (set, wanted) => {
  const query = `${table}
    SELECT abs(abs(x)) AS a, x AS b, abs(x) AS c, abs(x) + 1 AS d FROM t
    GROUP BY GROUPING SETS (${set}, (abs(abs(x)), x, abs(x)))
    HAVING grouping(abs(abs(x)), x, abs(x)) > 0;`;
  const values = [2n, -2n, null];
  const result = runRows(query, { t: values.map((x) => ({ x, ts: 0n })) });
  const rows = values.map((x) => ({
    values: [x === null ? null : whole(x, 32), new Moment(0n)],
    time: 0n,
  }));
  const columns = ['x', 'ts'].map((name) => ({ qualifier: null, name }));
  const oracle = answerOf(query, new Map([['t', { columns, rows }]]));
  expect(engineLines(result.rows, result.schema).toSorted()).toEqual(wanted);
  expect(oracle.rows).toEqual(wanted);
});
