-- All aggregates, windowed.
CREATE TABLE t (ts TIMESTAMP, x INT, y DOUBLE, z TEXT, b BOOLEAN, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
SELECT count(*) AS a1, count(x) AS a2, count(DISTINCT z) AS a3, sum(x) AS a4, sum(DISTINCT x) AS a5, min(z) AS a6, max(z) AS a7, avg(x) AS a8, mean(x) AS a9, median(y) AS a10,
  array_agg(z) AS a11, string_agg(z, ',') AS a12, first_value(x) AS a13, last_value(x) AS a14, nth_value(x, 2) AS a15, bit_and(x) AS a16, bit_or(x) AS a17, bit_xor(x) AS a18,
  bool_and(b) AS a19, bool_or(b) AS a20, tumble(INTERVAL '1 minute') AS w FROM t GROUP BY w;
SELECT corr(x, y) AS a1, covar(x, y) AS a2, covar_samp(x, y) AS a3, covar_pop(x, y) AS a4, stddev(x) AS a5, stddev_samp(x) AS a6, stddev_pop(x) AS a7, var(x) AS a8, var_samp(x) AS a9,
  var_pop(x) AS a10, regr_slope(y, x) AS a11, regr_intercept(y, x) AS a12, regr_count(y, x) AS a13, regr_r2(y, x) AS a14, regr_avgx(y, x) AS a15, regr_avgy(y, x) AS a16,
  regr_sxx(y, x) AS a17, regr_syy(y, x) AS a18, regr_sxy(y, x) AS a19, tumble(INTERVAL '1 minute') AS w FROM t GROUP BY w;
SELECT approx_distinct(z) AS a1, approx_median(y) AS a2, approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY y) AS a3,
  approx_percentile_cont_with_weight(x, 0.5) WITHIN GROUP (ORDER BY y) AS a4, tumble(INTERVAL '1 minute') AS w FROM t GROUP BY w;
--< t {"ts":"2024-01-01T00:00:10","x":1,"y":2.0,"z":"a","b":true}
--< t {"ts":"2024-01-01T00:00:11","x":3,"y":4.0,"z":"b","b":false}
--< t {"ts":"2024-01-01T00:00:12","x":3,"y":9.0,"z":"b","b":true}
---
-- DISTINCT, FILTER and ORDER BY in aggregates, updating.
CREATE TABLE t (x INT, z TEXT) WITH (connector = 'http', format = 'json', type = 'source');
SELECT z, count(*) FILTER (WHERE x > 1) AS big, array_agg(x ORDER BY x DESC) AS xs, count(DISTINCT x) AS n, grouping(z) AS g FROM t GROUP BY z;
--< t {"x":1,"z":"a"}
--< t {"x":3,"z":"a"}
--< t {"x":3,"z":"a"}
