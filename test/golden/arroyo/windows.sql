-- tumble, hop and session in GROUP BY, by alias or position; start and end of the window.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '1 minute') AS window FROM t GROUP BY window;
SELECT window.start AS s, window.end AS e, n FROM (SELECT hop(INTERVAL '1 minute', INTERVAL '2 minutes') AS window, count(*) AS n FROM t GROUP BY 1);
SELECT k, count(*) AS n, session(INTERVAL '30 seconds') AS window FROM t GROUP BY k, window;
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:01:10","k":1}
---
-- Months have no fixed length.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '1 month') AS window FROM t GROUP BY window;
---
-- Better than there: any slide; a slide of the width is a tumble.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, hop(INTERVAL '180 seconds', INTERVAL '600 seconds') AS window FROM t GROUP BY window;
SELECT count(*) AS m, hop(INTERVAL '1 minute', INTERVAL '1 minute') AS window FROM t GROUP BY window;
--< t {"ts":"2024-01-01T00:00:10","k":1}
---
-- One window in a query, and only where rows are grouped by it.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '1 minute') AS w, hop(INTERVAL '1 minute', INTERVAL '2 minutes') AS v FROM t GROUP BY w, v;
SELECT hop(INTERVAL '1 minute', INTERVAL '2 minutes') AS w FROM t;
SELECT k FROM t WHERE tumble(INTERVAL '1 minute') IS NOT NULL;
---
-- The windowed rows have the time of their window's end; they are grouped again by its column or by the same call.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW counts AS SELECT k, count(*) AS n, tumble(INTERVAL '1 minute') AS window FROM t GROUP BY k, window;
SELECT max(n) AS m, window FROM counts GROUP BY window;
SELECT sum(n) AS s, tumble(INTERVAL '1 minute') AS window FROM counts GROUP BY window;
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:00:11","k":1}
--< t {"ts":"2024-01-01T00:00:12","k":2}
---
-- Better than there: another window over windowed rows, which is one of their times; and no window, which is updated.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW counts AS SELECT k, count(*) AS n, tumble(INTERVAL '1 minute') AS window FROM t GROUP BY k, window;
SELECT sum(n) AS s, tumble(INTERVAL '1 hour') AS hour FROM counts GROUP BY hour;
SELECT max(n) AS m FROM counts;
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:01:10","k":1}
---
-- A session is passed on by its column.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, session(INTERVAL '1 minute') AS window FROM (SELECT k, session(INTERVAL '1 minute') AS w FROM t GROUP BY k, w) GROUP BY window;
---
-- Better than there: a window over an updating result is refused, not silently wrong.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS n, tumble(INTERVAL '1 minute') AS window FROM (SELECT k, count(*) AS c FROM t GROUP BY k) GROUP BY window;
---
-- Better than there: a late row is late for the windows that are closed only.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT window.start AS s, n FROM (SELECT hop(INTERVAL '1 minute', INTERVAL '2 minutes') AS window, count(*) AS n FROM t GROUP BY 1);
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:01:10","k":1}
--< t {"ts":"2024-01-01T00:00:20","k":1}
---
-- IS NOT NULL of a window is true.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT n FROM (SELECT tumble(INTERVAL '1 minute') AS window, count(*) AS n FROM t GROUP BY 1) WHERE window IS NOT NULL;
--< t {"ts":"2024-01-01T00:00:10","k":1}
