-- GROUP BY without a window gives a result that is updated; only what changed leaves.
CREATE TABLE t (x INT, k TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT k, count(*) AS n, max(x) AS m FROM t GROUP BY k;
--< t {"x":1,"k":"a"}
--< t {"x":0,"k":"a"}
---
-- Sinks that only add refuse it; debezium_json and preview take it.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o (n BIGINT) WITH (connector = 'single_file', path = 'o', format = 'json', type = 'sink');
INSERT INTO o SELECT count(*) FROM t;
---
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o (n BIGINT) WITH (connector = 'single_file', path = 'o', format = 'debezium_json', type = 'sink');
INSERT INTO o SELECT count(*) FROM t;
INSERT INTO o SELECT x FROM t;
--< t {"x":7}
---
-- Aggregates over updating results, of any kind; HAVING and WHERE over them.
CREATE TABLE t (x INT, k TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW best AS SELECT k, max(x) AS m FROM t GROUP BY k HAVING max(x) > 1;
SELECT avg(m) AS a, median(m) AS mid, array_agg(m ORDER BY m) AS all FROM best WHERE k <> 'c';
--< t {"x":2,"k":"a"}
--< t {"x":4,"k":"b"}
--< t {"x":9,"k":"c"}
--< t {"x":6,"k":"b"}
---
-- Aggregates over a table of changes; a key whose rows are gone is gone.
CREATE TABLE t (id INT PRIMARY KEY, k TEXT, x INT) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT k, count(*) AS n, min(x) AS m FROM t GROUP BY k;
--< t {"before":null,"after":{"id":1,"k":"a","x":1},"op":"r"}
--< t {"before":null,"after":{"id":2,"k":"a","x":2},"op":"c"}
--< t {"before":null,"after":{"id":3,"k":"b","x":3},"op":"c"}
--< t {"before":{"id":1,"k":"a","x":1},"after":{"id":1,"k":"a","x":5},"op":"u"}
--< t {"before":{"id":3,"k":"b","x":3},"after":null,"op":"d"}
---
-- Time to live in event time, without a retraction of what is forgotten.
SET updating_ttl = INTERVAL '10 seconds';
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT k, count(*) AS n FROM t GROUP BY k;
--< t {"ts":"2024-01-01T00:00:00","k":1}
--< t {"ts":"2024-01-01T00:00:05","k":1}
--< t {"ts":"2024-01-01T00:01:00","k":1}
