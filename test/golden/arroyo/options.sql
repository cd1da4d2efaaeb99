-- Keys bare or quoted; booleans, numbers, lengths of time and sizes also as strings.
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts)
  WITH ('connector' = 'http', format = json, "type" = 'source', partitions = '2', idle_time = '30 seconds', 'watermark.idle_advance' = INTERVAL '1' MINUTE, 'json.unstructured' = 'no');
CREATE TABLE o (x INT) WITH (connector = 'r2', path = 'out', type = 'sink', file_bytes_max = '10MB');
INSERT INTO o SELECT x FROM t;
---
-- Months and less than nothing are no lengths of time.
CREATE TABLE t (ts TIMESTAMP, x INT, WATERMARK FOR ts)
  WITH (connector = 'http', type = 'source', idle_time = '1 month', 'watermark.idle_advance' = '-1 second', partitions = 'two', 'json.unstructured' = 'maybe');
SELECT x FROM t;
