SELECT id, upper(product) AS product, amount * qty AS total, CASE WHEN qty > 3 THEN 'many' WHEN qty IS NULL THEN 'unknown' ELSE 'few' END AS size
FROM orders WHERE amount > 5 AND product LIKE '%e%';
