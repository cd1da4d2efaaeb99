SELECT id, order_id, paid FROM payments QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY ts, id) = 1;
