/**
 * What users of streaming engines have reported, as small cases: a program, the rows that come in, and the rows that must come out.
 * Every case is run whatever the batches, the subtasks and the restarts; see `reports.test.ts`.
 */
export type Case = {
  id: string;
  title: string;
  sql: string;
  /** Lines in the order they arrive: table, JSON. */
  input: readonly (readonly [string, string])[];
  /** Lines as a sink writes them, in any order. */
  expected: readonly string[];
  /** Codes of rows that are refused or fail; in any order. */
  refused?: readonly string[];
  /** How many rows come too late. */
  late?: number;
  /** Rows are counted by windows that do not overlap: every row that came in is in `n` or late. */
  counted?: true;
};

const source = (columns: string, options = ''): string =>
  `CREATE TABLE t (${columns}) WITH (connector = 'http', format = 'json', type = 'source'${options});`;
const rows = (...lines: string[]): [string, string][] => lines.map((line) => ['t', line]);
const seconds = (from: string, ...offsets: number[]): string[] =>
  offsets.map((offset) =>
    new Date(Date.parse(`${from}Z`) + offset * 1000).toISOString().slice(0, 19),
  );

const TYPES: readonly Case[] = [
  {
    id: 'U02',
    title: 'whole numbers past 2^53 keep their digits',
    sql: `${source('id BIGINT NOT NULL, rel BIGINT')} SELECT id, id + 1 AS nxt, rel FROM t;`,
    input: rows(
      '{"id":9007199254740993,"rel":-9223372036854775808}',
      '{"id":2033735037361704962,"rel":null}',
      '{"id":"9007199254740995","rel":1}',
      '{"id":9223372036854775808}',
      '{"id":1.5}',
    ),
    expected: [
      '{"id":2033735037361704962,"nxt":2033735037361704963,"rel":null}',
      '{"id":9007199254740993,"nxt":9007199254740994,"rel":-9223372036854775808}',
      '{"id":9007199254740995,"nxt":9007199254740996,"rel":1}',
    ],
    refused: ['NUMERIC_OUT_OF_RANGE', 'TYPE_MISMATCH'],
  },
  {
    id: 'U04',
    title: 'sums of decimals are exact and keep their scale',
    sql: `${source('k TEXT, amt DECIMAL(38, 18)')} SELECT k, CAST(sum(amt) AS TEXT) AS s FROM t GROUP BY k;`,
    input: rows(
      '{"k":"a","amt":12345678901234567890.123456789012345678}',
      '{"k":"a","amt":"0.000000000000000001"}',
      '{"k":"b","amt":0.1}',
      '{"k":"b","amt":0.2}',
    ),
    expected: [
      '{"k":"a","s":"12345678901234567890.123456789012345679"}',
      '{"k":"b","s":"0.300000000000000000"}',
    ],
  },
  {
    id: 'U05',
    title: 'decimals near zero are values',
    sql: `${source('x DECIMAL(5, 4)')} SELECT CAST(x AS TEXT) AS x FROM t;`,
    input: rows('{"x":0.005}', '{"x":-0.005}', '{"x":"0.0001"}', '{"x":12.3}'),
    expected: ['{"x":"-0.0050"}', '{"x":"0.0001"}', '{"x":"0.0050"}'],
    refused: ['NUMERIC_OUT_OF_RANGE'],
  },
  {
    id: 'U10',
    title: 'the unit of a number of time is declared',
    sql: `${source('ts TIMESTAMP(6)', ", timestamp_format = 'unix_micros'")} SELECT ts FROM t;`,
    input: rows('{"ts":1700000000123456}'),
    expected: ['{"ts":"2023-11-14T22:13:20.123456"}'],
  },
  {
    id: 'U10',
    title: 'and is missed when it is not',
    sql: `${source('ts TIMESTAMP(6)')} SELECT ts FROM t;`,
    input: rows('{"ts":1700000000123456}'),
    expected: [],
    refused: ['TIMESTAMP_UNIT_REQUIRED'],
  },
  {
    id: 'U14',
    title: 'texts have code points',
    sql: `${source('s TEXT')} SELECT length(s) AS l, substring(s, 1, 2) AS p FROM t;`,
    input: rows('{"s":"a😀bc"}', '{"s":"😀"}'),
    expected: ['{"l":1,"p":"😀"}', '{"l":4,"p":"a😀"}'],
  },
  {
    id: 'U14',
    title: 'and are ordered by them',
    sql: `${source('s TEXT')} SELECT min(s) AS a, max(s) AS b FROM t;`,
    input: rows('{"s":"😀"}', '{"s":"｡"}'),
    expected: ['{"a":"｡","b":"😀"}'],
  },
  {
    id: 'U19',
    title: 'missing, null, empty and default are four things',
    sql: `${source("id INT NOT NULL, name TEXT NOT NULL DEFAULT 'anon', q INT DEFAULT 1")} SELECT id, name, q FROM t;`,
    input: rows('{"id":1}', '{"id":2,"name":null}', '{"id":3,"name":"","q":null}'),
    expected: ['{"id":1,"name":"anon","q":1}', '{"id":3,"name":"","q":null}'],
    refused: ['NULL_VIOLATION'],
  },
];

const ERRORS: readonly Case[] = [
  {
    id: 'U20',
    title: 'a poisoned row costs only itself',
    sql: `${source('id INT NOT NULL', ", bad_data = 'dead_letter'")} SELECT id FROM t;`,
    input: rows('{"id":1}', '{"id":', '{"id":"abc"}', '{"id":4}'),
    expected: ['{"id":1}', '{"id":4}'],
    refused: ['PARSE_ERROR', 'TYPE_MISMATCH'],
  },
  {
    id: 'U17',
    title: 'words of the grammar are columns in quotes',
    sql: `${source('"timestamp" BIGINT, "group" TEXT, "window" TEXT, "order" INT, "end" INT')}
      SELECT "group", "window", "order", "end", "timestamp" FROM t;`,
    input: rows('{"timestamp":1,"group":"g","window":"w","order":3,"end":9}'),
    expected: ['{"group":"g","window":"w","order":3,"end":9,"timestamp":1}'],
  },
];

const timed = (columns = '', watermark = ''): string =>
  source(`ts TIMESTAMP${columns}, WATERMARK FOR ts${watermark}`);
const counts = (window: string): string =>
  `SELECT window.start AS s, n FROM (SELECT ${window} AS window, count(*) AS n FROM t GROUP BY 1);`;
const MINUTE = "tumble(interval '1 minute')";

const WINDOWS: readonly Case[] = [
  {
    id: 'U22, U33',
    title: 'a late row is counted, whatever the batches',
    sql: timed(', k TEXT') + counts(MINUTE),
    input: rows(
      '{"ts":"2024-01-01T10:00:10","k":"a"}',
      '{"ts":"2024-01-01T10:01:05","k":"a"}',
      '{"ts":"2024-01-01T10:00:50","k":"late"}',
      '{"ts":"2024-01-01T10:01:10","k":"a"}',
    ),
    expected: ['{"s":"2024-01-01T10:00:00","n":1}', '{"s":"2024-01-01T10:01:00","n":2}'],
    late: 1,
    counted: true,
  },
  {
    id: 'U22',
    title: 'late rows of a key are those of its window',
    sql: `${timed(', k TEXT')} SELECT k, window.start AS s, n FROM (SELECT k, ${MINUTE} AS window, count(*) AS n FROM t GROUP BY k, window);`,
    input: rows(
      '{"ts":"2024-01-01T10:00:10","k":"a"}',
      '{"ts":"2024-01-01T10:00:20","k":"b"}',
      '{"ts":"2024-01-01T10:01:05","k":"c"}',
      '{"ts":"2024-01-01T10:00:50","k":"b"}',
      '{"ts":"2024-01-01T10:01:10","k":"a"}',
    ),
    expected: [
      '{"k":"a","s":"2024-01-01T10:00:00","n":1}',
      '{"k":"a","s":"2024-01-01T10:01:00","n":1}',
      '{"k":"b","s":"2024-01-01T10:00:00","n":1}',
      '{"k":"c","s":"2024-01-01T10:01:00","n":1}',
    ],
    late: 1,
    counted: true,
  },
  {
    id: 'U27',
    title: 'a window waits for its watermark',
    sql: timed(', k TEXT', " AS ts - interval '30 seconds'") + counts(MINUTE),
    input: rows(
      ...seconds('2024-10-25T11:50:00', 1, 30, 70, 50, 91, 59).map((ts) => `{"ts":"${ts}"}`),
    ),
    expected: ['{"s":"2024-10-25T11:50:00","n":3}', '{"s":"2024-10-25T11:51:00","n":2}'],
    late: 1,
    counted: true,
  },
  {
    id: 'U29',
    title: 'long windows begin at multiples of their width, moved by an offset',
    sql: `${timed()}
      SELECT 'm' AS w, window.start AS s FROM (SELECT tumble(interval '30 days') AS window, count(*) AS n FROM t GROUP BY 1)
      UNION ALL SELECT 'w', window.start FROM (SELECT tumble(interval '7 days') AS window, count(*) AS n FROM t GROUP BY 1)
      UNION ALL SELECT 'mon', window.start FROM (SELECT tumble(interval '7 days', interval '4 days') AS window, count(*) AS n FROM t GROUP BY 1);`,
    input: rows('{"ts":"2024-05-08T12:00:00"}'),
    expected: [
      '{"w":"m","s":"2024-04-17T00:00:00"}',
      '{"w":"mon","s":"2024-05-06T00:00:00"}',
      '{"w":"w","s":"2024-05-02T00:00:00"}',
    ],
  },
  {
    id: 'U30',
    title: 'days of a zone have 25 hours when the clocks go back',
    sql: `${source('ts TIMESTAMPTZ, WATERMARK FOR ts')} SELECT window.start AS s, window.end AS e, n FROM
      (SELECT tumble(interval '1 day', timezone => 'America/New_York') AS window, count(*) AS n FROM t GROUP BY 1);`,
    input: rows(
      '{"ts":"2024-11-03T04:30:00Z"}',
      '{"ts":"2024-11-03T05:30:00Z"}',
      '{"ts":"2024-11-03T06:30:00Z"}',
      '{"ts":"2024-11-04T04:30:00Z"}',
      '{"ts":"2024-11-04T05:30:00Z"}',
    ),
    expected: [
      '{"s":"2024-11-03T04:00:00Z","e":"2024-11-04T05:00:00Z","n":4}',
      '{"s":"2024-11-04T05:00:00Z","e":"2024-11-05T05:00:00Z","n":1}',
    ],
    counted: true,
  },
  ...(
    [
      ['2', [2, 4, 6, 6, 4, 2], [1, 6, 15, 27, 22, 13], [-4, -2, 0, 2, 4, 6]],
      ['4', [2, 6, 4], [1, 15, 22], [-4, 0, 4]],
    ] as const
  ).map(([slide, count, total, start]): Case => ({
    id: 'U32',
    title: `windows of six seconds every ${slide} hold exactly their rows`,
    sql: `${timed(', i INT')} SELECT window.start AS s, n, q FROM (
        SELECT hop(interval '${slide} seconds', interval '6 seconds') AS window, count(*) AS n, sum(i) AS q FROM t GROUP BY 1);`,
    input: rows(
      ...seconds('2024-01-01T10:00:00', 0, 1, 2, 3, 4, 5, 6, 7).map(
        (ts, i) => `{"ts":"${ts}","i":${i}}`,
      ),
    ),
    expected: seconds('2024-01-01T10:00:00', ...start).map(
      (s, at) => `{"s":"${s}","n":${count[at]},"q":${total[at]}}`,
    ),
  })),
];

const INTERVAL_JOIN = `
  CREATE TABLE o (id INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
  CREATE TABLE i (oid INT, p TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source');
  SELECT o.id, i.p FROM o LEFT JOIN i ON o.id = i.oid AND i.ts BETWEEN o.ts AND o.ts + interval '10 seconds';`;
const ORDERS: [string, string][] = [
  ['o', '{"id":1,"ts":"2024-01-01T10:00:00"}'],
  ['o', '{"id":2,"ts":"2024-01-01T10:00:01"}'],
  ['o', '{"id":9,"ts":"2024-01-01T10:01:00"}'],
];
const ITEMS: [string, string][] = [
  ['i', '{"oid":1,"p":"Foo","ts":"2024-01-01T10:00:02"}'],
  ['i', '{"oid":1,"p":"Bar","ts":"2024-01-01T10:00:10"}'],
  ['i', '{"oid":2,"p":"Late","ts":"2024-01-01T10:00:12"}'],
  ['i', '{"oid":8,"p":"x","ts":"2024-01-01T10:01:00"}'],
];
const UNMATCHED = [
  '{"id":1,"p":"Bar"}',
  '{"id":1,"p":"Foo"}',
  '{"id":2,"p":null}',
  '{"id":9,"p":null}',
];

const JOINS: readonly Case[] = [
  ...(
    [
      ['orders first', [...ORDERS, ...ITEMS]],
      ['items first', [...ITEMS, ...ORDERS]],
      [
        'in turns',
        ITEMS.flatMap((item, at) => (ORDERS[at] === undefined ? [item] : [ORDERS[at], item])),
      ],
    ] as const
  ).map(([order, input]): Case => ({
    id: 'U34',
    title: `a row without a match comes out once, ${order}`,
    sql: INTERVAL_JOIN,
    input,
    expected: UNMATCHED,
  })),
  {
    id: 'U36',
    title: 'NULL is a key like any other',
    sql: `${source('k TEXT, v INT')} SELECT k, count(*) AS n, count(v) AS c, sum(v) AS s FROM t GROUP BY k;`,
    input: rows('{"k":null,"v":1}', '{"k":"a","v":2}', '{"v":null}'),
    expected: ['{"k":"a","n":1,"c":1,"s":2}', '{"k":null,"n":2,"c":1,"s":1}'],
  },
  ...(
    [
      ['JOIN', '=', ['{"v":2,"w":8}']],
      ['LEFT JOIN', '=', ['{"v":1,"w":null}', '{"v":2,"w":8}']],
      ['JOIN', 'IS NOT DISTINCT FROM', ['{"v":1,"w":7}', '{"v":2,"w":8}']],
    ] as const
  ).map(([kind, operator, expected]): Case => ({
    id: 'U36',
    title: `NULL in a ${kind} by ${operator}`,
    sql: `${source('k TEXT, v INT')}
        CREATE TABLE u (k TEXT, w INT) WITH (connector = 'http', format = 'json', type = 'source');
        SELECT v, w FROM t ${kind} u ON t.k ${operator} u.k;`,
    input: [
      ['t', '{"k":null,"v":1}'],
      ['u', '{"k":null,"w":7}'],
      ['t', '{"k":"x","v":2}'],
      ['u', '{"k":"x","w":8}'],
    ],
    expected,
  })),
];

const changes = (columns: string): string =>
  `CREATE TABLE t (${columns}) WITH (connector = 'http', format = 'debezium_json', type = 'source');`;
const score = (id: string, value: number): string => `{"id":"${id}","g":"x","score":${value}}`;
const created = (after: string): string => `{"before":null,"after":${after},"op":"c"}`;
const deleted = (before: string): string => `{"before":${before},"after":null,"op":"d"}`;
const TOP_TWO = `${changes('id TEXT PRIMARY KEY, g TEXT, score INT')}
  SELECT g, id, score FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY score DESC, id) AS rn FROM t) WHERE rn <= 2;`;
const SCORES = [
  created(score('A', 1)),
  created(score('B', 9)),
  created(score('C', 8)),
  deleted(score('A', 1)),
  deleted(score('B', 9)),
  created(score('D', 2)),
];

const UPDATES: readonly Case[] = [
  {
    id: 'U37',
    title: 'a row that left the first two and was deleted does not come back',
    sql: TOP_TWO,
    input: rows(...SCORES),
    expected: ['{"g":"x","id":"C","score":8}', '{"g":"x","id":"D","score":2}'],
  },
  {
    id: 'U37',
    title: 'and nothing is left when all are deleted',
    sql: TOP_TWO,
    input: rows(...SCORES, deleted(score('C', 8)), deleted(score('D', 2))),
    expected: [],
  },
  {
    id: 'U39',
    title: 'deleting what was never there counts nothing down',
    sql: `${changes('id INT PRIMARY KEY')} SELECT count(*) AS n FROM t;`,
    input: rows(deleted('{"id":1}'), created('{"id":2}')),
    expected: ['{"n":1}'],
    refused: ['NOTHING_TO_RETRACT'],
  },
  {
    id: 'U39',
    title: 'inserting what is there is an update',
    sql: `${changes('id INT PRIMARY KEY, x INT')} SELECT count(*) AS n, sum(x) AS s FROM t;`,
    input: rows(created('{"id":1,"x":1}'), created('{"id":1,"x":5}')),
    expected: ['{"n":1,"s":5}'],
  },
];

export const CASES: readonly Case[] = [...TYPES, ...ERRORS, ...WINDOWS, ...JOINS, ...UPDATES];
