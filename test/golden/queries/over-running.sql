SELECT id, sum(amount) OVER (PARTITION BY customer ORDER BY ts, id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS lately,
  first_value(product) OVER (PARTITION BY customer ORDER BY amount DESC NULLS LAST, id) AS dearest FROM orders;
