-- U18: a type of another system
CREATE TABLE t (k LONG) WITH (connector = 'http');
SELECT k FROM t;
---
-- U18: a mistyped column
CREATE TABLE orders (customer TEXT, amount INT) WITH (connector = 'http');
SELECT custmer FROM orders;
---
-- every mistake of the text at once, in its order
CREATE TABLE t (a SMALLINT, b TIMESTMP, c VARCHAR(10), d DECIMAL(50, 2), e JSON, f INT[], g FLOAT, h TIMESTAMP(9), a INT) WITH (connector = 'http');
CREATE TABLE u (a INT) WITH (connector = 'htp');
SELECT a, nothing, t.b + 1, lenght(c) FROM t WHERE c = foo;
SELECT x FROM v;
---
CREATE TABLE t ("Mixed" INT, b STRING) WITH (connector = 'http');
SELECT mixed, t.c, x.b, b.c, T.B FROM t;
---
CREATE TABLE t (a INT) WITH (connector = 'http');
CREATE VIEW t AS SELECT a FROM t;
CREATE TABLE IF NOT EXISTS t (b INT) WITH (connector = 'http');
SELECT a, a FROM t;
SELECT a FROM (SELECT a, a + 1 AS a FROM t);
CREATE VIEW twice AS SELECT a, a FROM t;
SELECT * FROM t AS x (y, z);
SELECT * EXCEPT (q) FROM t;
SELECT u.* FROM t;
---
CREATE TABLE t (a INT, b TEXT, c TIMESTAMP, d BOOLEAN) WITH (connector = 'http');
SELECT a + b FROM t;
SELECT a FROM t WHERE a;
SELECT a FROM t WHERE c > 'yesterday';
SELECT CASE WHEN d THEN a ELSE b END FROM t;
SELECT CAST(c AS BIGINT) FROM t;
SELECT -b, NOT a, a AND d FROM t;
SELECT sum(b), count(), sum(a, a) FROM t;
SELECT a FROM t UNION ALL SELECT b FROM t;
SELECT a FROM t UNION ALL SELECT a, b FROM t;
SELECT interval '1 second' AS i FROM t;
SELECT 99999999999999999999999999999999999999999 AS big FROM t;
---
SELECT 1 FROM nothing
