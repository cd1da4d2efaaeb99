/** What the registries do not hold, since the planner gives it its meaning: windows, OVER, MATCH_RECOGNIZE, syntax of its own. */
import type { CompletionFunction } from './authoring-shapes.ts';

type Entry = readonly [name: string, signatures: readonly string[], doc: string, example: string];

const entries = (
  kind: CompletionFunction['kind'],
  category: string,
  list: readonly Entry[],
): CompletionFunction[] =>
  list.map(([name, signatures, doc, example]) => ({
    name,
    kind,
    category,
    signatures: [...signatures],
    doc,
    example,
  }));

const TIME_WINDOWS = entries('window', 'time window', [
  [
    'tumble',
    [
      'tumble(width INTERVAL)',
      'tumble(width INTERVAL, offset INTERVAL)',
      "tumble(width, timezone => 'Europe/Paris', early => INTERVAL, lateness => INTERVAL)",
    ],
    'windows of one length, one behind the other; group by it and read its start and end',
    "SELECT tumble(INTERVAL '1 minute') AS window, count(*) FROM orders GROUP BY window",
  ],
  [
    'hop',
    ['hop(slide INTERVAL, width INTERVAL)', 'hop(slide INTERVAL, width INTERVAL, offset INTERVAL)'],
    'windows of one length, a new one at every slide: a row is in several',
    "SELECT hop(INTERVAL '10 seconds', INTERVAL '1 minute') AS window, count(*) FROM orders GROUP BY window",
  ],
  [
    'cumulate',
    [
      'cumulate(step INTERVAL, width INTERVAL)',
      'cumulate(step INTERVAL, width INTERVAL, offset INTERVAL)',
    ],
    'windows of one start that grow by a step up to a width: running totals of the day, hour by hour',
    "SELECT cumulate(INTERVAL '1 hour', INTERVAL '1 day') AS window, count(*) FROM orders GROUP BY window",
  ],
  [
    'session',
    ['session(gap INTERVAL)'],
    'windows that end when no row has come for the gap, for each key on its own',
    "SELECT customer, session(INTERVAL '30 minutes') AS window, count(*) FROM orders GROUP BY customer, window",
  ],
  [
    'row_time',
    ['row_time() → TIMESTAMP'],
    'the event time of a row; of a window, its last microsecond',
    'SELECT id, row_time() AS at FROM orders',
  ],
]);

const OVER = entries('window', 'OVER', [
  [
    'row_number',
    ['row_number() OVER (PARTITION BY … ORDER BY …) → BIGINT'],
    'the place of the row in its partition, from 1',
    'row_number() OVER (PARTITION BY customer ORDER BY amount DESC)',
  ],
  [
    'rank',
    ['rank() OVER (PARTITION BY … ORDER BY …) → BIGINT'],
    'the place of the row; equal rows share one, and the next is left out',
    'rank() OVER (PARTITION BY customer ORDER BY amount DESC)',
  ],
  [
    'dense_rank',
    ['dense_rank() OVER (PARTITION BY … ORDER BY …) → BIGINT'],
    'the place of the row; equal rows share one, and none is left out',
    'dense_rank() OVER (PARTITION BY customer ORDER BY amount DESC)',
  ],
  [
    'percent_rank',
    ['percent_rank() OVER (PARTITION BY … ORDER BY …) → DOUBLE'],
    'the share of the rows before it, from 0 to 1',
    'percent_rank() OVER (PARTITION BY customer ORDER BY amount)',
  ],
  [
    'cume_dist',
    ['cume_dist() OVER (PARTITION BY … ORDER BY …) → DOUBLE'],
    'the share of the rows up to it and its equals',
    'cume_dist() OVER (PARTITION BY customer ORDER BY amount)',
  ],
  [
    'ntile',
    ['ntile(n INT) OVER (PARTITION BY … ORDER BY …) → BIGINT'],
    'the number of the row in n groups of about the same size',
    'ntile(4) OVER (PARTITION BY customer ORDER BY amount)',
  ],
  [
    'lag',
    [
      'lag(x) OVER (PARTITION BY … ORDER BY …)',
      'lag(x, rows INT, otherwise) OVER (PARTITION BY … ORDER BY …)',
    ],
    'the value of the row before, or of so many rows before; otherwise NULL or what is given',
    'lag(amount) OVER (PARTITION BY customer ORDER BY ts)',
  ],
  [
    'lead',
    [
      'lead(x) OVER (PARTITION BY … ORDER BY …)',
      'lead(x, rows INT, otherwise) OVER (PARTITION BY … ORDER BY …)',
    ],
    'the value of the row behind, or of so many rows behind; otherwise NULL or what is given',
    'lead(amount) OVER (PARTITION BY customer ORDER BY ts)',
  ],
]);

const MATCHING = entries('window', 'MATCH_RECOGNIZE', [
  [
    'prev',
    ['prev(A.x)', 'prev(A.x, rows INT)'],
    'the value in the row before',
    'DEFINE up AS price > prev(price)',
  ],
  [
    'next',
    ['next(A.x)', 'next(A.x, rows INT)'],
    'the value in the row behind',
    'DEFINE peak AS price > next(price)',
  ],
  [
    'first',
    ['first(A.x)', 'first(A.x, rows INT)'],
    'the value in the first row of a variable',
    'MEASURES first(up.price) AS low',
  ],
  [
    'last',
    ['last(A.x)', 'last(A.x, rows INT)'],
    'the value in the last row of a variable',
    'MEASURES last(up.price) AS high',
  ],
  [
    'classifier',
    ['classifier() → TEXT'],
    'the variable that the row was matched to',
    'MEASURES classifier() AS how',
  ],
  [
    'match_number',
    ['match_number() → BIGINT'],
    'the number of the match in its partition, from 1',
    'MEASURES match_number() AS n',
  ],
  [
    'match_rowtime',
    ['match_rowtime() → TIMESTAMP'],
    'the event time of the last row of the match',
    'MEASURES match_rowtime() AS at',
  ],
]);

const ROWS = entries('table', 'rows', [
  [
    'unnest',
    ['unnest(x ARRAY)', 'unnest(x ARRAY) WITH ORDINALITY', 'unnest(x MAP)'],
    'a row for each element, in FROM; WITH ORDINALITY numbers them from 1',
    'SELECT o.id, t.tag FROM orders o, unnest(o.tags) AS t (tag)',
  ],
]);

const GROUPING = entries('aggregate', 'grouping', [
  [
    'grouping',
    ['grouping(x, …) → INT'],
    'which of the columns a row of ROLLUP, CUBE or GROUPING SETS is not grouped by, as bits',
    'SELECT a, b, grouping(a, b), count(*) FROM t GROUP BY ROLLUP (a, b)',
  ],
]);

const SYNTAX = entries('operator', 'syntax', [
  ['AND', ['BOOLEAN AND BOOLEAN → BOOLEAN'], 'whether both are true', 'a > 1 AND b < 2'],
  ['OR', ['BOOLEAN OR BOOLEAN → BOOLEAN'], 'whether one is true', 'a > 1 OR b < 2'],
  [
    'CASE',
    [
      'CASE WHEN condition THEN value … ELSE value END',
      'CASE x WHEN value THEN value … ELSE value END',
    ],
    'the value of the first condition that is true, otherwise that of ELSE, or NULL',
    "CASE WHEN amount > 100 THEN 'large' ELSE 'small' END",
  ],
  [
    'CAST',
    ['CAST(x AS type)', 'x::type'],
    'x as another type; a row whose value does not fit is an error row',
    "CAST('12.50' AS DECIMAL(10, 2))",
  ],
  [
    'TRY_CAST',
    ['TRY_CAST(x AS type)'],
    'x as another type, NULL where it does not fit',
    "TRY_CAST('abc' AS INT)",
  ],
  [
    'BETWEEN',
    ['x BETWEEN low AND high → BOOLEAN'],
    'whether x is from low to high, both included',
    'amount BETWEEN 10 AND 20',
  ],
  [
    'EXISTS',
    ['EXISTS (query) → BOOLEAN'],
    'whether the query has a row',
    'EXISTS (SELECT 1 FROM payments p WHERE p.order_id = o.id)',
  ],
  [
    'EXTRACT',
    ['EXTRACT(field FROM x) → BIGINT'],
    'a part of a moment: year, month, day, hour, minute, second, dow, …',
    'EXTRACT(hour FROM ts)',
  ],
  [
    'AT TIME ZONE',
    ["x AT TIME ZONE 'zone' → TIMESTAMP"],
    'a moment as the clock of a zone shows it, or the moment that such a clock means',
    "ts AT TIME ZONE 'Europe/Paris'",
  ],
  [
    '[]',
    ['x[n]', 'x[from:to]', "x['key']"],
    'an element of an array from 1, some of them, or the value of a key',
    'tags[1]',
  ],
  [
    'ROW',
    ['ROW(a, b)', 'STRUCT(a AS x, b AS y)'],
    'a struct of the values',
    'STRUCT(id AS id, amount AS amount)',
  ],
]);

export const SPECIAL_FUNCTIONS: readonly CompletionFunction[] = [
  ...TIME_WINDOWS,
  ...OVER,
  ...MATCHING,
  ...ROWS,
  ...GROUPING,
  ...SYNTAX,
];

/** Of what the registry has no example, since its arguments have types that a literal does not tell. */
export const WRITTEN_EXAMPLES: Readonly<Record<string, string>> = {
  flatten: 'flatten(ARRAY[ARRAY[1, 2], ARRAY[3]]) → ARRAY[1, 2, 3]',
  map_keys: "map_keys(map(ARRAY['a', 'b'], ARRAY[1, 2])) → ARRAY['a', 'b']",
  map_values: "map_values(map(ARRAY['a', 'b'], ARRAY[1, 2])) → ARRAY[1, 2]",
  map_entries: "map_entries(map(ARRAY['a'], ARRAY[1]))",
  map_extract: "map_extract(map(ARRAY['a', 'b'], ARRAY[1, 2]), 'b') → ARRAY[2]",
  mod: 'mod(7, 3) → 1',
  date_add: "date_add(TIMESTAMP '2026-01-01T00:00:00', INTERVAL '1 day')",
  date_sub: "date_sub(TIMESTAMP '2026-01-02T00:00:00', INTERVAL '1 day')",
};
