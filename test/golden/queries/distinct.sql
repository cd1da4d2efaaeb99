SELECT DISTINCT product, qty FROM orders;
