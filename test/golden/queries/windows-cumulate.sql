SELECT w.start AS s, w.end AS e, total FROM (
  SELECT cumulate(interval '20 seconds', interval '1 minute') AS w, sum(amount) AS total FROM orders GROUP BY w);
