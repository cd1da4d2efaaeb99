CREATE TABLE t (k TEXT, v BIGINT, d INTERVAL, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/t.json', format = 'json', type = 'source');
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY v + 1, d ORDER BY v MEASURES a.v AS x, b.v AS x
  AFTER MATCH SKIP TO LAST z PATTERN (a b* c?) DEFINE c AS v > 1, d AS TRUE, c AS v < 1);
---
CREATE TABLE t (k TEXT, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/t.json', format = 'json', type = 'source');
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts DESC PATTERN (a* b?) WITHIN INTERVAL '1 month');
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a+));
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts, v + 1 AFTER MATCH SKIP TO FIRST a PATTERN (a b) DEFINE b AS b.v);
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN ((a{50}){50}));
---
CREATE TABLE t (k TEXT, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/t.json', format = 'json', type = 'source');
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts
  MEASURES NEXT(a.v) AS m1, FIRST(a.v + b.v) AS m2, sum(a.v * b.v) AS m3, FIRST(sum(v)) AS m4, LAST(v, v) AS m5,
    count(z.*) AS m6, PREV() AS m7, c.v AS m8, sum(LAST(v)) AS m9, row_number() OVER (ORDER BY v) AS m10,
    tumble(interval '1 minute') AS m11, sum(nosuch) AS m12
  PATTERN (a b) DEFINE a AS classifier() = 'a', b AS match_number() > 1 AND EXISTS (SELECT 1 FROM t));
---
CREATE TABLE t (k TEXT, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/t.json', format = 'json', type = 'source');
SELECT * FROM (SELECT k, count(*) AS n FROM t GROUP BY k) MATCH_RECOGNIZE (PARTITION BY k ORDER BY n PATTERN (a b));
---
SELECT * FROM t MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (a));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (PERMUTE(a, b)));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (^ a));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a $));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a {- b -} c));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a{3,2}));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a || b));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a b) SUBSET s = (a, b));
---
SELECT * FROM t MATCH_RECOGNIZE (MEASURES a.v PATTERN (a));
---
SELECT * FROM t MATCH_RECOGNIZE (PATTERN ());
---
CREATE TABLE t (k TEXT, v BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts)
  WITH (connector = 'single_file', path = '/t.json', format = 'json', type = 'source');
CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE javascript AS $$ return x; $$;
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (a b) DEFINE b AS f(b.v) > 1);
