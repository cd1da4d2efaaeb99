-- Columns may be NULL; NOT NULL refuses rows without a value.
CREATE TABLE t (x INT NOT NULL, y INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x, y FROM t;
--< t {"x":1}
--< t {"y":2}
---
-- Tables of changes need a PRIMARY KEY.
CREATE TABLE t (id INT, x INT) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT x FROM t;
---
-- GENERATED ALWAYS AS, also STORED; better than there: over tables of changes too.
CREATE TABLE t (x INT, y INT GENERATED ALWAYS AS (x * 2) STORED, z TEXT GENERATED ALWAYS AS (CAST(x AS TEXT)))
  WITH (connector = 'http', format = 'json', type = 'source');
SELECT x, y, z FROM t;
--< t {"x":4}
---
CREATE TABLE t (id INT PRIMARY KEY, x INT, y INT GENERATED ALWAYS AS (x * 2)) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT y FROM t;
--< t {"before":null,"after":{"id":1,"x":4},"op":"c"}
--< t {"before":{"id":1,"x":4},"after":{"id":1,"x":5},"op":"u"}
---
CREATE TABLE t (x INT, y INT GENERATED ALWAYS AS (notfield)) WITH (connector = 'http', format = 'json', type = 'source');
SELECT y FROM t;
---
-- METADATA FROM, and its older spelling.
CREATE TABLE t (x INT, p INT METADATA FROM 'partition', at BIGINT GENERATED ALWAYS AS (metadata('offset_id')))
  WITH (connector = 'http', format = 'json', type = 'source');
SELECT x, p, at FROM t;
--< t {"x":5}
--< t {"x":6}
---
CREATE TABLE t (x INT, p TEXT METADATA FROM 'partition', q INT METADATA FROM 'partitions')
  WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
---
-- Other constraints, and names that stand twice, also in structs.
CREATE TABLE t (x INT, x INT, s STRUCT<a INT, a INT>, CHECK (x > 1)) WITH (connector = 'http', format = 'json', type = 'source');
SELECT x FROM t;
