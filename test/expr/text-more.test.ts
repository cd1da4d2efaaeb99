import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INT32, INT64, TEXT } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply } from './support.ts';

const CASES: readonly Case[] = [
  ['translate', ['12345', '143', 'ax'], 'a2x5'],
  ['translate', ['', 'a', 'b'], ''],
  ['translate', ['abc', '', 'x'], 'abc'],
  ['translate', ['aXa', 'aa', '😀z'], '😀X😀'],
  ['overlay', ['a😀c', 'é', 2n], 'aéc'],
  ['overlay', ['abc', 'X', 10n], 'abcX'],
  ['overlay', ['abc', 'X', 0n], { fails: 'NUMERIC_OUT_OF_RANGE' }],
  ['overlay', ['abcdef', '', 2n, 3n], 'aef'],
  ['substr_index', ['a.b.c', '.', -1n], 'c'],
  ['substring_index', ['a.b.c', '.', -9n], 'a.b.c'],
  ['substr_index', ['a.b.c', '', 1n], ''],
  ['substr_index', ['a😀b😀c', '😀', 2n], 'a😀b'],
  ['to_hex', [-1n], 'ffffffffffffffff'],
  ['to_hex', [{ type: INT32, value: -1 }], 'ffffffff'],
  ['to_hex', [2n ** 63n - 1n], '7fffffffffffffff'],
  ['to_bin', [5n], '101'],
  ['to_oct', [8n], '10'],
  ['quote_literal', ['a\\b'], " E'a\\\\b'"],
  ['quote_ident', ['ok_1'], 'ok_1'],
  ['quote_ident', ['a"b'], '"a""b"'],
  ['bit_length', ['😀'], 32],
  ['find_in_set', ['', 'a,,b'], 2],
  ['find_in_set', ['', ''], 1],
  ['find_in_set', ['c', 'a,b'], 0],
  ['find_in_set', ['a', 'ab,a'], 2],
  ['levenshtein', ['', '😀😀'], 2],
  ['levenshtein', ['flaw', 'lawn'], 2],
  ['hamming', ['😀b', '😀c'], 1],
  ['hamming', ['a', 'ab'], { fails: 'NUMERIC_OUT_OF_RANGE' }],
  ['instr', ['😀bc', 'c'], 3],
  ['ucase', ['straße'], 'STRASSE'],
];

describe('texts', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) => check(each));

  it('format takes arguments in order or by number, and NULL as empty', () => {
    const rows: [string, string | null, string | null, string | null][] = [
      ['%s and %s', 'a', 'b', 'a and b'],
      ['%2$s-%1$s', 'a', 'b', 'b-a'],
      ['%I=%L', 'x y', "o'c", `"x y"='o''c'`],
      ['%s%%', null, 'b', '%'],
      ['%s%s%s', 'a', 'b', null],
      ['%d', 'a', 'b', null],
    ];
    const { values, errors } = apply('format', [TEXT, TEXT, TEXT], rows);
    expect(values).toEqual(rows.map((row) => row[3]));
    expect(errors.map(({ row, code }) => [row, code])).toEqual([
      [4, 'PARSE_ERROR'],
      [5, 'PARSE_ERROR'],
    ]);
  });

  it('the distance of two texts is that of a plain recursion', () => {
    const plain = (a: string[], b: string[]): number => {
      if (a.length === 0 || b.length === 0) return a.length + b.length;
      const [, ...restA] = a;
      const [, ...restB] = b;
      if (a[0] === b[0]) return plain(restA, restB);
      return 1 + Math.min(plain(restA, b), plain(a, restB), plain(restA, restB));
    };
    const text = fc.array(fc.constantFrom('a', 'b', 'é', '😀'), { maxLength: 5 });
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(
          apply('levenshtein', [TEXT, TEXT], [[left.join(''), right.join('')]]).values,
        ).toEqual([plain(left, right)]);
      }),
      { seed: 20261129, numRuns: 200 },
    );
  });

  it('writes any BIGINT in hexadecimal as its 64 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const wanted = BigInt.asUintN(64, value).toString(16);
        expect(apply('to_hex', [INT64], [[value]]).values).toEqual([wanted]);
      }),
      { seed: 20261129, numRuns: 100 },
    );
  });
});
