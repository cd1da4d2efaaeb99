-- OVER in its three forms: window by window, by event time, and kept up to date.
CREATE TABLE bids (auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT NOT NULL, at TIMESTAMP NOT NULL,
  WATERMARK FOR at AS at - interval '5 seconds') WITH (connector = 'http');
CREATE VIEW per_minute AS
  SELECT tumble(interval '1 minute') AS w, auction, count(*) AS n FROM bids GROUP BY w, auction;
SELECT w.start AS minute, auction, n, rank() OVER (PARTITION BY w ORDER BY n DESC) AS place
FROM per_minute QUALIFY place <= 3;
SELECT auction, w.start AS minute, n, n - lag(n, 1, 0) OVER (PARTITION BY auction ORDER BY w) AS more FROM per_minute;
SELECT auction, price, avg(price) OVER last_ten AS mean, sum(price) OVER (PARTITION BY auction ORDER BY at) AS total,
  max(price) OVER (PARTITION BY auction ORDER BY at RANGE interval '1 hour' PRECEDING) AS top
FROM bids WINDOW last_ten AS (PARTITION BY auction ORDER BY at ROWS BETWEEN 10 PRECEDING AND CURRENT ROW);
SELECT auction, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS place FROM bids GROUP BY auction;
SELECT bidder, lead(price) OVER (PARTITION BY bidder ORDER BY at) AS next FROM bids;
