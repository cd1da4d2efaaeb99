CREATE TABLE t (a INT, b TEXT) WITH (connector = 'http');
CREATE TABLE u (a INT, c TEXT) WITH (connector = 'http');
SELECT t.a, c FROM t JOIN u ON t.a = u.a;
SELECT a FROM t, u;
SELECT a FROM t ORDER BY a LIMIT 5;
SELECT a FROM t OFFSET 3;
SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS rn FROM t;
SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1;
SELECT a FROM t WHERE a IN (SELECT a FROM u);
SELECT a FROM t WHERE EXISTS (SELECT a FROM u);
SELECT (SELECT 1 FROM u) AS one FROM t;
SELECT a FROM t EXCEPT SELECT a FROM u;
SELECT 1 AS one;
VALUES (1);
SELECT ARRAY[a, 1] AS list, b[1], X'00' AS bytes FROM t;
SELECT interval '1 month' AS m, b AT TIME ZONE 'UTC', DATE '2024-01-01' AS d FROM t;
SELECT a FROM flatten_rows(b) AS x;
SELECT a FROM LATERAL (SELECT a FROM t) AS x;
SELECT (a, b) AS pair, count(*) FROM t GROUP BY pair;
SELECT DISTINCT a, (a, b) AS pair FROM t;
---
-- a statement that can not be parsed hides no mistakes, and makes none
CREATE TABLE t (a INT b INT) WITH (connector = 'http');
CREATE TABLE u (a INT) WITH (connector = 'http');
SELECT a FROM t;
SELECT b FROM u;
