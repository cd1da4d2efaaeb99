CREATE TABLE t (ts TIMESTAMP, k TEXT, WATERMARK FOR ts) WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source', late_rows = 'dead_letter');
SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM t GROUP BY 1);
