-- Flink's spelling of windows is the same plan as GROUP BY tumble(…).
CREATE TABLE bids (ts TIMESTAMP, item TEXT, price BIGINT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json');
SELECT window_start, window_end, window_time, item, sum(price) AS total
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
WHERE price > 0
GROUP BY window_start, window_end, window_time, item
HAVING sum(price) > 10;
SELECT b.window_start, count(*) AS n FROM HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES) AS b GROUP BY b.window_start, b.window_end;
