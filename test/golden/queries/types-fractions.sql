-- not in the evaluator: FLOAT and decimals of 38 digits
SELECT flag, count(*) AS n, sum(money) AS money, min(f) AS f, max(d) AS d, sum(d) AS total FROM readings GROUP BY flag;
