/** The planner on texts that nearly mean something: every one gets a graph or an error with a place. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planSql } from '../../src/graph/plan-sql.ts';
import { CONNECTORS } from './catalog.ts';
import { goldenCases, readGolden } from './golden.ts';

const programs = ['plan', 'errors', 'arroyo'].flatMap((folder) =>
  goldenCases(folder, '.sql').flatMap((name) => readGolden(folder, `${name}.sql`).split(/^---\n/m)),
);

const tokensOf = (text: string): string[] =>
  text.match(/--[^\n]*\n|'[^']*'|"[^"]*"|\w+|\s+|[^\w\s]/g) ?? [];
const words = programs.flatMap(tokensOf).filter((token) => !token.startsWith('--'));

/** A program with some tokens dropped, doubled or replaced by tokens of other programs. */
const damaged = fc
  .record({
    text: fc.constantFrom(...programs),
    edits: fc.array(
      fc.record({
        at: fc.nat(),
        what: fc.constantFrom('drop', 'double', 'replace', 'swap'),
        word: fc.constantFrom(...words),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ text, edits }) => {
    const tokens = tokensOf(text);
    for (const { at, what, word } of edits) {
      const place = at % tokens.length;
      const token = tokens[place] ?? '';
      if (what === 'drop') tokens.splice(place, 1);
      else if (what === 'double') tokens.splice(place, 0, token);
      else if (what === 'replace') tokens[place] = word;
      else tokens.splice(place, 0, ...tokens.splice(Math.min(place + 2, tokens.length - 1), 1));
    }
    return tokens.join('');
  });

test('a damaged program is planned or refused, and nothing is thrown', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(damaged, (text) => {
      const { graph, errors } = planSql(text, CONNECTORS, { defaultSink: 'preview' });
      expect(graph === null).toBe(errors.length > 0);
      for (const error of errors) expect(error.span).toBeDefined();
    }),
    { numRuns: Number(process.env['RUNS'] ?? 300) },
  );
});

const T =
  "CREATE TABLE t (k INT, x INT, s TEXT, xs INT[]) WITH (connector = 'http', type = 'source');";

/** Milliseconds to plan a program, the least of three; its graph must be there, or errors with places. */
function planMs(text: string, wanted: 'planned' | 'refused' | 'either'): number {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn++) {
    const from = performance.now();
    const { graph, errors } = planSql(text, CONNECTORS, { defaultSink: 'preview' });
    least = Math.min(least, performance.now() - from);
    expect(graph === null).toBe(errors.length > 0);
    if (wanted !== 'either')
      expect(graph !== null, JSON.stringify(errors[0])).toBe(wanted === 'planned');
    for (const error of errors) expect(error.span).toBeDefined();
  }
  return least;
}

const repeat = (count: number, each: (at: number) => string, between = ''): string =>
  Array.from({ length: count }, (_, at) => each(at)).join(between);
const nested = (depth: number, open: string, inner: string, close: string): string =>
  open.repeat(depth) + inner + close.repeat(depth);

const joined = (count: number): string =>
  `SELECT t0.x FROM t t0${repeat(count - 1, (at) => ` JOIN t t${at + 1} ON t${at}.k = t${at + 1}.k`)};`;

test.each([
  ['forty joins', joined(40), 'planned'],
  [
    'commas that WHERE joins',
    `SELECT t0.x FROM ${repeat(20, (at) => `t t${at}`, ', ')} WHERE ${repeat(19, (at) => `t${at}.k = t${at + 1}.k`, ' AND ')};`,
    'planned',
  ],
  [
    'joins nested to the left',
    `SELECT 1 AS one FROM ${nested(60, '(', 't t0', ' JOIN t t1 USING (k))')};`,
    'either',
  ],
  ['queries in queries', `SELECT x FROM ${nested(60, '(SELECT x FROM ', 't', ')')};`, 'planned'],
  [
    'more of them than may be',
    `SELECT x FROM ${nested(400, '(SELECT x FROM ', 't', ')')};`,
    'refused',
  ],
  [
    'OVER over OVER',
    `SELECT r FROM ${nested(40, '(SELECT k, row_number() OVER (PARTITION BY k ORDER BY r) AS r FROM ', '(SELECT k, x AS r FROM t)', ')')};`,
    'planned',
  ],
  ['OVER within OVER', `SELECT ${nested(50, 'sum(', 'x', ') OVER ()')} FROM t;`, 'refused'],
  [
    'CASE within CASE',
    `SELECT ${nested(100, 'CASE WHEN x > 1 THEN ', '1', ' ELSE 2 END')} AS y FROM t;`,
    'planned',
  ],
  [
    'more CASE than may be',
    `SELECT ${nested(2000, 'CASE WHEN x > 1 THEN ', '1', ' ELSE 2 END')} AS y FROM t;`,
    'refused',
  ],
  [
    'a CASE of many branches',
    `SELECT CASE x ${repeat(1000, (at) => `WHEN ${at} THEN ${at}`, ' ')} END AS y FROM t;`,
    'planned',
  ],
  [
    'calls with many windows',
    `SELECT ${repeat(60, (at) => `sum(x) OVER (PARTITION BY k ORDER BY s ROWS ${at + 1} PRECEDING) AS a${at}`, ', ')} FROM t;`,
    'planned',
  ],
  [
    'one list taken apart again and again',
    `SELECT count(*) AS n FROM t${repeat(40, (at) => `, unnest(xs) AS u${at} (e${at})`)};`,
    'planned',
  ],
  ['unnest within unnest', `SELECT ${nested(60, 'unnest(', 'xs', ')')} FROM t;`, 'refused'],
  [
    'EXISTS in EXISTS',
    `SELECT x FROM t WHERE ${nested(30, 'EXISTS (SELECT 1 FROM t WHERE x > 1 AND ', 'true', ')')};`,
    'either',
  ],
  ['UNION of many', `${repeat(200, () => 'SELECT x FROM t', ' UNION ALL ')};`, 'planned'],
  [
    'views over views, each read twice',
    `${repeat(40, (at) => `CREATE VIEW v${at} AS SELECT a.k, a.x FROM ${at === 0 ? 't' : `v${at - 1}`} a JOIN ${at === 0 ? 't' : `v${at - 1}`} b ON a.k = b.k;`)} SELECT x FROM v39;`,
    'planned',
  ],
  [
    'groupings by many sets',
    `SELECT k, x, s, count(*) AS n FROM t GROUP BY CUBE (${repeat(30, (at) => `k + ${at}`, ', ')});`,
    'either',
  ],
] as const)('%s', { timeout: 30_000 }, (_, query, wanted) => {
  expect(planMs(`${T} ${query}`, wanted)).toBeLessThan(4_000);
});

test('a join of ten tables with conditions, groups and an order is planned in less than a second', () => {
  const query = `SELECT t0.s, count(*) AS n, max(t9.x) AS m FROM t t0${repeat(9, (at) => ` JOIN t t${at + 1} ON t${at}.k = t${at + 1}.k AND t${at}.x < t${at + 1}.x`)}
    WHERE t3.x > 1 AND t5.s LIKE 'a%' GROUP BY t0.s HAVING count(*) > 1 ORDER BY n DESC LIMIT 3;`;
  expect(planMs(`${T} ${query}`, 'planned')).toBeLessThan(1_000);
});
