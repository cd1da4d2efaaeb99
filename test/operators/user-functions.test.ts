import { describe, expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { runRows } from './run-graph.ts';

const TABLES = `
CREATE TABLE t (id BIGINT, s TEXT, n INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE FUNCTION size(s TEXT) RETURNS INT LANGUAGE javascript AS $$ return s.length; $$;
CREATE FUNCTION picky(n INT) RETURNS INT LANGUAGE javascript AS $$
  if (n < 0) throw new Error('below zero');
  return n * 2;
$$;
CREATE FUNCTION shown(s TEXT) RETURNS TEXT LANGUAGE javascript CALLED ON NULL INPUT AS $$ return String(s); $$;
CREATE FUNCTION letters(s TEXT) RETURNS TABLE (letter TEXT, place INT) LANGUAGE javascript AS $$
  let place = 0;
  for (const letter of s) yield { letter, place: place++ };
$$;
`;

const ROWS: Row[] = [
  { id: 1n, s: 'ab', n: 1 },
  { id: 2n, s: null, n: -1 },
  { id: 3n, s: '', n: null },
  { id: 4n, s: 'äöü', n: 4 },
];

const run = (query: string, batchRows = 2): ReturnType<typeof runRows> =>
  runRows(TABLES + query, { t: ROWS }, batchRows);

describe.each([1, 2, 100])('with batches of %i rows', (batchRows) => {
  test('NULL gives NULL without a call, unless the function wants it', () => {
    expect(run('SELECT id, size(s) AS n, shown(s) AS t FROM t', batchRows).rows).toEqual([
      { id: 1n, n: 2, t: 'ab' },
      { id: 2n, n: null, t: 'null' },
      { id: 3n, n: 0, t: '' },
      { id: 4n, n: 3, t: 'äöü' },
    ]);
  });

  test('a row that throws is an error of that row, with the row', () => {
    const { rows, failed } = run('SELECT id, picky(n) AS n FROM t', batchRows);
    expect(rows.map(({ id }) => id)).toEqual([1n, 3n, 4n]);
    expect(failed.map(({ code, message, raw }) => ({ code, message, raw }))).toEqual([
      {
        code: 'FUNCTION_ERROR',
        message: 'picky(): below zero',
        raw: expect.stringContaining('"n":-1') as unknown,
      },
    ]);
  });

  test('a branch that is not taken is not called', () => {
    const query = `SELECT id, CASE WHEN n < 0 THEN 0 ELSE picky(n) END AS a, coalesce(n, picky(-5)) AS b,
      n > 0 AND picky(n) > 2 AS c, n < 0 OR n IS NULL OR picky(n) > 2 AS d FROM t WHERE id <> 3 OR n > 0`;
    const { rows, failed } = run(query, batchRows);
    expect(failed).toEqual([]);
    expect(rows).toEqual([
      { id: 1n, a: 2, b: 1, c: false, d: false },
      { id: 2n, a: 0, b: -1, c: false, d: true },
      { id: 4n, a: 8, b: 4, c: true, d: true },
    ]);
  });

  test('calls stand in each other, in conditions, in keys and in aggregates', () => {
    expect(
      run('SELECT id, picky(picky(size(s))) AS n FROM t WHERE size(s) > 0', batchRows).rows,
    ).toEqual([
      { id: 1n, n: 8 },
      { id: 4n, n: 12 },
    ]);
    const { rows } = run(
      `SELECT size(s) > 0 AS some, sum(picky(n)) FILTER (WHERE n > 0) AS total FROM t GROUP BY size(s) > 0`,
      batchRows,
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { some: true, total: 10n },
        { some: null, total: null },
        { some: false, total: null },
      ]),
    );
  });

  test('a function of rows gives a row for each, or with LEFT JOIN one without', () => {
    expect(run('SELECT id, l.* FROM t, LATERAL letters(t.s) AS l', batchRows).rows).toEqual([
      { id: 1n, letter: 'a', place: 0 },
      { id: 1n, letter: 'b', place: 1 },
      { id: 4n, letter: 'ä', place: 0 },
      { id: 4n, letter: 'ö', place: 1 },
      { id: 4n, letter: 'ü', place: 2 },
    ]);
    const outer =
      'SELECT id, c FROM t LEFT JOIN LATERAL letters(s) AS l (c, p) ON TRUE WHERE id < 4';
    expect(run(outer, batchRows).rows).toEqual([
      { id: 1n, c: 'a' },
      { id: 1n, c: 'b' },
      { id: 2n, c: null },
      { id: 3n, c: null },
    ]);
    expect(run("SELECT letter FROM letters('xy')", batchRows).rows).toEqual([
      { letter: 'x' },
      { letter: 'y' },
    ]);
  });

  test('an aggregate folds the rows of a group, in windows, in updating results, with its modifiers', () => {
    const declared = `
      CREATE AGGREGATE FUNCTION spread(n INT) RETURNS INT LANGUAGE javascript AS $$
        return n.length === 0 ? null : Math.max(...n) - Math.min(...n);
      $$;
      CREATE AGGREGATE FUNCTION joined(s TEXT, n INT) RETURNS TEXT LANGUAGE javascript CALLED ON NULL INPUT AS $$
        return s.map((text, at) => text + ':' + n[at]).join(' ');
      $$;`;
    const query = `${declared} SELECT id < 4 AS low, spread(n) AS d, joined(s, n ORDER BY id DESC) AS j,
      joined(s, n) FILTER (WHERE id = 4) AS f FROM t GROUP BY id < 4 HAVING spread(n) >= 0`;
    expect(run(query, batchRows).rows).toEqual(
      expect.arrayContaining([
        { low: true, d: 2, j: ':null null:-1 ab:1', f: '' },
        { low: false, d: 0, j: 'äöü:4', f: 'äöü:4' },
      ]),
    );
    const inWindow = `${declared} SELECT joined(s, n ORDER BY id) AS j FROM t WHERE n > 0 GROUP BY tumble(interval '1 hour')`;
    expect(run(inWindow, batchRows).rows).toEqual([{ j: 'ab:1 äöü:4' }]);
    expect(run(`${declared} SELECT spread(id::INT) AS d FROM t`, batchRows).rows).toEqual([
      { d: 3 },
    ]);
    expect(run(`${declared} SELECT spread(n) AS d FROM t WHERE id = 3`, batchRows).rows).toEqual([
      { d: null },
    ]);
  });

  test('a join may be on what a function gives', () => {
    const query =
      'SELECT a.id AS a, b.id AS b FROM t AS a JOIN t AS b ON size(a.s) = picky(b.n) AND a.id < 4';
    expect(run(query, batchRows).rows).toEqual([{ a: 1n, b: 1n }]);
  });
});

const TIMED = TABLES.replace('n INT)', 'n INT, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at)');
const EVERYWHERE: [string, Row[]][] = [
  [
    'SELECT id, unnest(pieces(s)) AS p FROM t WHERE id = 1',
    [
      { id: 1n, p: 'a' },
      { id: 1n, p: 'b' },
    ],
  ],
  [
    'SELECT id, row_number() OVER (PARTITION BY size(s) > 0 ORDER BY at) AS r FROM t WHERE n > 0',
    [
      { id: 1n, r: 1n },
      { id: 4n, r: 2n },
    ],
  ],
  [
    'SELECT id, sum(size(s)) OVER (ORDER BY at) AS r FROM t QUALIFY size(s) > 0',
    [
      { id: 1n, r: 2n },
      { id: 4n, r: 5n },
    ],
  ],
  [
    'SELECT size(s) > 0 AS k, count(*) AS c FROM t GROUP BY size(s) > 0 HAVING size(max(s)) > 1',
    [{ k: true, c: 2n }],
  ],
  ['SELECT id FROM t WHERE size(s) IN (SELECT n + 1 FROM t)', [{ id: 1n }, { id: 3n }]],
  ['SELECT id FROM t ORDER BY size(s) DESC NULLS LAST LIMIT 1', [{ id: 4n }]],
  [
    'SELECT a.id AS a, b.id AS b FROM t a LEFT JOIN t b ON picky(a.n) = size(b.s) WHERE a.id = 1',
    [{ a: 1n, b: 1n }],
  ],
  [
    'SELECT a.id FROM t a JOIN t b ON a.id = b.id AND size(a.s) + size(b.s) > 3',
    [{ id: 1n }, { id: 4n }],
  ],
  [
    'SELECT l.letter, m.letter AS m FROM t, letters(t.s) AS l, letters(l.letter) AS m WHERE t.id = 1',
    [
      { letter: 'a', m: 'a' },
      { letter: 'b', m: 'b' },
    ],
  ],
  [
    'WITH w AS (SELECT size(s) AS z FROM t WHERE n > 0) SELECT z FROM w UNION ALL SELECT z + 1 FROM w',
    [{ z: 2 }, { z: 3 }, { z: 3 }, { z: 4 }],
  ],
];

test.each(EVERYWHERE)('%s', (query, expected) => {
  const rows = ROWS.map((row, at) => ({ ...row, at: BigInt(at) * 1_000_000n }));
  const pieces =
    'CREATE FUNCTION pieces(s TEXT) RETURNS TEXT[] LANGUAGE javascript AS $$ return [...s]; $$;';
  const text = (row: Row): string =>
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
  const found = runRows(TIMED + pieces + query, { t: rows }, 2).rows;
  expect(found.map(text).sort()).toEqual(expected.map(text).sort());
});
