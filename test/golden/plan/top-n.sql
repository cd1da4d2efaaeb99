-- The first rows of each partition, over rows that stay and rows that may go; the first of each key by event time is final.
CREATE TABLE bids (auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT NOT NULL, at TIMESTAMP NOT NULL,
  WATERMARK FOR at AS at - interval '5 seconds') WITH (connector = 'http');
SELECT auction, bidder, price FROM (SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC) AS rn FROM bids)
WHERE rn <= 10;
SELECT auction, bidder, rn FROM (SELECT *, row_number() OVER (PARTITION BY auction, bidder ORDER BY at DESC) AS rn FROM bids)
WHERE 1 = rn AND price > 5;
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY bidder ORDER BY at) AS rn FROM bids) WHERE rn = 1;
SELECT auction, n, place FROM (SELECT auction, n, rank() OVER (ORDER BY n DESC) AS place
  FROM (SELECT auction, count(*) AS n FROM bids GROUP BY auction)) WHERE place < 4;
