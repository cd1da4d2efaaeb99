import { expect, test } from 'vitest';
import { printQuery } from '../../src/sql/print-query.ts';
import { queryOf, withoutSpans } from './tree.ts';

/** Text and how the printer, which leaves out what changes nothing, writes it. */
function prints(cases: readonly (readonly [string, string])[]): void {
  for (const [text, wanted] of cases) expect(printQuery(queryOf(text)), text).toBe(wanted);
}

test('a select has all its clauses', () => {
  const query = queryOf(
    'select distinct a as "group", t.*, count(*) n from t x where a > 1 group by 1, b having count(*) > 2 qualify row_number() over () = 1 order by n desc nulls last, 1 limit 10 offset 5 rows',
  );
  expect(query).toMatchObject({
    orderBy: [
      { descending: true, nulls: 'last' },
      { descending: false, nulls: null },
    ],
    limit: { text: '10' },
    offset: { text: '5' },
    body: {
      distinct: true,
      items: [
        { alias: { name: 'group' } },
        { tag: 'wildcard', qualifier: { name: 't' } },
        { alias: { name: 'n' } },
      ],
      from: [{ tag: 'table', name: { name: 't' }, alias: { name: { name: 'x' } } }],
      where: { tag: 'binary' },
      groupBy: [{ tag: 'number' }, { tag: 'path' }],
      having: { tag: 'binary' },
      qualify: { tag: 'binary' },
    },
  });
});

test('the windowed query of every tutorial parses', () => {
  const query = queryOf(
    "SELECT window.start AS s, window.end AS end, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM t GROUP BY window) WHERE n > 1",
  );
  expect(query.body).toMatchObject({
    items: [
      { expression: { parts: [{ name: 'window' }, { name: 'start' }] } },
      { alias: { name: 'end' } },
      {},
    ],
    from: [
      {
        tag: 'derived',
        alias: null,
        query: { body: { items: [{ alias: { name: 'window' } }, {}] } },
      },
    ],
  });
});

test('INTERSECT binds tighter than UNION and EXCEPT, which go from the left', () => {
  const branch = (text: string): string => `SELECT ${text}`;
  const [a, b, c] = [branch('1'), branch('2'), branch('3')];
  prints([
    [`${a} union ${b} intersect ${c}`, `${a} UNION ${b} INTERSECT ${c}`],
    [`${a} union (${b} intersect ${c})`, `${a} UNION ${b} INTERSECT ${c}`],
    [`(${a} union ${b}) intersect ${c}`, `(${a} UNION ${b}) INTERSECT ${c}`],
    [`(${a} except all ${b}) union distinct ${c}`, `${a} EXCEPT ALL ${b} UNION ${c}`],
    [`${a} except (${b} union all ${c})`, `${a} EXCEPT (${b} UNION ALL ${c})`],
    [`(${a} order by 1) union (${b} limit 1)`, `(${a} ORDER BY 1) UNION (${b} LIMIT 1)`],
    [`((${a}))`, a],
    [`((${a} limit 1))`, `${a} LIMIT 1`],
  ]);
  expect(queryOf(`${a} union ${b} intersect ${c}`).body).toMatchObject({
    operator: 'union',
    right: { operator: 'intersect' },
  });
});

test('joins group from the left unless parentheses say otherwise', () => {
  prints([
    ['select * from a inner join b on x = y', 'SELECT * FROM a JOIN b ON x = y'],
    ['select * from a left outer join b using (x, y)', 'SELECT * FROM a LEFT JOIN b USING (x, y)'],
    [
      'select * from a full join b on true right join c on false',
      'SELECT * FROM a FULL JOIN b ON TRUE RIGHT JOIN c ON FALSE',
    ],
    ['select * from a cross join (b join c on x)', 'SELECT * FROM a CROSS JOIN (b JOIN c ON x)'],
    ['select * from (a join b on x) join c on y', 'SELECT * FROM a JOIN b ON x JOIN c ON y'],
    ['select * from a natural join b', 'SELECT * FROM a NATURAL JOIN b'],
    [
      'select * from a semi join b on x left anti join c on y',
      'SELECT * FROM a LEFT SEMI JOIN b ON x LEFT ANTI JOIN c ON y',
    ],
    [
      'select * from a, b as c (x, y), (select 1) d',
      'SELECT * FROM a, b AS c (x, y), (SELECT 1) AS d',
    ],
  ]);
});

test('tables may be queries and calls', () => {
  prints([
    ['select * from ((select 1) union select 2) x', 'SELECT * FROM (SELECT 1 UNION SELECT 2) AS x'],
    ['select * from ((select 1)) x', 'SELECT * FROM (SELECT 1) AS x'],
    ['select * from ((select 1) x join t on true)', 'SELECT * FROM (SELECT 1) AS x JOIN t ON TRUE'],
    [
      'select * from (values (1, 2), (3, 4)) v (a, b)',
      'SELECT * FROM (VALUES (1, 2), (3, 4)) AS v (a, b)',
    ],
    [
      'select * from t, unnest(t.xs) with ordinality u',
      'SELECT * FROM t, unnest(t.xs) WITH ORDINALITY AS u',
    ],
    [
      'select * from t cross join lateral (select t.a) u',
      'SELECT * FROM t CROSS JOIN LATERAL (SELECT t.a) AS u',
    ],
    ['select * from t, lateral unnest(t.xs) as u', 'SELECT * FROM t, LATERAL unnest(t.xs) AS u'],
  ]);
});

test('common tables come first and may name their columns', () => {
  prints([
    [
      'with a as (select 1), b (x) as (select 2) select * from a, b',
      'WITH a AS (SELECT 1), b (x) AS (SELECT 2) SELECT * FROM a, b',
    ],
    [
      'with a as (with b as (select 1) select * from b) (select 1) union select 2',
      'WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT 1 UNION SELECT 2',
    ],
    [
      'with recursive as (select 1) select * from recursive',
      'WITH recursive AS (SELECT 1) SELECT * FROM recursive',
    ],
  ]);
});

test('EXCEPT after a star is a list of columns or the set operator, by what follows', () => {
  prints([
    ['select * except (a, "B") from t', 'SELECT * EXCEPT (a, "B") FROM t'],
    ['select t.* exclude (a) from t', 'SELECT t.* EXCEPT (a) FROM t'],
    ['select * except (select 1)', 'SELECT * EXCEPT SELECT 1'],
    ['select * from t except select * from u', 'SELECT * FROM t EXCEPT SELECT * FROM u'],
  ]);
});

test('every name of a join condition and alias keeps where it stood', () => {
  const { body } = queryOf('SELECT a\nFROM t AS "T"');
  expect(body).toMatchObject({
    span: { start: { line: 1, column: 1 }, end: { line: 2, column: 14 } },
    from: [
      {
        span: { start: { line: 2, column: 6 } },
        alias: { name: { span: { start: { line: 2, column: 11 }, end: { line: 2, column: 14 } } } },
      },
    ],
  });
});

test('comments and space change nothing', () => {
  const plain = queryOf('select a from t where b = 1');
  const spaced = queryOf('select /* x */ a -- y\n\n from\tt where\r\n b=1');
  expect(withoutSpans(spaced)).toEqual(withoutSpans(plain));
});
