SELECT w.start AS s, n FROM (SELECT tumble(interval '1 minute', interval '7 seconds') AS w, count(*) AS n FROM clicks GROUP BY w HAVING count(*) > 2);
