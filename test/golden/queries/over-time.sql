SELECT id, customer, lag(page) OVER w AS before, count(*) OVER (PARTITION BY customer ORDER BY ts RANGE interval '30 seconds' PRECEDING) AS lately
FROM clicks WINDOW w AS (PARTITION BY customer ORDER BY ts, id);
