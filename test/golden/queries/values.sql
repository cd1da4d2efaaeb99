SELECT o.id, v.word FROM orders o JOIN (VALUES (1, 'one'), (2, 'two'), (3, NULL)) AS v (n, word) ON v.n = o.qty;
