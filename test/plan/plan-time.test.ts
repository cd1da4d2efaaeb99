/** Plans of many joins: how long planning takes must not explode with their number. */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';

const tables = (count: number): string =>
  Array.from(
    { length: count },
    (
      _,
      at,
    ) => `CREATE TABLE t${at} (id INT NOT NULL, k INT, v INT, name TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds')
      WITH (connector = 'http', type = 'source');`,
  ).join('\n');

/** Each table is joined with the one before it, by commas, JOIN or LEFT JOIN; conditions on all of them. */
function joined(count: number): string {
  const rest = Array.from({ length: count - 1 }, (_, index) => index + 1);
  const joins = rest.map((at) => {
    const on = `t${at - 1}.v + 1 = t${at}.k AND t${at}.name <> 'x'`;
    return at % 3 === 0 ? `LEFT JOIN t${at} ON ${on}` : `JOIN t${at} ON ${on}`;
  });
  const where = rest.map((at) => `(t${at}.v > ${at} OR t${at - 1}.v IN (SELECT v FROM t0))`);
  return `SELECT t0.id, ${rest.map((at) => `t${at}.v AS v${at}, (SELECT count(*) FROM t0 WHERE t0.k = t${at}.k) AS n${at}`).join(', ')}
    FROM t0 ${joins.join('\n')} WHERE ${where.join(' AND ')};`;
}

/** CPU time rather than the wall's: other tests run beside this one. */
function planMs(sql: string): number {
  const before = process.cpuUsage();
  const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
  const { user, system } = process.cpuUsage(before);
  expect([graph === null, errors]).toEqual([false, []]);
  return (user + system) / 1000;
}

test('ten tables with a subquery each are planned within a second, and twenty within a few times that', () => {
  planMs(tables(3) + joined(3));
  const ten = planMs(tables(10) + joined(10));
  const twenty = planMs(tables(20) + joined(20));
  expect(ten).toBeLessThan(1_000);
  expect(twenty).toBeLessThan(Math.max(1_000, 16 * ten));
});

test('commas in any order find the joins', () => {
  const count = 10;
  const order = [3, 9, 0, 5, 1, 7, 2, 8, 4, 6];
  const conditions = order.slice(1).map((_, at) => `t${at}.id = t${at + 1}.k`);
  const ms = planMs(
    `${tables(count)} SELECT t0.id FROM ${order.map((at) => `t${at}`).join(', ')} WHERE ${conditions.join(' AND ')};`,
  );
  expect(ms).toBeLessThan(1_000);
});

test.each([
  ['TIMESTAMP', 'JOIN'],
  ['TIMESTAMPTZ', 'JOIN'],
  ['TIMESTAMP', 'UNION ALL'],
])(
  'views of %s that each read the one before twice (%s) are planned once, not two to the power of their number times',
  (type, by) => {
    const views = Array.from({ length: 40 }, (_, at) => {
      const from = at === 0 ? 't0' : `w${at}`;
      const query =
        by === 'JOIN'
          ? `SELECT a.id, a.ts FROM ${from} AS a JOIN ${from} AS b ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + interval '1 second'`
          : `SELECT id, ts FROM ${from} UNION ALL SELECT id, ts FROM ${from}`;
      return `CREATE VIEW w${at + 1} AS ${query};`;
    });
    const ms = planMs(
      `${tables(1).replace('ts TIMESTAMP', `ts ${type}`)} ${views.join('\n')} SELECT count(*) AS n, tumble(interval '1 minute') AS w FROM w40 GROUP BY w;`,
    );
    expect(ms).toBeLessThan(1_000);
  },
);
