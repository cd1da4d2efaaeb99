import fc from 'fast-check';
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
  typeName,
} from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { canCast, castCanFail, castHint } from '../../src/expr/cast.ts';
import { cast, column, literal, run } from './support.ts';

const to = (type: SqlType, from: SqlType, values: Value[], orNull = false) =>
  run(cast(column(0, from), type, orNull), [from, values]);

describe('text to number', () => {
  it('reads what Postgres reads', () => {
    expect(to(INT32, TEXT, [' 42 ', '-7', '+3', '007', null]).values).toEqual([42, -7, 3, 7, null]);
    expect(
      to(INT64, TEXT, ['9223372036854775807', '-9223372036854775808', '\t1\n']).values,
    ).toEqual([2n ** 63n - 1n, -(2n ** 63n), 1n]);
    expect(
      to(FLOAT64, TEXT, ['NaN', '-Infinity', 'inf', '1.5', '.5', '5.', ' 1e3 ', '-0']).values,
    ).toEqual([NaN, -Infinity, Infinity, 1.5, 0.5, 5, 1000, -0]);
    expect(to(decimalType(5, 2), TEXT, ['1.005', '-1.005', '999.994', '1e2', '.5']).values).toEqual(
      ['1.01', '-1.01', '999.99', '100.00', '0.50'],
    );
    expect(
      to(BOOLEAN, TEXT, ['true', ' T ', 'yes', 'on', '1', 'f', 'NO', 'off', '0']).values,
    ).toEqual([true, true, true, true, true, false, false, false, false]);
  });

  it.each([
    [
      INT32,
      ['1.5', '', 'x', '1 2', '0x10', '2147483648'],
      [
        'INVALID_CAST',
        'INVALID_CAST',
        'INVALID_CAST',
        'INVALID_CAST',
        'INVALID_CAST',
        'NUMERIC_OUT_OF_RANGE',
      ],
    ],
    [
      INT64,
      ['9223372036854775808', '99999999999999999999', '1.5'],
      ['NUMERIC_OUT_OF_RANGE', 'NUMERIC_OUT_OF_RANGE', 'INVALID_CAST'],
    ],
    [
      FLOAT64,
      ['', '1e400', 'e5', '0x1', '1_0'],
      ['INVALID_CAST', 'NUMERIC_OUT_OF_RANGE', 'INVALID_CAST', 'INVALID_CAST', 'INVALID_CAST'],
    ],
    [
      decimalType(5, 2),
      ['999.995', '1000', 'NaN', ''],
      ['NUMERIC_OUT_OF_RANGE', 'NUMERIC_OUT_OF_RANGE', 'INVALID_CAST', 'INVALID_CAST'],
    ],
    [
      BOOLEAN,
      ['', 'o', 'maybe', 'truely'],
      ['INVALID_CAST', 'INVALID_CAST', 'INVALID_CAST', 'INVALID_CAST'],
    ],
    [TIMESTAMP, ['', '2024-02-30', 'yesterday'], ['INVALID_CAST', 'INVALID_CAST', 'INVALID_CAST']],
  ])('%j fails the rows that do not read, and TRY_CAST makes them NULL', (type, texts, codes) => {
    const strict = to(type, TEXT, texts);
    expect(strict.errors).toEqual(codes.map((code, row) => ({ row, code })));
    expect(strict.values).toEqual(texts.map(() => null));
    expect(to(type, TEXT, texts, true)).toMatchObject({
      values: texts.map(() => null),
      errors: [],
    });
  });

  it('quotes a long value only in part', () => {
    expect(to(INT32, TEXT, ['x'.repeat(500)]).messages[0]).toBe(`'${'x'.repeat(60)}…' is no INT`);
  });
});

describe('between numbers', () => {
  it('rounds DOUBLE halves to even and DECIMAL halves away from zero', () => {
    expect(to(INT32, FLOAT64, [0.5, 1.5, 2.5, -0.5, -1.5, 2147483647.4]).values).toEqual([
      0, 2, 2, 0, -2, 2147483647,
    ]);
    expect(to(INT64, decimalType(4, 1), ['0.5', '1.5', '-2.5', '2.4']).values).toEqual([
      1n,
      2n,
      -3n,
      2n,
    ]);
  });

  it('fails what does not fit', () => {
    const outOfRange = (type: SqlType, from: SqlType, values: Value[]) =>
      expect(to(type, from, values).errors).toEqual(
        values.map((_, row) => ({ row, code: 'NUMERIC_OUT_OF_RANGE' })),
      );
    outOfRange(INT32, FLOAT64, [2147483648, -2147483649, NaN, Infinity, 2147483647.5]);
    outOfRange(INT64, FLOAT64, [9223372036854775808, -Infinity, NaN]);
    outOfRange(INT32, INT64, [2147483648n, -2147483649n, 2n ** 40n]);
    outOfRange(decimalType(3, 1), INT32, [100, -100]);
    outOfRange(decimalType(3, 1), FLOAT64, [99.95, NaN, Infinity]);
    outOfRange(decimalType(3, 1), decimalType(5, 2), ['99.95', '100.00']);
    outOfRange(INT64, decimalType(20, 0), ['9223372036854775808']);
    expect(to(INT64, FLOAT64, [-9223372036854775808]).values).toEqual([-(2n ** 63n)]);
  });

  it('rescales decimals exactly', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
        fc.nat(20),
        fc.nat(30),
        (unscaled, from, scale) => {
          const source = decimalType(38, from);
          const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(from + 1, '0');
          const text = `${unscaled < 0n ? '-' : ''}${digits.slice(0, digits.length - from)}${from ? `.${digits.slice(digits.length - from)}` : ''}`;
          const numerator = unscaled * 10n ** BigInt(scale);
          const unit = 10n ** BigInt(from);
          const size = numerator < 0n ? -numerator : numerator;
          const rounded = size / unit + ((size % unit) * 2n >= unit ? 1n : 0n);
          const result = to(decimalType(38, scale), source, [text]);
          if (rounded >= 10n ** 38n)
            expect(result.errors).toEqual([{ row: 0, code: 'NUMERIC_OUT_OF_RANGE' }]);
          else
            expect(BigInt((result.values[0] as string).replace('.', ''))).toBe(
              numerator < 0n ? -rounded : rounded,
            );
        },
      ),
    );
  });

  it('gives the DOUBLE nearest to a DECIMAL', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
        fc.nat(38),
        (unscaled, scale) => {
          const text = to(TEXT, decimalType(38, scale), [decimalText(unscaled, scale)])
            .values[0] as string;
          expect(to(FLOAT64, decimalType(38, scale), [text]).values).toEqual([Number(text)]);
        },
      ),
    );
  });

  it('sees the last digit of a DECIMAL that lies just beside the middle of two DOUBLEs', () => {
    const type = decimalType(36, 20);
    const values = [
      '9007199254740993.00000000000000000001',
      '9007199254740993.00000000000000000000',
      '9007199254740994.99999999999999999999',
    ];
    expect(to(FLOAT64, type, values).values).toEqual([
      9007199254740994, 9007199254740992, 9007199254740994,
    ]);
  });

  it('takes booleans for whole numbers and back', () => {
    expect(to(INT32, BOOLEAN, [true, false, null]).values).toEqual([1, 0, null]);
    expect(to(BOOLEAN, INT64, [0n, 4294967296n, -1n]).values).toEqual([false, true, true]);
  });
});

const decimalText = (unscaled: bigint, scale: number): string => {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, digits.length - scale)}${scale ? `.${digits.slice(digits.length - scale)}` : ''}`;
};

describe('to text and back', () => {
  it('writes as Postgres does', () => {
    expect(
      to(TEXT, FLOAT64, [
        1,
        0.1,
        -0,
        1e15,
        123456789012345,
        1e-4,
        1e-5,
        1.5e300,
        NaN,
        -Infinity,
        100,
        5e-324,
      ]).values,
    ).toEqual([
      '1',
      '0.1',
      '-0',
      '1e+15',
      '123456789012345',
      '0.0001',
      '1e-05',
      '1.5e+300',
      'NaN',
      '-Infinity',
      '100',
      '5e-324',
    ]);
    expect(to(TEXT, decimalType(5, 4), ['0.005', '-0.005', '0.0001']).values).toEqual([
      '0.0050',
      '-0.0050',
      '0.0001',
    ]);
    expect(to(TEXT, BOOLEAN, [true, false, null]).values).toEqual(['true', 'false', null]);
    expect(to(TEXT, TIMESTAMP, [0n, 1704067200123000n]).values).toEqual([
      '1970-01-01T00:00:00',
      '2024-01-01T00:00:00.123',
    ]);
    expect(run(cast(literal(INTERVAL, '-90061500000'), TEXT)).values).toEqual(['-25:01:01.5']);
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.double(), { maxLength: 20 }), (values) => {
        expect(to(FLOAT64, TEXT, to(TEXT, FLOAT64, values).values).values).toEqual(values);
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 20 }),
        (values) => {
          expect(to(INT64, TEXT, to(TEXT, INT64, values).values).values).toEqual(values);
          expect(
            to(INT64, decimalType(38, 5), to(decimalType(38, 5), INT64, values).values).values,
          ).toEqual(values);
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: -62135596800000000n, max: 253402300799999999n }), {
          maxLength: 20,
        }),
        (values) => {
          expect(to(TIMESTAMP, TEXT, to(TEXT, TIMESTAMP, values).values).values).toEqual(values);
        },
      ),
    );
  });
});

describe('what can be cast', () => {
  const types = [BOOLEAN, INT32, INT64, decimalType(10, 2), FLOAT64, TEXT, TIMESTAMP];

  it('every allowed pair converts NULL to NULL, and one that cannot fail never does', () => {
    const samples: Record<string, Value[]> = {
      boolean: [true, false],
      int32: [2147483647, -1],
      int64: [2n ** 63n - 1n, -1n],
      decimal: ['99999999.99'],
      float64: [NaN, -1e300],
      text: ['x', '1'],
      timestamp: [1n],
    };
    for (const from of types) {
      for (const type of types) {
        if (!canCast(from, type)) {
          expect(
            castHint(from, type).length,
            `${typeName(from)} to ${typeName(type)}`,
          ).toBeGreaterThan(10);
          continue;
        }
        const result = to(type, from, [null, ...(samples[from.tag] as Value[])]);
        expect(result.values[0]).toBe(null);
        if (!castCanFail(from, type))
          expect(result.errors, `${typeName(from)} to ${typeName(type)}`).toEqual([]);
      }
    }
  });

  it('a number is never taken for a timestamp', () => {
    expect(canCast(INT64, TIMESTAMP)).toBe(false);
    expect(canCast(TIMESTAMP, INT64)).toBe(false);
    expect(castHint(INT64, TIMESTAMP)).toContain('to_timestamp_millis');
  });
});
