import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import {
  BOOLEAN,
  BYTEA,
  DATE,
  FLOAT32,
  FLOAT64,
  INT32,
  INT64,
  INT8,
  INTERVAL,
  JSON_TYPE,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  UINT32,
  UINT64,
  decimalType,
  listType,
} from '../../src/batch/types.ts';
import { type Value, columnFromValues, valueAt } from '../../src/batch/values.ts';
import {
  type Reply,
  type Signature,
  checkModule,
  runFunction,
} from '../../src/sandbox/run-function.ts';
import { anyType, anyValue } from '../batch/arbitrary.ts';

const SEED = 5_2026;

const signature = (parts: Partial<Signature>): Signature => ({
  kind: 'scalar',
  waits: false,
  parameters: [],
  returns: TEXT,
  calledOnNull: false,
  timeoutMs: 50,
  retries: 0,
  concurrency: 2,
  ...parts,
});

const valuesOf = (column: Column): Value[] =>
  Array.from({ length: column.length }, (_, row) => valueAt(column, row));

/** Runs `call` for each value of a column of one type. */
function run(
  call: unknown,
  type: SqlType,
  values: readonly Value[],
  parts: Partial<Signature>,
): Reply {
  const request = { rows: values.length, columns: [columnFromValues(type, values)] };
  const parameters = [{ name: 'x', type }];
  return runFunction({ default: call }, signature({ parameters, ...parts }), request) as Reply;
}

/** What the code sees of one value. */
function seen(type: SqlType, value: Value): unknown {
  let found: unknown;
  run((x: unknown) => void (found = x), type, [value], {});
  return found;
}

test('a value of any type goes in and comes back as it is', () => {
  const typed = anyType.chain((type) =>
    fc.tuple(fc.constant(type), fc.array(anyValue(type), { maxLength: 12 })),
  );
  fc.assert(
    fc.property(typed, ([type, values]) => {
      const before = columnFromValues(type, values);
      const { columns, errors } = run((x: unknown) => x, type, values, { returns: type });
      expect(errors).toEqual([]);
      // JSON is read and written anew, so its text may be another one of the same value.
      if (JSON.stringify(type).includes('"json"')) return;
      expect(valuesOf(columns[0] as Column)).toEqual(valuesOf(before));
    }),
    { seed: SEED, numRuns: 400 },
  );
});

test('arguments look as the documents say', () => {
  expect(seen(INT32, 7)).toBe(7);
  expect(seen(UINT32, 4_294_967_295n)).toBe(4_294_967_295);
  expect(seen(INT64, 9_007_199_254_740_993n)).toBe(9_007_199_254_740_993n);
  expect(seen(UINT64, 2n ** 64n - 1n)).toBe(2n ** 64n - 1n);
  expect(seen(decimalType(10, 2), '12.50')).toBe('12.50');
  expect(seen(TEXT, 'Zoë')).toBe('Zoë');
  expect(seen(JSON_TYPE, '{"a":[1,null]}')).toEqual({ a: [1, null] });
  expect(seen(BYTEA, '\\x00ff')).toEqual(Uint8Array.of(0, 255));
  expect(seen(TIMESTAMP, '2026-01-01T00:00:00.123456')).toBe('2026-01-01T00:00:00.123456Z');
  expect(seen(TIMESTAMPTZ, '2026-01-01T00:00:00Z')).toBe('2026-01-01T00:00:00Z');
  expect(seen(TIMESTAMP_NS, 1n)).toBe('1970-01-01T00:00:00.000000001Z');
  expect(seen(DATE, 1)).toBe('1970-01-02');
  expect(seen(TIME, 3_600_500_000n)).toBe('01:00:00.5');
  expect(seen(INTERVAL, '14 3 7200000000')).toBe('1 year 2 mons 3 days 02:00:00');
  expect(seen(listType(INT64), [1n, null])).toEqual([1n, null]);
  const struct: SqlType = { tag: 'struct', fields: [{ name: 'a', type: BOOLEAN, nullable: true }] };
  expect(seen(struct, { a: true })).toEqual({ a: true });
});

const FITS: [SqlType, unknown, Value][] = [
  [INT64, 5, 5n],
  [INT32, 5n, 5],
  [decimalType(5, 2), 1.256, '1.26'],
  [decimalType(20, 0), 9_007_199_254_740_993n, '9007199254740993'],
  [FLOAT32, 0.1, Math.fround(0.1)],
  [FLOAT64, NaN, NaN],
  [TIMESTAMP, new Date(0), 0n],
  [TIMESTAMPTZ, '2026-01-01T01:00:00+01:00', 1_767_225_600_000_000n],
  [{ tag: 'timestamp', precision: 0 }, '1970-01-01T00:00:01.5Z', 2_000_000n],
  [DATE, new Date(86_400_000), 1],
  [JSON_TYPE, { b: [true] }, '{"b":[true]}'],
  [BYTEA, new ArrayBuffer(1), '\\x00'],
  [TEXT, undefined, null],
  [listType(INT32), [1, undefined], [1, null]],
];

test.each(FITS)('a %j may be given as %o', (returns, result, value) => {
  const { columns, errors } = run(() => result, INT32, [1], { returns });
  expect(errors).toEqual([]);
  expect(valueAt(columns[0] as Column, 0)).toEqual(value);
});

const REFUSED: [SqlType, unknown, string][] = [
  [INT8, 128, 'it returned the number 128, which is no TINYINT'],
  [INT32, 1.5, 'it returned the number 1.5, which is no INT'],
  [INT64, 2 ** 53, 'it returned the number 9007199254740992, which is no BIGINT'],
  [INT64, 2n ** 63n, 'it returned the bigint 9223372036854775808n, which is no BIGINT'],
  [UINT64, -1n, 'it returned the bigint -1n, which is no BIGINT UNSIGNED'],
  [INT32, '1', 'it returned the string "1", which is no INT'],
  [TEXT, 1, 'it returned the number 1, which is no TEXT'],
  [BOOLEAN, 0, 'it returned the number 0, which is no BOOLEAN'],
  [decimalType(3, 1), '100', 'it returned the string "100", which is no DECIMAL(3, 1)'],
  [TIMESTAMP, 'soon', 'it returned the string "soon", which is no TIMESTAMP'],
  [TIMESTAMP, new Date(NaN), 'it returned an object (Date), which is no TIMESTAMP'],
  [
    TEXT,
    Promise.resolve('x'),
    'it returned a promise (a function that waits is made by CREATE ASYNC FUNCTION), which is no TEXT',
  ],
  [listType(INT32), [1, 'x'], 'it returned the string "x", which is no INT'],
  [
    { tag: 'struct', fields: [{ name: 'a', type: INT32, nullable: true }] },
    { a: 1, b: 2 },
    'it returned an object with "b"; the fields are a',
  ],
];

test.each(REFUSED)('a %j is not %o', (returns, result, message) => {
  expect(run(() => result, INT32, [1], { returns }).errors).toEqual([{ row: 0, message }]);
});

test('a row that throws fails alone', () => {
  const call = (x: number): number => {
    // oxlint-disable-next-line no-throw-literal
    if (x === 3) throw 'a text';
    if (x % 2 === 0) throw new RangeError('even');
    return x * 10;
  };
  const { columns, errors } = run(call, INT32, [1, 2, 3, 5], { returns: INT32 });
  expect(valuesOf(columns[0] as Column)).toEqual([10, null, null, 50]);
  expect(errors).toEqual([
    { row: 1, message: 'even' },
    { row: 2, message: 'a text' },
  ]);
});

test('results beyond the limit of a call are errors of the rows that bring them', () => {
  const long = 'x'.repeat(9_000_000);
  const { columns, errors } = run((x: number) => (x === 2 ? 'short' : long), INT32, [1, 1, 2], {});
  expect(errors.map(({ row }) => row)).toEqual([1]);
  expect(errors[0]?.message).toContain('the results of one call have more than');
  expect(valueAt(columns[0] as Column, 2)).toBe('short');
});

describe('table functions', () => {
  const fields = [
    { name: 'a', type: INT32, nullable: true },
    { name: 'b', type: TEXT, nullable: true },
  ];
  const table = { kind: 'table' as const, returns: { tag: 'struct' as const, fields } };

  test('give objects, arrays, or both, by yield and by return', () => {
    const call = function* (x: number): Generator<unknown, unknown> {
      if (x === 0) return null;
      yield { a: x };
      yield [x, 'y'];
      return [{ b: 'last' }];
    };
    const { columns, counts, errors } = run(call, INT32, [1, 0, 2], table);
    expect(errors).toEqual([]);
    expect([...(counts ?? [])]).toEqual([3, 0, 3]);
    expect(columns.map(valuesOf)).toEqual([
      [1, 1, null, 2, 2, null],
      [null, 'y', 'last', null, 'y', 'last'],
    ]);
  });

  test('a row of theirs that does not fit fails the row they were called for', () => {
    const { counts, errors } = run((x: number) => [{ a: x }, { a: 'x' }], INT32, [1], table);
    expect([...(counts ?? [])]).toEqual([0]);
    expect(errors).toEqual([{ row: 0, message: 'it returned the string "x", which is no INT' }]);
    expect(run(() => 5, INT32, [1], table).errors[0]?.message).toBe(
      'a table function yields rows or returns an array of them',
    );
  });
});

describe('aggregate functions', () => {
  const fields = [
    { name: 'x', type: INT32, nullable: true },
    { name: 'w', type: INT32, nullable: true },
  ];
  const pairs: Value[] = [
    [
      { x: 1, w: 10 },
      { x: null, w: 20 },
      { x: 3, w: 30 },
    ],
    null,
    [],
  ];
  const module = {
    init: () => ({ sum: 0, n: 0 }),
    accumulate: (state: { sum: number; n: number }, x: number, w: number) => {
      state.sum += x * w;
      state.n++;
    },
    finish: ({ sum, n }: { sum: number; n: number }) => `${sum}/${n}`,
  };
  const request = {
    rows: pairs.length,
    columns: [columnFromValues(listType({ tag: 'struct', fields }), pairs)],
  };
  const parts = signature({ kind: 'aggregate', parameters: fields });

  test('fold the rows without NULL, one after the other or as arrays', () => {
    const folded = runFunction(module, parts, request) as Reply;
    expect(valuesOf(folded.columns[0] as Column)).toEqual(['100/2', '0/0', '0/0']);
    const arrays = { default: (x: number[], w: number[]) => `${x.join()};${w.join()}` };
    const given = runFunction(arrays, parts, request) as Reply;
    expect(valuesOf(given.columns[0] as Column)).toEqual(['1,3;10,30', ';', ';']);
  });

  test('get NULLs when they want them', () => {
    const arrays = { default: (x: unknown[]) => JSON.stringify(x) };
    const given = runFunction(arrays, { ...parts, calledOnNull: true }, request) as Reply;
    expect(valueAt(given.columns[0] as Column, 0)).toBe('[1,null,3]');
  });

  test('are told what they lack', () => {
    expect(checkModule(module, parts)).toBeNull();
    expect(checkModule({ init: module.init }, parts)).toBe(
      'the module exports neither a default function nor accumulate, finish',
    );
    expect(checkModule(module, signature({}))).toBe(
      'the module has no function as its default export',
    );
  });
});

describe('functions that wait', () => {
  test('answer in any order, a few at once, and rows keep theirs', async () => {
    let running = 0;
    let most = 0;
    const call = async (x: number): Promise<number> => {
      most = Math.max(most, ++running);
      for (let turn = 0; turn < 5 - x; turn++) await Promise.resolve();
      running--;
      return x;
    };
    const reply = await run(call, INT32, [1, 2, 3, 4], {
      waits: true,
      returns: INT32,
      concurrency: 3,
    });
    expect(valuesOf(reply.columns[0] as Column)).toEqual([1, 2, 3, 4]);
    expect(most).toBe(3);
  });

  test('are tried again as often as said, and fail alone', async () => {
    const attempts = new Map<number, number>();
    const call = async (x: number): Promise<number> => {
      const attempt = (attempts.get(x) ?? 0) + 1;
      attempts.set(x, attempt);
      if (attempt < x) throw new Error(`attempt ${attempt}`);
      return await Promise.resolve(attempt);
    };
    const reply = await run(call, INT32, [1, 3, 4], { waits: true, returns: INT32, retries: 2 });
    expect(valuesOf(reply.columns[0] as Column)).toEqual([1, 3, null]);
    expect(reply.errors).toEqual([{ row: 2, message: 'attempt 3' }]);
  });

  test('have a time for each row', async () => {
    const call = (x: number): Promise<number> =>
      x === 2 ? new Promise(() => undefined) : Promise.resolve(x);
    const reply = await run(call, INT32, [1, 2, 3], { waits: true, returns: INT32, timeoutMs: 5 });
    expect(reply.errors).toEqual([{ row: 1, message: 'no answer within 5 ms' }]);
    expect(valuesOf(reply.columns[0] as Column)).toEqual([1, null, 3]);
  });
});
