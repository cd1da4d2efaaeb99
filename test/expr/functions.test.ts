import { describe, expect, it } from 'vitest';
import type { SqlType } from '../../src/batch/types.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  INTERVAL,
  TEXT,
  TIMESTAMP,
  decimalType,
  listType,
} from '../../src/batch/types.ts';
import { constantColumn } from '../../src/batch/constant-column.ts';
import { takeColumn } from '../../src/batch/take.ts';
import { literalOf } from '../../src/expr/expr-tools.ts';
import type { LiteralValue } from '../../src/expr/expr.ts';
import type { ArgumentPattern } from '../../src/expr/function-types.ts';
import {
  SCALAR_FUNCTIONS,
  functionNames,
  resolveFunction,
  signatureOf,
} from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { apply, call, column, constant, literal, run } from './support.ts';

const unscaled = (written: string): { type: SqlType; value: string } => {
  const [whole = '', fraction = ''] = written.split('.');
  return {
    type: decimalType(Math.max(1, (whole + fraction).replace('-', '').length), fraction.length),
    value: BigInt(whole + fraction).toString(),
  };
};

/** The type an example's argument has: the pattern's, or what the literal looks like. */
function typed(
  pattern: ArgumentPattern,
  value: LiteralValue,
): { type: SqlType; value: LiteralValue } {
  if (pattern === 'decimal') return unscaled(String(value));
  if (pattern === 'list' || pattern === 'same-list') return { type: listType(INT32), value };
  if (pattern === 'element') return { type: INT32, value };
  if (pattern === 'as-text') return { type: TEXT, value };
  if (pattern !== 'any' && pattern !== 'each') return { type: { tag: pattern } as SqlType, value };
  return {
    type: typeof value === 'boolean' ? BOOLEAN : typeof value === 'number' ? INT32 : TEXT,
    value,
  };
}

/** Their arguments have types that an example does not tell; `lists.test.ts` runs them. */
const WITHOUT: ReadonlySet<string> = new Set([
  'flatten',
  'map-keys',
  'map-values',
  'map-entries',
  'map-extract',
]);

describe('the example of', () => {
  it.each(SCALAR_FUNCTIONS.map((fn) => [fn.id, fn] as const))('%s is right', (_, fn) => {
    expect(fn.examples.length > 0 || WITHOUT.has(fn.id)).toBe(true);
    for (const { args, gives } of fn.examples) {
      const inputs = args.map((value, index) => typed(fn.args[index] ?? fn.rest ?? 'any', value));
      const types = inputs.map(({ type }) => type);
      const resolved = resolveFunction(fn.name, types);
      expect(resolved).toMatchObject({ coerced: types });
      const type = fn.result(types) as SqlType;
      const wanted =
        type.tag === 'decimal' && gives !== null
          ? rescale(unscaled(String(gives)), type.scale)
          : gives;
      const columns = inputs.map((input) => constantColumn(input.type, input.value, 1));
      for (const rows of [1, 11]) {
        // Once as constants, once as full columns.
        const errors = new RowErrors(rows);
        const full = columns.map((one) => takeColumn(one, new Int32Array(rows), rows));
        const result = fn.evaluate(full, rows, errors, type);
        expect(errors.list).toEqual([]);
        expect(result.length).toBe(rows);
        expect(result.type).toEqual(type);
        expect(literalOf(takeColumn(result, Int32Array.of(rows - 1), 1))).toEqual(wanted);
      }
    }
  });

  it('no two functions have the same id and each can be printed', () => {
    expect(new Set(SCALAR_FUNCTIONS.map(({ id }) => id)).size).toBe(SCALAR_FUNCTIONS.length);
    for (const fn of SCALAR_FUNCTIONS) expect(signatureOf(fn).length).toBeGreaterThan(3);
  });
});

function rescale({ type, value }: { type: SqlType; value: string }, scale: number): string {
  if (type.tag !== 'decimal' || type.scale > scale)
    throw new Error('an example with too many digits');
  return (BigInt(value) * 10n ** BigInt(scale - type.scale)).toString();
}

describe('resolution', () => {
  it('suggests the nearest names for an unknown one', () => {
    expect(resolveFunction('lenght', [TEXT])).toMatchObject({
      error: 'UNKNOWN_FUNCTION',
      candidates: ['length'],
    });
    expect(resolveFunction('date_trnc', [TEXT, TIMESTAMP])).toMatchObject({
      error: 'UNKNOWN_FUNCTION',
      hint: 'Did you mean date_trunc?',
    });
    expect(resolveFunction('xyzzy', [TEXT])).toMatchObject({
      error: 'UNKNOWN_FUNCTION',
      candidates: [],
    });
  });

  it('says what is defined when types do not fit', () => {
    expect(resolveFunction('lower', [INT32])).toMatchObject({
      error: 'TYPE_ERROR',
      message: 'lower(INT) is not defined',
      hint: 'Defined are: lower(TEXT).',
    });
    expect(resolveFunction('=', [TEXT, INT32])).toMatchObject({
      error: 'TYPE_ERROR',
      message: 'TEXT = INT is not defined',
    });
    expect(resolveFunction('<', [BOOLEAN, INT32])).toMatchObject({ error: 'TYPE_ERROR' });
  });

  it('reads an untyped literal as the type beside it', () => {
    expect(resolveFunction('>', [TIMESTAMP, TEXT], [false, true])).toMatchObject({
      coerced: [TIMESTAMP, TIMESTAMP],
      type: BOOLEAN,
    });
    expect(resolveFunction('>', [TIMESTAMP, TEXT])).toMatchObject({ error: 'TYPE_ERROR' });
    expect(resolveFunction('date_trunc', [TEXT, TEXT], [true, true])).toMatchObject({
      coerced: [TEXT, TIMESTAMP],
    });
    expect(resolveFunction('+', [TIMESTAMP, INTERVAL])).toMatchObject({ type: TIMESTAMP });
    expect(resolveFunction('-', [TIMESTAMP, TEXT], [false, true])).toMatchObject({
      coerced: [TIMESTAMP, TIMESTAMP],
      type: INTERVAL,
    });
  });

  it('prefers whole numbers where an exact overload exists', () => {
    expect(resolveFunction('abs', [INT32])).toMatchObject({ fn: 'abs:int32' });
    expect(resolveFunction('sqrt', [INT32])).toMatchObject({ coerced: [FLOAT64] });
    expect(resolveFunction('left', [TEXT, INT32])).toMatchObject({ coerced: [TEXT, INT64] });
  });

  it('lists names that can be called', () => {
    expect(functionNames()).toContain('split_part');
    expect(functionNames()).not.toContain('is null');
  });
});

describe('text functions', () => {
  it('count code points, never UTF-16 units', () => {
    expect(apply('length', [TEXT], [['a😀bc'], ['😀'], [''], [null]]).values).toEqual([
      4,
      1,
      0,
      null,
    ]);
    expect(
      apply(
        'substring',
        [TEXT, INT32, INT32],
        [
          ['a😀bc', 1, 2],
          ['😀', 1, 2],
          ['a😀', 2, 0],
        ],
      ).values,
    ).toEqual(['a😀', '😀', '']);
  });

  it('cut substrings as Postgres does when the start is before the text', () => {
    expect(
      apply(
        'substring',
        [TEXT, INT64, INT64],
        [
          ['hello', 0n, 3n],
          ['hello', -1n, 3n],
          ['hello', 2n, 100n],
          ['hello', 9n, 2n],
          ['hello', 2n, -1n],
          ['hello', 9223372036854775807n, 1n],
        ],
      ),
    ).toMatchObject({
      values: ['he', 'h', 'ello', '', null, ''],
      errors: [{ row: 4, code: 'NUMERIC_OUT_OF_RANGE' }],
    });
  });

  it('match LIKE by code point, with escapes, and in time linear in the text', () => {
    const cases: [string, string, boolean][] = [
      ['abc', 'abc', true],
      ['abc', 'a%', true],
      ['abc', '%c', true],
      ['abc', '%b%', true],
      ['abc', 'a_c', true],
      ['a😀c', 'a_c', true],
      ['abc', 'a_', false],
      ['', '%', true],
      ['', '', true],
      ['', '_', false],
      ['a%c', 'a\\%c', true],
      ['abc', 'a\\%c', false],
      ['a.c', 'a.c', true],
      ['abc', 'a.c', false],
      ['aab', '%ab', true],
      ['mississippi', '%iss%ip%', true],
      ['mississippi', '%iss%is%is%', false],
      ['x(', 'x(', true],
      ['日本語', '%本_', true],
      ['a\nb', 'a_b', true],
    ];
    expect(
      apply(
        'like',
        [TEXT, TEXT],
        cases.map(([text, pattern]) => [text, pattern]),
      ).values,
    ).toEqual(cases.map((one) => one[2]));
    const text = 'a'.repeat(20000);
    expect(apply('like', [TEXT, TEXT], [[text, '%a%a%a%a%a%a%b']]).values).toEqual([false]);
    expect(
      apply(
        'ilike',
        [TEXT, TEXT],
        [
          ['ÄBC', 'ä%'],
          ['abc', 'AB_'],
          [null, '%'],
        ],
      ).values,
    ).toEqual([true, true, null]);
    expect(apply('like', [TEXT, TEXT], [['a', 'a\\']])).toMatchObject({
      values: [null],
      errors: [{ row: 0, code: 'PARSE_ERROR' }],
    });
  });

  it('agree with LIKE by brute force', () => {
    const alphabet = ['a', 'b', '😀'];
    const texts = [
      '',
      ...alphabet,
      ...alphabet.flatMap((x) => alphabet.map((y) => x + y)),
      'aba',
      'ab😀a',
      'bbab',
    ];
    const wild = ['%', '_', 'a', '😀'];
    const patterns = [
      '',
      ...wild,
      ...wild.flatMap((x) => wild.map((y) => x + y)),
      ...wild.flatMap((x) => wild.flatMap((y) => wild.map((z) => x + y + z))),
      ...['a', 'b', 'ab', 'a_', 'a_b', 'b__', '😀_a', 'ba_a'].map((inner) => `%${inner}%`),
    ];
    const matches = (text: string[], pattern: string[]): boolean => {
      const [head, ...rest] = pattern;
      if (head === undefined) return text.length === 0;
      if (head === '%')
        return matches(text, rest) || (text.length > 0 && matches(text.slice(1), pattern));
      return text.length > 0 && (head === '_' || head === text[0]) && matches(text.slice(1), rest);
    };
    const rows = texts.flatMap((text) => patterns.map((pattern) => [text, pattern]));
    expect(apply('like', [TEXT, TEXT], rows).values).toEqual(
      rows.map(([text, pattern]) => matches([...(text as string)], [...(pattern as string)])),
    );
  });

  it('treat NULL parts as their documents say', () => {
    expect(
      apply(
        '||',
        [TEXT, INT64],
        [
          ['n', 5n],
          [null, 1n],
          ['x', null],
        ],
      ).values,
    ).toEqual(['n5', null, null]);
    expect(
      apply(
        'concat',
        [TEXT, TEXT],
        [
          ['a', null],
          [null, null],
        ],
      ).values,
    ).toEqual(['a', '']);
    expect(
      apply(
        'concat_ws',
        [TEXT, TEXT, TEXT],
        [
          ['-', 'a', null],
          [null, 'a', 'b'],
          ['-', null, 'b'],
        ],
      ).values,
    ).toEqual(['a', null, 'b']);
  });

  it('split, replace and trim at the edges', () => {
    expect(
      apply(
        'split_part',
        [TEXT, TEXT, INT32],
        [
          ['a,b', ',', 3],
          ['a,b', ',', 1],
          ['a', '', 1],
          ['a', '', 2],
          ['a,b', ',', 0],
        ],
      ),
    ).toMatchObject({
      values: ['', 'a', 'a', '', null],
      errors: [{ row: 4, code: 'NUMERIC_OUT_OF_RANGE' }],
    });
    expect(
      apply(
        'replace',
        [TEXT, TEXT, TEXT],
        [
          ['aaa', 'aa', 'b'],
          ['abc', '', 'x'],
        ],
      ).values,
    ).toEqual(['ba', 'abc']);
    expect(apply('trim', [TEXT], [['  '], [''], ['\t a ']]).values).toEqual(['', '', '\t a']);
    expect(apply('upper', [TEXT], [['abc'], ['Zz9']]).values).toEqual(['ABC', 'ZZ9']);
    expect(
      apply(
        'strpos',
        [TEXT, TEXT],
        [
          ['', ''],
          ['a', ''],
          ['', 'a'],
        ],
      ).values,
    ).toEqual([1, 1, 0]);
  });
});

describe('comparison', () => {
  it('orders text by code point and NaN last', () => {
    expect(
      apply(
        '<',
        [TEXT, TEXT],
        [
          ['｡', '😀'],
          ['a', 'ab'],
          ['b', 'a'],
          ['a', 'a'],
          ['', 'a'],
          [null, 'a'],
        ],
      ).values,
    ).toEqual([true, true, false, false, true, null]);
    expect(
      apply(
        '=',
        [FLOAT64, FLOAT64],
        [
          [NaN, NaN],
          [NaN, 1],
          [-0, 0],
          [null, null],
        ],
      ).values,
    ).toEqual([true, false, true, null]);
    expect(
      apply(
        '>',
        [FLOAT64, FLOAT64],
        [
          [NaN, Infinity],
          [Infinity, NaN],
          [NaN, NaN],
        ],
      ).values,
    ).toEqual([true, false, false]);
    expect(
      apply(
        '<=',
        [FLOAT64, FLOAT64],
        [
          [NaN, NaN],
          [1, NaN],
          [NaN, 1],
        ],
      ).values,
    ).toEqual([true, true, false]);
  });

  it('agrees with the order of exact numbers', () => {
    const values = [
      -(2n ** 63n),
      -(2n ** 53n) - 1n,
      -4294967296n,
      -1n,
      0n,
      1n,
      4294967295n,
      4294967296n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 63n - 1n,
    ];
    const rows = values.flatMap((x) => values.map((y): [bigint, bigint] => [x, y]));
    const decimal = decimalType(38, 0);
    for (const [sign, test] of [
      ['<', (x: bigint, y: bigint) => x < y],
      ['<=', (x: bigint, y: bigint) => x <= y],
      ['=', (x: bigint, y: bigint) => x === y],
      ['<>', (x: bigint, y: bigint) => x !== y],
      ['>', (x: bigint, y: bigint) => x > y],
      ['>=', (x: bigint, y: bigint) => x >= y],
    ] as const) {
      const wanted = rows.map(([x, y]) => test(x, y));
      expect(apply(sign, [INT64, INT64], rows).values).toEqual(wanted);
      expect(
        apply(
          sign,
          [decimal, decimal],
          rows.map(([x, y]) => [x.toString(), y.toString()]),
        ).values,
      ).toEqual(wanted);
    }
  });

  it('IS DISTINCT FROM is never NULL', () => {
    expect(
      apply(
        'is distinct from',
        [INT32, INT32],
        [
          [1, null],
          [null, null],
          [1, 1],
          [1, 2],
        ],
      ).values,
    ).toEqual([true, false, false, true]);
    expect(
      apply(
        'is not distinct from',
        [TEXT, TEXT],
        [
          ['a', null],
          [null, null],
          ['a', 'a'],
        ],
      ).values,
    ).toEqual([false, true, true]);
  });

  it('IN gives NULL when nothing matched but something was NULL', () => {
    const list = (...values: LiteralValue[]) =>
      call('in', column(0, INT32), ...values.map((value) => literal(INT32, value)));
    const rows: [SqlType, (number | null)[]] = [INT32, [1, 2, 9, null]];
    expect(runIn(list(1, 2), rows)).toEqual([true, true, false, null]);
    expect(runIn(list(1, null), rows)).toEqual([true, null, null, null]);
    expect(runIn(list(1, 2, 3, 4, 5, 6), rows)).toEqual([true, true, false, null]);
    expect(runIn(list(1, 2, 3, 4, 5, null), rows)).toEqual([true, true, null, null]);
  });
});

const runIn = (expr: ReturnType<typeof call>, input: [SqlType, (number | null)[]]) =>
  run(expr, input).values;

describe('functions about NULL', () => {
  it('greatest and least ignore NULL', () => {
    expect(
      apply(
        'greatest',
        [INT32, INT32],
        [
          [1, null],
          [null, null],
          [1, 2],
        ],
      ).values,
    ).toEqual([1, null, 2]);
    expect(
      apply(
        'least',
        [TEXT, TEXT],
        [
          ['｡', '😀'],
          [null, 'a'],
        ],
      ).values,
    ).toEqual(['｡', 'a']);
    expect(
      apply(
        'nullif',
        [INT32, INT32],
        [
          [1, 1],
          [1, 2],
          [null, 1],
          [1, null],
        ],
      ).values,
    ).toEqual([null, 1, null, 1]);
  });
});

describe('mathematics', () => {
  it('fails rows outside the domain', () => {
    expect(apply('sqrt', [FLOAT64], [[4], [-1], [NaN]])).toMatchObject({
      values: [2, null, NaN],
      errors: [{ row: 1, code: 'NUMERIC_OUT_OF_RANGE' }],
    });
    expect(
      apply(
        'power',
        [FLOAT64, FLOAT64],
        [
          [0, -1],
          [-8, 1 / 3],
          [1, NaN],
          [2, 0.5],
        ],
      ),
    ).toMatchObject({ values: [null, null, 1, Math.SQRT2], errors: [{ row: 0 }, { row: 1 }] });
    expect(apply('abs', [INT64], [[-(2n ** 63n)]]).errors).toEqual([
      { row: 0, code: 'NUMERIC_OVERFLOW' },
    ]);
  });

  it('rounds DOUBLE to even and DECIMAL away from zero', () => {
    expect(
      apply(
        'round',
        [FLOAT64],
        [
          [0.5],
          [1.5],
          [2.5],
          [-2.5],
          [0.49999999999999994],
          [4503599627370495.5],
          [NaN],
          [Infinity],
        ],
      ).values,
    ).toEqual([0, 2, 2, -2, 0, 4503599627370496, NaN, Infinity]);
    expect(
      apply('round', [decimalType(4, 1)], [['0.5'], ['1.5'], ['-2.5'], ['999.9'], ['2.4']]).values,
    ).toEqual(['1', '2', '-3', '1000', '2']);
    expect(
      apply(
        'round',
        [FLOAT64, INT32],
        [
          [1.005, 2],
          [1234.5, -2],
          [-1.25, 1],
        ],
      ).values,
    ).toEqual([1, 1200, -1.3]);
    expect(apply('floor', [decimalType(3, 1)], [['-0.1'], ['0.9'], ['-2.0']]).values).toEqual([
      '-1',
      '0',
      '-2',
    ]);
  });
});

describe('time', () => {
  const at = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;

  it('truncates to every unit', () => {
    const moment = '2024-08-15T13:47:59.123';
    const cases = {
      millisecond: '2024-08-15T13:47:59.123',
      second: '2024-08-15T13:47:59',
      minute: '2024-08-15T13:47',
      hour: '2024-08-15T13:00',
      day: '2024-08-15T00:00',
      week: '2024-08-12T00:00',
      month: '2024-08-01T00:00',
      quarter: '2024-07-01T00:00',
      year: '2024-01-01T00:00',
      decade: '2020-01-01T00:00',
      century: '2001-01-01T00:00',
    };
    for (const [unit, wanted] of Object.entries(cases)) {
      expect(
        apply('date_trunc', [TEXT, TIMESTAMP], [[unit, at(moment) + 456n]]).values,
        unit,
      ).toEqual([at(wanted)]);
    }
    expect(
      apply(
        'date_trunc',
        [TEXT, TIMESTAMP],
        [
          ['hour', -1n],
          ['DAYS', -1n],
          ['parsec', 1n],
          ['week', at('1970-01-01T00:00')],
        ],
      ),
    ).toMatchObject({
      values: [-3600000000n, -86400000000n, null, at('1969-12-29T00:00')],
      errors: [{ row: 2, code: 'INVALID_CAST' }],
    });
  });

  it('reads fields as the calendar says, far outside ±2^53 microseconds too', () => {
    const moment = at('2024-02-29T23:59:58.750') + 1n;
    const cases = {
      year: 2024,
      month: 2,
      day: 29,
      hour: 23,
      minute: 59,
      second: 58.750001,
      milliseconds: 58750.001,
      microseconds: 58750001,
      dow: 4,
      isodow: 4,
      doy: 60,
      week: 9,
      quarter: 1,
      epoch: Number(moment) / 1e6,
      decade: 202,
      century: 21,
      millennium: 3,
      isoyear: 2024,
    };
    for (const [field, wanted] of Object.entries(cases)) {
      expect(apply('extract', [TEXT, TIMESTAMP], [[field, moment]]).values, field).toEqual([
        wanted,
      ]);
    }
    const far = at('9999-12-31T23:59:59');
    expect(
      apply(
        'date_part',
        [TEXT, TIMESTAMP],
        [
          ['year', far],
          ['doy', far],
          ['second', far],
          ['year', at('0001-01-01T00:00')],
        ],
      ).values,
    ).toEqual([9999, 365, 59, 1]);
    expect(
      apply(
        'date_part',
        [TEXT, TIMESTAMP],
        [
          ['week', at('2021-01-03T00:00')],
          ['week', at('2020-12-31T00:00')],
          ['dow', -1n],
        ],
      ).values,
    ).toEqual([53, 53, 3]);
  });

  it('finds weeks, weekdays and centuries before 1970 and before year 1', () => {
    const sunday = at('1969-12-28T12:00');
    expect(
      apply(
        'date_trunc',
        [TEXT, TIMESTAMP],
        [
          ['week', sunday],
          ['month', sunday],
          ['century', sunday],
          ['year', at('0000-06-01T00:00')],
        ],
      ).values,
    ).toEqual([
      at('1969-12-22T00:00'),
      at('1969-12-01T00:00'),
      at('1901-01-01T00:00'),
      at('0000-01-01T00:00'),
    ]);
    expect(
      apply(
        'date_part',
        [TEXT, TIMESTAMP],
        [
          ['dow', sunday],
          ['isodow', sunday],
          ['hour', sunday],
          ['week', sunday],
        ],
      ).values,
    ).toEqual([0, 7, 12, 52]);
  });

  it('adds and subtracts intervals and refuses what does not fit', () => {
    const hour = literal(INTERVAL, '3600000000');
    expect(
      run(call('+', column(0, TIMESTAMP), hour), [TIMESTAMP, [0n, null, 2n ** 63n - 1n]]),
    ).toMatchObject({
      values: [3600000000n, null, null],
      errors: [{ row: 2, code: 'NUMERIC_OVERFLOW' }],
    });
    expect(
      run(
        call('>', call('-', column(0, TIMESTAMP), column(1, TIMESTAMP)), hour),
        [TIMESTAMP, [7200000000n, 5n]],
        [TIMESTAMP, [0n, 0n]],
      ).values,
    ).toEqual([true, false]);
  });

  it('makes timestamps of epochs and back', () => {
    expect(
      apply('to_timestamp_millis', [INT64], [[1704067200123n], [-1n], [9223372036854775807n]]),
    ).toMatchObject({
      values: [1704067200123000n, -1000n, null],
      errors: [{ row: 2, code: 'NUMERIC_OUT_OF_RANGE' }],
    });
    expect(apply('to_timestamp', [FLOAT64], [[1.5], [NaN]])).toMatchObject({
      values: [1500000n, null],
      errors: [{ row: 1 }],
    });
    expect(apply('to_unixtime', [TIMESTAMP], [[-1n], [1999999n], [-(2n ** 63n)]]).values).toEqual([
      -1n,
      1n,
      -9223372036855n,
    ]);
    expect(constant(call('to_timestamp_seconds', literal(INT32, 5)))).toBe(5000000n);
  });
});
