CREATE TABLE flights (date TIMESTAMP NOT NULL, delay INT NOT NULL, distance INT, origin TEXT NOT NULL, destination TEXT, WATERMARK FOR date AS date - interval '10 minutes')
  WITH (connector = 'http', format = 'json', type = 'source', partitions = 4);
CREATE TABLE delays (origin TEXT NOT NULL, hour TIMESTAMP NOT NULL, flights BIGINT NOT NULL, average DOUBLE, worst INT)
  WITH (connector = 'r2', path = 'delays/', format = 'json', file_size = '8MB', roll_interval = interval '1 minute');
INSERT INTO delays
SELECT origin, window.start, flights, average, worst
FROM (SELECT origin, tumble(interval '1 hour') AS window, count(*) AS flights, avg(delay) AS average, max(delay) AS worst FROM flights GROUP BY origin, window);
