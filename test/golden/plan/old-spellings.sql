CREATE TABLE t (created_at TIMESTAMP, k STRING, amount NUMERIC) WITH (connector = 'http', event_time_field = created_at, json.timestamp_format = 'unix_millis', json.decimal_encoding = 'string', bad_data = 'drop');
SELECT tumble(interval '1' MINUTE) AS window, avg(amount) AS mean FROM t GROUP BY window;
