CREATE TABLE t (ts TIMESTAMP, WATERMARK FOR ts) WITH (connector = 'single_file', path = 'in', format='json', type='source');
SELECT 'm' AS w, window.start AS s FROM (SELECT tumble(interval '30 days') AS window, count(*) AS n FROM t GROUP BY 1)
UNION ALL SELECT 'w', window.start FROM (SELECT tumble(interval '7 days') AS window, count(*) AS n FROM t GROUP BY 1)
UNION ALL SELECT 'mon', window.start FROM (SELECT tumble(interval '7 days', interval '4 days') AS window, count(*) AS n FROM t GROUP BY 1);
