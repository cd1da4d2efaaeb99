/**
 * The 24 Nexmark queries as jobs. Their meaning is that of nexmark/nexmark; where it leaves an order open, ties are
 * broken by more columns, so that every engine must give the same rows. q10 is its projection only, q12 uses event time
 * instead of processing time.
 */
import type { Job } from '../job.ts';

const WINNING = `
  SELECT a.id AS id, a.seller AS seller, a.category AS category, a.reserve AS reserve, b.bidder AS bidder, b.price AS price, b.datetime AS sold,
    row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.datetime ASC, b.bidder ASC) AS place
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.datetime BETWEEN a.datetime AND a.expires`;

const CLOSING = `
  SELECT a.id AS id, a.category AS category, max(b.price) AS final
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.datetime BETWEEN a.datetime AND a.expires
  GROUP BY a.id, a.category`;

const CHANNEL_ID = (extract: string): string => `
SELECT auction, bidder, price, channel, CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2' WHEN 'baidu' THEN '3' ELSE ${extract} END AS channel_id
FROM bid WHERE lower(channel) IN ('apple', 'google', 'facebook', 'baidu') OR url LIKE '%channel_id=%'`;

const DAY = {
  thalweg: `to_char(datetime, 'YYYY-MM-DD')`,
  duckdb: `strftime(datetime, '%Y-%m-%d')`,
};

const RANGES = [
  '',
  ' FILTER (WHERE price < 10000)',
  ' FILTER (WHERE price >= 10000 AND price < 1000000)',
  ' FILTER (WHERE price >= 1000000)',
];
const counted = (what: string, name: string): string =>
  RANGES.map((range, at) => `count(${what})${range} AS ${name}_${at}`).join(', ');
const statistics = (day: string, key: string): string => `
SELECT ${key}${day} AS day, ${counted('*', 'bids')}, ${counted('DISTINCT bidder', 'bidders')}, ${counted('DISTINCT auction', 'auctions')}
FROM bid GROUP BY ${key}${day}`;

const perAuctionDay = (day: string): string => `
SELECT auction, ${day} AS day, ${counted('*', 'bids')}, min(price) AS lowest, max(price) AS highest, avg(price) AS mean, sum(price) AS total
FROM bid GROUP BY auction, ${day}`;

const LAST_BID = `
SELECT auction, bidder, price, datetime FROM (
  SELECT auction, bidder, price, datetime, row_number() OVER (PARTITION BY bidder, auction ORDER BY datetime DESC, price DESC) AS place FROM bid)
WHERE place = 1`;

const TOP_TEN = `
SELECT auction, price, place FROM (
  SELECT auction, price, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bid)
WHERE place <= 10`;

const PASS_ON = 'SELECT auction, bidder, price, datetime, extra FROM bid';
const CURRENCY =
  'SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price, datetime, extra FROM bid';
const SELECTION = 'SELECT auction, price FROM bid WHERE auction % 123 = 0';
const LOCAL_ITEMS = `SELECT p.name AS name, p.city AS city, p.state AS state, a.id AS id FROM auction a JOIN person p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')`;
const CATEGORY_MEANS = `SELECT category, avg(final) AS mean FROM (${CLOSING}) GROUP BY category`;
const SELLER_MEANS = `SELECT seller, id, avg(price) OVER (PARTITION BY seller ORDER BY sold, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS mean
FROM (${WINNING}) WHERE place = 1`;
const WINNING_BIDS = `SELECT id, seller, category, reserve, bidder, price, sold FROM (${WINNING}) WHERE place = 1`;
const SIDE_INPUT =
  'SELECT b.auction AS auction, b.bidder AS bidder, b.price AS price, b.datetime AS datetime, s.value AS value FROM bid b JOIN side_input s ON b.auction % 10000 = s.key';
const DAYTIME = `SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price,
  CASE WHEN extract(hour FROM datetime) BETWEEN 8 AND 18 THEN 'dayTime' WHEN extract(hour FROM datetime) <= 6 OR extract(hour FROM datetime) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS part,
  datetime, length(extra) - length(replace(extra, 'c', '')) AS c_count
FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000`;
const EXPANDED = `SELECT b.auction AS auction, b.bidder AS bidder, b.price AS price, b.channel AS channel, b.datetime AS datetime, a.item_name AS item_name, a.initial_bid AS initial_bid, a.reserve AS reserve, a.seller AS seller
FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10`;
const DIRECTORIES =
  "SELECT auction, bidder, price, channel, split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3 FROM bid";
const THREE_WAY = `SELECT b.bidder AS bidder, b.price AS price, p.id AS id, p.name AS name, a.item_name AS item_name, a.seller AS seller, a.category AS category
FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder`;

const HOP_COUNTS = `SELECT auction, count(*) AS num, hop(interval '2 seconds', interval '10 seconds') AS window FROM bid GROUP BY auction, window`;
const HOT_ITEMS = {
  thalweg: `SELECT c.auction AS auction, c.num AS num, c.window.start AS start
FROM (${HOP_COUNTS}) AS c
JOIN (SELECT max(num) AS top, window FROM (${HOP_COUNTS}) GROUP BY window) AS m
ON c.window = m.window AND c.num = m.top`,
  duckdb: `SELECT auction, num, start FROM (
  SELECT *, max(num) OVER (PARTITION BY start) AS top FROM (
    SELECT auction, pane - slides * INTERVAL 2 SECOND AS start, sum(n)::BIGINT AS num FROM (
      SELECT auction, time_bucket(INTERVAL 2 SECOND, datetime) AS pane, count(*) AS n FROM bid GROUP BY ALL), range(5) AS t(slides)
    GROUP BY ALL))
WHERE num = top`,
  clickhouse: `SELECT auction, num, start FROM (
  SELECT *, max(num) OVER (PARTITION BY start) AS top FROM (
    SELECT auction, pane - toIntervalSecond(2 * arrayJoin(range(5))) AS start, sum(n) AS num FROM (
      SELECT auction, toStartOfInterval(datetime, INTERVAL 2 SECOND) AS pane, count() AS n FROM bid GROUP BY ALL)
    GROUP BY ALL))
WHERE num = top`,
};

/** The highest bid of each ten seconds, joined back. */
const HIGHEST = {
  thalweg: `SELECT b.auction AS auction, b.price AS price, b.bidder AS bidder, b.datetime AS datetime
FROM (SELECT auction, price, bidder, datetime, tumble(interval '10 seconds') AS window FROM bid GROUP BY auction, price, bidder, datetime, window) AS b
JOIN (SELECT max(price) AS top, tumble(interval '10 seconds') AS window FROM bid GROUP BY window) AS m
ON b.window = m.window AND b.price = m.top`,
  duckdb: `SELECT b.auction, b.price, b.bidder, b.datetime FROM bid b JOIN (
  SELECT max(price) AS top, time_bucket(INTERVAL 10 SECOND, datetime) AS start FROM bid GROUP BY start) m
ON b.price = m.top AND time_bucket(INTERVAL 10 SECOND, b.datetime) = m.start`,
};

const NEW_SELLERS = {
  thalweg: `SELECT p.id AS id, p.name AS name, p.window.start AS start
FROM (SELECT id, name, tumble(interval '10 seconds') AS window FROM person GROUP BY id, name, window) AS p
JOIN (SELECT seller, tumble(interval '10 seconds') AS window FROM auction GROUP BY seller, window) AS a
ON p.id = a.seller AND p.window = a.window`,
  duckdb: `SELECT p.id, p.name, p.start FROM (
  SELECT DISTINCT id, name, time_bucket(INTERVAL 10 SECOND, datetime) AS start FROM person) p
JOIN (SELECT DISTINCT seller, time_bucket(INTERVAL 10 SECOND, datetime) AS start FROM auction) a
ON p.id = a.seller AND p.start = a.start`,
};

const SESSIONS = {
  thalweg: `SELECT bidder, n, window.start AS begin_at, window.end AS end_at FROM (
  SELECT bidder, count(*) AS n, session(interval '10 seconds') AS window FROM bid GROUP BY bidder, window)`,
  duckdb: `SELECT bidder, count(*) AS n, min(datetime) AS begin_at, max(datetime) + INTERVAL 10 SECOND AS end_at FROM (
  SELECT *, sum(fresh) OVER (PARTITION BY bidder ORDER BY datetime ROWS UNBOUNDED PRECEDING) AS visit FROM (
    SELECT bidder, datetime, CASE WHEN datetime - lag(datetime) OVER (PARTITION BY bidder ORDER BY datetime) < INTERVAL 10 SECOND THEN 0 ELSE 1 END AS fresh FROM bid))
GROUP BY bidder, visit`,
};

const WITH_PARTITION = {
  thalweg: `SELECT auction, bidder, price, datetime, ${DAY.thalweg} AS day, to_char(datetime, 'HH24:MI') AS minute FROM bid`,
  duckdb: `SELECT auction, bidder, price, datetime, ${DAY.duckdb} AS day, strftime(datetime, '%H:%M') AS minute FROM bid`,
};

const WINDOW_COUNTS = {
  thalweg: `SELECT bidder, n, window.start AS start FROM (
  SELECT bidder, count(*) AS n, tumble(interval '10 seconds') AS window FROM bid GROUP BY bidder, window)`,
  duckdb:
    'SELECT bidder, count(*) AS n, time_bucket(INTERVAL 10 SECOND, datetime) AS start FROM bid GROUP BY ALL',
};

const same = (sql: string): { thalweg: string; duckdb: string } => ({ thalweg: sql, duckdb: sql });

export const NEXMARK: readonly Job[] = [
  {
    name: 'q0',
    summary: 'pass on 5 columns',
    inputs: ['bids'],
    ...same(PASS_ON),
  },
  {
    name: 'q1',
    summary: 'price to another currency, as a decimal',
    inputs: ['bids'],
    ...same(CURRENCY),
    clickhouse:
      "SELECT auction, bidder, CAST(toDecimal64('0.908', 3) * price AS Decimal(23, 3)) AS price, datetime, extra FROM bid",
    programs: ['node', 'node-lines'],
    twins: true,
  },
  {
    name: 'q2',
    summary: 'filter by auction',
    inputs: ['bids'],
    ...same(SELECTION),
    clickhouse: SELECTION,
  },
  {
    name: 'q3',
    summary: 'auctions ⋈ persons, filtered; updating',
    inputs: ['auctions', 'persons'],
    ...same(LOCAL_ITEMS),
  },
  {
    name: 'q4',
    summary: 'mean of the closing prices by category; over changes',
    inputs: ['bids', 'auctions'],
    ...same(CATEGORY_MEANS),
  },
  {
    name: 'q5',
    summary: 'auctions with most bids, hop 10 s by 2 s',
    inputs: ['bids'],
    ...HOT_ITEMS,
    programs: ['node', 'node-lines'],
  },
  {
    name: 'q6',
    summary: 'mean of the last closing prices by seller; OVER over changes',
    inputs: ['bids', 'auctions'],
    ...same(SELLER_MEANS),
  },
  { name: 'q7', summary: 'highest bid, tumble 10 s', inputs: ['bids'], ...HIGHEST },
  {
    name: 'q8',
    summary: 'new persons with new auctions, tumble 10 s',
    inputs: ['auctions', 'persons'],
    ...NEW_SELLERS,
  },
  {
    name: 'q9',
    summary: 'winning bid of each auction',
    inputs: ['bids', 'auctions'],
    ...same(WINNING_BIDS),
  },
  { name: 'q10', summary: 'columns of day and minute', inputs: ['bids'], ...WITH_PARTITION },
  { name: 'q11', summary: 'bids of each session of 10 s', inputs: ['bids'], ...SESSIONS },
  { name: 'q12', summary: 'bids by bidder, tumble 10 s', inputs: ['bids'], ...WINDOW_COUNTS },
  {
    name: 'q13',
    summary: 'bids ⋈ 10,000 rows of side input',
    inputs: ['bids', 'side_input'],
    ...same(SIDE_INPUT),
  },
  { name: 'q14', summary: 'CASE, text functions, filter', inputs: ['bids'], ...same(DAYTIME) },
  {
    name: 'q15',
    summary: '12 counts by day, 8 of them distinct',
    inputs: ['bids'],
    thalweg: statistics(DAY.thalweg, ''),
    duckdb: statistics(DAY.duckdb, ''),
  },
  {
    name: 'q16',
    summary: 'the same by channel and day',
    inputs: ['bids'],
    thalweg: statistics(DAY.thalweg, 'channel, '),
    duckdb: statistics(DAY.duckdb, 'channel, '),
  },
  {
    name: 'q17',
    summary: '8 aggregates by auction and day',
    inputs: ['bids'],
    thalweg: perAuctionDay(DAY.thalweg),
    duckdb: perAuctionDay(DAY.duckdb),
  },
  {
    name: 'q18',
    summary: 'last bid of each bidder on each auction',
    inputs: ['bids'],
    ...same(LAST_BID),
    clickhouse: LAST_BID,
    programs: ['node', 'node-lines'],
  },
  {
    name: 'q19',
    summary: 'ten highest bids of each auction',
    inputs: ['bids'],
    ...same(TOP_TEN),
    clickhouse: TOP_TEN,
    programs: ['node', 'node-lines'],
  },
  {
    name: 'q20',
    summary: 'bids ⋈ auctions of a category, 9 columns; updating',
    inputs: ['bids', 'auctions'],
    ...same(EXPANDED),
  },
  {
    name: 'q21',
    summary: 'channel ids by CASE and regular expression',
    inputs: ['bids'],
    thalweg: CHANNEL_ID("(regexp_match(url, '(&|^)channel_id=([^&]*)'))[2]"),
    duckdb: CHANNEL_ID("regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)"),
  },
  { name: 'q22', summary: 'parts of the url', inputs: ['bids'], ...same(DIRECTORIES) },
  {
    name: 'q23',
    summary: 'bids ⋈ persons ⋈ auctions; updating',
    inputs: ['bids', 'auctions', 'persons'],
    ...same(THREE_WAY),
  },
];
