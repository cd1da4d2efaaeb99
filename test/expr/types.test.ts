/** Casts, literals, arithmetic and order of every type, against BigInt, Date and DuckDB. */
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { intervalOfLiteral, intervalText } from '../../src/batch/interval.ts';
import { readInterval } from '../../src/batch/interval-text.ts';
import {
  BYTEA,
  DATE,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  INTEGERS,
  INTERVAL,
  JSON_TYPE,
  SCALAR_TAGS,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
  decimalType,
  isNested,
  listType,
  typeName,
} from '../../src/batch/types.ts';
import type { IntegerTag, SqlType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { canCast } from '../../src/expr/cast.ts';
import { anyInt64, anyType, anyValue } from '../batch/arbitrary.ts';
import { call, cast, column, run } from './support.ts';

const SCALARS: readonly SqlType[] = SCALAR_TAGS.map((tag) =>
  tag === 'decimal' ? decimalType(38, 9) : ({ tag } as SqlType),
);
const WHOLE: readonly SqlType[] = [INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64];
const boundsOf = (type: SqlType): { min: bigint; max: bigint } => INTEGERS[type.tag as IntegerTag];

const castOf = (from: SqlType, to: SqlType, values: readonly Value[], orNull = false) =>
  run(cast(column(0, from), to, orNull), [from, values]);

/** A function of columns, each given as its type and values. */
const over = (name: string, ...inputs: [SqlType, readonly Value[]][]) =>
  run(call(name, ...inputs.map(([type], index) => column(index, type))), ...inputs);

describe('text', () => {
  it.each(SCALARS.map((type) => [typeName(type), type] as const))(
    'of %s reads back as the same value',
    (_, type) => {
      fc.assert(
        fc.property(fc.array(anyValue(type), { minLength: 1, maxLength: 20 }), (values) => {
          const text = castOf(type, TEXT, values);
          expect(text.errors).toEqual([]);
          const back = castOf(TEXT, type, text.values);
          expect(back.errors).toEqual([]);
          expect(back.values).toEqual(values);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('is what Postgres writes', () => {
    const written = (type: SqlType, value: Value): Value =>
      castOf(type, TEXT, [value]).values[0] as Value;
    expect(written(TIMESTAMPTZ, 1_700_000_000_123_456n)).toBe('2023-11-14T22:13:20.123456Z');
    expect(written(TIMESTAMP_NS, 1_700_000_000_123_456_789n)).toBe('2023-11-14T22:13:20.123456789');
    expect(written(DATE, -719_162 - 366)).toBe('0000-01-01');
    expect(written(TIME, 3_723_000_001n)).toBe('01:02:03.000001');
    expect(written(INTERVAL, '14 -3 14706789000')).toBe('1 year 2 mons -3 days +04:05:06.789');
    expect(written(INTERVAL, '0 0 0')).toBe('00:00:00');
    expect(written(INTERVAL, '-1 0 0')).toBe('-1 mons');
    expect(written(FLOAT32, Math.fround(0.1))).toBe('0.1');
    expect(written(FLOAT32, Math.fround(1e10))).toBe('1e+10');
    expect(written(UINT64, 18_446_744_073_709_551_615n)).toBe('18446744073709551615');
    expect(written(BYTEA, '\\x00ff')).toBe('\\x00ff');
    expect(written(listType(INT64), [1n, null, 9_007_199_254_740_993n])).toBe(
      '[1,null,9007199254740993]',
    );
  });

  it('that is no value of the type fails its row, and is NULL under TRY_CAST', () => {
    const wrong: [SqlType, string][] = [
      [DATE, '2023-02-29'],
      [TIME, '24:00:00'],
      [TIMESTAMPTZ, 'soon'],
      [TIMESTAMP_NS, '2263-01-01'],
      [INTERVAL, '1 fortnight'],
      [BYTEA, '\\x0'],
      [JSON_TYPE, '{a:1}'],
      [UINT8, '-1'],
      [INT8, '128'],
      [FLOAT32, '1e39'],
    ];
    for (const [type, text] of wrong) {
      expect(castOf(TEXT, type, [text, null]), typeName(type)).toMatchObject({
        values: [null, null],
        errors: [{ row: 0 }],
      });
      expect(castOf(TEXT, type, [text], true)).toMatchObject({ values: [null], errors: [] });
    }
  });
});

describe('lists and structs', () => {
  const finite = (value: Value): boolean =>
    typeof value === 'number'
      ? Number.isFinite(value)
      : typeof value !== 'object' || value === null || Object.values(value).every(finite);

  it('become JSON and are read from it, as TEXT and as JSON', () => {
    const cases = anyType.chain((type) =>
      fc.tuple(fc.constant(type), fc.array(anyValue(type), { maxLength: 8 })),
    );
    fc.assert(
      fc.property(cases, fc.constantFrom(TEXT, JSON_TYPE), ([type, picked], form) => {
        fc.pre(isNested(type));
        const values = picked.filter(finite);
        const written = castOf(type, form, values);
        expect(written.errors).toEqual([]);
        const back = castOf(form, type, written.values);
        expect(back.errors).toEqual([]);
        expect(back.values).toEqual(values);
      }),
      { numRuns: 200, seed: 8 },
    );
  });

  it('fail their row where an element does, and lose the element under TRY_CAST', () => {
    const bytes = listType(UINT8);
    const texts = ['[1, 255]', '[1, 256]', '{"a":1}', '[1', null];
    expect(castOf(TEXT, bytes, texts)).toMatchObject({
      values: [[1, 255], null, null, null, null],
      errors: [
        { row: 1, code: 'NUMERIC_OUT_OF_RANGE' },
        { row: 2, code: 'INVALID_CAST' },
        { row: 3, code: 'INVALID_CAST' },
      ],
    });
    expect(castOf(TEXT, bytes, texts, true).values).toEqual([
      [1, 255],
      [1, null],
      null,
      null,
      null,
    ]);
    expect(castOf(listType(INT64), bytes, [[1n, 300n], [2n]])).toMatchObject({
      values: [null, [2]],
      errors: [{ row: 0, code: 'NUMERIC_OUT_OF_RANGE' }],
    });
    const struct: SqlType = { tag: 'struct', fields: [{ name: 'a', type: DATE, nullable: true }] };
    expect(castOf(JSON_TYPE, struct, ['{"b":1}', '{"a":"1970-01-02"}']).values).toEqual([
      { a: null },
      { a: 1 },
    ]);
  });
});

test('a whole number becomes another one exactly, or fails its row', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...WHOLE),
      fc.constantFrom(...WHOLE),
      fc.array(
        fc.oneof(
          anyInt64,
          fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
          fc.constantFrom(...WHOLE.flatMap((type) => [boundsOf(type).min, boundsOf(type).max])),
        ),
        { minLength: 1, maxLength: 20 },
      ),
      (from, to, numbers) => {
        const fits = (type: SqlType, value: bigint): boolean =>
          value >= boundsOf(type).min && value <= boundsOf(type).max;
        const inputs = numbers.filter((value) => fits(from, value));
        const narrow = (type: SqlType, value: bigint): Value =>
          ['int8', 'int16', 'int32', 'uint8', 'uint16'].includes(type.tag) ? Number(value) : value;
        const result = castOf(
          from,
          to,
          inputs.map((value) => narrow(from, value)),
        );
        expect(result.values).toEqual(
          inputs.map((value) => (fits(to, value) ? narrow(to, value) : null)),
        );
        expect(result.errors).toEqual(
          inputs.flatMap((value, row) =>
            fits(to, value) ? [] : [{ row, code: 'NUMERIC_OUT_OF_RANGE' }],
          ),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test('small and unsigned arithmetic is exact, or fails its row', () => {
  const types = [INT8, INT16, UINT8, UINT16, UINT32, UINT64];
  const compute: Record<string, (x: bigint, y: bigint) => bigint | null> = {
    '+': (x, y) => x + y,
    '-': (x, y) => x - y,
    '*': (x, y) => x * y,
    '/': (x, y) => (y === 0n ? null : x / y),
    '%': (x, y) => (y === 0n ? null : x % y),
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...types),
      fc.constantFrom(...Object.keys(compute)),
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.double({ min: 0, max: 1, noNaN: true }),
        ),
        {
          minLength: 1,
          maxLength: 20,
        },
      ),
      (type, operator, picks) => {
        const { min, max } = boundsOf(type);
        const wide = type.tag === 'uint32' || type.tag === 'uint64';
        const pick = (share: number): bigint =>
          min + (BigInt(Math.floor(share * 2 ** 52)) * (max - min)) / 2n ** 52n;
        const put = (value: bigint): Value => (wide ? value : Number(value));
        const pairs = picks.map(([a, b]) => [pick(a), b < 0.3 ? pick(b * 1e-9) : pick(b)] as const);
        const result = over(
          operator,
          [type, pairs.map(([x]) => put(x))],
          [type, pairs.map(([, y]) => put(y))],
        );
        pairs.forEach(([x, y], row) => {
          const exact = (compute[operator] as (x: bigint, y: bigint) => bigint | null)(x, y);
          const fits = exact !== null && exact >= min && exact <= max;
          expect(result.values[row], `${x} ${operator} ${y}`).toEqual(fits ? put(exact) : null);
          const failed = result.errors.find((error) => error.row === row)?.code;
          expect(failed).toBe(
            fits ? undefined : exact === null ? 'DIVISION_BY_ZERO' : 'NUMERIC_OVERFLOW',
          );
        });
      },
    ),
    { numRuns: 200 },
  );
});

test('dates, times and moments agree with Date', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e12, max: 8.64e12 }), (millis) => {
      const date = new Date(millis);
      const micros = BigInt(millis) * 1000n;
      const iso = date.toISOString();
      const dayText = iso.slice(0, iso.indexOf('T'));
      const day = castOf(TIMESTAMP, DATE, [micros]).values[0] as number;
      expect(castOf(DATE, TEXT, [day]).values[0]).toBe(dayText);
      expect(castOf(TEXT, DATE, [dayText]).values[0]).toBe(day);
      expect(castOf(DATE, TIMESTAMPTZ, [day]).values[0]).toBe(BigInt(day) * 86_400_000_000n);
      const time = castOf(TIMESTAMP, TIME, [micros]).values[0] as bigint;
      expect(BigInt(day) * 86_400_000_000n + time).toBe(micros);
      const rounded = castOf(TIMESTAMP, { tag: 'timestamp', precision: 0 }, [micros]).values[0];
      expect(rounded).toBe(BigInt(Math.floor(millis / 1000 + 0.5)) * 1_000_000n);
    }),
    { numRuns: 200 },
  );
});

test('interval text of every form Postgres takes', () => {
  const forms: [string, string][] = [
    ['1 year 2 months 3 days 04:05:06.7', '14 3 14706700000'],
    ['1.5 months', '1 15 0'],
    ['1.5 days', '0 1 43200000000'],
    ['2 weeks', '0 14 0'],
    ['90s', '0 0 90000000'],
    ['-1 day +02:03', '0 -1 7380000000'],
    ['3 hours ago', '0 0 -10800000000'],
    ['1-2', '14 0 0'],
    ['P1Y2M3W4DT5H6M7.8S', '14 25 18367800000'],
    ['PT-1H', '0 0 -3600000000'],
    ['3 04:05:06', '0 3 14706000000'],
    ['@ 1 minute', '0 0 60000000'],
    ['1 century', '1200 0 0'],
  ];
  for (const [text, literal] of forms) {
    const [months, days, micros] = literal.split(' ');
    expect(readInterval(text), text).toEqual({
      months: Number(months),
      days: Number(days),
      micros: BigInt(micros as string),
    });
  }
  expect(readInterval('1')).toEqual(readInterval('1 second'));
  for (const text of ['', 'soon', '1 2 days', '1-13', 'P', '--1 day', '5 apples'])
    expect(readInterval(text), text).toBeNull();
  expect(readInterval('999999999999 years')).toBe('range');
});

test('1 month equals 30 days, in order, in keys and in lists', () => {
  const of = (name: string, a: string, b: string): Value =>
    over(name, [INTERVAL, [a]], [INTERVAL, [b]]).values[0] as Value;
  expect(of('=', '1 0 0', '0 30 0')).toBe(true);
  expect(of('=', '0 1 0', '0 0 86400000000')).toBe(true);
  expect(of('<', '0 29 86399999999', '1 0 0')).toBe(true);
  expect(of('>', '2147483647 0 0', '0 2147483647 9223372036854775807')).toBe(true);
});

test('unsigned values order without sign, also as the largest of many', () => {
  const big = 2n ** 63n;
  expect(over('<', [UINT64, [1n]], [UINT64, [big]]).values).toEqual([true]);
  expect(over('greatest', [UINT64, [1n]], [UINT64, [big]]).values).toEqual([big]);
});

describe('DuckDB agrees', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const ask = async (sql: string): Promise<string[][]> =>
    (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String));
  const stamp = (micros: bigint): string => `make_timestamp(${micros}::BIGINT)`;

  const moments = fc.bigInt({ min: -60_000_000_000_000_000n, max: 60_000_000_000_000_000n });
  const intervals = fc.tuple(
    fc.integer({ min: -20_000, max: 20_000 }),
    fc.integer({ min: -100_000, max: 100_000 }),
    fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  );

  it('on a moment plus months, days and microseconds, and on the time between two moments', async () => {
    const samples = fc.sample(fc.tuple(moments, moments, intervals), { numRuns: 150, seed: 5 });
    const rows = await ask(
      samples
        .map(
          ([a, b, [months, days, micros]]) =>
            `SELECT epoch_us(${stamp(a)} + to_months(${months}) + to_days(${days}) + to_microseconds(${micros})), epoch_us(${stamp(a)}) - epoch_us(${stamp(b)})`,
        )
        .join(' UNION ALL '),
    );
    const sums = over(
      '+',
      [TIMESTAMP, samples.map(([a]) => a)],
      [INTERVAL, samples.map(([, , [months, days, micros]]) => `${months} ${days} ${micros}`)],
    );
    expect(sums.values.map(String)).toEqual(rows.map(([sum]) => sum));
    const between = over(
      '-',
      [TIMESTAMP, samples.map(([a]) => a)],
      [TIMESTAMP, samples.map(([, b]) => b)],
    );
    const total = (literal: Value): string => {
      const { days, micros } = intervalOfLiteral(String(literal));
      return String(BigInt(days) * 86_400_000_000n + micros);
    };
    expect(between.values.map(total)).toEqual(rows.map(([, difference]) => difference));
  });

  // DuckDB reads ' 12 ' and '0x10' as numbers and 12.5 as the whole number 13; those texts are left out.
  it('on texts as numbers, dates and intervals', async () => {
    const texts = [
      '0',
      '-0',
      '12',
      '-128',
      '128',
      '255',
      '256',
      '65535',
      '4294967295',
      '4294967296',
      '9223372036854775807',
      '18446744073709551615',
      '18446744073709551616',
      'x',
      '2024-02-29',
      '2023-02-29',
      '1969-12-31',
      '0001-01-01',
      '9999-12-31',
    ];
    const names: [SqlType, string][] = [
      [INT8, 'TINYINT'],
      [INT16, 'SMALLINT'],
      [INT32, 'INTEGER'],
      [INT64, 'BIGINT'],
      [UINT8, 'UTINYINT'],
      [UINT16, 'USMALLINT'],
      [UINT32, 'UINTEGER'],
      [UINT64, 'UBIGINT'],
      [DATE, 'DATE'],
    ];
    for (const [type, name] of names) {
      const rows = await ask(
        texts
          .map((text) => `SELECT TRY_CAST(TRY_CAST('${text}' AS ${name}) AS TEXT)`)
          .join(' UNION ALL '),
      );
      const read = castOf(TEXT, type, texts, true);
      const written = castOf(type, TEXT, read.values).values.map(String);
      expect(written, name).toEqual(rows.map(([text]) => text));
    }
  });

  it('on how an interval is written', async () => {
    const samples = fc.sample(intervals, { numRuns: 100, seed: 6 });
    const rows = await ask(
      samples
        .map(
          ([months, days, micros]) =>
            `SELECT CAST(to_months(${months}) + to_days(${days}) + to_microseconds(${micros}) AS TEXT)`,
        )
        .join(' UNION ALL '),
    );
    // DuckDB says months for mons, -1 day for -1 days, and puts no plus behind a minus.
    const ours = samples.map(([months, days, micros]) =>
      intervalText({ months, days, micros }).replaceAll('mon', 'month').replaceAll('+', ''),
    );
    expect(ours).toEqual(
      rows.map(([text]) => (text as string).replaceAll(/-1 (year|month|day)\b/g, '-1 $1s')),
    );
  });
});

test('what can be cast at all is what the documentation says', () => {
  const targets = (from: SqlType): string[] =>
    SCALARS.filter((to) => to.tag !== from.tag && canCast(from, to)).map(({ tag }) => tag);
  expect(targets(DATE)).toEqual(['text', 'timestamp', 'timestamp_ns', 'timestamptz']);
  expect(targets(TIME)).toEqual(['text', 'interval']);
  expect(targets(INTERVAL)).toEqual(['text', 'time']);
  expect(targets(BYTEA)).toEqual(['text']);
  expect(targets(TIMESTAMP)).toEqual(['text', 'timestamp_ns', 'timestamptz', 'date', 'time']);
  expect(targets(FLOAT64)).toEqual([
    ...WHOLE.map(({ tag }) => tag),
    'decimal',
    'float32',
    'text',
    'json',
  ]);
});
