/** Aggregates from SQL to rows, against plain JavaScript over the same rows. */
import { describe, expect, test } from 'vitest';
import type { Row, Value } from '../../src/batch/values.ts';
import { runSql } from './run-graph.ts';

const BIDS = `CREATE TABLE bid (WATERMARK FOR datetime AS datetime - interval '4 seconds')
  WITH (connector = 'nexmark', table = 'bid', events = '9000');`;

const bids = runSql(`${BIDS} SELECT auction, bidder, price, channel, datetime FROM bid;`).rows;

const keyed = (rows: readonly Row[]): Map<Value, Row> =>
  new Map(rows.map((row) => [row.k as Value, row]));

function groupsOf(name: string): Map<Value, Row[]> {
  const groups = new Map<Value, Row[]>();
  for (const bid of bids) {
    const key = bid[name] as Value;
    groups.set(key, [...(groups.get(key) ?? []), bid]);
  }
  return groups;
}

const column = (rows: readonly Row[], name: string): Value[] =>
  rows.map((row) => row[name] as Value);
const ascending = (left: Value, right: Value): number =>
  (left as bigint) < (right as bigint) ? -1 : (left as bigint) > (right as bigint) ? 1 : 0;

describe.each([64, 2048])('in batches of %i rows', (batchRows) => {
  test('DISTINCT, FILTER and ORDER BY inside aggregates', () => {
    const { rows, failed } = runSql(
      `${BIDS} SELECT channel AS k, count(DISTINCT bidder) AS d,
         count(DISTINCT auction) FILTER (WHERE price < 10000) AS f,
         array_agg(price ORDER BY price DESC) FILTER (WHERE price > 50000000) AS a,
         string_agg(DISTINCT CAST(bidder % 3 AS TEXT), ';') AS s,
         last_value(price) AS l, arg_max(auction, price) AS m,
         percentile_disc(0.25) WITHIN GROUP (ORDER BY price) AS p
       FROM bid GROUP BY channel;`,
      batchRows,
    );
    expect(failed).toEqual([]);
    const groups = groupsOf('channel');
    const found = keyed(rows);
    expect(found.size).toBe(groups.size);
    for (const [key, group] of groups) {
      const row = found.get(key) as Row;
      const cheap = group.filter(({ price }) => (price as bigint) < 10000n);
      const dear = column(group, 'price').filter((price) => (price as bigint) > 50000000n);
      const prices = column(group, 'price').sort(ascending);
      expect(row.d).toBe(BigInt(new Set(column(group, 'bidder')).size));
      expect(row.f).toBe(BigInt(new Set(column(cheap, 'auction')).size));
      expect(row.a).toEqual(dear.length === 0 ? null : dear.sort(ascending).reverse());
      expect(row.s).toBe(
        [...new Set(group.map(({ bidder }) => String((bidder as bigint) % 3n)))].sort().join(';'),
      );
      const latest = column(group, 'datetime').sort(ascending).at(-1);
      const last = group.filter(({ datetime }) => datetime === latest);
      expect(row.l).toBe(column(last, 'price').sort(ascending).at(-1));
      const best = group.filter(({ price }) => price === prices.at(-1));
      expect(row.m).toBe(column(best, 'auction').sort(ascending)[0]);
      expect(row.p).toBe(prices[Math.max(0, Math.ceil(0.25 * prices.length) - 1)]);
    }
  });

  test('any aggregate over an updating result', () => {
    const { rows, failed } = runSql(
      `${BIDS} SELECT n % 3 AS k, max(n) AS high, min(bidder) AS low, array_agg(bidder) AS all_of,
         stddev_pop(n) AS sd, approx_distinct(bidder) AS d, first_value(bidder ORDER BY bidder DESC) AS f
       FROM (SELECT bidder, count(*) AS n FROM bid GROUP BY bidder) GROUP BY n % 3;`,
      batchRows,
    );
    expect(failed).toEqual([]);
    const counts = [...groupsOf('bidder')].map(
      ([bidder, group]) => [bidder as bigint, group.length] as const,
    );
    const found = keyed(rows);
    for (const key of new Set(counts.map(([, n]) => n % 3))) {
      const group = counts.filter(([, n]) => n % 3 === key);
      const bidders = group.map(([bidder]) => bidder).sort(ascending);
      const sizes = group.map(([, n]) => n);
      const mean = sizes.reduce((sum, n) => sum + n, 0) / sizes.length;
      const row = found.get(BigInt(key)) as Row;
      expect([row.high, row.low]).toEqual([BigInt(Math.max(...sizes)), bidders[0]]);
      expect(row.all_of).toEqual(bidders);
      expect(row.d).toBe(BigInt(bidders.length));
      expect(row.f).toBe(bidders.at(-1));
      expect(row.sd).toBeCloseTo(
        Math.sqrt(sizes.reduce((sum, n) => sum + (n - mean) ** 2, 0) / sizes.length),
        9,
      );
    }
  });

  test('every kind in a window', () => {
    const { rows } = runSql(
      `${BIDS} SELECT w.start AS k, d, m, c
       FROM (SELECT tumble(interval '2 seconds') AS w, count(DISTINCT bidder) AS d,
               median(price) AS m, corr(price, auction) AS c
             FROM bid GROUP BY w);`,
      batchRows,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      const start = row.k as bigint;
      const group = bids.filter(
        ({ datetime }) =>
          (datetime as bigint) >= start && (datetime as bigint) < start + 2_000_000n,
      );
      expect(row.d).toBe(BigInt(new Set(column(group, 'bidder')).size));
      const prices = column(group, 'price').sort(ascending).map(Number);
      const middle = (prices.length - 1) / 2;
      expect(row.m).toBe(
        ((prices[Math.floor(middle)] as number) + (prices[Math.ceil(middle)] as number)) / 2,
      );
      expect(Math.abs(row.c as number)).toBeLessThan(1);
    }
  });
});
