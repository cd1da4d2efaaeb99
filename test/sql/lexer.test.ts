import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenize } from '../../src/sql/lexer.ts';

const kinds = (text: string): string[] =>
  tokenize(text).tokens.map(({ kind, text: content }) => `${kind}:${content}`);
const only = (text: string): string => {
  const { tokens, errors } = tokenize(text);
  expect(errors, text).toEqual([]);
  expect(tokens.length, text).toBe(2);
  return tokens[0]?.text ?? '';
};

test('words fold to lower case and keep what was typed', () => {
  const [word] = tokenize('CamelCase').tokens;
  expect(word).toMatchObject({ kind: 'word', text: 'camelcase', source: 'CamelCase' });
  expect(kinds('größe _x a$b')).toEqual(['word:größe', 'word:_x', 'word:a$b', 'end:']);
});

test('quoted names keep case and quotes, in double quotes and backquotes', () => {
  expect(only('"Mixed ""x"""')).toBe('Mixed "x"');
  expect(only('`a``b`')).toBe('a`b');
});

test('numbers keep every digit', () => {
  for (const number of [
    '0',
    '1.50',
    '.5',
    '1.',
    '1e10',
    '1.5E-3',
    '123456789012345678901234567890.000100',
  ]) {
    expect(only(number)).toBe(number);
  }
});

test('strings undo their quotes and escapes', () => {
  expect(only("'it''s'")).toBe("it's");
  expect(only("'a\\n'")).toBe('a\\n');
  expect(only("E'a\\n\\t\\\\\\'b''c\\x41\\101\\u00e9\\U0001F600\\q'")).toBe(
    "a\n\t\\'b'cAA\u00e9\u{1F600}q",
  );
  expect(only('$$it\'s "x" ; --$$')).toBe('it\'s "x" ; --');
  expect(only('$fn$ a $$ b $fn$')).toBe(' a $$ b ');
  expect(only("X'0aFF'")).toBe('0aff');
});

test('the longest symbol wins, but closing signs stay single for nested types', () => {
  expect(kinds('a->>b->c#>>d::e<=f<>g!~*h').filter((kind) => kind.startsWith('symbol'))).toEqual(
    ['->>', '->', '#>>', '::', '<=', '<>', '!~*'].map((symbol) => `symbol:${symbol}`),
  );
  expect(kinds('>>')).toEqual(['symbol:>', 'symbol:>', 'end:']);
});

test('comments vanish, nested ones whole', () => {
  expect(kinds("a -- 'b\n/* c /* d */ ; */ e")).toEqual(['word:a', 'word:e', 'end:']);
  expect(kinds('a --')).toEqual(['word:a', 'end:']);
});

test('lines and columns are 1-based and count code points', () => {
  const { tokens } = tokenize("'\u{1F600}' x\r\n\t\u{1F600}\u{1F600} y\n'two\nlines' z");
  const places = tokens.map(({ kind, text, span: { start, end } }) => [
    kind,
    text,
    start.line,
    start.column,
    end.line,
    end.column,
  ]);
  expect(places).toEqual([
    ['string', '\u{1F600}', 1, 1, 1, 4],
    ['word', 'x', 1, 5, 1, 6],
    ['invalid', '', 2, 2, 2, 3],
    ['invalid', '', 2, 3, 2, 4],
    ['word', 'y', 2, 5, 2, 6],
    ['string', 'two\nlines', 3, 1, 4, 7],
    ['word', 'z', 4, 8, 4, 9],
    ['end', '', 4, 9, 4, 9],
  ]);
});

test('brackets give tokens their depth, and a semicolon closes them all', () => {
  const depths = tokenize('a (b [c] (d; e)').tokens.map(({ text, depth }) => `${text}${depth}`);
  expect(depths).toEqual(['a0', '(0', 'b1', '[1', 'c2', ']2', '(1', 'd2', ';0', 'e0', ')0', '0']);
});

test('any text gives tokens in order that do not overlap, one end, and errors with places', () => {
  const pieces = fc.constantFrom(
    "'",
    '"',
    '`',
    '$$',
    '$a$',
    '/*',
    '*/',
    '--',
    '\n',
    "E'",
    '\\',
    '1.',
    '.',
    'e9',
    'x',
    ' ',
    '(',
    '\u{1F600}',
    '\u2018',
    '\ud800',
    ';',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
      const { tokens, errors } = tokenize(parts.join(''));
      expect(tokens.filter(({ kind }) => kind === 'end').length).toBe(1);
      expect(tokens.at(-1)?.kind).toBe('end');
      let before = { line: 1, column: 1 };
      for (const { span } of tokens) {
        for (const place of [span.start, span.end]) {
          expect(
            place.line > before.line ||
              (place.line === before.line && place.column >= before.column),
          ).toBe(true);
          before = place;
        }
      }
      expect(errors.length).toBe(tokens.filter(({ kind }) => kind === 'invalid').length);
      for (const { span } of errors) expect(span).toBeDefined();
    }),
    { numRuns: 1000 },
  );
});
