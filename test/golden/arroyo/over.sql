-- Functions over rows of a window, partitioned by it; the first of each.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT k, n, place FROM (
  SELECT k, n, row_number() OVER (PARTITION BY w ORDER BY n DESC) AS place FROM (SELECT k, count(*) AS n, tumble(INTERVAL '1 minute') AS w FROM t GROUP BY k, w))
WHERE place <= 1;
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:00:11","k":2}
--< t {"ts":"2024-01-01T00:00:12","k":2}
---
-- Better than there: several calls, any partition, over rows without windows and over sessions.
CREATE TABLE t (ts TIMESTAMP, k INT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT k, lag(k) OVER (ORDER BY ts) AS before, sum(k) OVER (PARTITION BY k ORDER BY ts) AS running, rank() OVER (ORDER BY k DESC) AS place FROM t;
--< t {"ts":"2024-01-01T00:00:10","k":1}
--< t {"ts":"2024-01-01T00:00:11","k":2}
--< t {"ts":"2024-01-01T00:00:12","k":2}
