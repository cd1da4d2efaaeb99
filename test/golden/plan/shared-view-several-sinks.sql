CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, unused TEXT, nn INT NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector=http, format='json', type='source', late_rows = 'dead_letter', idle_time = '30s');
CREATE TABLE out (k TEXT, s TIMESTAMP, n BIGINT NOT NULL, a TEXT) WITH (connector='r2', path='o');
CREATE VIEW big AS SELECT ts, k, v + 1 AS v1, v FROM t WHERE v > 1+1;
INSERT INTO out SELECT k, w.start, n, a FROM (SELECT k, tumble(interval '1 minute') AS w, count(*) AS n, avg(v1) + 1 AS a FROM (SELECT k, v1, v FROM big) x WHERE v < 100 GROUP BY w, k HAVING n > 1 AND w.start > '2024-01-01');
INSERT INTO out SELECT k, window.start, c, 'x' FROM (SELECT k, tumble(interval '1 minute') AS window, count(*) AS c FROM big GROUP BY 1, window);
SELECT window, max(c) AS m FROM (SELECT k, tumble(interval '1 minute') AS window, count(*) AS c FROM big GROUP BY 1, window) GROUP BY window;
SELECT k, sum(v) FROM t GROUP BY k;
