-- not in the evaluator: arrays and structs of tables
SELECT tags, at.label AS label, count(*) AS n, max(moment) AS latest FROM readings GROUP BY tags, at.label;
