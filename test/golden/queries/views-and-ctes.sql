CREATE VIEW spent (customer, total) AS SELECT customer, sum(amount) FROM orders GROUP BY customer;
WITH rich AS (SELECT customer, total FROM spent WHERE total > 100), named AS (SELECT r.total, p.name FROM rich r JOIN people p ON p.id = r.customer)
SELECT name, total FROM named;
