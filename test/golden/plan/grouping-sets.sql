-- Each row goes once into the grouping for each set; the number of the set is a key, and grouping() is made of it.
CREATE TABLE t (ts TIMESTAMP, k TEXT, r TEXT, v INT, WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE out (k TEXT, r TEXT, n BIGINT, g INT) WITH (connector = 'single_file', path = 'out.jsonl', format = 'debezium_json');
INSERT INTO out SELECT k, r, count(*), grouping(k, r) FROM t GROUP BY ROLLUP (k, r) HAVING count(*) > 1;
CREATE TABLE windowed (k TEXT, r TEXT, w TIMESTAMP, s BIGINT) WITH (connector = 'single_file', path = 'windowed.jsonl', format = 'json');
INSERT INTO windowed SELECT k, r, w.start, s FROM (
  SELECT k, r, tumble(interval '1 minute') AS w, sum(v) AS s FROM t GROUP BY w, GROUPING SETS ((k), (r)));
