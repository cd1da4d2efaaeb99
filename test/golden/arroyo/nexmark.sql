-- The hottest auctions of each window, as Arroyo's users write it over the three structs of nexmark.
CREATE TABLE nexmark WITH (connector = 'nexmark', event_rate = '100', runtime = '6 seconds');
WITH bids AS (SELECT bid.auction AS auction, bid.datetime AS datetime FROM nexmark WHERE bid IS NOT NULL)
SELECT AuctionBids.auction AS auction, AuctionBids.num AS num, AuctionBids.window.start AS start
FROM (
  SELECT B1.auction, HOP(INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS window, count(*) AS num
  FROM bids B1 GROUP BY 1, 2
) AS AuctionBids
JOIN (
  SELECT max(num) AS maxn, window
  FROM (SELECT count(*) AS num, HOP(INTERVAL '2' SECOND, INTERVAL '10' SECOND) AS window FROM bids B2 GROUP BY B2.auction, 2) AS CountBids
  GROUP BY 2
) AS MaxBids
ON AuctionBids.num = MaxBids.maxn AND AuctionBids.window = MaxBids.window;
---
-- The same over the flat table of bids.
CREATE TABLE bid WITH (connector = 'nexmark', "table" = 'bid', event_rate = 100, events = 600);
CREATE VIEW counts AS SELECT auction, count(*) AS num, hop(INTERVAL '2 seconds', INTERVAL '10 seconds') AS w FROM bid GROUP BY auction, w;
SELECT c.auction, c.num, c.w.start AS start FROM counts AS c JOIN (SELECT max(num) AS most, w FROM counts GROUP BY w) AS m ON c.w = m.w AND c.num = m.most;
---
-- Views of the kinds of events, and a join of them.
CREATE TABLE nexmark WITH (connector = 'nexmark', event_rate = '100', runtime = '6 seconds');
CREATE VIEW auctions AS SELECT auction.id AS id, auction.seller AS seller, auction.category AS category FROM nexmark WHERE auction IS NOT NULL;
CREATE VIEW people AS SELECT person.id AS id, person.state AS state FROM nexmark WHERE person IS NOT NULL;
SELECT p.state, a.id FROM auctions a JOIN people p ON a.seller = p.id WHERE a.category = 10;
