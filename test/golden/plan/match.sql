CREATE TABLE payments (
  account TEXT NOT NULL,
  card TEXT,
  amount DECIMAL(12, 2) NOT NULL,
  shop TEXT,
  ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '5 seconds'
) WITH (connector = 'single_file', path = '/in/payments.json', format = 'json', type = 'source');

-- Three small payments, then a large one.
SELECT * FROM payments MATCH_RECOGNIZE (
  PARTITION BY account
  ORDER BY ts
  MEASURES
    FIRST(small.ts) AS began,
    large.ts AS ended,
    count(small.*) AS smalls,
    sum(small.amount) AS tested,
    large.amount AS amount
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (small{3,} large) WITHIN INTERVAL '10' MINUTE
  DEFINE
    small AS small.amount < 2,
    large AS large.amount > 100 * avg(small.amount)
) AS fraud;

-- A fixed number of rows needs no WITHIN; a measure that nobody reads is not computed.
SELECT rise FROM (SELECT account, amount, ts FROM payments WHERE shop IS NOT NULL) MATCH_RECOGNIZE (
  ORDER BY ts, amount DESC
  MEASURES LAST(amount) - PREV(amount, 2) AS rise, classifier() AS unread, match_number() AS unread_too
  AFTER MATCH SKIP TO LAST up
  PATTERN ((start | begin) up{2})
  DEFINE up AS up.amount > PREV(up.amount)
);

SELECT account, n FROM payments AS p MATCH_RECOGNIZE (
  PARTITION BY account ORDER BY row_time()
  MEASURES match_number() AS n
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (a b*? c) WITHIN INTERVAL '1 day'
  DEFINE b AS b.shop = a.shop, c AS c.amount > FIRST(a.amount * 2)
) AS m WHERE account <> 'x';

-- A function of the user's own is called with what a match gives; an aggregate one gets the rows of a variable.
CREATE FUNCTION score(x DECIMAL(12, 2), y BIGINT) RETURNS BIGINT LANGUAGE javascript AS $$ return y; $$;
CREATE FUNCTION one(x DECIMAL(12, 2)) RETURNS BIGINT LANGUAGE javascript AS $$ return 1n; $$;
CREATE AGGREGATE FUNCTION total(x DECIMAL(12, 2)) RETURNS BIGINT LANGUAGE javascript AS $$ return 1n; $$;
SELECT * FROM payments MATCH_RECOGNIZE (
  PARTITION BY card ORDER BY ts
  MEASURES a.ts AS began, score(a.amount, count(*)) + 1 AS points, one(b.amount) AS two, total(b.amount) AS sums, b.shop AS shop
  PATTERN (a b) DEFINE b AS b.shop <> a.shop
);
