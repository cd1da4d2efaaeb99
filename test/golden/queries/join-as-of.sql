SELECT o.id, o.product, p.price, o.qty * p.price AS worth FROM orders o ASOF LEFT JOIN prices p ON o.product = p.product AND o.ts >= p.ts;
