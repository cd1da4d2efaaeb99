/** All jobs that engines are compared on, in the order of the table. */
import type { Job } from './job.ts';
import { NEXMARK } from './nexmark/queries.ts';

const ALL_COLUMNS = 'SELECT auction, bidder, price, channel, url, datetime, extra FROM bid';
const CONVERTED =
  'SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(23, 3)) AS price, datetime, extra FROM bid';
const JOINED =
  'SELECT b.auction AS auction, b.price AS price, a.seller AS seller FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10';
const TOTALS = 'SELECT auction, count(*) AS n, avg(price) AS mean FROM bid GROUP BY auction';

const hop = (name: string, summary: string, length: string, seconds: number): Job => ({
  name,
  summary,
  inputs: ['sparse_bids'],
  thalweg: `SELECT k, n, top, window.start AS start FROM (
  SELECT auction % 5 AS k, count(*) AS n, max(price) AS top, hop(interval '1 second', interval '${length}') AS window FROM sparse_bid GROUP BY 1, window)`,
  duckdb: `SELECT k, sum(n)::BIGINT AS n, max(top) AS top, start FROM (
  SELECT k, n, top, pane - slides * INTERVAL 1 SECOND AS start FROM (
    SELECT auction % 5 AS k, time_bucket(INTERVAL 1 SECOND, datetime) AS pane, count(*) AS n, max(price) AS top FROM sparse_bid GROUP BY ALL), range(${seconds}) AS t(slides))
GROUP BY k, start`,
});

const MAIN: readonly Job[] = [
  {
    name: 'parse',
    summary: 'all 7 columns of the bids',
    inputs: ['bids'],
    thalweg: ALL_COLUMNS,
    duckdb: ALL_COLUMNS,
    clickhouse: ALL_COLUMNS,
    programs: ['node', 'node-lines'],
    twins: true,
  },
  {
    name: 'tumble',
    summary: 'count and mean price by auction, tumble 10 s',
    inputs: ['bids'],
    thalweg: `SELECT auction, window.start AS start, n, mean FROM (
  SELECT auction, tumble(interval '10 seconds') AS window, count(*) AS n, avg(price) AS mean FROM bid GROUP BY auction, window)`,
    duckdb:
      'SELECT auction, time_bucket(INTERVAL 10 SECOND, datetime) AS start, count(*) AS n, avg(price) AS mean FROM bid GROUP BY ALL',
    clickhouse:
      'SELECT auction, toStartOfInterval(datetime, INTERVAL 10 SECOND) AS start, count() AS n, avg(price) AS mean FROM bid GROUP BY ALL',
    programs: ['node', 'node-lines'],
    twins: true,
  },
  {
    name: 'join',
    summary: 'bids ⋈ auctions of a category; updating',
    inputs: ['bids', 'auctions'],
    thalweg: JOINED,
    duckdb: JOINED,
    clickhouse: JOINED,
    programs: ['node', 'node-lines', 'd2mini'],
  },
  {
    name: 'updating',
    summary: 'count and mean price by auction, no window',
    inputs: ['bids'],
    thalweg: TOTALS,
    duckdb: TOTALS,
    clickhouse: TOTALS,
    programs: ['node', 'node-lines', 'd2mini'],
  },
  {
    name: 'session',
    summary: 'count and highest price by auction, sessions of 2 s',
    inputs: ['bids'],
    thalweg: `SELECT auction, n, top, window.start AS begin_at FROM (
  SELECT auction, count(*) AS n, max(price) AS top, session(interval '2 seconds') AS window FROM bid GROUP BY auction, window)`,
    duckdb: `SELECT auction, count(*) AS n, max(price) AS top, min(datetime) AS begin_at FROM (
  SELECT *, sum(fresh) OVER (PARTITION BY auction ORDER BY datetime ROWS UNBOUNDED PRECEDING) AS visit FROM (
    SELECT auction, price, datetime, CASE WHEN datetime - lag(datetime) OVER (PARTITION BY auction ORDER BY datetime) < INTERVAL 2 SECOND THEN 0 ELSE 1 END AS fresh FROM bid))
GROUP BY auction, visit`,
  },
  {
    name: 'ndjson-sink',
    summary: 'q1 written as NDJSON',
    inputs: ['bids'],
    thalweg: CONVERTED,
    duckdb: CONVERTED,
    clickhouse:
      "SELECT auction, bidder, CAST(toDecimal64('0.908', 3) * price AS Decimal(23, 3)) AS price, datetime, extra FROM bid",
    sink: 'ndjson',
  },
  {
    name: 'parquet-sink',
    summary: 'all columns of the bids written as Parquet',
    inputs: ['bids'],
    thalweg: ALL_COLUMNS,
    duckdb: ALL_COLUMNS,
    clickhouse: ALL_COLUMNS,
    sink: 'parquet',
  },
  hop('hop-60', 'hop 1 minute by 1 s: 60 panes', '1 minute', 60),
  hop('hop-3600', 'hop 1 hour by 1 s: 3,600 panes', '1 hour', 3_600),
];

export const JOBS: readonly Job[] = [...MAIN, ...NEXMARK];
