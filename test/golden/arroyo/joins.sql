-- Windowed joins of every kind; rows of one window meet, also when ON does not say so.
CREATE TABLE t (ts TIMESTAMP, k INT, x INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW a AS SELECT k, count(*) AS n, tumble(INTERVAL '1 minute') AS w FROM t WHERE x < 3 GROUP BY k, w;
CREATE VIEW b AS SELECT k, sum(x) AS s, tumble(INTERVAL '1 minute') AS w FROM t WHERE x > 1 GROUP BY k, w;
SELECT a.k AS inner_k, n, s FROM a JOIN b ON a.k = b.k AND a.w = b.w;
SELECT a.k AS left_k, n, s FROM a LEFT JOIN b ON a.k = b.k;
SELECT b.k AS right_k, n, s FROM a RIGHT JOIN b ON a.k = b.k;
SELECT coalesce(a.k, b.k) AS full_k, n, s FROM a FULL JOIN b ON a.k = b.k;
--< t {"ts":"2024-01-01T00:00:10","k":1,"x":1}
--< t {"ts":"2024-01-01T00:00:11","k":2,"x":2}
--< t {"ts":"2024-01-01T00:00:12","k":3,"x":3}
---
-- Better than there: sessions and tables without windows join as any others, and so do sides with different windows.
CREATE TABLE t (ts TIMESTAMP, k INT, x INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW a AS SELECT k, count(*) AS n, session(INTERVAL '1 minute') AS w FROM t GROUP BY k, w;
SELECT a.n, t.x FROM a JOIN t ON a.k = t.k;
--< t {"ts":"2024-01-01T00:00:10","k":1,"x":1}
---
-- Better than there: outer joins without windows are updated.
CREATE TABLE l (k INT, x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE r (k INT, y INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT l.k, x, y FROM l LEFT JOIN r ON l.k = r.k;
--< l {"k":1,"x":1}
--< l {"k":2,"x":2}
--< r {"k":1,"y":5}
---
-- A join needs an equality.
CREATE TABLE l (k INT, x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE r (k INT, y INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT l.k, y FROM l JOIN r ON l.x > r.y;
SELECT l.k, y FROM l CROSS JOIN r;
---
-- Better than there: sides that are updated themselves.
CREATE TABLE l (k INT PRIMARY KEY, x INT) WITH (connector = 'http', format = 'debezium_json', type = 'source');
CREATE TABLE r (k INT, y INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT l.k, x, n FROM l JOIN (SELECT k, count(*) AS n FROM r GROUP BY k) AS c ON l.k = c.k;
--< l {"before":null,"after":{"k":1,"x":1},"op":"c"}
--< r {"k":1,"y":5}
--< r {"k":1,"y":6}
---
-- Lookup joins: INNER and LEFT, by any equality.
CREATE TEMPORARY TABLE names (k INT PRIMARY KEY, v TEXT) WITH (connector = 'single_file', path = 'names.json', format = 'json');
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT t.x, v FROM t RIGHT JOIN names ON t.x = names.k;
---
-- Better than there: USING, NATURAL, AS OF.
CREATE TABLE l (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE r (k INT, y INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT k, y FROM l JOIN r USING (k);
SELECT l.k AS as_of, y FROM l ASOF JOIN r ON l.k = r.k AND l.ts >= r.ts;
--< r {"k":1,"y":5,"ts":"2024-01-01T00:00:10"}
--< r {"k":1,"y":6,"ts":"2024-01-01T00:00:20"}
--< l {"k":1,"ts":"2024-01-01T00:00:15"}
