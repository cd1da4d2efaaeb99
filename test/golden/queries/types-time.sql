-- not in the evaluator: TIME, TIMESTAMPTZ and zones
SELECT id, day + 1 AS tomorrow, clock, moment, moment AT TIME ZONE 'Europe/Paris' AS paris, date_trunc('month', ts) AS month, ts - TIMESTAMP '2024-03-30' AS since FROM readings;
