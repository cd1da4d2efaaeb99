-- ORDER BY with LIMIT, by event time and window by window; DISTINCT ON; set operations; VALUES; memory tables.
CREATE TABLE bids (auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT NOT NULL, at TIMESTAMP NOT NULL,
  WATERMARK FOR at AS at - interval '5 seconds') WITH (connector = 'http');
CREATE TABLE dear (auction BIGINT, price BIGINT);
INSERT INTO dear SELECT auction, price FROM bids WHERE price > 100;
SELECT auction FROM dear ORDER BY price DESC, auction LIMIT 5 OFFSET 1;
SELECT auction, price FROM bids ORDER BY at, price;
SELECT auction, count(*) AS n FROM bids GROUP BY auction, tumble(interval '10 seconds') ORDER BY 2 DESC;
SELECT DISTINCT ON (auction) auction, bidder FROM bids ORDER BY auction, price DESC;
SELECT DISTINCT ON (bidder) bidder, auction FROM bids ORDER BY bidder, at;
SELECT auction FROM bids EXCEPT SELECT bidder FROM bids;
SELECT auction FROM bids INTERSECT ALL SELECT a FROM (VALUES (1), (2)) AS t (a);
SELECT 1 AS one, upper('x') AS two;
