CREATE FUNCTION lower(s TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE FUNCTION f(s TEXT, s TEXT) RETURNS TEXT LANGUAGE python AS $$ return s $$;
SELECT 1;
---
CREATE FUNCTION f(s TEXT) RETURNS TEXT LANGUAGE javascript WITH (retries = 3, timeot = '1 second', timeout = '5 minutes', network = 'not a host') AS $$ return s; $$;
SELECT 1;
---
CREATE TABLE t (a INT, b TEXT, c BIGINT) WITH (connector = 'http', format = 'json', type = 'source');
CREATE FUNCTION f(s INT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE FUNCTION f(s INT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE FUNCTION g(s INT) RETURNS TABLE (r TEXT) LANGUAGE javascript AS $$ return [s]; $$;
SELECT f(b), f(c), f(), f(1.5), g(a) FROM t;
SELECT * FROM t, f(t.a);
SELECT F(DISTINCT a) FROM t;
---
CREATE FUNCTION f(s TEXT) RETURNS TEXT LANGUAGE javascript VOLATILE AS $$ return s; $$;
CREATE TABLE t (a INT, b TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT f(b) FROM (SELECT b, count(*) AS n FROM t GROUP BY b);
---
CREATE FUNCTION f(s TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE TABLE t (a TEXT, b TEXT GENERATED ALWAYS AS (f(a)) STORED) WITH (connector = 'http', format = 'json', type = 'source');
SELECT b FROM t;
---
CREATE FUNCTION f(s TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE TABLE t (a TEXT, b TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT l.a FROM t l LEFT JOIN t r ON l.a = r.a AND f(l.b || r.b) = 'x';
---
CREATE ASYNC AGGREGATE FUNCTION f(s TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
CREATE AGGREGATE FUNCTION g() RETURNS TEXT LANGUAGE javascript AS $$ return s; $$;
SELECT 1;
---
CREATE FUNCTION f(s TEXT) RETURNS TEXT AS $$ return s; $$;
SELECT 1;
---
CREATE AGGREGATE FUNCTION f(a INT, b TEXT) RETURNS TEXT LANGUAGE javascript AS $$ return ''; $$;
CREATE TABLE t (a INT, b TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT f(a), f(b, a), f(*) FROM t;
SELECT a FROM t WHERE f(a, b) = '';
