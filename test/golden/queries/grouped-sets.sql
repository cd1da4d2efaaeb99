SELECT product, customer, sum(qty) AS qty, grouping(product, customer) AS level FROM orders GROUP BY ROLLUP (product, customer);
