CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, WATERMARK FOR ts AS ts - interval '5 seconds') WITH (connector = 'http');
-- panes of 2 seconds
SELECT k, window.start AS s, n, top FROM (
  SELECT k, hop(interval '4 seconds', interval '10 seconds', interval '9 seconds') AS window, count(*) AS n, max(v) AS top FROM t GROUP BY k, window);
SELECT cumulate(interval '10 minutes', interval '1 day', timezone => 'Europe/Paris') AS w, sum(v) AS total FROM t GROUP BY w;
-- by the windows of the inner query, not by the time of its rows
SELECT w, max(n) AS longest FROM (SELECT k, session(interval '30 seconds') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY w;
-- asked for again, which means the same
SELECT hop(interval '1 minute', interval '1 hour') AS w, max(n) AS most FROM (
  SELECT k, hop(interval '1 minute', interval '1 hour') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY w;
-- updated: a change is a retraction and a new row
SELECT k, w.start AS s, w.end AS e, n FROM (
  SELECT k, tumble(interval '1 minute', early => interval '10 seconds', lateness => interval '30 seconds') AS w, count(*) AS n FROM t GROUP BY k, w);
SELECT w, sum(n) AS n FROM (
  SELECT k, tumble(interval '1 minute', lateness => interval '30 seconds') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY w;
