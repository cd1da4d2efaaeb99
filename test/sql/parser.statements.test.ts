import { expect, test } from 'vitest';
import { parseProgram } from '../../src/sql/parser.ts';
import { statementOf, statementsOf, withoutSpans } from './tree.ts';

test('a table has columns with all their clauses', () => {
  const table = statementOf(
    `CREATE TABLE IF NOT EXISTS events (
      id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
      "group" TEXT NULL DEFAULT 'none' NOT NULL,
      ts TIMESTAMP(6),
      day TEXT GENERATED ALWAYS AS (ts::text) STORED,
      topic TEXT METADATA FROM 'topic',
      part INT GENERATED ALWAYS AS (metadata('partition')),
      PRIMARY KEY (id, "group"),
      WATERMARK FOR ts AS ts - interval '5 seconds'
    ) WITH (connector = 'kafka')`,
    'create_table',
  );
  expect(table).toMatchObject({ name: { name: 'events' }, ifNotExists: true, temporary: false });
  expect(table.columns).toMatchObject([
    { name: { name: 'id' }, type: { name: 'bigint unsigned' }, notNull: true, primaryKey: true },
    {
      name: { name: 'group', quoted: true },
      notNull: true,
      defaultValue: { tag: 'string', value: 'none' },
    },
    {
      type: { name: 'timestamp', parameters: [6] },
      notNull: false,
      defaultValue: null,
      metadataFrom: null,
    },
    { generatedAs: { tag: 'cast' }, metadataFrom: null },
    { metadataFrom: { value: 'topic' } },
    { generatedAs: null, metadataFrom: { value: 'partition' } },
  ]);
  expect(table.constraints).toMatchObject([
    { tag: 'primary_key', columns: [{ name: 'id' }, { name: 'group' }] },
    { tag: 'watermark', column: { name: 'ts' }, expression: { tag: 'binary', operator: '-' } },
  ]);
});

test('the words that start a constraint are still free as columns', () => {
  const table = statementOf(
    'CREATE TABLE t (watermark INT, primary TEXT, metadata TEXT, check TEXT, unique INT, constraint INT)',
    'create_table',
  );
  expect(table.columns?.map(({ name }) => name.name)).toEqual([
    'watermark',
    'primary',
    'metadata',
    'check',
    'unique',
    'constraint',
  ]);
});

test('options take every kind of key and value', () => {
  const { options } = statementOf(
    `CREATE TABLE t WITH (connector = 'r2', type = sink, 'a.B' = 1.5, rolling_policy.interval = interval '30 seconds',
      n = -3, ok = TRUE, list = [a, 'b', 2], other = ARRAY[], format.select = "Json")`,
    'create_table',
  );
  const byKey = options.map(({ key, value }) => [key, withoutSpans(value)]);
  expect(byKey).toEqual([
    ['connector', { tag: 'string', value: 'r2' }],
    ['type', { tag: 'name', name: { name: 'sink', quoted: false, text: 'sink' } }],
    ['a.B', { tag: 'number', text: '1.5' }],
    ['rolling_policy.interval', { tag: 'interval', text: '30 seconds', unit: null }],
    ['n', { tag: 'number', text: '-3' }],
    ['ok', { tag: 'boolean', value: true }],
    [
      'list',
      {
        tag: 'array_option',
        elements: [
          { tag: 'name', name: { name: 'a', quoted: false, text: 'a' } },
          { tag: 'string', value: 'b' },
          { tag: 'number', text: '2' },
        ],
      },
    ],
    ['other', { tag: 'array_option', elements: [] }],
    ['format.select', { tag: 'name', name: { name: 'Json', quoted: true, text: 'Json' } }],
  ]);
});

test('a table without a list has no columns to speak of, one with an empty list has none', () => {
  expect(
    statementOf("CREATE TABLE t WITH (connector = 'impulse')", 'create_table').columns,
  ).toBeNull();
  expect(statementOf('CREATE TABLE t ()', 'create_table').columns).toEqual([]);
  const lookup = statementOf(
    'CREATE TEMPORARY TABLE t (a INT) PARTITIONED BY (day(ts), bucket(4, id)) WITH (x = 1)',
    'create_table',
  );
  expect(lookup).toMatchObject({
    temporary: true,
    partitionedBy: [{ tag: 'call' }, { tag: 'call' }],
    options: [{ key: 'x' }],
  });
});

test('a view and a table made from a query are the same', () => {
  expect(statementOf('CREATE VIEW v (a, b) AS SELECT 1, 2', 'create_view')).toMatchObject({
    spelling: 'view',
    columns: [{ name: 'a' }, { name: 'b' }],
  });
  expect(statementOf('CREATE TABLE v AS (SELECT 1)', 'create_view')).toMatchObject({
    spelling: 'table',
    name: { name: 'v' },
    query: { body: { tag: 'select' } },
  });
});

test('a function has parameters, a result and a body', () => {
  const made = statementOf(
    'CREATE FUNCTION f(a INT, b TEXT[]) RETURNS DOUBLE LANGUAGE javascript AS $$ return a; $$',
    'create_function',
  );
  expect(made).toMatchObject({
    parameters: [{ name: { name: 'a' } }, { type: { tag: 'array' } }],
    kind: 'scalar',
    waits: false,
    returns: { tag: 'returns_value', type: { name: 'double' } },
    language: { name: 'javascript' },
    volatility: null,
    nullInput: null,
    options: [],
    body: { value: ' return a; ' },
  });
});

test('clauses of a function stand in any order, each once', () => {
  const made = statementOf(
    `CREATE ASYNC FUNCTION f(a INT) RETURNS TABLE (b TEXT, c INT) WITH (timeout = interval '1 second', retries = 2)
     VOLATILE AS 'x' CALLED ON NULL INPUT LANGUAGE typescript`,
    'create_function',
  );
  expect(made).toMatchObject({
    kind: 'scalar',
    waits: true,
    returns: { tag: 'returns_table', columns: [{ name: { name: 'b' } }, { name: { name: 'c' } }] },
    language: { name: 'typescript' },
    volatility: 'volatile',
    nullInput: 'called',
    options: [{ key: 'timeout' }, { key: 'retries' }],
  });
  expect(
    statementOf(
      'CREATE AGGREGATE FUNCTION f(a INT) RETURNS INT LANGUAGE javascript STRICT AS $$x$$',
      'create_function',
    ),
  ).toMatchObject({ kind: 'aggregate', nullInput: 'null' });
});

test('INSERT takes columns or none, and any query', () => {
  expect(statementOf('INSERT INTO t SELECT 1', 'insert')).toMatchObject({
    table: { name: 't' },
    columns: [],
  });
  expect(statementOf('INSERT INTO t (a, "B") VALUES (1, 2)', 'insert')).toMatchObject({
    columns: [{ name: 'a' }, { name: 'B' }],
    query: { body: { tag: 'values' } },
  });
  expect(statementOf('INSERT INTO t (SELECT 1) UNION SELECT 2', 'insert')).toMatchObject({
    columns: [],
    query: { body: { tag: 'set_operation' } },
  });
  expect(
    statementOf('INSERT INTO t WITH a AS (SELECT 1) SELECT * FROM a', 'insert').query.with.length,
  ).toBe(1);
});

test('SET and EXPLAIN parse in all their forms', () => {
  expect(statementOf("SET updating_ttl = interval '10 seconds'", 'set')).toMatchObject({
    key: 'updating_ttl',
    value: { tag: 'interval', text: '10 seconds' },
  });
  expect(statementOf('SET a.b TO 5', 'set')).toMatchObject({
    key: 'a.b',
    value: { tag: 'number' },
  });
  expect(statementOf('EXPLAIN SELECT 1', 'explain')).toMatchObject({
    mode: null,
    statement: { tag: 'query_statement' },
  });
  expect(statementOf('EXPLAIN PHYSICAL INSERT INTO t SELECT 1', 'explain')).toMatchObject({
    mode: 'physical',
    statement: { tag: 'insert' },
  });
  expect(statementOf('EXPLAIN LOGICAL (SELECT 1)', 'explain').mode).toBe('logical');
});

test('statements stand between semicolons, any number of them', () => {
  expect(statementsOf(';; SELECT 1;;SET a = 1; -- done\n;').map(({ tag }) => tag)).toEqual([
    'query_statement',
    'set',
  ]);
  expect(statementsOf(' /* nothing */ ')).toEqual([]);
});

test('a broken statement leaves the others standing', () => {
  const { program, errors } = parseProgram(
    "SELECT 1; SELCT 2; CREATE TABLE t (a INT b) WITH (x 'y'); SET a = 1",
  );
  expect(program.statements.map(({ tag }) => tag)).toEqual(['query_statement', 'set']);
  expect(errors.map(({ span }) => span?.start.column)).toEqual([11, 42, 53]);
});
