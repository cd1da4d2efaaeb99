-- Ten seconds of the Nexmark benchmark's bids, counted and summed by channel and second. Equal seeds give equal rows, so
-- two runs print the same, whatever is killed meanwhile:
--   npx thalweg run examples/nexmark/bids.sql --checkpoint-interval 1s | sort | cksum
--   npx thalweg run examples/nexmark/bids.sql --checkpoint-interval 1s --parallelism 2 --chaos 7 | sort | cksum

CREATE TABLE bid WITH (
  connector = 'nexmark', table = 'bid', events = 200000, event_rate = 20000, seed = 42, partitions = 2, type = 'source'
);

SELECT channel, window.start AS second, bids, highest, total
FROM (
  SELECT channel, tumble(interval '1 second') AS window, count(*) AS bids, max(price) AS highest, sum(price) AS total
  FROM bid
  WHERE channel IN ('Google', 'Facebook', 'Baidu', 'Apple')
  GROUP BY channel, window
);
