-- not in the evaluator: JSON, arrays and structs of tables
SELECT id, doc, doc -> 'b' -> 2 AS number, doc ->> 'ключ' AS text, tags, tags[1] AS first, array_length(tags) AS n, at, at.label AS label FROM readings;
