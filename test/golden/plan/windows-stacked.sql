CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, unused TEXT, nn INT NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector = 'http', idle_time = '30s');
SELECT window.start AS s, max(n) AS busiest, count(*) FILTER (WHERE n > 2) AS busy
FROM (SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n FROM t GROUP BY k, window)
GROUP BY window.start, window.end;
SELECT tumble(interval '1 minute') AS minute, sum(n) AS n
FROM (SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n FROM t GROUP BY 1, 2) GROUP BY minute;
SELECT DISTINCT k, window FROM (SELECT k, v, tumble(interval '10 seconds') AS window, count(*) AS n FROM t GROUP BY k, v, window);
