CREATE TABLE orders (id INT NOT NULL, customer INT, product TEXT, amount DECIMAL(10, 2), qty BIGINT, ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - interval '10 seconds') WITH (connector = 'single_file', path = 'orders', format = 'json', type = 'source');
CREATE TABLE payments (id INT NOT NULL, order_id INT, paid DECIMAL(10, 2), method TEXT, ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - interval '10 seconds') WITH (connector = 'single_file', path = 'payments', format = 'json', type = 'source');
CREATE TABLE clicks (id INT NOT NULL, customer INT, page TEXT, ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - interval '10 seconds') WITH (connector = 'single_file', path = 'clicks', format = 'json', type = 'source');
CREATE TABLE prices (id INT NOT NULL, product TEXT, price DECIMAL(10, 2), ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - interval '10 seconds') WITH (connector = 'single_file', path = 'prices', format = 'json', type = 'source');
CREATE TEMPORARY TABLE people (id INT NOT NULL, name TEXT, city TEXT, PRIMARY KEY (id))
  WITH (connector = 'single_file', path = 'people', format = 'json');
CREATE TABLE readings (id INT NOT NULL, tiny TINYINT, small SMALLINT UNSIGNED, huge BIGINT, vast BIGINT UNSIGNED, d DOUBLE, f FLOAT,
  money DECIMAL(38, 6), flag BOOLEAN, day DATE, clock TIME, moment TIMESTAMPTZ, doc JSON, tags TEXT[], at STRUCT<x INT, label TEXT>,
  ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '10 seconds')
  WITH (connector = 'single_file', path = 'readings', format = 'json', type = 'source');
CREATE TABLE accounts (id INT PRIMARY KEY, owner TEXT, balance DECIMAL(10, 2))
  WITH (connector = 'single_file', path = 'accounts', format = 'debezium_json', type = 'source');
