CREATE TABLE t (a INT) WITH (connector = 'http', fromat = 'json', format = 'jsn', partitions = 'two', bad_data = 'drpo', idle_time = 5, late_rows = 'count');
SELECT a FROM t;
---
CREATE TABLE t (a INT);
CREATE TABLE u (a INT) WITH (connector = 'r2', file_size = 'big', roll_interval = interval '1 month', path = 'x', path = 'y');
CREATE TABLE w (a INT) WITH (connector = 'r2', bad_data = 'drop');
INSERT INTO u SELECT a FROM t;
---
CREATE TABLE t (a INT) WITH (connector = 'http', type = 'sink');
CREATE TABLE f (a INT) WITH (connector = 'single_file');
CREATE TABLE g (a INT) WITH (connector = 'single_file', path = 'g', colour = 'red');
SELECT a FROM f;
---
CREATE TABLE i (counter BIGINT, count BIGINT) WITH (connector = 'impulse', event_rate = 1);
CREATE TABLE j (counter INT) WITH (connector = 'impulse', event_rate = 'fast');
CREATE TABLE k WITH (connector = 'http');
SELECT * FROM i;
SELECT * FROM j;
SELECT * FROM k;
---
CREATE TABLE t (a INT DEFAULT 'x', b INT NOT NULL DEFAULT 1 + 1, c INT DEFAULT b, d INT GENERATED ALWAYS AS (e), f TEXT GENERATED ALWAYS AS (g), g TEXT GENERATED ALWAYS AS ('g'), h INT METADATA FROM 'h') WITH (connector = 'http');
CREATE TEMPORARY TABLE u (a INT) WITH (connector = 'http');
SELECT a FROM t;
---
CREATE TABLE t (a TIMESTAMP, b INT, WATERMARK FOR aa) WITH (connector = 'http');
CREATE TABLE u (a TIMESTAMP, b INT, WATERMARK FOR b) WITH (connector = 'http');
CREATE TABLE v (a TIMESTAMP, b INT, WATERMARK FOR a AS b) WITH (connector = 'http');
CREATE TABLE w (a TIMESTAMP, b INT, WATERMARK FOR a, WATERMARK FOR a) WITH (connector = 'http');
CREATE TABLE x (a TIMESTAMP) WITH (connector = 'http', event_time_field = b);
CREATE TABLE y (a TIMESTAMP) WITH (connector = 'http', idle_time = '5 seconds');
CREATE TABLE z (a TIMESTAMP, WATERMARK FOR a) WITH (connector = 'r2', path = 'z');
SELECT * FROM t;
---
CREATE TABLE t (a INT, PRIMARY KEY (b)) WITH (connector = 'http', format = 'debezium_json');
CREATE TABLE u (a INT, raw TEXT) WITH (connector = 'http', json.unstructured = true);
SELECT a FROM t
---
CREATE TABLE t (a INT) WITH (connector = 'http')
---
SET updating_ttl = interval '1 hour';
SET colour = 'red';
CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE javascript AS 'x';
CREATE TABLE t (a INT) WITH (connector = 'http');
EXPLAIN SELECT a FROM t;
---
CREATE TABLE logs (timestamp TIMESTAMP, part TEXT METADATA FROM 'partition', topic TEXT METADATA FROM 'topic') WITH (connector = 'http');
SELECT timestamp, part, topic FROM logs;
