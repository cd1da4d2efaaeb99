CREATE TABLE events (at TIMESTAMP NOT NULL, name TEXT, n BIGINT, x DOUBLE, WATERMARK FOR at AS at - interval '1 second')
WITH (connector = 'http', format = 'json', type = 'source');
CREATE FUNCTION count_char(s TEXT, c TEXT) RETURNS BIGINT LANGUAGE javascript IMMUTABLE AS $$
  return s.split(c).length - 1;
$$;
CREATE FUNCTION words(s TEXT) RETURNS TABLE (word TEXT, place INT) LANGUAGE javascript AS $$
  for (const [place, word] of s.split(' ').entries()) yield { word, place };
$$;
CREATE ASYNC FUNCTION country(ip TEXT) RETURNS TEXT LANGUAGE typescript VOLATILE
WITH (network = 'geo.example.com', timeout = interval '2 seconds', retries = 1) AS $$ return ip; $$;

-- The same call twice is one; a call of a call is behind it; a condition on columns is ahead of both.
SELECT at, count_char(name, 'e') AS e, count_char(name, 'e') + 1 AS more, count_char(name, country(name)) AS c
FROM events WHERE n > 1 AND count_char(name, 'x') > 0 AND x < 2;

-- Branches are called where they are taken.
SELECT CASE WHEN n = 1 THEN count_char(name, 'a') WHEN n = 2 THEN count_char(name, 'b') ELSE 0 END AS b,
  coalesce(n, count_char(name, 'c')) AS c, n > 3 AND count_char(name, 'd') = 2 AS d
FROM events;

SELECT word, count(*) AS n, sum(count_char(name, word)) FILTER (WHERE place > 1) AS c
FROM events, LATERAL words(name) GROUP BY word, tumble(interval '1 minute');

SELECT e.n, w.part FROM events e LEFT JOIN LATERAL words(e.name) AS w (part, place) ON TRUE WHERE e.n < 3 AND w.place = 0;

SELECT count_char(a.name, 'a') AS a FROM events a JOIN events b ON count_char(a.name, 'k') = b.n;

SELECT word FROM words('a b c');

-- The rows of a group are gathered in a list, which the function folds.
CREATE AGGREGATE FUNCTION weighted(x DOUBLE, w BIGINT) RETURNS DOUBLE LANGUAGE javascript AS $$
export const init = () => ({ sum: 0, weight: 0 });
export const accumulate = (state, x, w) => { state.sum += x * Number(w); state.weight += Number(w); };
export const finish = ({ sum, weight }) => (weight === 0 ? null : sum / weight);
$$;
SELECT name, weighted(x, n) AS w, weighted(x, 1) FILTER (WHERE n > 0) AS v FROM events GROUP BY name, tumble(interval '1 minute');
