SELECT v.start AS s, total FROM (
  SELECT tumble(interval '2 minutes') AS v, sum(n) AS total FROM (
    SELECT page, tumble(interval '20 seconds') AS w, count(*) AS n FROM clicks GROUP BY page, w) AS counts GROUP BY v);
