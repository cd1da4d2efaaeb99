-- A week of earthquakes, magnitude 2.5 and over, counted by day:
--   npx thalweg run examples/earthquakes/earthquakes.sql
-- prints the strong ones and writes the days to .thalweg/quakes-by-day.ndjson.

CREATE TABLE quakes (
  id TEXT NOT NULL,
  time TIMESTAMP NOT NULL,
  magnitude DOUBLE NOT NULL,
  depth_km DOUBLE,
  place TEXT,
  WATERMARK FOR time AS time
) WITH (connector = 'single_file', path = 'examples/earthquakes/earthquakes.ndjson', format = 'json', type = 'source');

CREATE TABLE by_day WITH (connector = 'single_file', path = '.thalweg/quakes-by-day.ndjson', format = 'json', type = 'sink');

INSERT INTO by_day
SELECT window.start AS day, quakes, strongest, average_depth_km
FROM (
  SELECT tumble(interval '1 day') AS window, count(*) AS quakes, max(magnitude) AS strongest,
         avg(depth_km) AS average_depth_km
  FROM quakes
  GROUP BY window
);

SELECT time, magnitude, place FROM quakes WHERE magnitude >= 5.5;
