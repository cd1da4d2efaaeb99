-- A table that is written takes its columns from the first INSERT.
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o WITH (connector = 'stdout', type = 'sink');
INSERT INTO o SELECT s, x FROM t;
--< t {"x":1,"s":"a"}
---
-- All INSERTs into it have those columns.
CREATE TABLE t (x INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE o WITH (connector = 'stdout', type = 'sink');
INSERT INTO o SELECT x FROM t;
INSERT INTO o SELECT x, s FROM t;
---
-- impulse and nexmark have columns of their own; declared ones are some of them, unsigned as in Arroyo.
CREATE TABLE i (counter BIGINT UNSIGNED NOT NULL, subtask_index BIGINT UNSIGNED NOT NULL)
  WITH (connector = 'impulse', event_rate = '1000', message_count = '2', event_time_interval = INTERVAL '1 second');
SELECT counter FROM i;
---
CREATE TABLE i (x INT) WITH (connector = 'impulse', event_rate = '10');
SELECT x FROM i;
---
-- Events of three kinds, each in its own struct or NULL.
CREATE TABLE nexmark WITH (connector = 'nexmark', event_rate = '1000', runtime = '1 second');
CREATE VIEW bids AS SELECT bid.auction AS auction, bid.price AS price FROM nexmark WHERE bid IS NOT NULL;
CREATE VIEW people AS SELECT person.id AS id FROM nexmark WHERE person IS NOT NULL;
SELECT count(*) AS bids FROM bids;
SELECT count(*) AS people FROM people;
---
-- Memory tables: no connector or connector = 'memory', and no options.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE m (x BIGINT);
INSERT INTO m SELECT x FROM t;
SELECT x + 1 AS y FROM m;
--< t {"x":1}
---
CREATE TABLE m (x BIGINT) WITH (connector = 'memory');
SELECT x FROM m;
---
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE m (x BIGINT);
INSERT INTO m SELECT x FROM t;
INSERT INTO m SELECT x FROM t;
SELECT x FROM m;
---
CREATE TABLE m (x BIGINT, y BIGINT GENERATED ALWAYS AS (x)) WITH (connector = 'memory', format = 'json');
INSERT INTO m SELECT 1;
SELECT x FROM m;
---
-- CREATE TABLE … AS is a view, and is not written to.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE v AS SELECT x + 1 AS y FROM t;
SELECT y FROM v;
--< t {"x":1}
---
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE TABLE v AS SELECT x FROM t;
INSERT INTO v SELECT x FROM t;
---
-- TEMPORARY tables are looked up in; better than there: any bounded connector, any key, and they may be read as they are.
CREATE TEMPORARY TABLE names (k INT PRIMARY KEY, v TEXT)
  WITH (connector = 'single_file', path = 'names.json', format = 'json', type = 'lookup', 'lookup.cache.max_bytes' = '10MB', 'lookup.cache.ttl' = INTERVAL '1 minute');
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT t.x, names.v FROM t LEFT JOIN names ON t.x = names.k;
---
CREATE TEMPORARY TABLE names (k INT PRIMARY KEY, v TEXT)
  WITH (connector = 'single_file', path = 'names.json', format = 'json');
INSERT INTO names SELECT 1, 'a';
---
-- Unknown options, the wrong direction, an unknown connector.
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'source', foo = 'x', late_row = 'count');
CREATE TABLE o (x INT) WITH (connector = 'blackhole', type = 'sink');
INSERT INTO t SELECT 1;
SELECT x FROM o;
---
CREATE TABLE t (x INT) WITH (connector = 'http', format = 'json', type = 'sink');
SELECT x FROM t;
