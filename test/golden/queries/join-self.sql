SELECT a.id, b.id AS other FROM orders a JOIN orders b ON a.customer = b.customer AND a.product = b.product AND a.id < b.id;
