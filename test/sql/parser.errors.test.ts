import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { formatReport } from '../../src/sql/diagnostics.ts';
import { parseProgram } from '../../src/sql/parser.ts';

/** Each error as `line:column code message → suggestion`. */
function errorsOf(text: string): string[] {
  return parseProgram(text).errors.map((report) => {
    expect(report.domain).toBe(ERROR_CODES[report.code].domain);
    const { start } = report.span ?? { start: { line: 0, column: 0 } };
    const suggestion = report.suggestion === undefined ? '' : ` → ${report.suggestion}`;
    return `${start.line}:${start.column} ${report.code} ${report.message}${suggestion}`;
  });
}

type Case = readonly [text: string, ...errors: string[]];

function check(cases: readonly Case[]): void {
  for (const [text, ...errors] of cases) expect(errorsOf(text), text).toEqual(errors);
}

test('a mistyped keyword is named with its right spelling', () => {
  check([
    [
      'SELECT a FROM t WHERE a LIK b',
      '1:25 SYNTAX expected the end of the statement, found "LIK" → LIKE',
    ],
    ['SELECT a annd b FROM t', '1:10 SYNTAX expected AND, found "annd" → AND'],
    ['SELECT a b c FROM t', '1:12 SYNTAX expected the end of the statement, found "c"'],
    [
      'CREATE TABLE t (a INT) WIHT (x = 1)',
      '1:24 SYNTAX expected the end of the statement, found "WIHT" → WITH',
    ],
    ['SELCT a FROM t', '1:1 SYNTAX expected a statement, found "SELCT" → SELECT'],
    ['INSRET INTO t SELECT 1', '1:1 SYNTAX expected a statement, found "INSRET" → INSERT'],
    [
      'CREATE TABEL t (a INT)',
      '1:8 SYNTAX expected TABLE, VIEW or FUNCTION, found "TABEL" → TABLE',
    ],
    ['SELECT a FORM t', '1:10 SYNTAX expected FROM, found "FORM" → FROM'],
    ['SELECT * FORM t', '1:10 SYNTAX expected the end of the statement, found "FORM" → FROM'],
    ['SELECT a FROM t WEHRE a = 1', '1:17 SYNTAX expected WHERE, found "WEHRE" → WHERE'],
    [
      'SELECT a FROM t x WEHRE a = 1',
      '1:19 SYNTAX expected the end of the statement, found "WEHRE" → WHERE',
    ],
    ['SELECT a FROM t\nGRUOP BY a', '2:1 SYNTAX expected GROUP, found "GRUOP" → GROUP'],
    ['SELECT a FROM t GROUP YB a', '1:23 SYNTAX expected BY, found "YB" → BY'],
    ['SELECT a FROM t JION u ON true', '1:17 SYNTAX expected JOIN, found "JION" → JOIN'],
    ['SELECT a FROM t LEFT JION u ON true', '1:22 SYNTAX expected JOIN, found "JION" → JOIN'],
    ['SELECT a FROM (SELECT a FORM t)', '1:25 SYNTAX expected FROM, found "FORM" → FROM'],
    ['INSERT INOT t SELECT 1', '1:8 SYNTAX expected INTO, found "INOT" → INTO'],
    [
      'SELECT a IS NUL',
      '1:13 SYNTAX expected NOT, NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM, found "NUL" → NULL',
    ],
    ['SELECT CASE WEN a THEN b END', '1:17 SYNTAX expected WHEN, found "a"'],
    ['CREATE TABLE t (a INT NOT NUL)', '1:27 SYNTAX expected NULL, found "NUL" → NULL'],
    [
      'CREATE TABLE t (a INT PRIMRY KEY)',
      '1:23 SYNTAX expected "," or ")", found "PRIMRY" → PRIMARY',
    ],
    [
      'CREATE TABLE t (ts TIMESTAMP, WATERMRK FOR ts)',
      '1:31 SYNTAX expected WATERMARK FOR, found "WATERMRK" → WATERMARK',
    ],
    [
      'EXPLAIN PHYSCAL SELECT 1',
      '1:9 SYNTAX expected a query or INSERT to explain, found "PHYSCAL" → PHYSICAL',
    ],
    [
      'SELECT interval 5 minuts',
      '1:19 SYNTAX expected the unit of the interval, found "minuts" → MINUTE',
    ],
  ]);
});

test('a reserved word as a name is reported with the quoted form, each of them', () => {
  check([
    [
      'CREATE TABLE t (group TEXT, a INT, order INT, end INT)',
      ...['17 group', '36 order', '47 end'].map((entry) => {
        const [column, word] = entry.split(' ');
        return `1:${column} RESERVED_WORD "${word}" is a reserved word → "${word}"`;
      }),
    ],
    [
      'SELECT group, t.order FROM t WHERE end = 1',
      '1:8 RESERVED_WORD "group" is a reserved word → "group"',
      '1:36 RESERVED_WORD "end" is a reserved word → "end"',
    ],
    ['SELECT End FROM t', '1:8 RESERVED_WORD "End" is a reserved word → "end"'],
    ['SELECT sum(limit) FROM t', '1:12 RESERVED_WORD "limit" is a reserved word → "limit"'],
    ['SELECT from, a FROM t', '1:8 RESERVED_WORD "from" is a reserved word → "from"'],
    ['SELECT a FROM order', '1:15 RESERVED_WORD "order" is a reserved word → "order"'],
    ['CREATE TABLE order (a INT)', '1:14 RESERVED_WORD "order" is a reserved word → "order"'],
    ['INSERT INTO group SELECT 1', '1:13 RESERVED_WORD "group" is a reserved word → "group"'],
    [
      'CREATE TABLE t (a INT, WATERMARK FOR when)',
      '1:38 RESERVED_WORD "when" is a reserved word → "when"',
    ],
  ]);
});

test('a word that starts the next clause means that something is missing before it', () => {
  check([
    ['SELECT FROM t', '1:8 SYNTAX expected an expression, found "FROM"'],
    ['SELECT a, FROM t', '1:11 SYNTAX expected an expression, found "FROM"'],
    ['SELECT a FROM WHERE a = 1', '1:15 SYNTAX expected a table, found "WHERE"'],
    ['SELECT a FROM t WHERE ORDER BY a', '1:23 SYNTAX expected an expression, found "ORDER"'],
    ['SELECT a FROM t WHERE GROUP BY a', '1:23 SYNTAX expected an expression, found "GROUP"'],
    ['SELECT CASE WHEN a THEN END', '1:25 SYNTAX expected an expression, found "END"'],
    ['SELECT CASE WHEN THEN 1 END', '1:18 SYNTAX expected an expression, found "THEN"'],
    [
      'SELECT CASE WHEN a THEN 1',
      '1:26 SYNTAX expected WHEN, ELSE or END, found the end of the text',
    ],
    ['SELECT a AS FROM t', '1:13 SYNTAX expected the name of a column, found "FROM"'],
    ['WITH a AS SELECT 1 SELECT 2', '1:11 SYNTAX expected "(" and a query, found "SELECT"'],
    ['CREATE TABLE t (ts TIMESTAMP, WATERMARK ts AS ts)', '1:41 SYNTAX expected FOR, found "ts"'],
    [
      'CREATE TABLE t (ts TIMESTAMP WATERMARK FOR ts)',
      '1:30 SYNTAX expected "," or ")", found "WATERMARK"',
    ],
    ['SELECT a FROM t JOIN u', '1:23 SYNTAX expected ON or USING, found the end of the text'],
    ['INSERT INTO SELECT 1', '1:13 SYNTAX expected the name of a table, found "SELECT"'],
    ['SELECT a +', '1:11 SYNTAX expected an expression, found the end of the text'],
    ['SELECT (a + 1', '1:14 SYNTAX expected ")", found the end of the text'],
    ['SELECT a)', '1:9 SYNTAX expected the end of the statement, found ")"'],
    ["SELECT a 'b'", "1:10 SYNTAX expected the end of the statement, found the string 'b'"],
    ['SELECT a < b < c', '1:14 SYNTAX comparisons cannot be chained'],
    ['SELECT x::', '1:11 SYNTAX expected a type, found the end of the text'],
    ['SELECT EXISTS (1)', '1:8 SYNTAX EXISTS needs a query in its parentheses'],
    ['SELECT 1\nSELECT 2', '2:1 SYNTAX expected ";" before SELECT → ;'],
    ['SELECT a IN 3', '1:13 SYNTAX expected "(" and a list or a query, found "3"'],
  ]);
});

test('every column and option of a table that is wrong is reported', () => {
  check([
    [
      "CREATE TABLE t (\n  a,\n  b INT NOT NUL,\n  c DECIMAL(x, 2),\n  d STRUCT<e INT f, g TEXT>,\n  h INT,\n) WITH (\n  connector 'x',\n  a = ,\n  = 1,\n  ok = 1\n)",
      '2:4 SYNTAX expected a type, found ","',
      '3:13 SYNTAX expected NULL, found "NUL" → NULL',
      '4:13 SYNTAX expected a whole number, found "x"',
      '5:18 SYNTAX expected ">", found "f"',
      '7:1 SYNTAX expected a column, found ")"',
      '8:13 SYNTAX expected "=" and a value, found the string \'x\'',
      '9:7 SYNTAX expected the value of the option, found ","',
      '10:3 SYNTAX expected the name of an option, found "="',
    ],
    ['CREATE TABLE t (a INT', '1:22 SYNTAX expected "," or ")", found the end of the text'],
    [
      'CREATE TABLE t (a ARRAY, b INT)',
      '1:24 SYNTAX expected "<" and the type of the elements, found ","',
    ],
    ['CREATE TABLE t (a INT FOREIGN KEY)', '1:23 SYNTAX expected "," or ")", found "FOREIGN"'],
  ]);
});

test('text that is no token is reported once, at what was opened', () => {
  check([
    ["SELECT 'abc; SELECT 2", '1:8 UNTERMINATED this string does not end'],
    ['SELECT a FROM "t', '1:15 UNTERMINATED this quoted name does not end'],
    ['SELECT a /* b', '1:10 UNTERMINATED this comment does not end'],
    ['SELECT $$ a', '1:8 UNTERMINATED this string does not end'],
    ["CREATE TABLE t (a INT) WITH (b = 'c)", '1:34 UNTERMINATED this string does not end'],
    [
      'SELECT \u2018a\u2019',
      '1:8 SYNTAX unexpected character "\u2018" → \'',
      '1:10 SYNTAX unexpected character "\u2019" → \'',
    ],
    ['SELECT a @ b', '1:10 SYNTAX unexpected character "@"'],
    ['SELECT $1', '1:8 SYNTAX "$1" is a parameter, and a pipeline has none'],
    ['SELECT 1_000', '1:8 SYNTAX "1_000" is not a number → 1000'],
    ['SELECT 5minutes', '1:8 SYNTAX "5minutes" is not a number'],
    ["SELECT E'\\u12'", '1:8 SYNTAX this string has an escape that stands for no character'],
    ["SELECT E'\\ud800'", '1:8 SYNTAX this string has an escape that stands for no character'],
    ["SELECT X'0'", "1:8 SYNTAX X'…' needs pairs of hexadecimal digits"],
    ['SELECT ""', '1:8 SYNTAX a quoted name is empty'],
  ]);
});

test('what other engines have and this one has not is said so', () => {
  check([
    ['DROP TABLE t', '1:1 UNSUPPORTED DROP statements are not supported'],
    ['ALTER TABLE t ADD COLUMN c TEXT', '1:1 UNSUPPORTED ALTER statements are not supported'],
    ['CREATE OR REPLACE VIEW v AS SELECT 1', '1:8 UNSUPPORTED OR REPLACE is not supported'],
    [
      'CREATE TABLE t (a INT) AS SELECT 1',
      '1:24 UNSUPPORTED CREATE TABLE … AS takes neither columns nor options',
    ],
    [
      'CREATE TABLE t (a INT, UNIQUE (a), b INT)',
      '1:24 UNSUPPORTED the table constraint UNIQUE is not supported',
    ],
    [
      'WITH RECURSIVE a AS (SELECT 1) SELECT 1',
      '1:6 UNSUPPORTED recursive queries are not supported',
    ],
    ['SELECT a FROM s.t', '1:15 UNSUPPORTED tables have no schema or catalogue before their name'],
    [
      "SELECT interval '1' year to month",
      '1:26 UNSUPPORTED an interval with a range of units is not supported',
    ],
  ]);
});

test('errors of several statements come in the order of the text', () => {
  expect(errorsOf("SELCT 1;\nSELECT 1_0;\nSELECT group FROM t;\nSELECT 'x")).toEqual([
    '1:1 SYNTAX expected a statement, found "SELCT" → SELECT',
    '2:8 SYNTAX "1_0" is not a number → 10',
    '3:8 RESERVED_WORD "group" is a reserved word → "group"',
    '4:8 UNTERMINATED this string does not end',
  ]);
});

test('a bracket that is not closed is named by its place', () => {
  const hintOf = (text: string): string | undefined => parseProgram(text).errors[0]?.hint;
  expect(hintOf('SELECT sum(a FROM t')).toBe('the "(" at 1:11 is still open');
  expect(hintOf('SELECT (a\n + (b) FROM t')).toBe('the "(" at 1:8 is still open');
  expect(hintOf('SELECT (a) + b[(1)')).toBe('the "[" at 1:15 is still open');
});

test('columns count code points, also behind text outside the basic plane', () => {
  expect(errorsOf("SELECT '\u{1F600}\u{1F600}', FROM t")).toEqual([
    '1:14 SYNTAX expected an expression, found "FROM"',
  ]);
});

test('an error is shown under its line', () => {
  const text = 'SELECT 1;\nSELECT a FORM t';
  const [report] = parseProgram(text).errors;
  expect(report && formatReport(text, report)).toBe(
    [
      'SYNTAX at 2:10: expected FROM, found "FORM"',
      '  2 | SELECT a FORM t',
      '    |          ^^^^',
      '  hint: a name that is meant as an alias is clearer with AS',
      '  try: FROM',
    ].join('\n'),
  );
});

test('of a long line the part around the error is shown, and tabs stay tabs', () => {
  const long = `SELECT ${'a, '.repeat(200)} FROM t`;
  const [report] = parseProgram(long).errors;
  const [, line, marks] = report === undefined ? [] : formatReport(long, report).split('\n');
  expect(line?.length).toBeLessThan(140);
  expect(line?.slice(marks?.indexOf('^'))).toMatch(/^FROM t$/);
  const [tabbed] = parseProgram('\tSELCT').errors;
  expect(tabbed && formatReport('\tSELCT', tabbed).split('\n')[2]).toBe('    | \t^^^^^');
});
