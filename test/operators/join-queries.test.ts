/** Joins and subqueries from SQL to rows, against DuckDB over the same random rows. */
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { runRows } from './run-graph.ts';

const COLUMNS = '(id INT NOT NULL, k INT, x INT, ts TIMESTAMP NOT NULL)';
const STREAMS = ['a', 'b', 'c'];
/** The last one is read as a whole before it is joined. */
const TABLES = [...STREAMS, 'd'];
const SOURCES = [
  ...STREAMS.map(
    (name) =>
      `CREATE TABLE ${name} (id INT NOT NULL, k INT, x INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '3 seconds')
       WITH (connector = 'http', type = 'source');`,
  ),
  `CREATE TEMPORARY TABLE d (id INT NOT NULL, k INT, x INT, ts TIMESTAMP NOT NULL, PRIMARY KEY (id)) WITH (connector = 'single_file', path = 'd.json');`,
].join('\n');

/** The window of ten seconds, as DuckDB can say it. */
const WINDOW = /tumble\(interval '10 seconds'\)/g;

const QUERIES: readonly string[] = [
  'SELECT a.id, b.id AS b FROM a JOIN b ON a.k = b.k',
  'SELECT a.id, b.id AS b FROM a LEFT JOIN b ON a.k = b.k AND a.x < b.x',
  'SELECT a.id, b.id AS b FROM a RIGHT JOIN b ON a.k = b.k AND a.x < b.x AND b.x > 1',
  'SELECT a.id, b.id AS b FROM a FULL JOIN b ON a.k = b.k AND a.x > 0',
  'SELECT a.id, b.id AS b FROM a FULL JOIN b ON a.k IS NOT DISTINCT FROM b.k',
  'SELECT a.id, b.id AS b FROM a LEFT JOIN b ON a.k = b.k WHERE b.id IS NULL OR b.x > a.x',
  'SELECT k, a.x, b.x AS b FROM a JOIN b USING (k)',
  'SELECT k, a.x, b.x AS b FROM a FULL JOIN b USING (k)',
  'SELECT k, a.x, b.x AS b FROM a RIGHT JOIN b USING (k)',
  'SELECT p.id, k, q.x FROM (SELECT id, k FROM a) AS p NATURAL JOIN (SELECT k, x FROM b) AS q',
  'SELECT a.id, b.id AS b, c.id AS c FROM a, b, c WHERE a.k = c.k AND c.x = b.x AND a.x > b.x',
  'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON b.x = c.x',
  'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.k = b.k FULL JOIN c ON c.x = a.x + b.x',
  'SELECT p.id, q.id AS q FROM a AS p JOIN a AS q ON p.k = q.x',
  'SELECT k, count(*) AS n, sum(x) AS s FROM (SELECT a.k, b.x FROM a LEFT JOIN b ON a.k = b.k) AS t GROUP BY k',
  'SELECT p.k, p.n, q.s FROM (SELECT k, count(*) AS n FROM a GROUP BY k) AS p FULL JOIN (SELECT k, sum(x) AS s FROM b GROUP BY k) AS q ON p.k = q.k',
  'SELECT a.id, p.n FROM a LEFT JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) AS p ON a.k = p.k AND p.n > 1',
  "SELECT a.id, b.id AS b FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + interval '5 seconds'",
  "SELECT a.id, b.id AS b FROM a LEFT JOIN b ON a.k = b.k AND b.ts >= a.ts - interval '4 seconds' AND b.ts < a.ts + interval '5 seconds'",
  "SELECT a.id, b.id AS b FROM a RIGHT JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - interval '6 seconds' AND b.ts",
  "SELECT a.id, b.id AS b FROM a FULL JOIN b ON a.k = b.k AND a.ts - b.ts <= interval '2 seconds' AND b.ts < a.ts",
  'SELECT a.id FROM a WHERE a.k IN (SELECT k FROM b)',
  'SELECT a.id FROM a WHERE a.k IN (SELECT b.k FROM b WHERE b.x = a.x)',
  'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM b)',
  'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM b WHERE x > 2)',
  'SELECT a.id FROM a WHERE a.id NOT IN (SELECT id FROM b)',
  'SELECT a.id FROM a WHERE NOT a.k IN (SELECT k FROM b WHERE k IS NOT NULL)',
  'SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > a.x)',
  'SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > a.x) AND a.x > 0',
  'SELECT a.id FROM a WHERE EXISTS (SELECT * FROM b WHERE x > 3)',
  'SELECT a.id FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE x > 3)',
  'SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND NOT EXISTS (SELECT 1 FROM c WHERE c.k = b.x))',
  'SELECT a.id, (SELECT count(*) FROM b WHERE b.k = a.k) AS n FROM a',
  'SELECT a.id, (SELECT max(b.x) + count(*) FROM b WHERE b.k = a.k AND b.x > 0) AS n FROM a',
  'SELECT a.id, (SELECT coalesce(sum(x), 0) - count(x) FROM b) AS s FROM a',
  'SELECT a.id FROM a WHERE a.x > (SELECT min(x) FROM b)',
  'SELECT a.id FROM a WHERE a.x >= (SELECT max(b.x) FROM b WHERE b.k = a.k)',
  'SELECT a.id FROM a WHERE (SELECT count(*) FROM b WHERE b.k = a.k) = 0 OR a.x = 1',
  'SELECT a.id FROM a WHERE a.x = 1 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > 1)',
  'SELECT a.id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS found FROM a',
  'SELECT a.id FROM a WHERE a.x = 1 OR NOT EXISTS (SELECT 1 FROM b WHERE b.x > 2)',
  'SELECT a.id, a.x IN (SELECT x FROM b) AS m FROM a',
  'SELECT a.id, a.x NOT IN (SELECT b.x FROM b WHERE b.k = a.k) AS m FROM a',
  'SELECT a.id, a.id IN (SELECT b.x FROM b WHERE b.x IS NOT NULL) AS m FROM a',
  'SELECT a.id FROM a WHERE a.k NOT IN (SELECT b.k FROM b WHERE b.x = a.x)',
  'SELECT a.id FROM a WHERE NOT (a.x = 1 OR a.x IN (SELECT x FROM b WHERE b.k > 0))',
  'SELECT a.id FROM a WHERE a.x IN (SELECT x FROM b) OR a.k IN (SELECT c.k FROM c WHERE c.x = a.x) OR a.k IS NULL',
  'SELECT a.id FROM a WHERE (a.x IN (SELECT x FROM b)) IS NOT TRUE',
  'SELECT a.id, CASE WHEN a.x IN (SELECT x FROM b) THEN 1 WHEN EXISTS (SELECT 1 FROM c WHERE c.k = a.k) THEN 2 ELSE 3 END AS m FROM a',
  'SELECT a.id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > a.x) AS m FROM a',
  'SELECT a.id, NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > 1 AND a.x > 1) AS m FROM a',
  'SELECT a.id, a.x IN (SELECT b.x FROM b WHERE b.k = a.k AND b.id > a.id + 100) AS m FROM a',
  'SELECT a.id, 2 IN (SELECT b.x FROM b WHERE b.k = a.k) AS m FROM a',
  'SELECT a.id FROM a WHERE 2 NOT IN (SELECT x FROM b)',
  'SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND (b.x = 1 OR b.x IN (SELECT c.x FROM c)))',
  'SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND (a.x = 1 OR b.x IN (SELECT c.x FROM c)))',
  'SELECT a.k, count(*) AS n FROM a GROUP BY a.k HAVING count(*) > (SELECT count(*) FROM b WHERE b.k = a.k)',
  'SELECT a.k, count(*) AS n FROM a GROUP BY a.k HAVING a.k IN (SELECT k FROM b) OR count(*) IN (SELECT c.x FROM c)',
  'SELECT a.k, sum(a.x) AS s, (SELECT max(b.x) FROM b WHERE b.k = a.k) AS m FROM a GROUP BY a.k',
  'SELECT a.k, max(a.x) > (SELECT max(x) FROM b) AS m FROM a GROUP BY a.k',
  'SELECT a.x IN (SELECT x FROM b) AS m, count(*) AS n FROM a GROUP BY m',
  'SELECT a.k, sum((SELECT count(*) FROM b WHERE b.x = a.x)) AS s, count(*) FILTER (WHERE a.x IN (SELECT x FROM c)) AS n FROM a GROUP BY a.k',
  'SELECT a.id, b.id AS b FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c)',
  'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.k = b.k AND NOT EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.k = a.x) JOIN c ON c.k = b.k AND c.x < (SELECT max(x) FROM a)',
  'SELECT a.id, (SELECT t.s FROM (SELECT k, sum(x) AS s FROM b GROUP BY k) AS t WHERE t.k = a.k) AS s FROM a',
  'SELECT a.id, (SELECT coalesce(t.s, 7) FROM (SELECT k, sum(x) AS s FROM b GROUP BY k) AS t WHERE t.k = a.k AND t.s > 1) AS s FROM a',
  'SELECT a.id, (SELECT x FROM b ORDER BY x DESC NULLS LAST, id LIMIT 1) AS s FROM a',
  'SELECT a.id, m.top FROM a, (SELECT max(x) AS top FROM b) AS m WHERE a.x = m.top OR a.k > m.top',
  `SELECT p.k, p.n, q.s FROM (SELECT k, count(*) AS n, tumble(interval '10 seconds') AS w FROM a GROUP BY k, w) AS p
     JOIN (SELECT k, sum(x) AS s, tumble(interval '10 seconds') AS w FROM b GROUP BY k, w) AS q ON p.k = q.k AND p.w = q.w`,
  `SELECT p.k, p.n, q.s FROM (SELECT k, count(*) AS n, tumble(interval '10 seconds') AS w FROM a GROUP BY k, w) AS p
     FULL JOIN (SELECT k, sum(x) AS s, tumble(interval '10 seconds') AS w FROM b GROUP BY k, w) AS q ON p.k = q.k AND p.w = q.w`,
  "SELECT a.id, date_part('second', b.ts) AS s FROM a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts",
  "SELECT a.id, date_part('second', b.ts) AS s FROM a ASOF JOIN b ON b.ts < a.ts AND a.k = b.k",
  "SELECT a.id, date_part('second', b.ts) AS s FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.ts > b.ts",
  'SELECT a.id, t.n, t.top FROM a, LATERAL (SELECT count(*) AS n, max(b.x) AS top FROM b WHERE b.k = a.k) AS t',
  'SELECT a.id, t.n FROM a LEFT JOIN LATERAL (SELECT count(*) AS n FROM b WHERE b.k = a.k AND b.x > 1) AS t ON TRUE WHERE a.x < t.n',
  'SELECT a.id, t.y FROM a CROSS JOIN LATERAL (SELECT b.x + 1 AS y FROM b WHERE b.k = a.k AND b.x > a.x) AS t',
  'SELECT a.id, t.y FROM a LEFT JOIN LATERAL (SELECT b.x AS y FROM b WHERE b.k = a.k AND b.x > a.x) AS t ON TRUE',
  'SELECT a.id, (SELECT b.x + 1 FROM b WHERE b.k = a.k ORDER BY b.x DESC NULLS LAST, b.id LIMIT 1) AS y FROM a',
  'SELECT a.k, count(*) AS n, (SELECT b.id FROM b WHERE b.k = a.k ORDER BY id LIMIT 1 OFFSET 1) AS y FROM a GROUP BY a.k',
  'SELECT a.id, t.y, t.i FROM a, LATERAL (SELECT b.x AS y, b.id AS i FROM b WHERE b.k = a.k ORDER BY y DESC NULLS FIRST, 2 LIMIT 2) AS t',
  'SELECT a.id, t.i FROM a LEFT JOIN LATERAL (SELECT b.id AS i FROM b WHERE b.k = a.k AND b.x > 1 ORDER BY b.ts, b.id DESC LIMIT 1) AS t ON TRUE',
  'SELECT a.id, v.n FROM a JOIN (VALUES (1, 10), (2, 20), (2, 21)) AS v (k, n) ON a.k = v.k',
  'SELECT a.id, v.n FROM a LEFT JOIN (VALUES (1, 10), (2, 20)) AS v (k, n) ON a.k = v.k AND a.x > 1',
  'SELECT a.id, v.n FROM a, (VALUES (1), (3)) AS v (n) WHERE a.x > v.n',
  'SELECT a.id, v.n FROM a FULL JOIN (VALUES (1, 10), (9, 90)) AS v (k, n) ON a.k = v.k',
  'SELECT a.id, d.id AS d FROM a JOIN d ON a.k = d.k',
  'SELECT a.id, d.id AS d FROM a LEFT JOIN d ON a.k = d.k AND a.x < d.x AND d.x > 1',
  'SELECT a.id, d.id AS d FROM d, a WHERE a.k = d.k',
  'SELECT a.id, d.id AS d FROM a JOIN d ON a.x > d.x',
  'SELECT a.id FROM a WHERE a.k NOT IN (SELECT k FROM d WHERE k IS NOT NULL) AND a.k IS NOT NULL',
  'SELECT a.id, b.id AS b, d.x FROM a LEFT JOIN b ON a.k = b.k JOIN d ON d.k = a.x',
];

/** Forms that DuckDB says otherwise. */
const OTHERWISE: readonly (readonly [ours: string, duck: string])[] = [
  [
    'SELECT a.k + 1 AS j, (SELECT count(*) FROM b WHERE b.k = a.k + 1) AS n FROM a GROUP BY a.k + 1',
    'SELECT j, (SELECT count(*) FROM b WHERE b.k = j) AS n FROM (SELECT DISTINCT k + 1 AS j FROM a) AS t',
  ],
  [
    "SELECT a.id, date_part('second', v.ts) AS s FROM a JOIN b FOR SYSTEM_TIME AS OF a.ts AS v ON a.k = v.k",
    "SELECT a.id, date_part('second', v.ts) AS s FROM a ASOF JOIN b AS v ON a.k = v.k AND a.ts >= v.ts",
  ],
  [
    "SELECT a.id, date_part('second', v.ts) AS s FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts AS v ON v.k = a.k",
    "SELECT a.id, date_part('second', v.ts) AS s FROM a ASOF LEFT JOIN b AS v ON a.k = v.k AND a.ts >= v.ts",
  ],
];

type Value = { k: number | null; x: number | null; t: number; late: number };
const rowArbitrary: fc.Arbitrary<Value> = fc.record({
  k: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 6 }),
  x: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 6 }),
  t: fc.integer({ min: 0, max: 2 }),
  late: fc.integer({ min: 0, max: 2 }),
});
const tableArbitrary = fc.array(rowArbitrary, { maxLength: 14 });

/** Nearly in the order of time, never late. */
const rowsOf = (values: readonly Value[], base: number): Row[] => {
  let clock = 0;
  return values.map(({ k, x, t, late }, at) => {
    clock += t;
    return { id: base + at, k, x, ts: BigInt(Math.max(0, clock - late)) * 1_000_000n };
  });
};

const answer = (rows: readonly Row[]): string[] =>
  rows.map((row) => Object.values(row).map(String).join('|')).sort();

describe('what DuckDB says', () => {
  let connection: DuckDBConnection;
  beforeAll(async () => {
    connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    for (const name of TABLES) await connection.run(`CREATE TABLE ${name} ${COLUMNS}`);
  });

  async function ask(query: string, tables: readonly (readonly Row[])[]): Promise<string[]> {
    for (const [at, name] of TABLES.entries()) {
      if (!new RegExp(`\\b${name}\\b`).test(query)) continue;
      await connection.run(`DELETE FROM ${name}`);
      const rows = (tables[at] ?? []).map(
        (row) => `(${row['id']}, ${row['k']}, ${row['x']}, make_timestamp(${row['ts']}))`,
      );
      if (rows.length > 0) await connection.run(`INSERT INTO ${name} VALUES ${rows.join(', ')}`);
    }
    const spoken = query.replace(WINDOW, "time_bucket(interval '10 seconds', ts)");
    const reader = await connection.runAndReadAll(spoken);
    return reader
      .getRows()
      .map((row) => row.map(String).join('|'))
      .sort();
  }

  const cases = [...QUERIES.map((query) => [query, query] as const), ...OTHERWISE];
  test.each(cases)(
    '%s',
    async (query, duck) => {
      await fc.assert(
        fc.asyncProperty(
          tableArbitrary,
          tableArbitrary,
          tableArbitrary,
          tableArbitrary,
          fc.integer({ min: 1, max: 5 }),
          fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 }),
          async (a, b, c, d, batchRows, turns) => {
            const tables = [rowsOf(a, 0), rowsOf(b, 100), rowsOf(c, 200), rowsOf(d, 300)];
            const inputs = Object.fromEntries(TABLES.map((name, at) => [name, tables[at] ?? []]));
            const { rows, failed, late } = runRows(
              `${SOURCES}\n${query};`,
              inputs,
              batchRows,
              turns,
            );
            expect([failed, late]).toEqual([[], []]);
            expect(answer(rows)).toEqual(await ask(duck, tables));
          },
        ),
        { numRuns: 25, seed: 11 },
      );
    },
    30_000,
  );
});
