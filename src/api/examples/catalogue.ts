/**
 * The built-in examples, in the order in which a newcomer should meet them.
 *
 * Each runs as it is: its tables are those of the connector `example`, whose rows begin a little before the pipeline was
 * made, so that the first results are there at once. Invariant (tested): each plans without a warning.
 */
import type { Example } from './example-shapes.ts';

const SHOP_CLICKS = `-- What is being looked at in the shop? Clicks per page, over the last minute, every two seconds.

-- A table says where rows come from. These clicks are made up, but behave like real ones: about twenty a second,
-- some of them up to 1.5 seconds out of order. WATERMARK: ts is the time that counts, and nothing that
-- comes more than two seconds behind the newest click is waited for.
CREATE TABLE clicks (
  WATERMARK FOR ts AS ts - interval '2 seconds'
) WITH (connector = 'example', dataset = 'clicks', event_rate = 20);

-- hop(slide, width): a window of one minute ends every two seconds, so each click counts in thirty of them.
-- Each window gives its rows once, when the watermark has passed its end.
SELECT window.end AS minute_until, page, clicks, visitors, top_price
FROM (
  SELECT page,
         hop(interval '2 seconds', interval '1 minute') AS window,
         count(*) AS clicks,
         count(DISTINCT user_id) AS visitors,
         max(price) AS top_price
  FROM clicks
  GROUP BY page, window
);
`;

const CARD_FRAUD = `-- One card, three different cities, within ten seconds: somebody has copied it.

CREATE TABLE cards (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'cards', event_rate = 20);

-- MATCH_RECOGNIZE looks for runs of rows that fit a pattern: here three payments of one card, a then b then c.
-- DEFINE says what each must be; a may be any payment.
SELECT card, first_used, last_used, city_1, city_2, city_3, total
FROM cards MATCH_RECOGNIZE (
  PARTITION BY card
  ORDER BY ts
  MEASURES
    a.ts AS first_used,
    c.ts AS last_used,
    a.city AS city_1,
    b.city AS city_2,
    c.city AS city_3,
    sum(amount) AS total
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (a b c) WITHIN INTERVAL '10' SECOND
  DEFINE
    b AS b.city <> a.city,
    c AS c.city <> a.city AND c.city <> b.city
) AS fraud;
`;

const ORDERS_AND_PAYMENTS = `-- Which orders were paid, how fast, and which were not paid at all?

-- Two streams that belong together by order_id. A payment comes up to twenty seconds after its order; about one
-- order in 25 is never paid.
CREATE TABLE orders (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'orders', event_rate = 10);

CREATE TABLE payments (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'payments', event_rate = 10);

-- BETWEEN bounds how far a payment may lie behind its order, so neither side is kept for ever. LEFT JOIN: an order
-- without a payment comes out too, with NULLs, once its twenty seconds are certainly over.
SELECT o.order_id,
       o.customer,
       o.amount,
       p.method,
       CASE WHEN p.order_id IS NULL THEN 'not paid' ELSE 'paid' END AS status,
       p.ts - o.ts AS took
FROM orders o
LEFT JOIN payments p
  ON p.order_id = o.order_id
 AND p.ts BETWEEN o.ts AND o.ts + interval '20 seconds';
`;

const LIVE_TOP_FIVE = `-- The five songs that are played most right now: the last half minute, every two seconds.

CREATE TABLE plays (
  WATERMARK FOR ts AS ts - interval '1 second'
) WITH (connector = 'example', dataset = 'plays', event_rate = 50);

-- A view is a name for a query: plays per song and window.
CREATE VIEW counted AS
SELECT song, artist, hop(interval '2 seconds', interval '30 seconds') AS window, count(*) AS plays
FROM plays
GROUP BY song, artist, window;

-- row_number() counts the songs of each window from the top; the outer query keeps the first five.
SELECT window.end AS at, place, song, artist, plays
FROM (
  SELECT window, song, artist, plays,
         row_number() OVER (PARTITION BY window ORDER BY plays DESC, song) AS place
  FROM counted
)
WHERE place <= 5;
`;

const SENSORS = `-- Eight thermometers. One falls silent now and then, and some readings come far too late.

-- late_rows = 'dead_letter': readings that come after their window has closed are put aside, and shown under Errors,
-- instead of changing a result that was already given.
CREATE TABLE sensors (
  WATERMARK FOR ts AS ts - interval '5 seconds'
) WITH (connector = 'example', dataset = 'sensors', event_rate = 16, late_rows = 'dead_letter');

-- First result: readings of every five seconds. tumble(width): one window after the other. A sensor that says
-- nothing has no row in that window.
SELECT sensor, window.start AS since, readings, round(mean, 2) AS mean, coldest, warmest
FROM (
  SELECT sensor,
         tumble(interval '5 seconds') AS window,
         count(*) AS readings,
         avg(temperature) AS mean,
         min(temperature) AS coldest,
         max(temperature) AS warmest
  FROM sensors
  GROUP BY sensor, window
);

-- Second result: every silence of more than five seconds. lag() is the value of the row before, per sensor in
-- the order of time.
SELECT sensor, before AS silent_from, ts AS silent_until, ts - before AS silent_for
FROM (
  SELECT sensor, ts, lag(ts) OVER (PARTITION BY sensor ORDER BY ts) AS before
  FROM sensors
)
WHERE ts - before > interval '5 seconds';
`;

const CUSTOMERS = `-- A table of a database, as it changes: how many customers has each plan, and what have they spent?

-- The rows are changes as Debezium reads them from a database: rows that were there ("r"), created ("c"), updated
-- ("u"), deleted ("d"). With format = 'debezium_json' and a PRIMARY KEY the table holds what the database holds.
CREATE TABLE customers (
  id BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL,
  plan TEXT NOT NULL,
  spent DECIMAL(10, 2) NOT NULL
) WITH (connector = 'example', dataset = 'customers', event_rate = 5, format = 'debezium_json');

-- No window: the result is a table as well. When a customer changes, the old row of the plan is taken back and the new
-- one added; what is shown is marked so.
SELECT plan, count(*) AS customers, sum(spent) AS spent, max(spent) AS best
FROM customers
GROUP BY plan;
`;

const FLIGHT_DELAYS = `-- Real flights in the United States, January to March 2001: which airports were late in the last seven days?

-- A sample of what the Bureau of Transportation Statistics publishes, replayed with its own times: at 50 flights a
-- second about one day passes every second. Behind the last flight the same ones follow once more, 13 weeks later.
CREATE TABLE flights (
  WATERMARK FOR ts AS ts
) WITH (connector = 'example', dataset = 'flights', event_rate = 50);

-- Seven days, moved on by one day: event time is that of the flights, not of your clock, so an answer over
-- weeks is there within seconds. HAVING leaves out airports with few flights.
SELECT window.end AS week_until, origin, flights, round(mean_delay, 1) AS mean_delay, worst_delay, late
FROM (
  SELECT origin,
         hop(interval '1 day', interval '7 days') AS window,
         count(*) AS flights,
         avg(delay) AS mean_delay,
         max(delay) AS worst_delay,
         count_if(delay > 15) AS late
  FROM flights
  GROUP BY origin, window
  HAVING count(*) >= 10
);
`;

export const EXAMPLES: readonly Example[] = [
  {
    id: 'shop-clicks',
    title: 'Shop clicks per minute',
    summary: 'What visitors of a shop look at, over the last minute, every two seconds.',
    teaches: ['tables', 'watermarks', 'hop windows', 'count(DISTINCT)'],
    query: SHOP_CLICKS,
    parallelism: 1,
    outputs: 'Six rows every two seconds: clicks and visitors of each page.',
  },
  {
    id: 'card-fraud',
    title: 'Card fraud',
    summary: 'Cards that are used in three different cities within ten seconds.',
    teaches: ['MATCH_RECOGNIZE', 'patterns in time'],
    query: CARD_FRAUD,
    parallelism: 1,
    outputs: 'A row for each card that was caught, about every fifteen seconds.',
  },
  {
    id: 'orders-and-payments',
    title: 'Orders join payments',
    summary: 'Each order with its payment, and the orders that nobody has paid.',
    teaches: ['interval joins', 'LEFT JOIN', 'CASE'],
    query: ORDERS_AND_PAYMENTS,
    parallelism: 1,
    outputs: 'A row for each order: paid, and how fast, or not paid.',
  },
  {
    id: 'live-top-five',
    title: 'Live top five',
    summary: 'The songs that are played most, while tastes change.',
    teaches: ['views', 'hop windows', 'Top-N'],
    query: LIVE_TOP_FIVE,
    parallelism: 1,
    outputs: 'Five rows every two seconds: the places one to five.',
  },
  {
    id: 'sensors',
    title: 'Sensors with gaps and late rows',
    summary: 'Thermometers of which one falls silent and some report too late.',
    teaches: ['tumble windows', 'late rows', 'lag()', 'two results'],
    query: SENSORS,
    parallelism: 1,
    outputs: 'A row per sensor and five seconds, and one for each silence.',
  },
  {
    id: 'customers',
    title: 'Customer table from changes',
    summary: 'A database table kept up to date from its change stream, and counted by plan.',
    teaches: ['Debezium', 'PRIMARY KEY', 'updating results'],
    query: CUSTOMERS,
    parallelism: 1,
    outputs: 'A row per plan, replaced whenever a customer changes.',
  },
  {
    id: 'flight-delays',
    title: 'Real flight delays',
    summary: 'Real departures of 2001, replayed at a day a second: which airports were late?',
    teaches: ['event time', 'hop windows', 'HAVING'],
    query: FLIGHT_DELAYS,
    parallelism: 1,
    outputs: 'Some ten rows a second: the busiest airports over the last seven days.',
  },
];
