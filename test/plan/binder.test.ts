import { describe, expect, test } from 'vitest';
import type { ErrorReport } from '../../src/base/errors.ts';
import { planSql, type SqlPlan } from '../../src/graph/plan-sql.ts';
import { CONNECTORS } from './catalog.ts';

const plan = (text: string): SqlPlan => planSql(text, CONNECTORS, { defaultSink: 'preview' });

const only = (text: string): ErrorReport => {
  const { errors } = plan(text);
  expect(errors.map((error) => error.message)).toHaveLength(1);
  return errors[0] as ErrorReport;
};

const T =
  "CREATE TABLE t (ts TIMESTAMP, k TEXT, v INT, n BIGINT NOT NULL, WATERMARK FOR ts) WITH (connector = 'http');\n";

/** Names and types of the first sink. */
function sinkOf(text: string): string {
  const result = plan(T + text);
  expect(result.errors).toEqual([]);
  const sink = result.graph?.operators.find((operator) => operator.spec.tag === 'sink');
  return (sink?.schema ?? [])
    .map((field) => `${field.name}:${field.type.tag}${field.nullable ? '?' : ''}`)
    .join(' ');
}

describe('the cases of user reports', () => {
  test('LONG is answered with its place and with BIGINT (U18)', () => {
    const error = only("CREATE TABLE t (k LONG) WITH (connector = 'http');\nSELECT k FROM t;");
    expect(error).toMatchObject({
      code: 'UNKNOWN_TYPE',
      suggestion: 'BIGINT',
      span: { start: { line: 1, column: 19 }, end: { line: 1, column: 23 } },
    });
    expect(error.message).toContain('LONG');
  });

  test('a mistyped column is answered with the nearest one (U18)', () => {
    const error = only(
      "CREATE TABLE orders (customer TEXT) WITH (connector = 'http');\nSELECT custmer FROM orders;",
    );
    expect(error).toMatchObject({
      code: 'UNKNOWN_COLUMN',
      suggestion: 'customer',
      span: { start: { line: 2, column: 8 } },
    });
  });

  test('a mistyped count(*) is answered with count, and a window function of other engines with what stands for it', () => {
    expect(only(`${T}SELECT coutn(*) FROM t;`)).toMatchObject({
      code: 'UNKNOWN_FUNCTION',
      suggestion: 'count',
      span: { start: { line: 2, column: 8 }, end: { line: 2, column: 13 } },
    });
    expect(only(`${T}SELECT tumble_start(ts, interval '1 minute') FROM t;`)).toMatchObject({
      code: 'UNKNOWN_FUNCTION',
      hint: expect.stringContaining('window.start'),
    });
    expect(only(`${T}SELECT upper(DISTINCT k) FROM t;`)).toMatchObject({ code: 'TYPE_ERROR' });
  });

  test('quoted reserved words are columns like any other (U17)', () => {
    const result = plan(
      'CREATE TABLE t ("group" TEXT, "window" TEXT, "end" INT) WITH (connector = \'http\');\nSELECT "end", "window", "group" FROM t;',
    );
    expect(result.errors).toEqual([]);
    expect(result.sinks[0]?.spec.tag).toBe('sink');
    expect(result.graph?.operators.at(-1)?.schema.map((field) => field.name)).toEqual([
      'end',
      'window',
      'group',
    ]);
  });

  test('an unquoted reserved word is told how to be written (U17)', () => {
    const error = plan("CREATE TABLE t (group TEXT) WITH (connector = 'http');").errors[0];
    expect(error).toMatchObject({
      code: 'RESERVED_WORD',
      span: { start: { line: 1, column: 17 } },
    });
    expect(`${error?.suggestion} ${error?.hint}`).toContain('"group"');
  });

  test('late rows kept for their reader keep all their columns (U22)', () => {
    const sql = (late: string): string =>
      `CREATE TABLE t (ts TIMESTAMP, k TEXT, WATERMARK FOR ts) WITH (connector = 'http', late_rows = '${late}');
       SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM t GROUP BY 1);`;
    const columns = (late: string): string[] =>
      plan(sql(late)).sources[0]?.spec.physical.map((column) => column.name) ?? [];
    expect(columns('dead_letter')).toEqual(['ts', 'k']);
    expect(columns('count')).toEqual(['ts']);
  });

  test('a window has its width and offset in microseconds (U29)', () => {
    const windows = (call: string): unknown =>
      plan(`${T}SELECT ${call} AS w, count(*) AS n FROM t GROUP BY w;`).graph?.operators.flatMap(
        ({ spec }) => (spec.tag === 'window-aggregate' ? [spec.window] : []),
      );
    const day = 86_400_000_000;
    expect(windows("tumble(interval '7 days', interval '4 days')")).toEqual([
      { tag: 'tumble', widthMicros: 7 * day, offsetMicros: 4 * day },
    ]);
    // Whole widths of offset change nothing, and a negative one is the same as its complement.
    expect(windows("tumble(interval '1' WEEK, interval '11 days')")).toEqual([
      { tag: 'tumble', widthMicros: 7 * day, offsetMicros: 4 * day },
    ]);
    expect(windows("tumble(interval '7 days', -interval '3 days')")).toEqual([
      { tag: 'tumble', widthMicros: 7 * day, offsetMicros: 4 * day },
    ]);
  });
});

describe('names', () => {
  test('a column of the input comes before an alias of the same name in GROUP BY', () => {
    expect(plan(`${T}SELECT v AS k, count(*) AS n FROM t GROUP BY k;`).errors[0]).toMatchObject({
      code: 'INVALID_GROUPING',
    });
  });

  test('columns without an alias are named by what they are', () => {
    expect(
      sinkOf(
        'SELECT k, v + 1, upper(k), count(*), count(v), CAST(v AS TEXT), 1 FROM t GROUP BY k, v;',
      ),
    ).toBe('k:text? column_2:int32? upper:text? count:int64 count_2:int64 v:text? column_7:int32');
  });

  test('a made-up name does not take one the author gave', () => {
    expect(sinkOf('SELECT count(*), max(v) AS count FROM t;')).toBe('count_2:int64 count:int32?');
  });

  test('unquoted names are folded, quoted ones are not', () => {
    expect(sinkOf('SELECT T.K, V AS "Value" FROM T;')).toBe('k:text? Value:int32?');
  });

  test('window ends are read by name in an outer query, with or without its alias', () => {
    expect(
      sinkOf(
        "SELECT x.window.start, window.end AS till FROM (SELECT tumble(interval '1 hour') AS window, count(*) AS c FROM t GROUP BY 1) AS x;",
      ),
    ).toBe('start:timestamp till:timestamp');
  });

  test('bare SELECTs are named past the names the author took', () => {
    const result = plan(
      `CREATE TABLE select_1 (v INT) WITH (connector = 'http');\nSELECT v FROM select_1; SELECT v FROM select_1;`,
    );
    expect(result.sinks.map((sink) => sink.spec.table)).toEqual(['select_2', 'select_3']);
  });
});

describe('NULL', () => {
  test.each([
    ['v IS NOT NULL', 'v:int32'],
    ['v > 3 AND k IS NULL', 'v:int32'],
    ['v > 3 OR k IS NULL', 'v:int32?'],
    ['v IS NULL', 'v:int32?'],
    ['coalesce(v, 1) > 0', 'v:int32?'],
  ])('WHERE %s leaves %s', (condition, expected) => {
    expect(sinkOf(`SELECT v FROM t WHERE ${condition};`)).toBe(expected);
  });

  test('a group has a sum where its column has no NULL, the empty whole may have none', () => {
    expect(sinkOf('SELECT sum(n) AS a, sum(v) AS b, count(*) AS c FROM t GROUP BY k;')).toBe(
      'a:int64 b:int64? c:int64',
    );
    expect(sinkOf('SELECT sum(n) AS a, count(*) AS c FROM t;')).toBe('a:int64? c:int64');
  });
});

describe('options', () => {
  const options = (text: string): unknown =>
    plan(
      `CREATE TABLE t (a INT) WITH (connector = 'http'); CREATE TABLE o WITH (connector = 'r2', path = 'x', ${text}); INSERT INTO o SELECT a FROM t;`,
    ).sinks[0]?.spec.connector.options;

  test.each([
    ["roll_interval = interval '90 seconds'", 90_000],
    ["roll_interval = '1 minute 30 seconds'", 90_000],
    ["roll_interval = '00:01:30'", 90_000],
    ["roll_interval = interval '1.5' MINUTE", 90_000],
    ["roll_interval = '90s'", 90_000],
    ["roll_interval = '250 ms'", 250],
  ])('%s is %i ms', (text, expected) => {
    expect(options(text)).toEqual({ path: 'x', file_size: 67_108_864, roll_interval: expected });
  });

  test('sizes count in powers of 1024', () => {
    expect(options("file_size = '8MB'")).toMatchObject({ file_size: 8 * 1024 * 1024 });
    expect(options("file_size = '2 KiB'")).toMatchObject({ file_size: 2048 });
    expect(options('file_size = 100')).toMatchObject({ file_size: 100 });
  });

  test('format options reach the format', () => {
    const result = plan(
      "CREATE TABLE t (a INT) WITH (connector = http, timestamp_format = 'UNIX_MICROS', json.decimal_encoding = string, bad_data = 'fail', late_rows = 'dead_letter'); SELECT a FROM t;",
    );
    expect(result.errors).toEqual([]);
    expect(result.sources[0]?.spec.format).toEqual({
      tag: 'json',
      timestampFormat: 'unix_micros',
      decimalEncoding: 'string',
      unstructured: false,
      badData: 'fail',
    });
    expect(result.sources[0]?.spec.lateRows).toBe('dead_letter');
  });

  test('unreadable rows are kept unless the table says otherwise', () => {
    expect(plan(`${T}SELECT v FROM t;`).sources[0]?.spec.format.badData).toBe('dead_letter');
  });
});

describe('sinks', () => {
  test('the key of an updating result is what it is grouped by, wherever it stands', () => {
    const sink = plan(`${T}SELECT count(*) AS c, k, v FROM t GROUP BY v, k;`).sinks[0]?.spec;
    expect(sink).toMatchObject({ updating: true, keyColumns: [2, 1] });
  });

  test('a result whose key is not kept is known by its whole row', () => {
    expect(
      plan(`${T}SELECT count(*) AS c, upper(k) AS k FROM t GROUP BY k;`).sinks[0]?.spec,
    ).toMatchObject({ keyColumns: [0, 1] });
  });

  test('a sink declared to write changes writes them for rows that are only added', () => {
    const sink = plan(
      `${T}CREATE TABLE o (v INT PRIMARY KEY) WITH (connector = 'r2', path = 'o', format = 'debezium_json'); INSERT INTO o SELECT 1 FROM t;`,
    ).sinks[0];
    expect(sink?.spec).toMatchObject({ updating: true, keyColumns: [0] });
  });

  test('omitted columns take their default or NULL, and numbers are widened', () => {
    const result = plan(
      `${T}CREATE TABLE o (a TEXT, b BIGINT NOT NULL, c INT DEFAULT 7) WITH (connector = 'r2', path = 'o'); INSERT INTO o (b) SELECT v FROM t WHERE v IS NOT NULL;`,
    );
    expect(result.errors).toEqual([]);
    expect(result.logical).toContain('select NULL AS a, CAST(v AS BIGINT) AS b, 7 AS c');
  });

  test('several INSERTs into one table are one sink', () => {
    const result = plan(
      `${T}CREATE TABLE o WITH (connector = 'blackhole'); INSERT INTO o SELECT v FROM t; INSERT INTO o SELECT n FROM t WHERE n < 5;`,
    );
    expect(result.errors).toEqual([]);
    expect(result.sinks).toHaveLength(1);
    expect(result.graph?.operators.filter(({ spec }) => spec.tag === 'source')).toHaveLength(1);
  });
});

describe('a sink over what the program reads', () => {
  const io = (source: string, sink: string): string =>
    `CREATE TABLE i (a INT) WITH (connector = 'single_file', path = '${source}', format = 'json', type = 'source');\nCREATE TABLE o WITH (connector = 'single_file', path = '${sink}', format = 'json', type = 'sink');\nINSERT INTO o SELECT a FROM i;`;

  test.each([
    ['a.json', 'a.json'],
    ['data/a.json', './data//a.json'],
  ])('is refused at its path: %s and %s', (source, sink) => {
    expect(only(io(source, sink))).toMatchObject({
      code: 'INVALID_SINK',
      message: `"o" would overwrite '${sink}', which "i" reads`,
      span: { start: { line: 2 } },
    });
  });

  test('of another path is not', () => {
    expect(plan(io('a.json', 'b/a.json')).errors).toEqual([]);
  });
});

describe('windows by the time of arrival', () => {
  const U = "CREATE TABLE u (at TIMESTAMP, k TEXT) WITH (connector = 'http');\n";

  test.each([
    "SELECT k, count(*) AS n FROM u GROUP BY k, tumble(interval '1 minute');",
    "SELECT count(*) AS n FROM (SELECT k FROM u WHERE k > 'a' UNION ALL SELECT k FROM t) GROUP BY tumble(interval '1 minute');",
  ])('are warned of, with the columns that could be the event time: %s', (query) => {
    const { errors, warnings } = plan(T + U + query);
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      {
        code: 'MISSING_WATERMARK',
        message: expect.stringContaining('"u"') as string,
        suggestion: "WATERMARK FOR at AS at - interval '5 seconds'",
      },
    ]);
  });

  test('are not warned of where the table has a watermark, and rows without windows neither', () => {
    for (const query of [
      "SELECT count(*) AS n FROM t GROUP BY tumble(interval '1 minute');",
      'SELECT k, count(*) AS n FROM u GROUP BY k;',
      "CREATE TABLE i WITH (connector = 'impulse', event_rate = 1); SELECT count(*) AS n FROM i GROUP BY tumble(interval '1 minute');",
    ])
      expect(plan(T + U + query).warnings).toEqual([]);
  });
});

test('a program of tables only has no query, and an empty one neither', () => {
  expect(only(`CREATE TABLE a (i INT)\nWITH (connector = 'http');\n`)).toMatchObject({
    code: 'NO_QUERY',
    span: { start: { line: 2, column: 25 }, end: { line: 2, column: 26 } },
  });
  expect(only('').code).toBe('NO_QUERY');
  expect(only('-- nothing').code).toBe('NO_QUERY');
});

test('a mistyped function is answered with the nearest one', () => {
  expect(only(`${T}SELECT lenght(k) AS l FROM t;`)).toMatchObject({
    code: 'UNKNOWN_FUNCTION',
    suggestion: 'length',
    span: { start: { line: 2, column: 8 } },
  });
});
