SELECT o.id, p.id AS payment FROM orders o LEFT JOIN payments p ON p.order_id = o.id AND p.paid >= o.amount;
