CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, unused TEXT, nn INT NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector = 'http', idle_time = '30s');
SELECT k, doubled FROM (
  SELECT k, v * 2 AS doubled, v FROM t WHERE v IS NOT NULL
  UNION ALL
  SELECT unused, v, v FROM t
) AS both WHERE k LIKE 'a%' AND v > 3 AND doubled <> 8;
