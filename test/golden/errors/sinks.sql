CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, n INT NOT NULL, d TIMESTAMP, WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE o (k TEXT NOT NULL, v BIGINT, x INT DEFAULT 7, b BOOLEAN) WITH (connector = 'r2', path = 'o');
CREATE VIEW w AS SELECT k FROM t;
INSERT INTO t SELECT ts, k, v, n, d FROM t;
INSERT INTO w SELECT k FROM t;
INSERT INTO nowhere SELECT k FROM t;
INSERT INTO o SELECT k FROM t;
INSERT INTO o (k, v) SELECT k, v FROM t;
INSERT INTO o (v) SELECT v FROM t;
INSERT INTO o (k, vv) SELECT k, v FROM t WHERE k = 'a';
INSERT INTO o (k, k) SELECT k, k FROM t WHERE k = 'a';
INSERT INTO o (k, v) SELECT 'a', k FROM t;
INSERT INTO o (k, v) SELECT 'a', 'b' FROM t;
INSERT INTO o (k, v) SELECT 'a', d FROM t;
INSERT INTO o (k, b) SELECT 'a', v FROM t;
INSERT INTO o (k, v) SELECT n, '12' FROM t;
INSERT INTO o (k, v) SELECT k, count(*) FROM t WHERE k > '' GROUP BY k;
SELECT k FROM o;
---
CREATE TABLE t (a INT, b INT) WITH (connector = 'single_file', path = 'x');
INSERT INTO t SELECT a, b FROM t;
---
CREATE TABLE t (a INT, b INT) WITH (connector = 'http');
CREATE TABLE o WITH (connector = 'r2', path = 'o');
INSERT INTO o (x, x) SELECT a, b FROM t;
INSERT INTO o (x) SELECT a, b FROM t;
INSERT INTO o SELECT a, b FROM t;
INSERT INTO o SELECT a FROM t;
SELECT a FROM o;
---
CREATE TABLE t (a INT, b INT) WITH (connector = 'http');
CREATE TABLE o WITH (connector = 'r2', path = 'o/x');
CREATE TABLE p WITH (connector = 'r2', path = '/o/./x/');
CREATE TABLE q WITH (connector = 'single_file', path = 'o/x');
INSERT INTO o SELECT a FROM t;
INSERT INTO p SELECT b FROM t;
INSERT INTO q SELECT b FROM t;
---
CREATE TABLE t (a INT) WITH (connector = 'single_file', path = '');
SELECT a FROM t;
