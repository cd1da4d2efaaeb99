SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d, ntile(3) OVER (PARTITION BY product ORDER BY amount NULLS LAST, id) AS third
FROM orders WINDOW w AS (PARTITION BY product ORDER BY qty DESC NULLS LAST);
