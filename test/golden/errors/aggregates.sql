CREATE TABLE t (a INT, b TEXT, v DOUBLE, j STRUCT<x INT>) WITH (connector = 'http');
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY v) FROM t;
SELECT percentile_cont(v) WITHIN GROUP (ORDER BY v), nth_value(a, 0), string_agg(b, b) FROM t;
SELECT array_agg(DISTINCT a ORDER BY b), sum(a) IGNORE NULLS, mode() WITHIN GROUP (ORDER BY a, b) FROM t;
SELECT corr(a), median(b), bool_and(a), max(j), stdev(v), arg_max(a, j) FROM t;
SELECT b ~ '(', regexp_replace(b, '[', 'x') FROM t;
