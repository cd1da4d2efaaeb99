SELECT w.start AS s, busiest, customers FROM (
  SELECT w, max(n) AS busiest, count(*) AS customers FROM (
    SELECT customer, tumble(interval '30 seconds') AS w, count(*) AS n FROM clicks GROUP BY customer, w) AS counts GROUP BY w);
