SELECT o.id, t.n, t.most FROM orders o, LATERAL (SELECT count(*) AS n, max(p.paid) AS most FROM payments p WHERE p.order_id = o.id) AS t WHERE o.qty > 2;
