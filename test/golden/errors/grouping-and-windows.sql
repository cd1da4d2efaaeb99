CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
SELECT k, v, count(*) FROM t GROUP BY k;
SELECT * FROM t GROUP BY k;
SELECT k, count(*) FROM t;
SELECT count(*) FROM t GROUP BY 2;
SELECT k FROM t WHERE count(*) > 1;
SELECT sum(count(*)) FROM t;
SELECT k, count(*) AS n FROM t GROUP BY n;
SELECT k FROM t GROUP BY k HAVING v > 1;
SELECT row_time() FROM t GROUP BY k;
---
CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
SELECT tumble(interval '1 month') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '1 day', interval '1 year') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(ts, interval '1 day') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(60) AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '0 seconds') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval 'a while') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '1 day', timezone => 'Europe/Pariss') AS w, count(*) FROM t GROUP BY w;
SELECT tumble() AS w, count(*) FROM t GROUP BY w;
---
CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
SELECT tumble(interval '1 day') AS w, count(*) FROM t;
SELECT tumble(interval '1 day') AS w FROM t;
SELECT k FROM t WHERE tumble(interval '1 day') IS NULL;
SELECT count(*) FROM t GROUP BY tumble(interval '1 day'), tumble(interval '2 days');
SELECT tumble(interval '2 days') AS w, count(*) FROM t GROUP BY tumble(interval '1 day');
SELECT window.start, count(*) FROM t GROUP BY tumble(interval '1 day');
SELECT hop(interval '1 minute') AS w, count(*) FROM t GROUP BY w;
SELECT session(interval '1 minute', interval '1 hour') AS w, count(*) FROM t GROUP BY w;
SELECT w.begin FROM (SELECT tumble(interval '1 day') AS w, count(*) AS n FROM t GROUP BY w);
---
-- over updating results
CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
CREATE VIEW sums AS SELECT k, sum(v) AS v FROM t GROUP BY k;
SELECT max(v) FROM sums;
SELECT tumble(interval '1 minute') AS w, sum(v) FROM sums GROUP BY w;
SELECT avg(v), count(v) FROM sums;
SELECT row_time() AS at FROM sums;
---
CREATE TABLE t (at TIMESTAMP GENERATED ALWAYS AS (row_time()), v INT) WITH (connector = 'http');
SELECT v FROM t;
---
-- windows of every kind
CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
SELECT hop(interval '1 microsecond', interval '1 day') AS w, count(*) FROM t GROUP BY w;
SELECT hop(interval '1 second', interval '1 month') AS w, count(*) FROM t GROUP BY w;
SELECT hop(interval '1 second', interval '1 minute', slide => interval '2 seconds') AS w, count(*) FROM t GROUP BY w;
SELECT cumulate(interval '7 minutes', interval '1 hour') AS w, count(*) FROM t GROUP BY w;
SELECT session(interval '1 minute', lateness => interval '1 second') AS w, count(*) FROM t GROUP BY w;
SELECT session(gap => interval '0 seconds') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '1 minute', latenes => interval '1 second') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '1 minute', early => interval '0 seconds') AS w, count(*) FROM t GROUP BY w;
SELECT tumble(interval '1 day', timezone => 5) AS w, count(*) FROM t GROUP BY w;
SELECT hop(interval '1 second', interval '2 seconds') AS w, count(*) FROM t GROUP BY tumble(interval '2 seconds');
SELECT session(interval '1 minute') AS again, count(*) FROM (SELECT k, session(interval '1 minute') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY again;
---
-- windows over what windows give early
CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
CREATE VIEW early AS SELECT k, tumble(interval '1 minute', early => interval '5 seconds') AS w, count(*) AS n FROM t GROUP BY k, w;
SELECT w, sum(n) FROM early GROUP BY w;
SELECT w, max(n) FROM early GROUP BY w;
SELECT session(interval '1 minute') AS s, sum(n) FROM early GROUP BY s;
CREATE TABLE out (k TEXT, n BIGINT) WITH (connector = 'single_file', path = 'out.jsonl', format = 'json');
INSERT INTO out SELECT k, n FROM early;
---
-- grouping sets
CREATE TABLE t (ts TIMESTAMP, k TEXT, r TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
SELECT k, tumble(interval '1 minute') AS w, count(*) FROM t GROUP BY CUBE (k, w);
SELECT k, r, v, count(*) FROM t GROUP BY ROLLUP (k, r);
SELECT grouping(v), count(*) FROM t GROUP BY ROLLUP (k, r);
SELECT grouping(), count(*) FROM t GROUP BY k;
SELECT k FROM t WHERE grouping(k) = 0;
SELECT k, sum(grouping(k)) FROM t GROUP BY k;
SELECT grouping(k) FROM t;
SELECT count(*) FROM t GROUP BY CUBE (k, r, v, v + 1, v + 2, v + 3, v + 4);
SELECT k, count(*) FROM t GROUP BY ROLLUP (k, nope);
