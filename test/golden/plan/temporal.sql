CREATE TABLE orders (id INT NOT NULL, currency TEXT, amount BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '5 seconds')
  WITH (connector = 'http', type = 'source');
CREATE TABLE rates (currency TEXT PRIMARY KEY, rate BIGINT, active BOOLEAN, changed TIMESTAMP METADATA FROM 'ts_ms', WATERMARK FOR changed AS changed - interval '5 seconds')
  WITH (connector = 'http', format = 'debezium_json', type = 'source');
CREATE VIEW active_rates AS SELECT currency, rate + 1 AS rate FROM rates WHERE active;
SELECT o.id, o.amount * r.rate AS total FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN active_rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency AND r.rate > 2;
