-- not in the evaluator: lateness and early results, which change when rows leave, not which remain
SELECT product, w.start AS s, n FROM (
  SELECT product, tumble(interval '30 seconds', lateness => interval '20 seconds', early => interval '1 second') AS w, count(*) AS n FROM orders GROUP BY product, w);
