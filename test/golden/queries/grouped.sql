SELECT product, count(*) AS n, count(amount) AS known, sum(amount) AS total, min(amount) AS low, max(amount) AS high, avg(amount) AS mean, median(qty) AS middle
FROM orders GROUP BY product;
