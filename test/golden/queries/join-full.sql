SELECT o.id, p.id AS payment, coalesce(o.amount, 0) - coalesce(p.paid, 0) AS open FROM orders o FULL JOIN payments p ON p.order_id = o.id;
