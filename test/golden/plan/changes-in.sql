CREATE TABLE customers (id BIGINT PRIMARY KEY, city TEXT, revenue BIGINT, note TEXT)
  WITH (connector = 'http', format = 'debezium_json', type = 'source');
SELECT city, count(*) AS n, sum(revenue) AS revenue FROM customers WHERE revenue > 0 GROUP BY city;
