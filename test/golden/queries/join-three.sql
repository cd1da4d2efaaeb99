SELECT p.name, o.product, count(*) AS n, sum(y.paid) AS paid FROM orders o JOIN payments y ON y.order_id = o.id JOIN people p ON p.id = o.customer GROUP BY p.name, o.product;
