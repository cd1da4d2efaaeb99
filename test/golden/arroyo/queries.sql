-- INSERT goes by position and casts to the types of the sink.
CREATE TABLE t (x BIGINT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o (name TEXT, n TEXT) WITH (connector = 'stdout', type = 'sink');
INSERT INTO o SELECT s, x FROM t;
--< t {"x":9007199254740993,"s":"a"}
---
-- WITH, subqueries, CASE, GROUP BY alias and position, HAVING, UNION ALL, UNION.
CREATE TABLE t (x BIGINT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
WITH big AS (SELECT x, s FROM t WHERE x > 1)
SELECT CASE WHEN x > 5 THEN 'large' ELSE 'small' END AS size, count(*) AS n FROM (SELECT x FROM big UNION ALL SELECT x FROM t) GROUP BY size HAVING count(*) > 1;
SELECT s, max(x) AS m FROM t GROUP BY 1;
SELECT s FROM t UNION SELECT CAST(x AS TEXT) FROM t;
--< t {"x":1,"s":"a"}
--< t {"x":2,"s":"b"}
--< t {"x":9,"s":"a"}
---
-- == is =, a column may be called timestamp, and texts compare with times.
CREATE TABLE t (timestamp TIMESTAMP, driver BIGINT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT timestamp, driver FROM t WHERE driver == 100 AND timestamp > '2024-01-01';
--< t {"timestamp":"2024-01-02T00:00:00","driver":100}
--< t {"timestamp":"2023-01-02T00:00:00","driver":100}
---
-- UNION ALL has the names of its first query, and its types must agree.
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x AS a FROM t UNION ALL SELECT x + 1 FROM t;
--< t {"x":1}
---
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t UNION ALL SELECT s FROM t;
---
-- updating_ttl is the only setting; a bare string is a length of time as well.
SET updating_ttl = '1 hour';
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT s, count(*) AS n FROM t GROUP BY s;
--< t {"x":1,"s":"a"}
---
SET updating_tll = INTERVAL '1 hour';
SET updating_ttl = INTERVAL '1 month';
SELECT 1 AS x;
---
-- Subqueries that hang on the query outside become joins.
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE u (s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.s = t.s);
SELECT x FROM t WHERE s IN (SELECT s FROM u);
--< u {"s":"a"}
--< t {"x":1,"s":"a"}
--< t {"x":2,"s":"b"}
---
-- unnest in SELECT, and better than there several of them and in FROM.
CREATE TABLE t (id INT, xs TEXT[]) WITH (connector = 'http', format = 'json', type = 'source');
SELECT id, unnest(xs) AS x FROM t;
SELECT id, x, n FROM t, unnest(xs) WITH ORDINALITY AS u (x, n);
--< t {"id":1,"xs":["a","b"]}
--< t {"id":2,"xs":[]}
--< t {"id":3,"xs":null}
