CREATE TABLE t (ts TIMESTAMP, k TEXT, WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE out (k TEXT, n BIGINT) WITH (connector = 'r2', path = 'o');
INSERT INTO out SELECT k, 1 FROM t;
INSERT INTO out SELECT k, n FROM (SELECT k, tumble(interval '1 second') AS w, count(*) AS n FROM t GROUP BY k, w);
