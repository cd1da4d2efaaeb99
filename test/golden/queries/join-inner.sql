SELECT o.id, o.product, p.paid, p.method FROM orders o JOIN payments p ON p.order_id = o.id;
