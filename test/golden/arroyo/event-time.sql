-- WATERMARK FOR column [AS expression].
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '10 seconds') AS window FROM t GROUP BY window;
--< t {"ts":"2024-01-01T00:00:01","x":1}
--< t {"ts":"2024-01-01T00:00:12","x":1}
--< t {"ts":"2024-01-01T00:00:09","x":1}
---
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts, WATERMARK FOR tss) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
---
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR tss) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
---
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR x) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
---
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts AS x) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
---
-- Without event time rows have the time of their arrival; better than there: a window over it is told of.
CREATE TABLE t (ts TIMESTAMP, x INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '10 seconds') AS window FROM t GROUP BY window;
---
-- The older options, with an identifier or a string.
CREATE TABLE t (ts TIMESTAMP, late TIMESTAMP GENERATED ALWAYS AS (ts - INTERVAL '1 minute'))
  WITH (connector = 'http', format = 'json', type = 'source', event_time_field = ts, 'watermark_field' = 'late', idle_micros = 30000000);
SELECT count(*) AS n, tumble(INTERVAL '10 seconds') AS window FROM t GROUP BY window;
--< t {"ts":"2024-01-01T00:00:01"}
--< t {"ts":"2024-01-01T00:00:59"}
--< t {"ts":"2024-01-01T00:00:02"}
---
-- Tables of changes have no event time there; better: what they change has one.
CREATE TABLE t (id INT PRIMARY KEY, ts TIMESTAMP, WATERMARK FOR ts) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '10 seconds') AS window FROM t GROUP BY window;
--< t {"before":null,"after":{"id":1,"ts":"2024-01-01T00:00:01"},"op":"c"}
--< t {"before":null,"after":{"id":2,"ts":"2024-01-01T00:00:02"},"op":"c"}
--< t {"before":{"id":2,"ts":"2024-01-01T00:00:02"},"after":null,"op":"d"}
---
-- row_time().
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT row_time() AS at, x FROM t;
--< t {"ts":"2024-01-01T00:00:01","x":1}
---
-- A day is an event time; there it is refused.
CREATE TABLE t (day DATE NOT NULL, x INT, WATERMARK FOR day AS day - INTERVAL '1 day') WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '7 days', INTERVAL '4 days') AS window FROM t GROUP BY window;
--< t {"day":"2024-01-01"}
--< t {"day":"2024-01-07"}
--< t {"day":"2024-01-08"}
