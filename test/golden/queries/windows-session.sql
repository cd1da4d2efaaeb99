SELECT customer, w.start AS s, w.end AS e, n, first, last FROM (
  SELECT customer, session(interval '9 seconds') AS w, count(*) AS n, min(page) AS first, max(page) AS last FROM clicks GROUP BY customer, w);
