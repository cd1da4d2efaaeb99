-- Statements are taken in the order of the text; a bare SELECT shows its rows, each its own.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE VIEW v AS SELECT x + 1 AS y FROM t;
SELECT y FROM v;
SELECT y * 10 AS z FROM v;
--< t {"x":1}
---
-- A text without a query has none to run.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
---
-- Nor has an empty one.
---
-- Several INSERTs into one table are one sink.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o (x TEXT) WITH (connector = 'stdout', type = 'sink');
INSERT INTO o SELECT x FROM t;
INSERT INTO o SELECT x + 1 FROM t;
--< t {"x":1}
---
-- Names without quotes are folded to lower case, of tables as well.
CREATE TABLE T (X INT, "Camel" TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x, "Camel" FROM t;
--< t {"x":1,"Camel":"c"}
---
-- All mistakes at once, each with its place.
CREATE TABLE t (x INT, y LONG) WITH (connector = 'htp', format = 'json');
SELECT xx, lenght(x) FROM t;
---
-- An outer join behind which the missing rows are filtered is an inner one: added rows only.
CREATE TABLE a (id INT, x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o (id INT, x INT) WITH (connector = 'stdout', type = 'sink');
INSERT INTO o SELECT l.id, r.x FROM a l JOIN a r ON l.id = r.id WHERE r.x > 1;
--< a {"id":1,"x":2}
--< a {"id":2,"x":1}
---
-- ORDER BY, LIMIT, EXPLAIN, DDL and DML that are not of a pipeline are refused by name.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t ORDER BY x;
SELECT x FROM t LIMIT 3;
---
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
DESCRIBE t;
DROP TABLE t;
DELETE FROM t;
WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r;
---
-- Better than there: the first rows of an order, kept up to date.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t ORDER BY x DESC LIMIT 2;
--< t {"x":1}
--< t {"x":3}
--< t {"x":2}
