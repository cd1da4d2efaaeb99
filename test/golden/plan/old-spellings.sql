CREATE TABLE t (created_at TIMESTAMP, k STRING, amount NUMERIC) WITH (connector = 'http', event_time_field = created_at, json.timestamp_format = 'unix_millis', json.decimal_encoding = 'string', bad_data = 'drop');
SELECT tumble(interval '1' MINUTE) AS window, avg(amount) AS mean FROM t GROUP BY window;
---
CREATE TABLE logs (
  id bigint unsigned, "at" DATETIME, name VARCHAR, level STRING,
  part INT METADATA FROM 'partition', at_row BIGINT GENERATED ALWAYS AS (metadata('offset_id')),
  day DATE GENERATED ALWAYS AS (CAST("at" AS DATE)) STORED
) WITH (connector = 'http', event_time_field = 'at', idle_time = '30 seconds');
SELECT part, at_row, day, id FROM logs WHERE level == 'error';
