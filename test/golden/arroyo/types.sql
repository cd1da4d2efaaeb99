-- Every spelling of every type, in tables as well, which takes more than there.
CREATE TABLE t (a BOOL, b INT2, c TINYINT UNSIGNED, d INTEGER, e INT UNSIGNED, f INT8, g BIGINT UNSIGNED, h FLOAT4, i REAL, j FLOAT8, k DOUBLE PRECISION,
  l NUMERIC, m DEC(5), n DECIMAL(5, 2), o STRING, p VARCHAR(9), q CHAR, r BYTEA, s DATETIME, u TIMESTAMP(3), v DATE, w TIME, x INTERVAL, y JSON,
  z STRUCT<a INT, b STRUCT<c TEXT>>, aa INT[], ab ARRAY<TEXT>) WITH (connector = 'http', format = 'json', type = 'source');
SELECT * FROM t;
--< t {"a":true,"b":1,"c":255,"g":18446744073709551615,"h":1.5,"l":1.5,"n":1.25,"r":"AP8=","s":"2024-01-01T00:00:00","v":"2024-01-01","w":"12:00:00","x":"1 day","z":{"a":1,"b":{"c":"d"}},"aa":[1,2],"ab":["q"]}
---
-- Fields by . and ['name'], elements from 1.
CREATE TABLE t (s STRUCT<a INT, b STRUCT<c TEXT>>, xs INT[]) WITH (connector = 'http', format = 'json', type = 'source');
SELECT s.b.c, s['a'] AS a, t.s.a AS again, xs[1] AS first, xs[9] AS none FROM t;
--< t {"s":{"a":1,"b":{"c":"d"}},"xs":[7,8]}
---
-- What is no type.
CREATE TABLE t (a TIMESTAMP(4), b SOMETYPE, c LONG, d DECIMAL(39, 2)) WITH (connector = 'http', format = 'json', type = 'source');
SELECT a FROM t;
---
CREATE TABLE t (a STRUCT<INT, TEXT>) WITH (connector = 'http', format = 'json', type = 'source');
SELECT a FROM t;
---
CREATE TABLE t (a ARRAY) WITH (connector = 'http', format = 'json', type = 'source');
SELECT a FROM t;
---
-- JSON keeps its text.
CREATE TABLE t (doc JSON) WITH (connector = 'http', format = 'json', type = 'source');
SELECT doc -> 'a' AS a, doc ->> 'b' AS b, json_get_int(doc, 'c') AS c, extract_json_string(doc, '$.d[0]') AS d FROM t;
--< t {"doc":{"a":1.10,"b":"x","c":7,"d":["y"]}}
