SELECT id, amount FROM orders WHERE id IN (SELECT order_id FROM payments WHERE method = 'card') AND customer NOT IN (SELECT id FROM people WHERE city = 'Oslo');
