/** ROLLUP, CUBE and GROUPING SETS from SQL to rows, against one plain grouping per set in JavaScript. */
import { describe, expect, test } from 'vitest';
import type { Row, Value } from '../../src/batch/values.ts';
import { runSql } from './run-graph.ts';

const BIDS = `CREATE TABLE bid (WATERMARK FOR datetime AS datetime - interval '4 seconds')
  WITH (connector = 'nexmark', table = 'bid', events = '4000');`;

const bids: readonly Row[] = runSql(
  `${BIDS} SELECT channel, bidder % 3 AS b, CASE WHEN price % 5 > 0 THEN price % 5 END AS p, price, datetime FROM bid;`,
).rows;

type Keys = Readonly<Record<string, (row: Row) => Value>>;
type Found = { keys: readonly Value[]; rows: readonly Row[]; bits: number };

/** The groups of each set; `bits` has a 1 for each key that the set leaves out. */
function groupings(keys: Keys, sets: readonly string[], rows: readonly Row[] = bids): Found[] {
  const names = Object.keys(keys);
  return sets.flatMap((set) => {
    const chosen = new Set(set.split(' '));
    const groups = new Map<string, Row[]>();
    const keyOf = (row: Row): Value[] =>
      names.map((name) => (chosen.has(name) ? (keys[name]?.(row) ?? null) : null));
    for (const row of rows) {
      const key = JSON.stringify(keyOf(row).map(String));
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    const bits = Number.parseInt(names.map((name) => (chosen.has(name) ? '0' : '1')).join(''), 2);
    return [...groups.values()].map((group) => ({
      keys: keyOf(group[0] as Row),
      rows: group,
      bits,
    }));
  });
}

const lines = (rows: readonly (readonly unknown[])[]): string[] =>
  rows.map((row) => row.map(String).join(' | ')).toSorted();

const answer = (sql: string): string[] => {
  const { rows, failed } = runSql(`${BIDS} ${sql}`, 512);
  expect(failed).toEqual([]);
  return lines(rows.map((row) => Object.values(row)));
};

const KEYS: Keys = {
  c: (row) => row.channel as Value,
  b: (row) => row.b as Value,
  p: (row) => row.p as Value,
};
const FROM = `FROM (SELECT channel AS c, bidder % 3 AS b, CASE WHEN price % 5 > 0 THEN price % 5 END AS p, price FROM bid)`;
const total = (rows: readonly Row[]): bigint =>
  rows.reduce((sum, row) => sum + (row.price as bigint), 0n);

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['ROLLUP (c, b, p)', ['c b p', 'c b', 'c', '']],
  ['ROLLUP ((c, b), p)', ['c b p', 'c b', '']],
  ['CUBE (c, b, p)', ['c b p', 'c b', 'c p', 'c', 'b p', 'b', 'p', '']],
  ['GROUPING SETS ((c, b), p, ())', ['c b', 'p', '']],
  ['GROUPING SETS (ROLLUP (c, b), CUBE (p))', ['c b', 'c', '', 'p', '']],
  ['c, ROLLUP (b, p)', ['c b p', 'c b', 'c']],
  ['GROUPING SETS (c, b), GROUPING SETS (p, ())', ['c p', 'c', 'b p', 'b']],
  ['GROUPING SETS (c, c)', ['c', 'c']],
  ['(c, b)', ['c b']],
  ['()', ['']],
];

describe('grouping several times', () => {
  test.each(CASES)('GROUP BY %s is one grouping per set', (groupBy, sets) => {
    const used = Object.keys(KEYS).filter((name) => sets.some((set) => set.includes(name)));
    const keys = Object.fromEntries(used.map((name) => [name, KEYS[name] as Keys[string]]));
    const bits = used.length === 0 ? '' : `, grouping(${used.join(', ')}) AS g`;
    const list = used.map((name) => `${name}, `).join('');
    expect(
      answer(`SELECT ${list}count(*) AS n, sum(price) AS s${bits} ${FROM} GROUP BY ${groupBy};`),
    ).toEqual(
      lines(
        groupings(keys, sets).map((group) => [
          ...group.keys,
          group.rows.length,
          total(group.rows),
          ...(used.length === 0 ? [] : [group.bits]),
        ]),
      ),
    );
  });

  test('expressions, positions, HAVING and a key inside an aggregate mean the same as in one grouping', () => {
    const found = answer(
      `SELECT upper(c) AS u, b, max(c) AS top, grouping(b) + 2 * grouping(upper(c)) AS g ${FROM}
       GROUP BY CUBE (1, b) HAVING count(*) > 700 OR grouping(upper(c)) = 0;`,
    );
    const keys: Keys = {
      u: (row) => String(row.channel).toUpperCase(),
      b: (row) => row.b as Value,
    };
    const groups = groupings(keys, ['u b', 'u', 'b', '']).filter(
      ({ rows, bits }) => rows.length > 700 || bits < 2,
    );
    expect(found).toEqual(
      lines(
        groups.map((group) => [
          ...group.keys,
          group.rows
            .map((row) => row.channel as string)
            .toSorted()
            .at(-1),
          group.bits,
        ]),
      ),
    );
    expect(found.length).toBeGreaterThan(4);
  });

  test('each set is computed in each window', () => {
    const found = answer(
      `SELECT w.start, c, b, n, d FROM (
         SELECT tumble(interval '2 seconds') AS w, channel AS c, bidder % 3 AS b, count(*) AS n, count(DISTINCT bidder) AS d
         FROM bid GROUP BY w, ROLLUP (channel, bidder % 3));`,
    );
    const { rows } = runSql(`${BIDS} SELECT channel, bidder, bidder % 3 AS b, datetime FROM bid;`);
    const start = (row: Row): Value =>
      (row.datetime as bigint) - ((row.datetime as bigint) % 2_000_000n);
    const keys: Keys = { w: start, c: (row) => row.channel as Value, b: (row) => row.b as Value };
    expect(found).toEqual(
      lines(
        groupings(keys, ['w c b', 'w c', 'w'], rows).map((group) => [
          ...group.keys,
          group.rows.length,
          new Set(group.rows.map(({ bidder }) => bidder)).size,
        ]),
      ),
    );
  });

  test('rows that are taken back leave every set', () => {
    const inner = `SELECT bidder % 7 AS k, count(*) AS n FROM bid GROUP BY bidder % 7`;
    const counts = runSql(`${BIDS} ${inner};`).rows;
    const keys: Keys = { e: (row) => (row.n as bigint) % 2n, k: (row) => row.k as Value };
    expect(
      answer(
        `SELECT n % 2 AS e, k, count(*) AS c, max(n) AS m FROM (${inner}) GROUP BY CUBE (n % 2, k);`,
      ),
    ).toEqual(
      lines(
        groupings(keys, ['e k', 'e', 'k', ''], counts).map((group) => [
          ...group.keys,
          group.rows.length,
          group.rows
            .map((row) => row.n as bigint)
            .reduce((left, right) => (left > right ? left : right)),
        ]),
      ),
    );
  });
});
