SELECT method, round(sum(paid), 0) AS total FROM payments GROUP BY method HAVING sum(paid) > 100 AND count(*) > 3;
