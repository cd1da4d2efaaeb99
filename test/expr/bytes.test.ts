import { describe, expect, it } from 'vitest';
import { BYTEA, INT64, TEXT } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply } from './support.ts';

const bytes = (hex: string) => ({ type: BYTEA, value: `\\x${hex}` });
const BAD = { fails: 'PARSE_ERROR' };
const NONE = { fails: 'INVALID_CAST' };

const CASES: readonly Case[] = [
  ['md5', [''], 'd41d8cd98f00b204e9800998ecf8427e'],
  ['encode', ['héllo', 'hex'], '68c3a96c6c6f'],
  ['encode', [bytes('fbff'), 'base64url'], '-_8'],
  ['encode', [bytes('00415cff'), 'escape'], '\\000A\\\\\\377'],
  ['encode', ['a', 'rot13'], BAD],
  ['decode', ['fbff', 'hex'], '\\xfbff'],
  ['decode', ['fbf', 'hex'], NONE],
  ['decode', ['-_8', 'base64url'], '\\xfbff'],
  ['decode', ['YW\nJj', 'base64'], '\\x616263'],
  ['decode', ['YW*j', 'base64'], NONE],
  ['decode', ['\\000A\\\\\\377é', 'escape'], '\\x00415cffc3a9'],
  ['decode', ['\\9', 'escape'], NONE],
  ['decode', ['', 'base64'], '\\x'],
  ['digest', ['', 'SHA256'], '\\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['digest', ['a', 'sha1'], BAD],
  ['from_utf8', [bytes('c3a9')], 'é'],
  ['from_utf8', [bytes('c3')], NONE],
];

describe('bytes', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) => check(each));

  it('encodings give back what they were given', () => {
    const values = ['', 'a', 'ab', 'abc', '\\x', '😀\n'];
    for (const format of ['hex', 'base64', 'base64url', 'escape']) {
      const encoded = apply(
        'encode',
        [TEXT, TEXT],
        values.map((value) => [value, format]),
      ).values;
      const decoded = apply(
        'decode',
        [TEXT, TEXT],
        encoded.map((value) => [value, format]),
      ).values;
      expect(
        apply(
          'from_utf8',
          [BYTEA],
          decoded.map((value) => [value]),
        ).values,
      ).toEqual(values);
    }
  });

  it('values made of rows are equal for equal rows only', () => {
    const rows = [
      ['a', 'b'],
      ['ab', ''],
      ['a', null],
      [null, 'a'],
      ['a', 'b'],
    ];
    for (const name of ['uuid', 'random', 'hash', 'multi_hash']) {
      const { values } = apply(name, [TEXT, TEXT], rows);
      expect(new Set(values).size).toBe(4);
      expect(values[4]).toEqual(values[0]);
    }
    expect(apply('uuid', [INT64], [[1n]]).values[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
