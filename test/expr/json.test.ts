import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FLOAT64, INT64, JSON_TYPE, TEXT, listType } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply } from './support.ts';

const SEED = 20261129;
const BAD = { fails: 'PARSE_ERROR' };
const DOC = '{"a":{"b":[10,{"c":"é\\n😀"},null]},"a\\"q":9007199254740993,"t":true,"":0,"d":1e400}';

const CASES: readonly Case[] = [
  ['->', [DOC, 'a'], '{"b":[10,{"c":"é\\n😀"},null]}'],
  ['->', [DOC, 'x'], null],
  ['->', ['[1,2]', -1n], '2'],
  ['->', ['[1,2]', 2n], null],
  ['->', ['{"0":1}', 0n], null],
  ['->>', [DOC, 'a"q'], '9007199254740993'],
  ['->>', ['{"a":null}', 'a'], null],
  ['->', ['{"a":null}', 'a'], 'null'],
  ['->', ['{"a":1', 'a'], null],
  ['->', ['', 'a'], null],
  ['->', [' {"a" : 1 } x', 'a'], null],
  ['#>', [DOC, '{a,b,1,c}'], '"é\\n😀"'],
  ['#>>', [DOC, '{a,b,1,c}'], 'é\n😀'],
  ['#>>', [DOC, '{a,b,2}'], null],
  ['#>', [DOC, '{}'], DOC],
  ['#>', [DOC, 'a'], null],
  ['?', [DOC, ''], true],
  ['?', ['[1]', 'a'], false],
  ['@>', ['[1,[2]]', '1.0'], true],
  ['@>', ['{"a":12345678901234567890}', '{"a":12345678901234567891}'], false],
  ['@>', ['{"a":100}', '{"a":1e2}'], true],
  ['@>', ['[1,2]', '[2,2,1]'], true],
  ['@>', ['{"a":{"b":1}}', '{"a":{}}'], true],
  ['@>', ['[[1]]', '1'], false],
  ['@>', ['{"a":1}', 'x'], null],
  ['json_get', [DOC, 'a', 'b', 1n, 'c'], '"é\\n😀"'],
  ['json_get_int', [DOC, 'a"q'], 9007199254740993n],
  ['json_get_int', ['1.0'], null],
  ['json_get_int', ['99999999999999999999'], null],
  ['json_get_float', [DOC, 'd'], Infinity],
  ['json_get_bool', [DOC, 't'], true],
  ['json_get_bool', ['"true"'], null],
  ['json_get_str', ['"\\ud83d\\ude00"'], '😀'],
  ['json_get_array', ['[1, {"a": 2}]'], ['1', '{"a": 2}']],
  ['json_as_text', [' 1.50 '], '1.50'],
  ['json_contains', [DOC, 'a', 'b', 2n], true],
  ['json_contains', ['nonsense', 'a'], false],
  ['json_length', ['{"a":1,"b":2}'], 2n],
  ['json_length', ['"ab"'], null],
  ['json_array_length', ['{}'], null],
  ['json_object_keys', ['{"a":1,"\\u00e9":2}'], ['a', 'é']],
  ['json_typeof', ['-0.5e3'], 'number'],
  ['is_valid_json', ['{"a":01}'], false],
  ['is_valid_json', ['"\\x"'], false],
  ['is_valid_json', [`${'['.repeat(600)}${']'.repeat(600)}`], false],
  ['extract_json', [DOC, '$.a.b[*]'], ['10', '{"c":"é\\n😀"}', 'null']],
  ['extract_json', [DOC, "$['a\"q','t']"], ['9007199254740993', 'true']],
  ['extract_json', ['{"a":[{"x":1},{"y":{"x":2}}]}', '$..x'], ['1', '2']],
  ['extract_json', ['[0,1,2,3,4]', '$[-2:]'], ['3', '4']],
  ['extract_json', ['[0,1,2,3,4]', '$[::2]'], ['0', '2', '4']],
  ['extract_json', ['x', '$'], null],
  ['extract_json', ['{}', '$.a'], []],
  ['extract_json', ['{}', '$.'], BAD],
  ['extract_json', ['{}', '$[?(@.a)]'], BAD],
  ['extract_json_string', ['{"é":{"n":"x"}}', '$.é.n'], 'x'],
  ['get_first_json_object', ['{"a":[]}', '$.a[0]'], null],
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, 1e21, '', 'a', 'é"\\\n', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'é"', '😀'), tie('value'), {
      maxKeys: 3,
    }) as fc.Arbitrary<Json>,
  ),
})).value;

describe('JSON', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) =>
    check(each, false),
  );

  it('walks to the value that a parser finds, however the text is spaced', () => {
    const step = fc.constantFrom<string | bigint>('a', 'b', 'é"', '😀', 0n, 1n, -1n);
    fc.assert(
      fc.property(
        json,
        fc.array(step, { maxLength: 3 }),
        fc.constantFrom('', ' ', '\n\t'),
        (value, path, space) => {
          let wanted: Json | undefined = value;
          for (const each of path) {
            const inner: Json | undefined = wanted;
            wanted = undefined;
            if (typeof each === 'string') {
              if (inner !== null && typeof inner === 'object' && !Array.isArray(inner))
                wanted = inner[each];
            } else if (Array.isArray(inner)) wanted = inner.at(Number(each));
          }
          const text = JSON.stringify(value, null, space);
          const types = [TEXT, ...path.map((each) => (typeof each === 'string' ? TEXT : INT64))];
          const found = apply('json_get', types, [[text, ...path]]).values[0];
          expect(found === null ? undefined : JSON.parse(found as string)).toEqual(wanted);
          const shown = apply('json_as_text', types, [[text, ...path]]).values[0];
          if (typeof wanted === 'string') expect(shown).toBe(wanted);
        },
      ),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('tells JSON from other texts as a parser does', () => {
    const broken = fc
      .tuple(json, fc.nat(40), fc.constantFrom('', ',', '"', '}', ' ', '1', '\\', '\u0001'))
      .map(([value, at, piece]) => {
        const text = JSON.stringify(value);
        return text.slice(0, at) + piece + text.slice(at + 1);
      });
    fc.assert(
      fc.property(broken, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(apply('is_valid_json', [TEXT], [[text]]).values).toEqual([valid]);
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('every part of a value is contained in it', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(apply('@>', [TEXT, TEXT], [[text, text]]).values).toEqual([true]);
        if (Array.isArray(value))
          for (const part of value)
            expect(apply('@>', [TEXT, TEXT], [[text, JSON.stringify([part])]]).values).toEqual([
              true,
            ]);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('is made of values with every digit', () => {
    const types = [TEXT, INT64, TEXT, FLOAT64, TEXT, JSON_TYPE, TEXT, listType(TEXT)];
    const row = ['a"', 2n ** 63n - 1n, 'f', NaN, 'j', '{"x":1}', 'l', ['é', null]];
    expect(apply('json_build_object', types, [row]).values).toEqual([
      '{"a\\"":9223372036854775807,"f":null,"j":{"x":1},"l":["é",null]}',
    ]);
    expect(apply('json_build_object', [TEXT, INT64], [[null, 1n]]).errors).toEqual([
      { row: 0, code: 'INVALID_CAST' },
    ]);
    expect(apply('to_json', [INT64], [[null], [5n]]).values).toEqual(['null', '5']);
  });
});
