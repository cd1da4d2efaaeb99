-- not in the evaluator: tables of changes
SELECT p.name, a.id, a.balance, row_number() OVER (PARTITION BY p.name ORDER BY a.balance DESC, a.id) AS place
FROM accounts a LEFT JOIN (SELECT id, name FROM people) AS p ON p.name = a.owner;
