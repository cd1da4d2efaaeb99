-- not in the evaluator: windows of a time zone. In Paris the night of the 31st has no two o'clock.
SELECT w.start AS s, w.end AS e, n FROM (SELECT tumble(interval '1 day', timezone => 'Europe/Paris') AS w, count(*) AS n FROM clicks GROUP BY w);
