SELECT product, id, amount, place FROM (
  SELECT product, id, amount, row_number() OVER (PARTITION BY product ORDER BY amount DESC NULLS LAST, id) AS place FROM orders) AS ranked WHERE place <= 3;
