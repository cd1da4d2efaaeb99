import { expect, test } from 'vitest';
import type { Expression } from '../../src/sql/ast-expression.ts';
import { printExpression } from '../../src/sql/print-query.ts';
import { expressionOf, withoutSpans } from './tree.ts';

/** Every operation in its own brackets: an independent way to write a tree down. */
function shape(expression: Expression): string {
  switch (expression.tag) {
    case 'unary':
      return `[${expression.operator} ${shape(expression.operand)}]`;
    case 'binary':
      return `[${shape(expression.left)} ${expression.operator} ${shape(expression.right)}]`;
    case 'is':
      return `[${shape(expression.operand)} is ${expression.negated ? 'not ' : ''}${expression.test}]`;
    case 'is_distinct':
      return `[${shape(expression.left)} is ${expression.negated ? 'not ' : ''}distinct ${shape(expression.right)}]`;
    case 'between':
      return `[${shape(expression.operand)} ${expression.negated ? 'not ' : ''}between ${shape(expression.low)} ${shape(expression.high)}]`;
    case 'like':
      return `[${shape(expression.operand)} ${expression.negated ? 'not ' : ''}${expression.kind} ${shape(expression.pattern)}]`;
    case 'in_list':
      return `[${shape(expression.operand)} ${expression.negated ? 'not ' : ''}in ${expression.items.map(shape).join(' ')}]`;
    case 'at_time_zone':
      return `[${shape(expression.operand)} zone ${shape(expression.zone)}]`;
    case 'cast':
      return `[${shape(expression.operand)} ${expression.safe ? 'try ' : ''}as ${expression.type.tag === 'simple' ? expression.type.name : expression.type.tag}]`;
    case 'subscript':
      return `[${shape(expression.base)} at ${shape(expression.index)}]`;
    case 'field':
      return `[${shape(expression.base)} . ${expression.name.name}]`;
    default:
      return printExpression(expression);
  }
}

test('operators bind as in Postgres', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a or b and c', '[a or [b and c]]'],
    ['not a = b and c', '[[not [a = b]] and c]'],
    ['not a is null', '[not [a is null]]'],
    ['a = b is true', '[[a = b] is true]'],
    ['a + b < c || d', '[[a + b] < [c || d]]'],
    ['a - b - c', '[[a - b] - c]'],
    ['a + b * c ^ d ^ e', '[a + [b * [[c ^ d] ^ e]]]'],
    ['-a ^ b', '[[- a] ^ b]'],
    ['- a::int', '[- [a as int]]'],
    ['a || b + c', '[a || [b + c]]'],
    ['a between b and c and d', '[[a between b c] and d]'],
    ['a not between b + 1 and c or d', '[[a not between [b + 1] c] or d]'],
    ['a = b in (c, d)', '[a = [b in c d]]'],
    ["a like 'x' || b", "[a like ['x' || b]]"],
    ['a not ilike b and c not similar to d', '[[a not ilike b] and [c not similar d]]'],
    ['a is not distinct from b', '[a is not distinct b]'],
    ['a isnull or b notnull', '[[a is null] or [b is not null]]'],
    ["j -> 'a' ->> 'b' = 'c'", "[[[j -> 'a'] ->> 'b'] = 'c']"],
    ['a >> b & c | d # e', '[[[[a >> b] & c] | d] # e]'],
    ['~ a + b', '[~ [a + b]]'],
    ["ts at time zone 'UTC' - x", "[[ts zone 'UTC'] - x]"],
    ['a[1][2]', '[[a at 1] at 2]'],
    ["s['f'] = 1", "[[s at 'f'] = 1]"],
    ['(a.b).c.d', '[[a.b . c] . d]'],
    ['a == b', '[a = b]'],
    ['a != b', '[a <> b]'],
    ['x::text::int', '[[x as text] as int]'],
    ['try_cast(x as int)', '[x try as int]'],
    ['a % b / c', '[[a % b] / c]'],
    ['not not a', '[not [not a]]'],
    ['- - 1', '[- [- 1]]'],
    ["a ~ 'x' and b !~* 'y'", "[[a ~ 'x'] and [b !~* 'y']]"],
  ];
  for (const [text, wanted] of cases) expect(shape(expressionOf(text)), text).toBe(wanted);
});

test('a syntax that only spells a function becomes that function', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['extract(hour from ts)', "date_part('hour', ts)"],
    ["extract('epoch' from ts)", "date_part('epoch', ts)"],
    ["position('a' in b)", "strpos(b, 'a')"],
    ['position(a, b)', 'position(a, b)'],
    ['substring(a from 2 for 3)', 'substring(a, 2, 3)'],
    ['substring(a for 3)', 'substring(a, 1, 3)'],
    ['substring(a, 2)', 'substring(a, 2)'],
    ['trim(a)', 'trim(a)'],
    ["trim(both 'x' from a)", "btrim(a, 'x')"],
    ["trim(leading 'x' from a)", "ltrim(a, 'x')"],
    ['trim(trailing from a)', 'rtrim(a)'],
    ["trim('x' from a)", "btrim(a, 'x')"],
    ['trim(both)', 'trim(both)'],
    ["overlay(a placing 'x' from 2 for 1)", "overlay(a, 'x', 2, 1)"],
    ['current_timestamp', 'current_timestamp()'],
    ['(a, b)', 'ROW(a, b)'],
    ['struct(a as x, b)', 'ROW(a AS x, b)'],
    ['[1, 2]', 'ARRAY[1, 2]'],
    ['array[]', 'ARRAY[]'],
  ];
  for (const [text, wanted] of cases)
    expect(printExpression(expressionOf(text)), text).toBe(wanted);
});

test('literals keep their text', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['9007199254740993', { tag: 'number', text: '9007199254740993' }],
    ["interval '1 minute'", { tag: 'interval', text: '1 minute', unit: null }],
    ["interval '1' minutes", { tag: 'interval', text: '1', unit: 'minute' }],
    ['interval 5 second', { tag: 'interval', text: '5', unit: 'second' }],
    [
      "timestamp '2026-01-01'",
      {
        tag: 'typed_literal',
        type: { tag: 'simple', name: 'timestamp', parameters: [] },
        text: '2026-01-01',
      },
    ],
    [
      "timestamp with time zone 'x'",
      {
        tag: 'typed_literal',
        type: { tag: 'simple', name: 'timestamp with time zone', parameters: [] },
        text: 'x',
      },
    ],
    [
      "date 'x'",
      { tag: 'typed_literal', type: { tag: 'simple', name: 'date', parameters: [] }, text: 'x' },
    ],
    ["E'\\t'", { tag: 'string', value: '\t' }],
    ['null', { tag: 'null' }],
    ['TRUE', { tag: 'boolean', value: true }],
  ];
  for (const [text, wanted] of cases)
    expect(withoutSpans(expressionOf(text)), text).toEqual(wanted);
});

test('words our users have as columns need no quotes, and after a dot no word does', () => {
  const names =
    'timestamp date time window key value type topic interval offset start row struct exists desc by user position metadata array_agg';
  for (const name of names.split(' '))
    expect(expressionOf(`${name}, 1`), name).toMatchObject({ tag: 'path', parts: [{ name }] });
  expect(expressionOf('window.end')).toMatchObject({
    tag: 'path',
    parts: [{ name: 'window' }, { name: 'end' }],
  });
  expect(expressionOf('t.group.select')).toMatchObject({
    parts: [{ name: 't' }, { name: 'group' }, { name: 'select' }],
  });
  expect(expressionOf('MyCol')).toMatchObject({
    parts: [{ name: 'mycol', text: 'MyCol', quoted: false }],
  });
  expect(expressionOf('"MyCol"')).toMatchObject({
    parts: [{ name: 'MyCol', text: 'MyCol', quoted: true }],
  });
});

test('a call keeps everything around its arguments', () => {
  const text =
    'approx_percentile_cont(DISTINCT a, weight => 0.5 ORDER BY b DESC NULLS LAST) WITHIN GROUP (ORDER BY c) FILTER (WHERE d > 0) ' +
    'IGNORE NULLS OVER (PARTITION BY window, e ORDER BY f ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING)';
  expect(printExpression(expressionOf(text))).toBe(text);
  expect(expressionOf('count(*)')).toMatchObject({
    tag: 'call',
    star: true,
    args: [],
    name: { name: 'count' },
  });
  expect(expressionOf("tumble(interval '1 day', timezone => 'Europe/Paris')")).toMatchObject({
    args: [{ name: null }, { name: { name: 'timezone' }, value: { value: 'Europe/Paris' } }],
  });
  expect(expressionOf('sum(a) OVER (ROWS 2 PRECEDING)')).toMatchObject({
    over: {
      frame: {
        unit: 'rows',
        start: { tag: 'preceding', offset: { text: '2' } },
        end: { tag: 'current_row' },
      },
    },
  });
  expect(expressionOf("left('abc', 2)")).toMatchObject({ tag: 'call', name: { name: 'left' } });
});

test('types stay as they were written', () => {
  const type = (text: string): unknown => {
    const expression = expressionOf(`x::${text}`);
    return withoutSpans(expression.tag === 'cast' ? expression.type : null);
  };
  const simple = (name: string, ...parameters: number[]): unknown => ({
    tag: 'simple',
    name,
    parameters,
  });
  expect(type('BIGINT UNSIGNED')).toEqual(simple('bigint unsigned'));
  expect(type('double precision')).toEqual(simple('double precision'));
  expect(type('DECIMAL(38, 18)')).toEqual(simple('decimal', 38, 18));
  expect(type('timestamp(6) with time zone')).toEqual(simple('timestamp with time zone', 6));
  expect(type('timestamp without time zone')).toEqual(simple('timestamp'));
  expect(type('int[][]')).toEqual({
    tag: 'array',
    element: { tag: 'array', element: simple('int') },
  });
  expect(type('ARRAY<ARRAY<INT>>')).toEqual(type('int[][]'));
  expect(type('MAP<TEXT, INT[]>')).toEqual({
    tag: 'map',
    key: simple('text'),
    value: { tag: 'array', element: simple('int') },
  });
  expect(type('STRUCT<a INT NOT NULL, "B" STRUCT<c TEXT>>')).toMatchObject({
    tag: 'struct',
    fields: [
      { name: { name: 'a' }, notNull: true },
      { name: { name: 'B' }, type: { fields: [{ name: { name: 'c' } }] } },
    ],
  });
});

test('a bracketed expression and a bracketed query are told apart wherever they nest', () => {
  const tags: readonly (readonly [string, string])[] = [
    ['((select 1))', 'subquery'],
    ['((select 1) + 1)', 'binary'],
    ['((select 1) union (select 2))', 'subquery'],
    ['(((select 1)) order by 1)', 'subquery'],
    ['exists ((select 1) except select 2)', 'exists'],
    ['a in (select 1)', 'in_query'],
    ['a in ((select 1))', 'in_query'],
    ['a in ((select 1), 2)', 'in_list'],
    ['a in ((select 1) + 2)', 'in_list'],
    ['(((1)))', 'number'],
    ['(values)', 'path'],
    ['(values (1))', 'subquery'],
  ];
  for (const [text, tag] of tags) expect(expressionOf(text).tag, text).toBe(tag);
});

test('an operator knows its place and a node spans its text', () => {
  const expression = expressionOf('a\n  + bb');
  expect(expression).toMatchObject({
    span: { start: { line: 1, column: 8 }, end: { line: 2, column: 7 } },
    operatorSpan: { start: { line: 2, column: 3 }, end: { line: 2, column: 4 } },
  });
});
