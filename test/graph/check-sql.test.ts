import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { type Diagnostic, withFixes } from '../../src/graph/check-sql.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { applyEdits } from '../../src/sql/places.ts';

const ORDERS = `CREATE TABLE orders (
  id BIGINT NOT NULL,
  customer TEXT,
  amount DECIMAL(10, 2),
  ts TIMESTAMP NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '5 seconds'
) WITH (
  connector = 'http',
  format = 'json',
  type = 'source'
);
`;
const UNTIMED = ORDERS.replace(/,\n {2}WATERMARK[^\n]*/, '');
const OPTIONS = { defaultSink: 'preview' } as const;

const findings = (text: string): Diagnostic[] => {
  const { errors, warnings } = withFixes(
    text,
    planSql(text, DECLARATIONS, OPTIONS),
    DECLARATIONS,
    OPTIONS,
  );
  return [...errors, ...warnings];
};

/** A mistake, the code it is found by, and what the first fix makes of the text: a part of it. */
const MISTAKES: readonly (readonly [what: string, text: string, code: string, becomes: string])[] =
  [
    [
      'a misspelt column',
      `${ORDERS}SELECT custmer FROM orders;`,
      'UNKNOWN_COLUMN',
      'SELECT customer FROM',
    ],
    [
      'a misspelt column of a table',
      `${ORDERS}SELECT o.idd FROM orders o;`,
      'UNKNOWN_COLUMN',
      'SELECT o.id FROM',
    ],
    [
      'a misspelt name that needs quotes',
      `${ORDERS.replace('customer TEXT', '"Customer Name" TEXT')}SELECT "Custmer Name" FROM orders;`,
      'UNKNOWN_COLUMN',
      'SELECT "Customer Name" FROM',
    ],
    [
      'a misspelt name that is a keyword',
      `${ORDERS.replace('customer TEXT', '"order" TEXT')}SELECT o.ordr FROM orders o;`,
      'UNKNOWN_COLUMN',
      'SELECT o."order" FROM',
    ],
    [
      'a misspelt table that needs quotes',
      `${ORDERS.replace('TABLE orders', 'TABLE "my orders"')}SELECT id FROM "my ordres";`,
      'UNKNOWN_TABLE',
      'FROM "my orders";',
    ],
    ['a misspelt table', `${ORDERS}SELECT id FROM ordres;`, 'UNKNOWN_TABLE', 'FROM orders;'],
    [
      'a misspelt function',
      `${ORDERS}SELECT lenght(customer) AS n FROM orders;`,
      'UNKNOWN_FUNCTION',
      'SELECT length(customer)',
    ],
    ['a misspelt statement', `${ORDERS}SELEC id FROM orders;`, 'SYNTAX', 'SELECT id FROM'],
    ['a misspelt FROM', `${ORDERS}SELECT id FORM orders;`, 'SYNTAX', 'SELECT id FROM orders'],
    [
      'a misspelt WHERE',
      `${ORDERS}SELECT id FROM orders WERE id > 1;`,
      'SYNTAX',
      'orders WHERE id',
    ],
    [
      'a misspelt option',
      `${ORDERS.replace('format', 'fromat')}SELECT id FROM orders;`,
      'UNKNOWN_OPTION',
      "\n  format = 'json'",
    ],
    [
      'an unknown option',
      `${ORDERS.replace("format = 'json'", "kafka.group = 'x'")}SELECT id FROM orders;`,
      'UNKNOWN_OPTION',
      "'http',\n  type = 'source'",
    ],
    [
      'an unknown last option',
      `${ORDERS.replace("type = 'source'", "zzzz = 'x'")}SELECT id FROM orders;`,
      'UNKNOWN_OPTION',
      "format = 'json'\n)",
    ],
    [
      'a misspelt connector option',
      `${ORDERS.replace('connector', 'conector')}SELECT id FROM orders;`,
      'MISSING_OPTION',
      "(\n  connector = 'http'",
    ],
    [
      'a misspelt connector',
      `${ORDERS.replace("'http'", "'htp'")}SELECT id FROM orders;`,
      'UNKNOWN_CONNECTOR',
      "connector = 'http'",
    ],
    [
      'a misspelt type',
      `${ORDERS.replace('TEXT', 'TXT')}SELECT id FROM orders;`,
      'UNKNOWN_TYPE',
      'customer TEXT',
    ],
    [
      'a type of another system',
      `${ORDERS.replace('BIGINT', 'LONG')}SELECT id FROM orders;`,
      'UNKNOWN_TYPE',
      'id BIGINT',
    ],
    [
      'a misspelt format',
      `${ORDERS.replace("'json'", "'jsn'")}SELECT id FROM orders;`,
      'INVALID_OPTION',
      "format = 'json'",
    ],
    [
      'a timestamp format in other words',
      `${ORDERS.replace("'json'", "'json',\n  timestamp_format = 'epoch_ms'")}SELECT id FROM orders;`,
      'INVALID_OPTION',
      "timestamp_format = 'unix_millis'",
    ],
    [
      'a timestamp format by its standard',
      `${ORDERS.replace("'json'", "'json',\n  timestamp_format = 'iso8601'")}SELECT id FROM orders;`,
      'INVALID_OPTION',
      "timestamp_format = 'rfc3339'",
    ],
    [
      'a missing watermark',
      `${UNTIMED}SELECT tumble(INTERVAL '1 minute') AS w, count(*) AS n FROM orders GROUP BY w;`,
      'MISSING_WATERMARK',
      'NOT NULL,\n  WATERMARK FOR ts AS ts',
    ],
    [
      'a column missing in GROUP BY',
      `${ORDERS}SELECT customer, id, count(*) AS n FROM orders GROUP BY customer;`,
      'INVALID_GROUPING',
      'GROUP BY customer, id;',
    ],
    [
      'a missing GROUP BY',
      `${ORDERS}SELECT customer, count(*) AS n FROM orders WHERE (id > 1) ORDER BY n LIMIT 3;`,
      'INVALID_GROUPING',
      '(id > 1)\nGROUP BY customer ORDER BY',
    ],
    [
      'a missing GROUP BY of an inner query',
      `${ORDERS}SELECT n FROM (SELECT customer, count(*) AS n FROM orders) AS x;`,
      'INVALID_GROUPING',
      'FROM orders\nGROUP BY customer) AS x',
    ],
    [
      'a comparison with NULL',
      `${ORDERS}SELECT id FROM orders WHERE customer = NULL;`,
      'NULL_COMPARISON',
      'WHERE customer IS NULL;',
    ],
    [
      'a comparison of NULL by unequal',
      `${ORDERS}SELECT id FROM orders WHERE amount > 1 AND NULL <> customer;`,
      'NULL_COMPARISON',
      'AND customer IS NOT NULL;',
    ],
    [
      'a string in double quotes',
      `${ORDERS}SELECT id FROM orders WHERE customer = "it's";`,
      'UNKNOWN_COLUMN',
      "customer = 'it''s';",
    ],
    [
      'a sink that is read',
      `${ORDERS.replace('http', 'single_file').replace('format', "path = 'a',\n  format").replace("'source'", "'sink'")}SELECT id FROM orders;`,
      'INVALID_SINK',
      "type = 'source'",
    ],
    [
      'a source that is written',
      `${ORDERS}CREATE TABLE out (id BIGINT) WITH (connector = 'r2', path = 'x', type = 'source'); INSERT INTO out SELECT id FROM orders;`,
      'INVALID_SINK',
      "type = 'sink')",
    ],
    [
      'a type the connector does not have',
      `${ORDERS.replace("'source'", "'sink'")}SELECT id FROM orders;`,
      'INVALID_OPTION',
      "type = 'source'",
    ],
    [
      'a comma behind the last column',
      `${ORDERS}SELECT id, FROM orders;`,
      'SYNTAX',
      'SELECT id FROM',
    ],
    [
      'a comma behind the last definition',
      `${ORDERS.replace("seconds'", "seconds',")}SELECT id FROM orders;`,
      'SYNTAX',
      "seconds'\n)",
    ],
    [
      'a comma behind the last option',
      `${ORDERS.replace("'source'", "'source',")}SELECT id FROM orders;`,
      'SYNTAX',
      "'source'\n)",
    ],
    [
      'a missing comma',
      `${ORDERS.replace('NOT NULL,\n  WATERMARK', 'NOT NULL\n  WATERMARK')}SELECT id FROM orders;`,
      'SYNTAX',
      'NOT NULL,\n  WATERMARK',
    ],
    [
      'a missing semicolon',
      `${ORDERS}SELECT id FROM orders\nSELECT ts FROM orders;`,
      'SYNTAX',
      'FROM orders;\nSELECT ts',
    ],
    ['a missing parenthesis', `${ORDERS}SELECT (id FROM orders;`, 'SYNTAX', 'SELECT (id) FROM'],
    [
      'a reserved word as a name',
      `${ORDERS.replace('customer', 'group')}SELECT id FROM orders;`,
      'RESERVED_WORD',
      '"group" TEXT',
    ],
    [
      'a sink that is not there',
      `${ORDERS}INSERT INTO archive SELECT id FROM orders;`,
      'UNKNOWN_TABLE',
      "CREATE TABLE archive WITH (connector = 'r2', path = 'archive'",
    ],
    [
      'a misspelt sink',
      `${ORDERS}CREATE TABLE archive WITH (connector = 'stdout'); INSERT INTO archiv SELECT id FROM orders;`,
      'UNKNOWN_TABLE',
      'INTO archive SELECT',
    ],
    [
      'a missing path',
      `${ORDERS}CREATE TABLE out (id BIGINT) WITH (connector = 'r2', type = 'sink'); INSERT INTO out SELECT id FROM orders;`,
      'MISSING_OPTION',
      "type = 'sink', path = 'out')",
    ],
    [
      'a missing rate',
      "CREATE TABLE t WITH (connector = 'impulse'); SELECT counter FROM t;",
      'MISSING_OPTION',
      "'impulse', event_rate = 1000)",
    ],
    [
      'a misspelt connector',
      "CREATE TABLE t WITH (conector = 'example', dataset = 'clicks'); SELECT page FROM t;",
      'MISSING_OPTION',
      "(connector = 'example', dataset",
    ],
    [
      'a table without connector',
      'CREATE TABLE t (a INT); SELECT a FROM t;',
      'MISSING_OPTION',
      "(a INT) WITH (connector = 'http', format = 'json', type = 'source');",
    ],
    [
      'changes without key',
      `${UNTIMED.replace("'json'", "'debezium_json'")}SELECT id FROM orders;`,
      'MISSING_OPTION',
      'NOT NULL,\n  PRIMARY KEY (id)\n)',
    ],
    [
      'an updating result into files',
      `${ORDERS}CREATE TABLE out (customer TEXT, n BIGINT) WITH (connector = 'r2', path = 'o', format = 'json', type = 'sink'); INSERT INTO out SELECT customer, count(*) FROM orders GROUP BY customer;`,
      'INVALID_SINK',
      "format = 'debezium_json'",
    ],
    [
      'an ambiguous column',
      `${ORDERS}SELECT a.id, ts FROM orders a JOIN orders b ON a.id = b.id;`,
      'AMBIGUOUS_COLUMN',
      'SELECT a.id, a.ts FROM',
    ],
    [
      'a string that does not end',
      `${ORDERS}SELECT 'abc AS a\nFROM orders;`,
      'UNTERMINATED',
      "'abc AS a'\nFROM",
    ],
    [
      'quotes of a word processor',
      `${ORDERS}SELECT \u2018x\u2019 AS a FROM orders;`,
      'SYNTAX',
      "SELECT 'x' AS a",
    ],
    [
      'a count of nothing',
      `${ORDERS}SELECT count() AS n FROM orders;`,
      'TYPE_ERROR',
      'count(*) AS n',
    ],
    ['a program without query', ORDERS, 'NO_QUERY', '\nSELECT * FROM orders;'],
    [
      'a watermark of a sink',
      `${ORDERS}CREATE TABLE out (ts TIMESTAMP, WATERMARK FOR ts) WITH (connector = 'r2', path = 'x', type = 'sink'); INSERT INTO out SELECT ts FROM orders;`,
      'INVALID_WATERMARK',
      '(ts TIMESTAMP) WITH',
    ],
  ];

describe('a fix removes the finding it belongs to:', () => {
  test.each(MISTAKES)('%s', (_, text, code, becomes) => {
    const finding = findings(text).find((each) => each.code === code);
    expect(finding, JSON.stringify(findings(text), null, 1)).toBeDefined();
    const fixes = finding?.fixes ?? [];
    expect(fixes.length, JSON.stringify(finding)).toBeGreaterThan(0);
    expect(applyEdits(text, fixes[0]?.edits ?? [])).toContain(becomes);
    for (const { title, edits } of fixes) {
      const left = findings(applyEdits(text, edits));
      const same = (each: Diagnostic): boolean =>
        each.code === code && each.message === finding?.message;
      expect(left.filter(same).length, title).toBeLessThan(findings(text).filter(same).length);
      expect(title).not.toMatch(/\n/);
    }
  });

  test('and none is offered that only keeps the statement from being read', () => {
    // `window` is no clause here, and `limit` is no end.
    const text = `${ORDERS}SELECT customer, id AS window, id AS "limit", count(*) AS n FROM orders;`;
    const [finding] = findings(text);
    expect(finding).toMatchObject({ code: 'INVALID_GROUPING' });
    expect(applyEdits(text, finding?.fixes?.[0]?.edits ?? [])).toContain(
      'FROM orders\nGROUP BY customer;',
    );
    // What would close the string at the end of its line leaves more that can not be read.
    const odd = `${ORDERS.replace('INTERVAL', "' INTERVAL")}SELECT id FROM orders;`;
    const before = findings(odd);
    for (const { edits } of before.flatMap(({ fixes = [] }) => fixes))
      expect(findings(applyEdits(odd, edits)).length).toBeLessThanOrEqual(before.length);
  });

  test('and none is offered that brings another error instead', () => {
    const clicks = (options: string): string =>
      `CREATE TABLE clicks WITH (connector = 'example', ${options});\nSELECT * FROM clicks;`;
    // Without its data set the table is wrong as well.
    const [unknown] = findings(clicks("dataset = 'nonsense', event_rate = 10"));
    expect(unknown?.code).toBe('INVALID_OPTION');
    expect(unknown?.fixes?.map(({ title }) => title)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Change 'nonsense' to /)]),
    );
    expect(unknown?.fixes?.map(({ title }) => title)).not.toContain('Remove the option dataset');
    // As a source it could not be written to.
    const written = `${ORDERS.replace("'source'", "'sink'")}INSERT INTO orders SELECT 1, 'a', 1.0, now();`;
    const titles = findings(written).flatMap(({ fixes = [] }) => fixes.map(({ title }) => title));
    expect(titles).toEqual(['Remove the watermark']);
  });

  test('so that no fix of any of these mistakes leaves as many errors, or another one', () => {
    const errorsOf = (text: string): string[] =>
      planSql(text, DECLARATIONS, OPTIONS).errors.map(({ code, message }) => `${code} ${message}`);
    for (const [, text] of MISTAKES) {
      const before = errorsOf(text);
      for (const { code, fixes = [] } of withFixes(
        text,
        planSql(text, DECLARATIONS, OPTIONS),
        DECLARATIONS,
        OPTIONS,
      ).errors) {
        if (code === 'SYNTAX' || code === 'UNTERMINATED') continue;
        for (const { title, edits } of fixes) {
          const after = errorsOf(applyEdits(text, edits));
          expect(after.length, `${title}\n${text}`).toBeLessThan(before.length);
          for (const each of after) expect(before, `${title}\n${text}`).toContain(each);
        }
      }
    }
  });

  test('and a fix of the syntax is offered whatever the statement says then', () => {
    const [finding] = findings(`${ORDERS}SELEC custmer FROM orders;`);
    expect(finding?.fixes?.[0]?.title).toContain('SELECT');
  });

  test('and the first fix of most leaves a text without any', () => {
    const clean = MISTAKES.filter(([, text, code]) => {
      const [fix] = findings(text).find((each) => each.code === code)?.fixes ?? [];
      return fix !== undefined && findings(applyEdits(text, fix.edits)).length === 0;
    });
    expect(clean.length / MISTAKES.length).toBeGreaterThan(0.8);
  });
});

describe('what a text declares', () => {
  const tables = (text: string) =>
    planSql(text, DECLARATIONS, OPTIONS).tables.map(({ name, kind, connector, columns }) => [
      name,
      kind,
      connector,
      columns.map((column) => column.name).join(' '),
    ]);

  test('is told of every kind of table', () => {
    const text = `${ORDERS}
CREATE TABLE out (id BIGINT) WITH (connector = 'r2', path = 'x', type = 'sink');
CREATE TEMPORARY TABLE people (id BIGINT, name TEXT, PRIMARY KEY (id)) WITH (connector = 'single_file', path = 'p');
CREATE TABLE kept (a BIGINT);
CREATE VIEW large AS SELECT id, amount * 2 AS twice FROM orders;
CREATE TABLE bids WITH (connector = 'nexmark', table = 'bid', events = 10);
INSERT INTO kept SELECT id FROM large;
INSERT INTO out SELECT a FROM kept;
SELECT auction FROM bids;`;
    expect(planSql(text, DECLARATIONS, OPTIONS).errors).toEqual([]);
    expect(tables(text)).toEqual([
      ['orders', 'source', 'http', 'id customer amount ts'],
      ['out', 'sink', 'r2', 'id'],
      ['people', 'lookup', 'single_file', 'id name'],
      ['kept', 'memory', 'memory', 'a'],
      ['large', 'view', null, 'id twice'],
      ['bids', 'source', 'nexmark', expect.stringContaining('auction bidder price')],
    ]);
  });

  test('is told of the statements that can be read, whatever is wrong with others', () => {
    const text = `${ORDERS}CREATE TABLE other (a INT, b NOSUCH(, c TEXT) WITH (connector = 'http');
SELECT id, FROM orders WHERE;
CREATE VIEW v AS SELECT customer FROM orders;
SELECT FROM v`;
    const plan = planSql(text, DECLARATIONS, OPTIONS);
    expect(plan.errors.length).toBeGreaterThanOrEqual(3);
    expect(plan.errors.every(({ span }) => span !== undefined)).toBe(true);
    const names = tables(text).map(([name]) => name);
    expect(names).toContain('orders');
    expect(names).toContain('v');
    const [, broken] = [tables(text), tables(ORDERS.replace('customer TEXT', 'customer ,'))];
    expect(broken).toEqual([['orders', 'source', 'http', 'id amount ts']]);
  });
});

test('of more findings than anybody reads the first are told, and how many more there are', () => {
  const wrong = (from: number, statements: number): string =>
    Array.from({ length: statements }, (_, at) => `SELECT no${from + at} FROM orders;`).join('\n');
  const told = (text: string) =>
    withFixes(text, planSql(text, DECLARATIONS, OPTIONS), DECLARATIONS, OPTIONS);
  const many = told(ORDERS + wrong(0, 1234));
  expect(many.errors.length).toBe(200);
  expect(many.errors[199]?.message).toContain('no199');
  expect(many.more).toBe(1034);
  const few = told(ORDERS + wrong(0, 200));
  expect(few.errors.length).toBe(200);
  expect(few.more).toBe(0);
});

test('a hostile text is checked in a bounded time', () => {
  const wrong = Array.from(
    { length: 3000 },
    (_, at) => `SELECT a${at} FROM t${at} WHERE "x" = NULL;`,
  );
  const texts = [
    wrong.join('\n'),
    `${ORDERS}SELECT ${Array.from({ length: 5000 }, (_, at) => `c${at}`).join(', ')} FROM orders;`,
    'SELECT '.repeat(20_000),
    `${'('.repeat(5000)}`,
  ];
  for (const text of texts) {
    const before = performance.now();
    findings(text);
    expect(performance.now() - before).toBeLessThan(3000);
  }
});
