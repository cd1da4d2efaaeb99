SELECT s, page, n FROM (
  SELECT w.start AS s, page, n, row_number() OVER (PARTITION BY w ORDER BY n DESC, page) AS place FROM (
    SELECT page, tumble(interval '1 minute') AS w, count(*) AS n FROM clicks GROUP BY page, w) AS counts) AS ranked
WHERE place <= 2;
