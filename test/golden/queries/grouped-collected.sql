SELECT customer, string_agg(product, ',' ORDER BY product) AS products, array_to_string(array_agg(id ORDER BY id DESC), ' ') AS ids, arg_max(product, amount) AS dearest
FROM orders GROUP BY customer;
