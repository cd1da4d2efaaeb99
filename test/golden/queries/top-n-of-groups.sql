SELECT customer, count(*) AS n, sum(amount) AS total FROM orders GROUP BY customer ORDER BY n DESC, customer LIMIT 3 OFFSET 1;
