-- Real US flights of 2001, a sample from the npm package vega-datasets. The file names no time zone (the Bureau of
-- Transportation Statistics gives local times); times are sent as if they were UTC, so an hour is one on the airport's own clock.
-- Delays per origin airport and hour, from rows posted over HTTP.

CREATE TABLE flights (
  date TIMESTAMP NOT NULL,
  delay INT,
  distance INT,
  origin TEXT,
  destination TEXT,
  WATERMARK FOR date AS date - interval '10 minutes'
) WITH (connector = 'http', format = 'json', type = 'source');

CREATE TABLE delays WITH (connector = 'r2', path = 'flights/delays', format = 'json', type = 'sink');

-- A row without an origin is a heartbeat: it moves event time on and is counted nowhere.
CREATE VIEW hourly AS
SELECT origin, window.start AS hour, flights, total_delay, average_delay, worst_delay
FROM (
  SELECT origin, tumble(interval '1 hour') AS window, count(*) AS flights,
         sum(delay) AS total_delay, avg(delay) AS average_delay, max(delay) AS worst_delay
  FROM flights
  WHERE origin IS NOT NULL
  GROUP BY origin, window
);

-- Committed exactly once to files in R2 …
INSERT INTO delays SELECT * FROM hourly;

-- … and shown live to whoever watches.
SELECT * FROM hourly;
