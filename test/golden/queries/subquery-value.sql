SELECT id, amount, (SELECT sum(paid) FROM payments p WHERE p.order_id = orders.id) AS paid FROM orders WHERE amount > (SELECT avg(amount) FROM orders);
