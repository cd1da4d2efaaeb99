-- Rows joined back to the best value of their window: chosen as they come, before they are grouped where that can be.
CREATE TABLE bid (
  auction BIGINT NOT NULL, bidder BIGINT, price BIGINT NOT NULL, at TIMESTAMP NOT NULL,
  WATERMARK FOR at AS at - interval '4 seconds'
) WITH (connector = 'http', format = 'json', type = 'source');

CREATE VIEW counts AS
  SELECT auction, count(*) AS num, hop(interval '2 seconds', interval '10 seconds') AS w FROM bid GROUP BY auction, w;

SELECT c.auction, c.num, c.w.start AS start
FROM counts c JOIN (SELECT max(num) AS top, w FROM counts GROUP BY w) m ON c.w = m.w AND c.num = m.top;

SELECT b.auction, b.price
FROM (SELECT auction, price, tumble(interval '10 seconds') AS w FROM bid GROUP BY auction, price, w) b
JOIN (SELECT min(price) AS low, tumble(interval '10 seconds') AS w FROM bid GROUP BY w) m ON b.w = m.w AND b.price = m.low;
