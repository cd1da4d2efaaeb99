CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, unused TEXT, nn INT NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector = 'http', idle_time = '30s');
CREATE TABLE totals (k TEXT PRIMARY KEY, n BIGINT NOT NULL, total BIGINT) WITH (connector = 'r2', path = 'totals', format = 'debezium_json');
INSERT INTO totals SELECT k, count(*), sum(v) FROM t WHERE k IS NOT NULL GROUP BY k HAVING count(*) > 1;
SELECT count(*) AS keys, sum(n) AS n FROM (SELECT k, count(*) AS n FROM t GROUP BY k);
SELECT DISTINCT k, v FROM t;
SELECT k FROM t UNION SELECT unused FROM t;
