import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { parseProgram } from '../../src/sql/parser.ts';
import { printProgram } from '../../src/sql/printer.ts';

const codesOf = (text: string): string[] => parseProgram(text).errors.map(({ code }) => code);

/** Bounds that an honest text does not meet and a hostile one does, without the stack being the judge. */
test('nesting of every kind ends in QUERY_TOO_LARGE', { timeout: 60_000 }, () => {
  const n = 100_000;
  const nestings: readonly (readonly [string, string])[] = [
    ['parentheses', `SELECT ${'('.repeat(n)}1${')'.repeat(n)}`],
    ['unclosed parentheses', `SELECT ${'('.repeat(n)}`],
    ['brackets', `SELECT ${'['.repeat(n)}`],
    ['calls', `SELECT ${'f('.repeat(n)}`],
    ['minus signs', `SELECT ${'- '.repeat(n)}1`],
    ['NOT', `SELECT ${'NOT '.repeat(n / 2)}1`],
    ['CASE', `SELECT ${'CASE WHEN '.repeat(n / 5)}`],
    ['subqueries', `SELECT ${'(SELECT '.repeat(n / 4)}`],
    ['derived tables', `SELECT * FROM ${'(SELECT * FROM '.repeat(n / 8)}`],
    ['parenthesised tables', `SELECT * FROM ${'('.repeat(n)}`],
    ['parenthesised queries', `${'('.repeat(n)}SELECT 1`],
    ['common tables', 'WITH a AS ('.repeat(n / 5)],
    ['set operations on the right', `${'SELECT 1 UNION ('.repeat(n / 8)}`],
    ['array types', `CREATE TABLE t (a ${'ARRAY<'.repeat(n / 4)}`],
    ['struct types', `CREATE TABLE t (a ${'STRUCT<a '.repeat(n / 6)}`],
    ['option lists', `CREATE TABLE t WITH (a = ${'['.repeat(n)}`],
    ['subscripts', `SELECT ${'a['.repeat(n)}`],
    ['IN', `SELECT ${'a IN ('.repeat(n / 4)}`],
    ['CAST', `SELECT ${'CAST('.repeat(n / 4)}`],
    ['ORDER BY', `SELECT ${'f(a ORDER BY '.repeat(n / 8)}`],
  ];
  for (const [what, text] of nestings) {
    const codes = codesOf(text);
    expect(codes, what).toContain('QUERY_TOO_LARGE');
  }
});

test('long chains of operators end in QUERY_TOO_LARGE', () => {
  const chains: readonly (readonly [string, string])[] = [
    ['plus', `SELECT 1${' + 1'.repeat(50_000)}`],
    ['OR', `SELECT a${' OR a'.repeat(50_000)}`],
    ['casts', `SELECT a${'::int'.repeat(50_000)}`],
    ['subscripts', `SELECT a${'[1]'.repeat(50_000)}`],
    ['fields', `SELECT (a)${'.b'.repeat(50_000)}`],
    ['IS NULL', `SELECT a${' IS NULL'.repeat(30_000)}`],
    ['UNION', `SELECT 1${' UNION SELECT 1'.repeat(16_000)}`],
    ['joins', `SELECT * FROM a${' CROSS JOIN a'.repeat(18_000)}`],
    ['array types', `SELECT a::int${'[]'.repeat(100_000)}`],
    [
      'chains within chains',
      `SELECT ${`${'('.repeat(100)}1${`${' + 1'.repeat(500)})`.repeat(100)}`}`,
    ],
  ];
  for (const [what, text] of chains) expect(codesOf(text), what).toEqual(['QUERY_TOO_LARGE']);
});

test('long lists are not nesting', () => {
  const lists = [
    `SELECT ${'1, '.repeat(30_000)}1`,
    `SELECT a IN (${'1, '.repeat(30_000)}1)`,
    `SELECT ${'CASE WHEN a THEN b END, '.repeat(5_000)}1`,
    `VALUES ${'(1), '.repeat(30_000)}(1)`,
    `SELECT a${'.b'.repeat(50_000)}`,
    'SELECT 1;'.repeat(20_000),
    `SELECT 1${' + 1'.repeat(LIMITS.queryHeightMax - 10)}`,
    `SELECT ${'('.repeat(60)}1${')'.repeat(60)}`,
  ];
  for (const text of lists) expect(codesOf(text)).toEqual([]);
});

test('the highest tree that is let through can be printed', () => {
  const depth = 100;
  const chain = ' + 1'.repeat(LIMITS.queryHeightMax - depth - 10);
  const text = `SELECT ${'('.repeat(depth / 2)}1${')'.repeat(depth / 2)}${chain}`;
  const { program, errors } = parseProgram(text);
  expect(errors).toEqual([]);
  expect(parseProgram(printProgram(program)).errors).toEqual([]);
});

test('a text over the size bound is refused whole, counted in bytes', () => {
  expect(codesOf('x'.repeat(LIMITS.queryBytesMax + 1))).toEqual(['QUERY_TOO_LARGE']);
  expect(codesOf(`SELECT '${'é'.repeat(LIMITS.queryBytesMax / 2)}'`)).toEqual(['QUERY_TOO_LARGE']);
  expect(codesOf(`SELECT '${'x'.repeat(LIMITS.queryBytesMax - 9)}'`)).toEqual([]);
});

test('huge tokens and floods of mistakes stay within bounds', () => {
  const size = LIMITS.queryBytesMax - 100;
  const texts = [
    `SELECT ${'9'.repeat(size)}`,
    `SELECT ${'a'.repeat(size)} ${'a'.repeat(50)}`,
    `SELECT '${"''".repeat(size / 2)}`,
    `SELECT ${'1a '.repeat(size / 4)}`,
    '@'.repeat(size),
    ';('.repeat(size / 2),
    'x;'.repeat(size / 2),
    `CREATE TABLE t (${','.repeat(size)}`,
    `CREATE TABLE t (${'group,'.repeat(size / 6)}`,
    `CREATE TABLE t (${'(,'.repeat(size / 2)}`,
    `SELECT ${'\u{1F600}'.repeat(size / 4)}`,
    '/*'.repeat(size / 2),
    `SELECT $${'a'.repeat(size)}`,
    `SELECT ${'$a$ '.repeat(size / 4)}`,
    `SELECT ${'"'.repeat(size)}`,
    `SELECT ${"E'\\".repeat(size / 3)}`,
    `SELECT ${'.'.repeat(size)}`,
    `SELECT ${'1.'.repeat(size / 2)}`,
    `SELECT 1${'e1'.repeat(size / 2)}`,
  ];
  for (const text of texts) {
    const started = performance.now();
    const { errors } = parseProgram(text);
    // Generous for a loaded machine; quadratic work on this size would take minutes.
    expect(performance.now() - started, text.slice(0, 20)).toBeLessThan(5_000);
    expect(errors.length, text.slice(0, 20)).toBeLessThanOrEqual(100);
    for (const { message } of errors) expect(message.length).toBeLessThan(200);
  }
}, 60_000);

test('no text makes the parser throw, and every error has a place inside the text', () => {
  const words =
    'SELECT FROM WHERE GROUP BY t a ( ) [ ] , ; . :: = < > + - * \'s\' "q" 1 CREATE TABLE WITH AS CASE WHEN THEN END INTERVAL STRUCT ARRAY INT JOIN ON NOT NULL IN BETWEEN AND UNION INSERT INTO VALUES OVER => $$ \' " /* WATERMARK FOR PRIMARY KEY LATERAL EXISTS EXTRACT TRIM SUBSTRING ROW'.split(
      ' ',
    );
  const soup = fc.array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...words) }, fc.string()),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(soup, fc.constantFrom(' ', '\n'), (parts, space) => {
      const text = parts.join(space);
      const { program, errors } = parseProgram(text);
      const lines = text.split('\n');
      for (const { span } of errors) {
        expect(span).toBeDefined();
        const line = lines[(span?.start.line ?? 0) - 1];
        expect(line).toBeDefined();
        expect(span?.start.column).toBeLessThanOrEqual(Array.from(line ?? '').length + 1);
      }
      if (program.statements.length > 0)
        expect(parseProgram(printProgram(program)).errors).toEqual([]);
    }),
    { numRuns: 5000 },
  );
}, 60_000);
