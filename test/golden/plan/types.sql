CREATE TABLE everything (
  flag BOOLEAN, a TINYINT, b SMALLINT, c INT, d BIGINT,
  ua TINYINT UNSIGNED, ub SMALLINT UNSIGNED, uc INT UNSIGNED, ud bigint unsigned,
  f FLOAT, r REAL, g DOUBLE PRECISION, n NUMERIC(38, 9), t VARCHAR(10), s STRING,
  bytes BYTEA, doc JSON, day DATE, clock TIME, length INTERVAL,
  timestamp TIMESTAMP NOT NULL, seconds TIMESTAMP(0), nanos TIMESTAMP(9), at TIMESTAMPTZ, old DATETIME,
  tags TEXT[], ids ARRAY<BIGINT>, place STRUCT<city TEXT, spot STRUCT<x DOUBLE, y DOUBLE NOT NULL>>,
  lines STRUCT<sku TEXT, count INT UNSIGNED>[],
  list_default INT[] DEFAULT [1, 2],
  WATERMARK FOR timestamp AS timestamp - INTERVAL '5 seconds'
) WITH (connector = 'http');
SELECT
  timestamp, ud + 1 AS next_ud, ud - 1 AS below, a + b AS small, uc * 2 AS twice, f * f AS square,
  day + 1 AS tomorrow, day - DATE '2024-02-29' AS days, day + INTERVAL '1 month 2 days' AS later,
  at - TIMESTAMPTZ '2024-01-01 00:00:00+02:00' AS since, clock + INTERVAL '90 minutes' AS shifted,
  tags[1] AS first_tag, ids[2:3] AS some, place.spot.x AS x, place['city'] AS city, lines[1].sku AS sku,
  [1, 2, d] AS made, ARRAY['a', NULL] AS texts, X'00ff' AS raw, (a, t) AS pair,
  CAST(doc AS TEXT) AS doc_text, TRY_CAST(t AS DATE) AS read_day, nanos > timestamp AS fine,
  day == '2024-01-01' AS same, ud == 18446744073709551615 AS top
FROM everything
WHERE length > INTERVAL '1 day' AND bytes <> '\x00' AND clock < '12:00';
---
-- any value can be grouped by
CREATE TABLE t (tags TEXT[], place STRUCT<x INT>, length INTERVAL, n INT UNSIGNED) WITH (connector = 'http');
SELECT tags, place, length, sum(n) AS total, max(length) AS longest FROM t GROUP BY tags, place, length;
