CREATE TABLE t (a INT, b TEXT) WITH (connector = 'http');
CREATE TABLE u (a INT, c TEXT) WITH (connector = 'http');
SELECT b, c FROM t, u;
SELECT b, c FROM t CROSS JOIN u;
SELECT b, c FROM t JOIN u ON t.a < u.a;
SELECT b, c FROM t LEFT JOIN u ON t.a = 1;
SELECT b, c FROM t JOIN u USING (b);
SELECT b, c FROM t JOIN u USING (z);
SELECT b, c FROM t JOIN u ON t.a = u.z;
SELECT b, c FROM t JOIN u ON b;
SELECT b FROM t SEMI JOIN u ON t.a = u.a WHERE c = 'x';
---
CREATE TABLE t (a INT, b TEXT) WITH (connector = 'http');
CREATE TABLE u (a INT, c TEXT) WITH (connector = 'http');
SELECT b FROM t WHERE a NOT IN (SELECT a FROM u WHERE u.c = t.b);
SELECT b FROM t WHERE a IN (SELECT a, c FROM u);
SELECT b FROM t WHERE a = (SELECT a FROM u);
SELECT b, (SELECT u.c FROM u WHERE u.a = t.a) AS c FROM t;
SELECT b FROM t WHERE a > (SELECT max(u.a) FROM u WHERE u.c > t.b);
SELECT b FROM t WHERE a = 1 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a);
SELECT count(*) AS n FROM t GROUP BY (SELECT max(a) FROM u);
SELECT b FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a HAVING count(*) > 1);
---
SET updating_ttl = 5;
SET updating_ttl = '1 month';
SELECT 1 AS one FROM t;
---
CREATE TABLE o (id INT, k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
CREATE TABLE c (k INT PRIMARY KEY, v INT, at TIMESTAMP METADATA FROM 'ts_ms', WATERMARK FOR at) WITH (connector = 'http', format = 'debezium_json', type = 'source');
CREATE TABLE plain (k INT PRIMARY KEY, v INT) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT o.id, c.v FROM o JOIN c FOR SYSTEM_TIME AS OF o.ts ON o.k = c.v;
SELECT o.id, c.v FROM o JOIN c FOR SYSTEM_TIME AS OF c.at ON o.k = c.k;
SELECT o.id, c.v FROM o ASOF JOIN c ON o.k = c.k;
SELECT o.id, p.v FROM o JOIN plain FOR SYSTEM_TIME AS OF o.ts AS p ON o.k = p.k;
SELECT o.id, g.n FROM o ASOF JOIN (SELECT k, count(*) AS n, max(at) AS at FROM c GROUP BY k) AS g ON o.k = g.k AND o.ts >= g.at;
SELECT c.k, o.id FROM c ASOF JOIN o ON o.k = c.k AND c.at >= o.ts;
---
CREATE TABLE c (k INT PRIMARY KEY, a INT METADATA FROM 'ts_ms', b TIMESTAMP METADATA FROM 'source.ts', at TIMESTAMP METADATA FROM 'ts_ms', PRIMARY KEY (at)) WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT * FROM c;
