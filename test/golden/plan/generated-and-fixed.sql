CREATE TABLE ticks WITH (connector = 'impulse', event_rate = 10, message_count = 100);
CREATE TABLE events (at TIMESTAMP GENERATED ALWAYS AS (coalesce(click.at, view.at)), WATERMARK FOR at AS at - interval '4 seconds') WITH (connector = 'events', 'watermark.idle_advance' = interval '30 seconds');
CREATE TABLE void WITH (connector = 'blackhole');
CREATE VIEW clicks (id, who) AS SELECT click.id, click.name FROM events WHERE click IS NOT NULL;
WITH named AS (SELECT * FROM clicks WHERE who <> '') SELECT c.id AS id, upper(c.who) AS who FROM named AS c;
INSERT INTO void SELECT counter % 10 AS digit, count(*) AS n FROM ticks GROUP BY digit;
INSERT INTO void (digit, n) SELECT subtask_index, CASE WHEN counter > 5 THEN 1 ELSE NULL END FROM ticks;
