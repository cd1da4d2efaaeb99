-- not in the evaluator: narrow and unsigned whole numbers
SELECT id, tiny, small, huge, vast, tiny + small AS sum, huge / 3 AS third, vast % 1000 AS rest, CAST(vast AS DECIMAL(20, 0)) + 1 AS next FROM readings;
