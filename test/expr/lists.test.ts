import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FLOAT64, INT64, TEXT, listType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { functionNames } from '../../src/expr/registry.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply } from './support.ts';

const SEED = 20261129;
const ints = (...values: (bigint | null)[]) => ({ type: listType(INT64), value: values });
const texts = (...values: (string | null)[]) => ({ type: listType(TEXT), value: values });
const floats = (...values: (number | null)[]) => ({ type: listType(FLOAT64), value: values });
const nested = (...values: (bigint[] | null)[]) => ({
  type: listType(listType(INT64)),
  value: values,
});
const noInts = { type: listType(INT64), value: null };
const TOO_LARGE = { fails: 'ROW_TOO_LARGE' };
const OUT = { fails: 'NUMERIC_OUT_OF_RANGE' };

const CASES: readonly Case[] = [
  ['array_append', [noInts, 1n], [1n]],
  ['array_append', [ints(1n), { type: INT64, value: null }], [1n, null]],
  ['list_prepend', ['é', texts('😀')], ['é', '😀']],
  ['array_cat', [ints(), ints(1n), noInts, ints(2n)], [1n, 2n]],
  ['array_distinct', [floats(1, NaN, NaN, -0, 0, null, null)], [1, NaN, -0, null]],
  ['array_except', [ints(1n, null, 2n), ints(null)], [1n, 2n]],
  ['array_intersect', [ints(null, 1n), ints(null)], [null]],
  ['array_union', [ints(), ints()], []],
  ['array_pop_back', [ints()], []],
  ['array_pop_front', [ints(1n)], []],
  ['array_remove', [texts('a', 'b', 'a'), 'a'], ['b', 'a']],
  ['array_remove_all', [ints(1n, null), { type: INT64, value: null }], [1n]],
  ['array_replace_all', [texts('a', 'b'), 'a', '😀'], ['😀', 'b']],
  ['array_resize', [ints(1n), -5n], []],
  ['array_resize', [ints(1n), 3n], [1n, null, null]],
  ['array_sort', [ints(2n, null, 1n)], [null, 1n, 2n]],
  ['array_sort', [ints(2n, null, 1n), 'desc', 'nulls last'], [2n, 1n, null]],
  ['array_repeat', ['ab', 0n], []],
  ['array_repeat', ['ab', 10n ** 12n], TOO_LARGE],
  ['flatten', [nested([1n], null, [], [2n, 3n])], [1n, 2n, 3n]],
  ['list_contains', [ints(1n, null), { type: INT64, value: null }], true],
  ['array_has_all', [ints(1n, 2n), ints()], true],
  ['array_has_any', [ints(), ints()], false],
  ['empty', [noInts], null],
  ['array_position', [texts('a'), 'b'], null],
  ['array_positions', [texts('a', 'b', 'a'), 'a'], [1n, 3n]],
  ['array_length', [nested([1n, 2n]), 2n], 2n],
  ['array_length', [ints()], 0n],
  ['cardinality', [nested([1n, 2n], null, [3n])], 3n],
  ['array_ndims', [nested([1n])], 2n],
  ['array_dims', [nested([1n, 2n], [3n, 4n])], [2n, 2n]],
  ['array_max', [floats(1, NaN, null)], NaN],
  ['array_min', [ints(null)], null],
  ['array_to_string', [floats(1.5, null), ','], '1.5'],
  ['array_join', [texts('a', null), '', '-'], 'a-'],
  ['string_to_array', ['', ','], []],
  ['string_to_array', ['a,,b', ','], ['a', '', 'b']],
  ['string_to_array', ['aé😀', { type: TEXT, value: null }], ['a', 'é', '😀']],
  ['string_to_array', ['abc', ''], ['abc']],
  ['split', ['a--b', '--'], ['a', 'b']],
  ['range', [3n], [0n, 1n, 2n]],
  ['range', [3n, 0n, -1n], [3n, 2n, 1n]],
  ['generate_series', [1n, 0n], []],
  ['generate_series', [1n, 5n, 0n], OUT],
  ['generate_series', [0n, 10n ** 15n], TOO_LARGE],
  ['map', [texts('a', 'a'), ints(1n, 2n)], OUT],
  ['map', [texts('a'), ints(1n, 2n)], OUT],
  ['regexp_match', ['abc', 'x'], null],
  ['regexp_match', ['ab', '(a)|(x)'], ['a', null]],
  ['regexp_extract_all', ['aé', '.'], ['a', 'é']],
  ['regexp_split', ['abc', ''], ['a', 'b', 'c']],
];

describe('lists', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) =>
    check(each, false),
  );

  it('every array function is called list_… too', () => {
    const names = new Set(functionNames());
    for (const name of names)
      if (name.startsWith('array_'))
        expect(names.has(name.replace('array_', 'list_')), name).toBe(true);
  });

  it('maps are looked up by key', () => {
    const map = (keys: string[], values: (bigint | null)[]) =>
      apply('map', [listType(TEXT), listType(INT64)], [[keys, values]]).values[0] as Value;
    const entry = {
      tag: 'struct',
      fields: [
        { name: 'key', type: TEXT, nullable: false },
        { name: 'value', type: INT64, nullable: true },
      ],
    } as const;
    const type = listType(entry);
    const value = map(['a', 'é'], [1n, null]);
    expect(apply('map_keys', [type], [[value]]).values).toEqual([['a', 'é']]);
    expect(apply('map_values', [type], [[value]]).values).toEqual([[1n, null]]);
    expect(apply('map_entries', [type], [[value]]).values).toEqual([value]);
    expect(
      apply(
        'map_extract',
        [type, TEXT],
        [
          [value, 'a'],
          [value, 'x'],
          [null, 'a'],
        ],
      ).values,
    ).toEqual([[1n], [], null]);
  });

  it('set operations are those of sets, in every batch', () => {
    const list = fc.option(
      fc.array(fc.option(fc.constantFrom(1n, 2n, 3n), { nil: null }), { maxLength: 6 }),
      { nil: null, freq: 6 },
    );
    const type = listType(INT64);
    fc.assert(
      fc.property(fc.array(fc.tuple(list, list), { minLength: 1, maxLength: 9 }), (rows) => {
        const both = (make: (a: (bigint | null)[], b: (bigint | null)[]) => Value) =>
          rows.map(([a, b]) => (a === null || b === null ? null : make(a, b)));
        const unique = <T>(values: T[]): T[] => [...new Set(values)];
        const found = (name: string) => apply(name, [type, type], rows).values;
        expect(found('array_union')).toEqual(both((a, b) => unique([...a, ...b])));
        expect(found('array_except')).toEqual(
          both((a, b) => unique(a.filter((x) => !b.includes(x)))),
        );
        expect(found('array_intersect')).toEqual(
          both((a, b) => unique(a.filter((x) => b.includes(x)))),
        );
        expect(found('array_has_all')).toEqual(both((a, b) => b.every((x) => a.includes(x))));
        expect(found('array_has_any')).toEqual(both((a, b) => b.some((x) => a.includes(x))));
        expect(found('array_concat')).toEqual(rows.map(([a, b]) => [...(a ?? []), ...(b ?? [])]));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});
