import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Column } from '../../src/batch/column.ts';
import { columnFromValues, valueAt, type Value } from '../../src/batch/values.ts';
import {
  BOOLEAN,
  decimalType,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  type SqlType,
} from '../../src/batch/types.ts';
import { allGroups, GroupIndex } from '../../src/state/group-index.ts';
import { makeColumnStore } from '../../src/state/column-store.ts';

const STRUCT: SqlType = {
  tag: 'struct',
  fields: [
    { name: 'a', type: INT32, nullable: true },
    { name: 'b', type: TEXT, nullable: true },
  ],
};

/** Few different values, so that groups repeat. */
const valueOf: Record<string, fc.Arbitrary<Value>> = {
  int32: fc.constantFrom<Value>(null, 0, 1, -1, 2147483647),
  int64: fc.constantFrom<Value>(null, 0n, 1n, -1n, 9223372036854775807n, 4294967296n),
  timestamp: fc.constantFrom<Value>(null, 0n, 1700000000000000n),
  float64: fc.constantFrom<Value>(null, 0, 1.5, NaN, Infinity),
  decimal: fc.constantFrom<Value>(null, '0.00', '1.25', '-99999999.99'),
  text: fc.constantFrom<Value>(null, '', 'a', 'ab', 'ä', 'x'.repeat(100)),
  boolean: fc.constantFrom<Value>(null, true, false),
  struct: fc.constantFrom<Value>(null, { a: 1, b: 'x' }, { a: null, b: 'x' }, { a: 1, b: null }),
};
const TYPES: SqlType[] = [
  INT32,
  INT64,
  TIMESTAMP,
  FLOAT64,
  decimalType(10, 2),
  TEXT,
  BOOLEAN,
  STRUCT,
];

const keyText = (values: readonly Value[]): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === 'bigint' ? `n${value}` : typeof value === 'number' ? `f${value}` : value,
  );

const typesArbitrary = fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 3 });
const caseArbitrary = typesArbitrary.chain((types) =>
  fc.record({
    types: fc.constant(types),
    rows: fc.array(fc.tuple(...types.map((type) => valueOf[type.tag] as fc.Arbitrary<Value>)), {
      maxLength: 200,
    }),
    batch: fc.integer({ min: 1, max: 50 }),
    /** Room that is made before a batch, whether there is so much already or not. */
    rooms: fc.array(fc.nat({ max: 100 }), { minLength: 1, maxLength: 4 }),
  }),
);

test('rows are in one group exactly when their keys are equal, and keys read back', () => {
  fc.assert(
    fc.property(caseArbitrary, ({ types, rows, batch, rooms }) => {
      const index = new GroupIndex(types);
      const groupOfKey = new Map<string, number>();
      for (let from = 0; from < rows.length; from += batch) {
        const part = rows.slice(from, from + batch);
        const columns = types.map((type, at) =>
          columnFromValues(
            type,
            part.map((row) => row[at] as Value),
          ),
        );
        const out = new Int32Array(part.length);
        index.reserve(rooms[(from / batch) % rooms.length] as number);
        index.lookupOrInsert(columns, 0, part.length, out);
        part.forEach((row, at) => {
          const key = keyText(row);
          if (!groupOfKey.has(key)) groupOfKey.set(key, groupOfKey.size);
          expect(out[at]).toBe(groupOfKey.get(key));
        });
      }
      expect(index.count).toBe(groupOfKey.size);
      const keys = index.keyColumns(allGroups(index.count));
      const read = Array.from({ length: index.count }, (_, at) =>
        keyText(keys.map((key) => valueAt(key, at))),
      );
      expect(read).toEqual([...groupOfKey.keys()]);
      const odd = allGroups(index.count).filter((group) => group % 2 === 1);
      const kept = index.retain(odd);
      expect(kept.count).toBe(odd.length);
      const again = new Int32Array(odd.length);
      kept.lookupOrInsert(index.keyColumns(odd), 0, odd.length, again);
      expect([...again]).toEqual([...allGroups(odd.length)]);
    }),
    { numRuns: 200 },
  );
});

/** Keys that the table of a single key would send to one slot, by multiplication alone or even after mixing. */
const HOSTILE: Record<string, (at: number) => bigint> = {
  'with one and the same hash': (at) =>
    (BigInt(at) << 32n) | BigInt(Math.imul(at, 0x85ebca6b) >>> 0),
  // 0xe8b2f51 is the inverse of the table's factor modulo 2^32: products are 0, 1, 2, …
  'whose products are neighbours': (at) => BigInt(Math.imul(at, 0xe8b2f51) >>> 0),
};

test.each(Object.entries(HOSTILE))('keys %s stay apart', (_, keyOf) => {
  const count = 3000;
  const keys = Array.from({ length: count }, (_row, at) => BigInt.asIntN(64, keyOf(at)));
  const column = columnFromValues(INT64, keys);
  const index = new GroupIndex([INT64]);
  const out = new Int32Array(count);
  for (let turn = 0; turn < 2; turn++) {
    index.lookupOrInsert([column], 0, count, out);
    expect([...out]).toEqual([...allGroups(count)]);
  }
  expect(index.count).toBe(count);
});

test('only the rows asked for are looked up, and the first of them is answered first', () => {
  for (const types of [[INT64], [INT32], [TEXT], [STRUCT], [INT64, TEXT], [FLOAT64]]) {
    const columns = types.map((type) =>
      columnFromValues(
        type,
        Array.from({ length: 20 }, (_, at): Value => sample(type, at)),
      ),
    );
    const index = new GroupIndex(types);
    const out = new Int32Array(7);
    index.lookupOrInsert(columns, 9, 16, out);
    expect([...out]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(index.count).toBe(7);
    index.lookupOrInsert(columns, 12, 14, out);
    expect([...out.subarray(0, 2)]).toEqual([3, 4]);
  }
});

/** The value number `at` of a type, different for each. */
function sample(type: SqlType, at: number): Value {
  if (type.tag === 'int64') return BigInt(at);
  if (type.tag === 'text') return `text ${at}`;
  return type.tag === 'struct' ? { a: at, b: null } : at;
}

test('no key columns at all make one group', () => {
  const index = new GroupIndex([]);
  const out = new Int32Array(5).fill(9);
  index.lookupOrInsert([], 0, 5, out);
  expect([...out]).toEqual([0, 0, 0, 0, 0]);
  expect(index.count).toBe(1);
});

test('a store that is rewritten again and again keeps the last values and does not grow without bound', () => {
  const store = makeColumnStore(TEXT);
  const long = (seed: number): string => String(seed).repeat(300);
  const first = columnFromValues(
    TEXT,
    Array.from({ length: 100 }, (_, at) => long(at)),
  );
  for (let at = 0; at < 100; at++) store.append(first, at);
  for (let round = 0; round < 50; round++) {
    const next = columnFromValues(
      TEXT,
      Array.from({ length: 100 }, (_, at) => (at % 9 === 0 ? null : long(at + round))),
    );
    for (let at = 0; at < 100; at++) store.set(at, next, at);
  }
  const column = store.gather(allGroups(100));
  for (let at = 0; at < 100; at++)
    expect(valueAt(column, at)).toBe(at % 9 === 0 ? null : long(at + 49));
  expect(store.bytes()).toBeLessThan(400_000);
});

test.each([
  { type: INT64, values: [7n, 8n, 9n] },
  { type: FLOAT64, values: [7, 8, 9] },
])('what a store of $type.tag gives has every row asked for, and is a copy', ({ type, values }) => {
  const store = makeColumnStore(type);
  const column = columnFromValues(type, values);
  for (let at = 0; at < 3; at++) store.append(column, at);
  const gathered = store.gather(allGroups(3));
  store.set(1, column, 0);
  expect([0, 1, 2].map((at) => valueAt(gathered, at))).toEqual(values);
  // Groups may be named before anything was put for them, also beyond the room there is.
  const wide = store.gather(allGroups(100));
  const words = 'words' in wide ? wide.words.length / 2 : 'values' in wide && wide.values.length;
  expect(words).toBe(100);
  expect([0, 1, 2].map((at) => valueAt(wide, at))).toEqual([values[0], values[0], values[2]]);
});

/** Stretches of keys as they come: counted up or down, anywhere in a range, alike in distance, and far from all others. */
const stretch = fc.oneof(
  fc.record({ tag: fc.constant('up' as const), from: fc.nat(3000), count: fc.nat(400) }),
  fc.record({ tag: fc.constant('down' as const), from: fc.nat(3000), count: fc.nat(400) }),
  fc.record({ tag: fc.constant('among' as const), from: fc.nat(3000), count: fc.nat(2500) }),
  fc.record({ tag: fc.constant('far' as const), from: fc.nat(1), count: fc.nat(3) }),
  fc.record({ tag: fc.constant('null' as const), from: fc.nat(1), count: fc.nat(2) }),
);
const origins = [0, -1500, 2 ** 31 - 900, 2 ** 32 - 900, -(2 ** 32) - 900, 1_700_000_000_000_000];

test.each(['BIGINT', 'INT'])(
  'keys of %s that lie close together, or did, have numbers of their own',
  (name) => {
    const type = name === 'INT' ? INT32 : INT64;
    const lowest = name === 'INT' ? -(2 ** 31) : -(2 ** 53);
    fc.assert(
      fc.property(
        fc.constantFrom(
          ...origins.filter(
            (origin) => origin > lowest && (name !== 'INT' || origin < 2 ** 31 - 1),
          ),
        ),
        fc.array(stretch, { maxLength: 8 }),
        fc.integer({ min: 1, max: 900 }),
        (origin, stretches, rows) => {
          const keys = stretches.flatMap(({ tag, from, count }) =>
            Array.from({ length: count }, (_, at): number | null => {
              if (tag === 'null') return null;
              if (tag === 'far') return at % 2 === 0 ? lowest + 1 + at : 7 + at * 1_000_003;
              const step =
                tag === 'up' ? at : tag === 'down' ? -at : Math.imul(at, 0x9e3779b1) >>> 20;
              const key = origin + from + step;
              return name === 'INT' ? key | 0 : key;
            }),
          );
          const column = columnFromValues(
            type,
            keys.map((key) => (key === null ? null : name === 'INT' ? key : BigInt(key))),
          );
          const index = new GroupIndex([type]);
          const numbers = new Map<number | null, number>();
          for (let begin = 0; begin < keys.length; begin += rows) {
            const end = Math.min(keys.length, begin + rows);
            const out = new Int32Array(end - begin);
            index.lookupOrInsert([column], begin, end, out);
            const wanted = keys.slice(begin, end).map((key) => {
              if (!numbers.has(key)) numbers.set(key, numbers.size);
              return numbers.get(key);
            });
            expect([...out]).toEqual(wanted);
          }
          expect(index.count).toBe(numbers.size);
          const back = index.keyColumns(allGroups(index.count))[0] as Column;
          const values = Array.from({ length: back.length }, (_, at) => valueAt(back, at));
          expect(values.map((value) => (value === null ? null : Number(value)))).toEqual([
            ...numbers.keys(),
          ]);
        },
      ),
      { seed: 20_261_130, numRuns: 120 },
    );
  },
);
