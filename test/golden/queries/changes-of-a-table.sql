-- not in the evaluator: tables of changes
SELECT owner, count(*) AS accounts, sum(balance) AS balance, max(balance) AS most FROM accounts GROUP BY owner;
