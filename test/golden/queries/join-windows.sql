SELECT o.w.start AS s, o.n AS orders, c.n AS clicks FROM
  (SELECT customer, tumble(interval '1 minute') AS w, count(*) AS n FROM orders GROUP BY customer, w) AS o
  JOIN (SELECT customer, tumble(interval '1 minute') AS w, count(*) AS n FROM clicks GROUP BY customer, w) AS c
  ON o.customer = c.customer AND o.w = c.w;
