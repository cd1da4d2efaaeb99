SELECT customer, w.start AS s, n, pages FROM (
  SELECT customer, hop(interval '15 seconds', interval '40 seconds') AS w, count(*) AS n, count(DISTINCT page) AS pages FROM clicks GROUP BY customer, w);
