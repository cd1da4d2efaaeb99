-- not in the evaluator: tables of changes
SELECT id, balance FROM accounts ORDER BY balance DESC, id LIMIT 2;
