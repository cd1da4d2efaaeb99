/**
 * Nexmark from SQL to rows, against hashes that DuckDB computed over the same data:
 * the sum of the first 48 bits of each row's MD5, modulo 10^12, columns joined by `|`, times in milliseconds.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Row } from '../../src/batch/values.ts';
import { runRows, runSql } from './run-graph.ts';

const EVENTS = 1_086_957;

function digest(rows: readonly Row[], times: readonly string[]): string {
  let sum = 0n;
  for (const row of rows) {
    const line = Object.entries(row)
      .map(([name, value]) => (times.includes(name) ? (value as bigint) / 1000n : value))
      .join('|');
    sum += BigInt(`0x${createHash('md5').update(line).digest('hex').slice(0, 12)}`);
  }
  return `${rows.length} | ${sum % 1_000_000_000_000n}`;
}

const bids = (watermark: string): string => `
  CREATE TABLE bid (WATERMARK FOR datetime AS ${watermark})
    WITH (connector = 'nexmark', table = 'bid', events = '${EVENTS}');`;

test('q12, bids of each bidder in every ten seconds, is what DuckDB says', () => {
  const { rows, late, failed } = runSql(`${bids("datetime - interval '4 seconds'")}
    SELECT bidder, n, w.start AS start
    FROM (SELECT bidder, count(*) AS n, tumble(interval '10 seconds') AS w FROM bid GROUP BY bidder, w);`);
  expect(digest(rows, ['start'])).toBe('30017 | 920894550341');
  expect([late, failed]).toEqual([[], []]);
}, 60_000);

test('q2, the bids on every 123rd auction, is what DuckDB says', () => {
  const { rows } = runSql(`${bids('datetime')}
    SELECT auction, price FROM bid WHERE auction % 123 = 0;`);
  expect(digest(rows, [])).toBe('7950 | 829035812287');
}, 60_000);

const tables = `
  CREATE TABLE bid (WATERMARK FOR datetime AS datetime - interval '4 seconds')
    WITH (connector = 'nexmark', table = 'bid', events = '${EVENTS}');
  CREATE TABLE auction (WATERMARK FOR datetime AS datetime - interval '4 seconds')
    WITH (connector = 'nexmark', table = 'auction', events = '${EVENTS}');
  CREATE TABLE person (WATERMARK FOR datetime AS datetime - interval '4 seconds')
    WITH (connector = 'nexmark', table = 'person', events = '${EVENTS}');`;

test('q3, who sells in three states in one category, is what DuckDB says', () => {
  const { rows } = runSql(`${tables}
    SELECT P.name, P.city, P.state, A.id
    FROM auction AS A JOIN person AS P ON A.seller = P.id
    WHERE A.category = 10 AND P.state IN ('OR', 'ID', 'CA');`);
  expect(digest(rows, [])).toBe('6051 | 897266138030');
}, 60_000);

test('q7, the highest bids of every ten seconds, is what DuckDB says', () => {
  const { rows, late } = runSql(`${tables}
    SELECT B.auction, B.price, B.bidder, B.datetime
    FROM (SELECT auction, price, bidder, datetime, tumble(interval '10 seconds') AS w
          FROM bid GROUP BY auction, price, bidder, datetime, w) B
    JOIN (SELECT max(price) AS p, tumble(interval '10 seconds') AS w FROM bid GROUP BY w) M
      ON B.price = M.p AND B.w = M.w;`);
  expect(digest(rows, ['datetime'])).toBe('11 | 608899680730');
  expect(late).toEqual([]);
}, 60_000);

test('q8, who made an auction in the ten seconds they came in, is what DuckDB says', () => {
  const { rows, late } = runSql(`${tables}
    SELECT P.id, P.name, P.w.start AS start
    FROM (SELECT id, name, tumble(interval '10 seconds') AS w FROM person GROUP BY id, name, w) P
    JOIN (SELECT seller, tumble(interval '10 seconds') AS w FROM auction GROUP BY seller, w) A
      ON P.id = A.seller AND P.w = A.w;`);
  expect(digest(rows, ['start'])).toBe('9182 | 817936951331');
  expect(late).toEqual([]);
}, 60_000);

test('q20, the bids on auctions of one category, is what DuckDB says', () => {
  const { rows } = runSql(`${tables}
    SELECT B.auction, bidder, price, channel, B.datetime, A.item_name, initial_bid, reserve, seller
    FROM bid B JOIN auction A ON B.auction = A.id WHERE A.category = 10;`);
  expect(digest(rows, ['datetime'])).toBe('206517 | 186157572837');
}, 60_000);

test('q5, the auctions with most bids in ten seconds, every two seconds, is what DuckDB says', () => {
  const { rows, late } = runSql(`${bids("datetime - interval '4 seconds'")}
    CREATE VIEW counts AS SELECT auction, count(*) AS num, hop(interval '2 seconds', interval '10 seconds') AS w
      FROM bid GROUP BY auction, w;
    SELECT C.auction, C.num, C.w.start AS start FROM counts AS C
      JOIN (SELECT max(num) AS most, w FROM counts GROUP BY w) AS M ON C.w = M.w AND C.num = M.most;`);
  expect(digest(rows, ['start'])).toBe('64 | 364805855354');
  expect(late).toEqual([]);
}, 60_000);

test('q11, the bids of each session of a bidder, is what DuckDB says', () => {
  const { rows, late } = runSql(`${bids("datetime - interval '4 seconds'")}
    SELECT bidder, n, w.start AS start, w.end AS till
    FROM (SELECT bidder, count(*) AS n, session(interval '10 seconds') AS w FROM bid GROUP BY bidder, w);`);
  expect(digest(rows, ['start', 'till'])).toBe('21664 | 835170010831');
  expect(late).toEqual([]);
}, 60_000);

test('q4, the mean of the winning prices of each category, is what DuckDB says', () => {
  const { rows } = runSql(`${tables}
    SELECT category, sum(final) / count(*) AS a FROM (
      SELECT max(B.price) AS final, A.category FROM auction A JOIN bid B
        ON A.id = B.auction AND B.datetime BETWEEN A.datetime AND A.expires
      GROUP BY A.id, A.category) AS won GROUP BY category;`);
  expect(digest(rows, [])).toBe('5 | 770726881713');
}, 60_000);

test('q9, the winning bid of each auction, is what DuckDB says', () => {
  const { rows } = runSql(`${tables}
    SELECT id, seller, category, reserve, bidder, price, bdt FROM (
      SELECT A.id, A.seller, A.category, A.reserve, B.bidder, B.price, B.datetime AS bdt,
        row_number() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.datetime) AS rn
      FROM auction A JOIN bid B ON A.id = B.auction AND B.datetime BETWEEN A.datetime AND A.expires) AS ranked
    WHERE rn = 1;`);
  expect(digest(rows, ['bdt'])).toBe('60769 | 399154497667');
}, 60_000);

test('q23, bids with who made them and what they sell, are as many as DuckDB says', () => {
  const { rows } = runSql(`${tables}
    SELECT count(*) AS n FROM bid B JOIN person P ON P.id = B.bidder JOIN auction A ON A.seller = B.bidder;`);
  expect(rows).toEqual([{ n: 1_385_837n }]);
}, 60_000);

test('q13, bids with what is known of their auctions in a table that is read first, is what DuckDB says', () => {
  const side = Array.from({ length: 10_000 }, (_, key) => ({ key: BigInt(key), value: `${key}` }));
  const { rows, late } = runRows(
    `CREATE TABLE bid (WATERMARK FOR datetime AS datetime) WITH (connector = 'nexmark', table = 'bid', events = '108695');
    CREATE TEMPORARY TABLE side_input (key BIGINT PRIMARY KEY, value TEXT) WITH (connector = 'single_file', path = 'side.json');
    SELECT B.auction, B.bidder, B.price, B.datetime, S.value FROM bid B JOIN side_input S ON B.auction % 10000 = S.key;`,
    { side_input: side },
  );
  expect(digest(rows, ['datetime'])).toBe('99999 | 885930442973');
  expect(late).toEqual([]);
}, 60_000);
