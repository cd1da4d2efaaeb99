SELECT product, w.start AS s, w.end AS e, n, total, mean FROM (
  SELECT product, tumble(interval '30 seconds') AS w, count(*) AS n, sum(amount) AS total, avg(qty) AS mean FROM orders GROUP BY product, w);
