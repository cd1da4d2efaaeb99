import { describe, expect, it } from 'vitest';
import { applyEdits, difference, offsetOf, rangeOf } from '../../src/console/parts/editor/edits.ts';
import { tokensOf } from '../../src/console/parts/editor/tokens.ts';

const span = (line: number, from: number, to: number) => ({
  start: { line, column: from },
  end: { line, column: to },
});

describe('places of the API in a text', () => {
  it('count code points, as the planner does', () => {
    const text = "SELECT '🌊🌊' AS waves, x\nFROM t";
    expect(text.slice(offsetOf(text, { line: 1, column: 23 }))).toBe('x\nFROM t');
    expect(text.slice(offsetOf(text, { line: 2, column: 6 }))).toBe('t');
  });

  it('behind the end of a line or of the text are its end', () => {
    expect(offsetOf('ab\ncd', { line: 1, column: 99 })).toBe(2);
    expect(offsetOf('ab\ncd', { line: 9, column: 1 })).toBe(5);
    expect(rangeOf('ab', span(1, 3, 1))).toEqual({ from: 2, to: 2 });
  });
});

describe('a fix', () => {
  it('changes all its places at once, in any order', () => {
    const text = 'SELECT sonng, b\nFROM playz';
    const edits = [
      { span: span(2, 6, 11), text: 'plays' },
      { span: span(1, 8, 13), text: 'song' },
      { span: span(1, 16, 16), text: ', c' },
    ];
    expect(applyEdits(text, edits)).toBe('SELECT song, b, c\nFROM plays');
  });
});

describe('a replaced text', () => {
  it.each([
    ['select a from t', 'SELECT a FROM t'],
    ['aaa', 'aaaa'],
    ['same', 'same'],
    ['', 'new'],
    ['old', ''],
  ])('from %j to %j is one change', (before, after) => {
    const { from, to, insert } = difference(before, after);
    expect(before.slice(0, from) + insert + before.slice(to)).toBe(after);
  });
});

describe('tokens', () => {
  it('know comments, texts with quotes, names in quotes and bodies of functions', () => {
    const text = `-- a 'b\nSELECT "x""y", 'it''s' /* ; */ FROM f($$ ; 'q $$);`;
    expect(tokensOf(text).map(({ kind, text: told }) => `${kind} ${told}`)).toEqual([
      "comment -- a 'b",
      'word SELECT',
      'quoted "x""y"',
      'sign ,',
      "text 'it''s'",
      'comment /* ; */',
      'word FROM',
      'word f',
      'sign (',
      "body $$ ; 'q $$",
      'sign )',
      'sign ;',
    ]);
  });

  it.each(["'", "'it''", "'it's'", '"a', '/* a', '$$ a', '$', '🌊'])('never fail: %j', (text) => {
    const tokens = tokensOf(text);
    expect(tokens.every(({ from, to }) => from < to && to <= text.length)).toBe(true);
  });

  it.each([
    ["'", true],
    ["'a'", false],
    ["'it''", true],
    ["''", false],
    ["'it''s'", false],
    ['$$', true],
    ['$$ $$', false],
    ['/*', true],
    ['/* */', false],
  ])('say whether %j is still open: %s', (text, open) => {
    expect(tokensOf(text)[0]?.open).toBe(open);
  });
});
