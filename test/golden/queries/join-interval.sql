SELECT o.id, p.id AS payment FROM orders o LEFT JOIN payments p
  ON p.order_id = o.id AND p.ts BETWEEN o.ts - interval '1 minute' AND o.ts + interval '2 minutes';
