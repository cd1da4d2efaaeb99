/** What the planner says to options of files: Parquet and folders. */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { parseTimePattern, timePath } from '../../src/plan/time-pattern.ts';

const SOURCE = `CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, l BIGINT[], WATERMARK FOR ts AS ts)
  WITH (connector = 'http', format = 'json', type = 'source');`;

const plan = (table: string, query = 'SELECT ts, k, v, l FROM t') =>
  planSql(`${SOURCE}\nCREATE TABLE o ${table};\nINSERT INTO o ${query};`, DECLARATIONS, {
    defaultSink: 'preview',
    parallelism: 2,
  });

const errorsOf = (table: string, query?: string): string[] =>
  plan(table, query).errors.map(({ code, message, hint }) => `${code} ${message} (${hint ?? ''})`);

const sinkOf = (table: string) => {
  const { graph, errors } = plan(table);
  expect(errors).toEqual([]);
  return graph?.operators.find(({ spec }) => spec.tag === 'sink')?.spec;
};

test('options of Parquet reach the sink', () => {
  expect(
    sinkOf(
      "WITH (connector = 'r2', path = 'o', format = 'parquet', parquet.compression = 'uncompressed', parquet.row_group_size = '1MB', type = 'sink')",
    ),
  ).toMatchObject({
    format: { tag: 'parquet', compression: 'uncompressed', rowGroupBytes: 1024 * 1024 },
    twoPhase: true,
  });
  expect(
    sinkOf("WITH (connector = 'single_file', path = 'o', format = 'parquet', type = 'sink')"),
  ).toMatchObject({
    format: { tag: 'parquet', compression: 'snappy', rowGroupBytes: 16 * 1024 * 1024 },
  });
});

test('columns and times that deal rows to folders reach the sink, however they are written', () => {
  const more = "connector = 'r2', path = 'o', format = 'json', type = 'sink'";
  const fields = { connector: { options: { 'partitioning.fields': '["k","v"]' } } };
  expect(sinkOf(`PARTITIONED BY (k, v) WITH (${more})`)).toMatchObject(fields);
  expect(sinkOf(`WITH (${more}, 'partitioning.fields' = ['k', 'v'])`)).toMatchObject(fields);
  expect(sinkOf(`WITH (${more}, 'partitioning.fields' = 'k, v')`)).toMatchObject(fields);
  expect(sinkOf(`WITH (${more}, partitioning.time_pattern = '%Y/%m')`)).toMatchObject({
    connector: { options: { 'partitioning.time_pattern': '%Y/%m' } },
  });
});

test('a sink may have all rows of a folder on one subtask', () => {
  const { graph } = plan(
    "PARTITIONED BY (k) WITH (connector = 'r2', path = 'o', format = 'json', shuffle_by_partition.enabled = true, type = 'sink')",
  );
  const edge = graph?.edges.find(({ to }) => to.startsWith('sink'));
  expect(edge).toMatchObject({ kind: 'shuffle', keys: [{ tag: 'column', index: 1 }] });
});

test('what can not be is refused with the way out', () => {
  const r2 = "connector = 'r2', path = 'o', type = 'sink'";
  const cases: [string, string?][] = [
    [`WITH (${r2}, format = 'parquet')`, 'SELECT k, count(*) AS n FROM t GROUP BY k'],
    ["WITH (connector = 'stdout', format = 'parquet', type = 'sink')"],
    [`WITH (${r2}, format = 'parquet', timestamp_format = 'rfc3339')`],
    [`WITH (${r2}, format = 'json', parquet.compression = 'snappy')`],
    [`WITH (${r2}, format = 'parquet', parquet.compression = 'zstd')`],
    [`PARTITIONED BY (day(ts)) WITH (${r2}, format = 'json')`],
    [`PARTITIONED BY (kk) WITH (${r2}, format = 'json')`],
    [`PARTITIONED BY (l) WITH (${r2}, format = 'json')`],
    [`PARTITIONED BY (k) WITH (${r2}, format = 'json', 'partitioning.fields' = ['k'])`],
    [
      "PARTITIONED BY (k) WITH (connector = 'single_file', path = 'o', format = 'json', type = 'sink')",
    ],
    [`WITH (${r2}, format = 'json', partitioning.time_pattern = 'day-%Q')`],
    [`WITH (${r2}, format = 'json', partitioning.time_pattern = 'all')`],
    [`WITH (${r2}, format = 'json', 'partitioning.fields' = ['k', 'k'])`],
    [`WITH (${r2}, format = 'json', shuffle_by_partition.enabled = true)`],
  ];
  expect(cases.flatMap(([table, query]) => errorsOf(table, query))).toMatchInlineSnapshot(`
    [
      "INVALID_SINK the result is updated as rows come in, and the sink "o" only adds rows (a row of a Parquet file is never taken back: group by a window such as tumble(interval '1 minute'), or write the changes with format = 'debezium_json')",
      "INVALID_OPTION "stdout" does not write Parquet (write files with connector = 'r2' or 'single_file', or set format = 'json')",
      "INVALID_OPTION option "timestamp_format" is not for format = 'parquet' (leave it out)",
      "INVALID_OPTION option "parquet.compression" is not for format = 'json' (set format = 'parquet', or leave it out)",
      "INVALID_OPTION option "parquet.compression" must be one of 'snappy', 'uncompressed' (How the pages of Parquet files are compressed.)",
      "UNSUPPORTED rows are partitioned by columns only (name a column that the query computes; for folders by time set 'partitioning.time_pattern' = '%Y-%m-%d/%H')",
      "UNKNOWN_COLUMN the sink "o" has no column "kk" to partition its rows by ()",
      "TYPE_ERROR "l" is BIGINT[], which names no folder (partition by columns that are no lists and no structs)",
      "INVALID_OPTION PARTITIONED BY and the option "partitioning.fields" say the same thing twice (leave one of them out)",
      "INVALID_SINK "single_file" writes no folders, so its rows can not be partitioned (leave PARTITIONED BY out, or write with connector = 'r2')",
      "INVALID_OPTION 'day-%Q' is no pattern of times (it has one of %Y, %y, %m, %d, %j, %H, %M, %S, %F, %T, %R and %%, such as '%Y-%m-%d/%H')",
      "INVALID_OPTION 'all' is no pattern of times (it has one of %Y, %y, %m, %d, %j, %H, %M, %S, %F, %T, %R and %%, such as '%Y-%m-%d/%H')",
      "INVALID_OPTION option "partitioning.fields" must be a list of names (write ['a', 'b'], or 'a, b')",
      "INVALID_OPTION rows are shuffled by the columns they are partitioned by, and there are none (add PARTITIONED BY (…), or leave the option out)",
    ]
  `);
});

test('a table that is read is neither Parquet nor partitioned', () => {
  const errors = planSql(
    "CREATE TABLE t (k TEXT) PARTITIONED BY (k) WITH (connector = 'r2', path = 'o', format = 'parquet', type = 'source'); SELECT k FROM t;",
    DECLARATIONS,
    { defaultSink: 'preview' },
  ).errors;
  expect(errors.map(({ code }) => code)).toEqual(['INVALID_OPTION', 'UNSUPPORTED']);
});

test('folders by time are those of strftime, also before 1970 and on leap days', () => {
  const folder = (text: string, time: string): string => {
    const pattern = parseTimePattern(text);
    if (pattern === null) return 'refused';
    return timePath(pattern, Math.floor((Date.parse(time) * 1000) / pattern.stepMicros));
  };
  expect(folder('%Y-%m-%d/%H/%M-%S', '2024-02-29T23:59:58.999Z')).toBe('2024-02-29/23/59-58');
  expect(folder('/%F/%T/', '1969-12-31T23:59:59.500Z')).toBe('1969-12-31/23:59:59');
  expect(folder('y%y/d%j', '2024-12-31T12:00:00Z')).toBe('y24/d366');
  expect(folder('100%%/%R', '2024-01-02T03:04:05Z')).toBe('100%/03:04');
  expect(folder('%%Y', '2024-01-02T03:04:05Z')).toBe('refused');
  expect(folder('%Y-%', '2024-01-02T03:04:05Z')).toBe('refused');
});
