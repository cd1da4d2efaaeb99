SELECT id, qty / (customer - 3) AS ratio, CAST(product AS TEXT) AS product FROM orders WHERE 10 / customer > 1;
