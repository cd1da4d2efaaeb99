SELECT customer FROM orders EXCEPT SELECT customer FROM clicks WHERE page = '/pay'
UNION ALL (SELECT id FROM people INTERSECT SELECT customer FROM orders);
