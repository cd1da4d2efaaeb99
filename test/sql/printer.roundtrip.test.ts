import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseProgram } from '../../src/sql/parser.ts';
import { printExpression } from '../../src/sql/print-query.ts';
import { printProgram } from '../../src/sql/printer.ts';
import { expressions, operations, programs } from './ast-arbitrary.ts';
import { expressionOf, statementsOf, withoutSpans } from './tree.ts';

test('a printed program parses to the program it was printed from', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(programs, (program) => {
      const text = printProgram(program);
      const { program: parsed, errors } = parseProgram(text);
      expect(errors, text).toEqual([]);
      expect(withoutSpans(parsed), text).toEqual(withoutSpans(program));
    }),
    { numRuns: 1500 },
  );
});

test(
  'a printed expression parses to the expression it was printed from',
  { timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(fc.oneof(expressions, operations), (expression) => {
        const text = printExpression(expression);
        expect(withoutSpans(expressionOf(text)), text).toEqual(withoutSpans(expression));
      }),
      { numRuns: 4000 },
    );
  },
);

test('the arbitrary programs have every construct in them', () => {
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('tag' in value) seen.add(value.tag);
    Object.values(value).forEach(visit);
  };
  fc.sample(programs, { numRuns: 1500, seed: 7 }).forEach(visit);
  fc.sample(expressions, { numRuns: 1500, seed: 7 }).forEach(visit);
  const wanted =
    'create_table create_view create_function insert query_statement set explain select values ' +
    'set_operation nested table derived table_function windowed join match sequence alternation repeat variable on using natural wildcard expression call case cast row ' +
    'exists subquery in_query in_list like between is is_distinct binary unary slice subscript field at_time_zone ' +
    'number string boolean null bytes typed_literal interval path array array_option name map struct simple ' +
    'primary_key watermark current_row unbounded_preceding';
  expect(wanted.split(' ').filter((tag) => !seen.has(tag))).toEqual([]);
});

test('printing leaves out the parentheses that change nothing', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['(a + b) + c', 'a + b + c'],
    ['a + (b + c)', 'a + (b + c)'],
    ['(a * b) + c', 'a * b + c'],
    ['a * (b + c)', 'a * (b + c)'],
    ['not (a = b)', 'NOT a = b'],
    ['(not a) = b', '(NOT a) = b'],
    ['- (- 1)', '- -1'],
    ['-(2 ^ 2)', '-(2 ^ 2)'],
    ['(-2) ^ 2', '-2 ^ 2'],
    ['(a < b) = c', '(a < b) = c'],
    ['(a.b).c', '(a.b).c'],
    ["a::text || 'x'", "CAST(a AS TEXT) || 'x'"],
  ];
  for (const [typed, printed] of cases) expect(printExpression(expressionOf(typed))).toBe(printed);
});

test('a statement keeps what it says when it is printed', () => {
  const text =
    "CREATE TABLE IF NOT EXISTS t (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, ts TIMESTAMP(3) DEFAULT now(), topic TEXT METADATA FROM 'topic', " +
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) PARTITIONED BY (day(ts)) WITH (connector = 'kafka', rolling.rows = 5, 'a-b' = [x, true]);\n";
  expect(printProgram({ statements: statementsOf(text) })).toBe(text);
});
