/** Random programs that are right: for properties of planner and graph. */
import fc from 'fast-check';

/** Tables `t` and `u`, view `v`: every program stands below them. */
export const TABLES = `
CREATE TABLE t (ts TIMESTAMP NOT NULL, a INT, b BIGINT, k TEXT, g BIGINT GENERATED ALWAYS AS (coalesce(b, 0) + 1), WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE u (ts TIMESTAMP NOT NULL, a INT, b BIGINT, k TEXT, unused TEXT, WATERMARK FOR ts AS ts - interval '1 second') WITH (connector = 'http', late_rows = 'dead_letter');
CREATE VIEW v AS SELECT a, b + 1 AS b, k, ts FROM t WHERE a > -3;
`;

/** Every query gives columns a (INT), b (BIGINT) and k (TEXT), so that queries nest freely. */
const query: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1
    ? table()
    : fc.oneof(table(), projected(depth), filtered(depth), union(depth), windowed(depth)),
);

const table = (): fc.Arbitrary<string> =>
  fc.constantFrom(
    'SELECT a, b, k FROM t',
    'SELECT a, b, k FROM u',
    'SELECT a, b, k FROM v',
    'SELECT a, g AS b, k FROM t',
  );

const value = fc.constantFrom('a', 'a + 1', '-a', '2', 'CASE WHEN a > 0 THEN a ELSE 7 END', 'NULL');
const wide = fc.constantFrom('b', 'b + a', 'a + b * 2', 'coalesce(b, 1)', '1 + 2');
const text = fc.constantFrom('k', "'x'", 'upper(k)', "coalesce(k, 'none')");
const condition = fc.constantFrom(
  'a > 0',
  'b IS NOT NULL',
  "k = 'p'",
  'a < b',
  'a = 1 OR b = 2',
  "k LIKE 'p%' AND a <> 2",
  '1 = 1',
  'a > 0 AND b > 0 AND NOT (a = b)',
  'b IN (1, 2, 3)',
  '1 = 2',
);

const projected = (depth: number): fc.Arbitrary<string> =>
  fc
    .tuple(value, wide, text, query(depth - 1))
    .map(
      ([a, b, k, inner]) =>
        `SELECT CAST(${a} AS INT) AS a, CAST(${b} AS BIGINT) AS b, ${k} AS k FROM (${inner}) AS q`,
    );

const filtered = (depth: number): fc.Arbitrary<string> =>
  fc
    .tuple(condition, query(depth - 1))
    .map(([where, inner]) => `SELECT * FROM (${inner}) AS q WHERE ${where}`);

const union = (depth: number): fc.Arbitrary<string> =>
  fc
    .tuple(query(depth - 1), query(depth - 1))
    .map(([left, right]) => `(${left}) UNION ALL (${right})`);

const windowed = (depth: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('3 seconds', '10 seconds'),
      fc.constantFrom('', ' FILTER (WHERE a > 0)'),
      query(depth - 1),
      fc.boolean(),
    )
    .map(([width, filter, inner, keyed]) =>
      keyed
        ? `SELECT a, n AS b, k FROM (SELECT k, CAST(max(a) AS INT) AS a, count(*)${filter} AS n, sum(b) AS s, tumble(interval '${width}') AS w FROM (${inner}) AS q GROUP BY k, w) AS x`
        : `SELECT CAST(n AS INT) AS a, s AS b, 'all' AS k FROM (SELECT count(b)${filter} AS n, sum(b) AS s, min(a) AS least, tumble(interval '${width}') AS w FROM (${inner}) AS q GROUP BY w) AS x WHERE n < 100`,
    );

/** One statement. */
export const statement: fc.Arbitrary<string> = fc
  .tuple(query(4), fc.constantFrom('plain', 'updating', 'distinct', 'narrow'))
  .map(([inner, kind]) => {
    if (kind === 'updating')
      return `SELECT k, count(*) AS n, sum(b) AS s, max(a) AS m FROM (${inner}) AS q GROUP BY k HAVING count(*) > 1;`;
    if (kind === 'distinct') return `SELECT DISTINCT a, k FROM (${inner}) AS q;`;
    return kind === 'narrow' ? `SELECT k FROM (${inner}) AS q;` : `${inner};`;
  });

/** Statements of a program, on lines of their own. */
export const statements: fc.Arbitrary<string> = fc
  .array(statement, { minLength: 1, maxLength: 3 })
  .map((list) => list.join('\n'));
