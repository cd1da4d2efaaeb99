CREATE TABLE bid (auction BIGINT NOT NULL, bidder BIGINT, price BIGINT, extra TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE auction (id BIGINT NOT NULL, seller BIGINT, category INT, expires TIMESTAMP, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http');
CREATE TABLE person (id BIGINT NOT NULL, name TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http');
-- A view of two joins, read with conditions that go to the sides.
CREATE VIEW sold AS SELECT b.price, a.category, p.name, b.extra FROM bid b JOIN auction a ON b.auction = a.id LEFT JOIN person p ON p.id = a.seller;
SELECT price, name FROM sold WHERE category = 10 AND price > 5;
-- Bounds between event times.
SELECT b.price, a.id FROM auction a LEFT JOIN bid b ON a.id = b.auction AND b.ts BETWEEN a.ts AND a.ts + interval '10 seconds';
-- A bound that is a column bounds nothing.
SELECT b.price, a.id FROM auction a JOIN bid b ON a.id = b.auction AND b.ts BETWEEN a.ts AND a.expires;
-- Windows.
SELECT m.top, n.n FROM (SELECT max(price) AS top, auction, tumble(interval '10 seconds') AS w FROM bid GROUP BY auction, w) AS m
  FULL JOIN (SELECT count(*) AS n, id, tumble(interval '10 seconds') AS w FROM auction GROUP BY id, w) AS n ON m.auction = n.id AND m.w.start = n.w.start;
-- Windows without saying so.
SELECT m.top, n.n FROM (SELECT max(price) AS top, auction, tumble(interval '10 seconds') AS w FROM bid GROUP BY auction, w) AS m
  JOIN (SELECT count(*) AS n, id, tumble(interval '10 seconds') AS w FROM auction GROUP BY id, w) AS n ON m.auction = n.id;
-- Tables in an order without keys.
SELECT p.name, b.price FROM person p, bid b, auction a WHERE a.id = b.auction AND p.id = a.seller AND b.price > 100;
-- Subqueries.
SELECT id FROM person WHERE id IN (SELECT bidder FROM bid) AND NOT EXISTS (SELECT 1 FROM auction WHERE seller = person.id);
SELECT auction, price FROM bid WHERE price > (SELECT avg(price) FROM bid);
SET updating_ttl = interval '1 day';
SELECT b.price, p.name FROM bid b LEFT JOIN person p ON b.bidder = p.id;
