import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { BOOLEAN, INT64, TEXT } from '../../src/batch/types.ts';
import { compileRegex, similarToRegex } from '../../src/expr/regex/regex.ts';
import { SimpleRegex } from '../../src/expr/regex/simple-regex.ts';
import { apply, call, column, literal, run } from './support.ts';

const SEED = 20261129;
const encoder = new TextEncoder();

/** All groups of the first match as texts. */
function groupsOf(pattern: string, text: string): (string | null)[] | null {
  const simple = SimpleRegex.compile(pattern);
  if (simple === null) throw new Error(`${pattern} is not simple`);
  const bytes = encoder.encode(`<${text}>`);
  const groups = simple.exec(bytes, 1, bytes.length - 1, 1);
  if (groups === null) return null;
  return Array.from({ length: simple.groupCount + 1 }, (_, group) =>
    groups[2 * group] === -1
      ? null
      : new TextDecoder().decode(bytes.subarray(groups[2 * group], groups[2 * group + 1])),
  );
}

const literalPart = fc
  .array(fc.constantFrom('a', 'b', 'c', '=', '\\.', '&'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''));
const atom = fc.constantFrom('[^&]', '[abc]', '\\d', '[^a=]', '.', '\\w', '[a-c1-2]');
const part = fc.oneof(
  literalPart,
  fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}', '{2}')).map((pair) => pair.join('')),
  fc.tuple(literalPart, literalPart).map(([left, right]) => `(?:${left}|${right})`),
  fc.tuple(literalPart, atom).map(([left, right]) => `(${left}${right}*)`),
  fc.constant('(&|^)'),
);
const pattern = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(part, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, parts, end]) => start + parts.join('') + end);
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', '=', '.', '&', '1', 'é', '😀', '\n', 'ab'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

describe('simple regular expressions', () => {
  it('find what the general engine finds, group by group', () => {
    let simple = 0;
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        if (SimpleRegex.compile(source) === null) return;
        simple++;
        const matcher = RE2JS.compile(source).matcher(input);
        const found = matcher.find()
          ? Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group))
          : null;
        expect(groupsOf(source, input)).toEqual(found);
      }),
      { seed: SEED, numRuns: 3000 },
    );
    expect(simple).toBeGreaterThan(500);
  }, 30_000);

  it.each([
    '(&|^)channel_id=([^&]*)',
    'abc',
    '^https?://([^/]+)/',
    '\\d{4}-\\d{2}',
    '[a-z]+@example\\.com$',
  ])('include %s', (source) => expect(SimpleRegex.compile(source)).not.toBeNull());

  it.each(['(a*)*', 'a.*b', '(?i)a', 'é', '\\bword', '(a)+', '[[:alpha:]]', '((a)|b)c', 'a{2000}'])(
    'leave %s to the general engine',
    (source) => expect(SimpleRegex.compile(source)).toBeNull(),
  );
});

describe('hostile patterns', () => {
  it.each(['(a*)*b', '(a|aa)+$', '(a|a?)+b', '([a-z]+)*!', 'x[^y]*y', '(x+x+)+y'])(
    '%s ends in time linear in the text',
    (source) => {
      const regex = compileRegex(source);
      if ('problem' in regex) throw new Error(regex.problem);
      const bytes = encoder.encode(`${'a'.repeat(20_000)}${'x'.repeat(20_000)}`);
      // Backtracking would not end within the test's time limit.
      regex.test(bytes, 0, bytes.length);
      expect(regex.exec(bytes, 0, 100, 0)?.[0] ?? -1).toBeGreaterThanOrEqual(-1);
    },
  );

  it('a pattern that is none fails its rows, and other rows go on', () => {
    const { values, errors, messages } = apply(
      'regexp_like',
      [TEXT, TEXT],
      [
        ['a', 'a'],
        ['a', '('],
        [null, '('],
      ],
    );
    expect(values).toEqual([true, null, null]);
    expect(errors).toEqual([{ row: 1, code: 'PARSE_ERROR' }]);
    expect(messages[0]).toBe('not a regular expression: missing closing ): `(`');
  });
});

describe('regular expression functions', () => {
  const rows: [string, unknown[], unknown][] = [
    ['regexp_like', ['😀x', '^.x$'], true],
    ['regexp_like', ['a\nb', 'a.b'], false],
    ['regexp_like', ['a\nb', 'a.b', 's'], true],
    ['regexp_like', ['', ''], true],
    ['~', ['abc', '^a.c$'], true],
    ['~*', ['ABC', 'abc'], true],
    ['!~', ['ABC', 'abc'], true],
    ['!~*', ['ABC', 'abc'], false],
    ['regexp_replace', ['aaa', 'a', 'b'], 'baa'],
    ['regexp_replace', ['aaa', 'a', 'b', 'g'], 'bbb'],
    ['regexp_replace', ['a😀b', '', '-', 'g'], '-a-😀-b-'],
    [
      'regexp_replace',
      ['john smith', '(\\w+) (\\w+)', '\\2, \\1 \\& $$ $0'],
      'smith, john john smith $ john smith',
    ],
    ['regexp_replace', ['ab', '(a)|(x)', '[\\2\\1]'], '[a]b'],
    ['regexp_replace', ['path', 't', '\\\\'], 'pa\\h'],
    ['regexp_count', ['😀😀', '😀'], 2n],
    ['regexp_count', ['ab', ''], 3n],
    ['regexp_count', ['😀😀a', '.', 2n], 2n],
    ['regexp_instr', ['😀ab', 'b'], 3n],
    ['regexp_instr', ['ab', 'x'], 0n],
    ['regexp_extract', ['ab', 'x'], null],
    ['regexp_extract', ['ab', '(b)', 5n], null],
    ['regexp_extract', ['x=1&channel_id=77&y', '(&|^)channel_id=([^&]*)', 2n], '77'],
    ['regexp_extract', ['channel_id=', '(&|^)channel_id=([^&]*)', 2n], ''],
    ['regexp_substr', ['one two', '\\w+', 1n, 2n], 'two'],
    ['similar to', ['abc', 'abc'], true],
    ['similar to', ['abc', 'a'], false],
    ['similar to', ['abc', '%(b|d)%'], true],
    ['similar to', ['a.c', 'a.c'], true],
    ['similar to', ['abc', 'a.c'], false],
    ['similar to', ['a%', 'a!%', '!'], true],
    ['not similar to', ['xyz', '[a-c]+'], true],
  ];
  it.each(rows)('%s, case %#', (name, args, gives) => {
    const types = args.map((arg) => (typeof arg === 'bigint' ? INT64 : TEXT));
    expect(apply(name, types, [args as never]).values).toEqual([gives]);
    for (const [at] of args.entries()) {
      const withNull = args.map((arg, index) => (index === at ? null : arg));
      expect(apply(name, types, [withNull as never]).values).toEqual([null]);
    }
  });

  it('take a constant pattern with texts from a column', () => {
    const expr = call('~', column(0, TEXT), literal(TEXT, '^[ab]+$'));
    expect(expr.type).toEqual(BOOLEAN);
    expect(run(expr, [TEXT, ['ab', 'abc', null]]).values).toEqual([true, false, null]);
  });

  it('SIMILAR TO refuses a lone escape character', () => {
    expect(similarToRegex('a\\', '\\')).toBeNull();
    expect(apply('similar to', [TEXT, TEXT], [['a', 'a\\']]).errors).toEqual([
      { row: 0, code: 'PARSE_ERROR' },
    ]);
  });
});
