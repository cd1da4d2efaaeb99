import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeBuilder, emptyColumn, nullColumn } from '../../src/batch/column-builder.ts';
import { constantColumn } from '../../src/batch/constant-column.ts';
import { concatBatches } from '../../src/batch/concat.ts';
import type { BooleanColumn, Column } from '../../src/batch/column.ts';
import { partitionBatch } from '../../src/batch/partition.ts';
import { compareValues, equalRows } from '../../src/batch/row-equal.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import {
  filterBatch,
  filterBatchWhere,
  sliceBatch,
  takeBatch,
  takeColumn,
} from '../../src/batch/take.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  WINDOW,
  decimalType,
} from '../../src/batch/types.ts';
import { columnFromValues, rowsOf, valueAt } from '../../src/batch/values.ts';
import { keyRangeOf } from '../../src/base/hash.ts';
import { anySample, anyType, anyValue } from './arbitrary.ts';
import type { Sample } from './arbitrary.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';

/** Everything observable of a batch, as plain values. */
const seen = (sample: Sample, batch: RecordBatch): unknown => ({
  rows: rowsOf(batch, sample.schema),
  times:
    batch.eventTime === null
      ? null
      : rowsOf({ ...batch, columns: [batch.eventTime] }, [
          { name: 't', type: TIMESTAMP, nullable: false },
        ]),
  retract: batch.retract === null ? null : [...batch.retract],
});

/** What picking these rows must give, worked out on plain values. */
const picked = (sample: Sample, indices: readonly number[]): unknown => ({
  rows: indices.map((index) => sample.rows[index]),
  times:
    sample.batch.eventTime === null
      ? null
      : indices.map((index) => ({ t: (BigInt(index) << 32n) + BigInt(index * 7 + 1) })),
  retract: sample.batch.retract === null ? null : indices.map((index) => (index % 3 === 0 ? 1 : 0)),
});

const all = (sample: Sample): number[] => sample.rows.map((_, index) => index);

test('values put into a batch come out again', () => {
  fc.assert(
    fc.property(anySample, (sample) => {
      expect(seen(sample, sample.batch)).toEqual(picked(sample, all(sample)));
    }),
  );
});

test('taking rows gives those rows in that order', () => {
  fc.assert(
    fc.property(anySample, fc.array(fc.nat(), { maxLength: 30 }), (sample, wanted) => {
      const indices =
        sample.rows.length === 0 ? [] : wanted.map((index) => index % sample.rows.length);
      const taken = takeBatch(sample.batch, Int32Array.from(indices), indices.length);
      expect(seen(sample, taken)).toEqual(picked(sample, indices));
    }),
  );
});

test('a negative index takes a NULL', () => {
  fc.assert(
    fc.property(
      anyType.chain((type) =>
        fc.tuple(fc.constant(type), fc.array(anyValue(type), { minLength: 1, maxLength: 9 })),
      ),
      ([type, values]) => {
        const indices = Int32Array.from([-1, 0, -1, values.length - 1]);
        const taken = takeColumn(columnFromValues(type, values), indices, 4);
        expect([0, 1, 2, 3].map((row) => valueAt(taken, row))).toEqual([
          null,
          values[0],
          null,
          values.at(-1),
        ]);
      },
    ),
  );
});

test('slices of a batch joined again give the batch', () => {
  fc.assert(
    fc.property(anySample, fc.array(fc.nat(40), { maxLength: 4 }), (sample, cuts) => {
      const bounds = [
        0,
        ...cuts.map((cut) => Math.min(cut, sample.rows.length)),
        sample.rows.length,
      ].sort((a, b) => a - b);
      const parts = bounds
        .slice(1)
        .map((to, index) => sliceBatch(sample.batch, bounds[index] as number, to));
      expect(seen(sample, concatBatches(parts))).toEqual(picked(sample, all(sample)));
      const backwards = parts.map((_, index) =>
        all(sample).slice(bounds[index], bounds[index + 1]),
      );
      expect(seen(sample, concatBatches([...parts].reverse()))).toEqual(
        picked(sample, backwards.reverse().flat()),
      );
      for (const [index, part] of parts.entries()) {
        expect(seen(sample, part)).toEqual(
          picked(sample, all(sample).slice(bounds[index], bounds[index + 1])),
        );
        // A slice is a batch like any other: taking and slicing it again must work.
        const again = sliceBatch(part, part.rows >> 1, part.rows);
        expect(seen(sample, again)).toEqual(
          picked(
            sample,
            all(sample).slice((bounds[index] as number) + (part.rows >> 1), bounds[index + 1]),
          ),
        );
      }
    }),
  );
});

test('filters keep the rows that are kept, and a NULL condition keeps nothing', () => {
  fc.assert(
    fc.property(
      anySample,
      fc.array(fc.constantFrom(true, false, null), { minLength: 40, maxLength: 40 }),
      (sample, flags) => {
        const kept = all(sample).filter((index) => flags[index] === true);
        const bytes = Uint8Array.from(sample.rows, (_, index) => (flags[index] === true ? 2 : 0));
        expect(seen(sample, filterBatch(sample.batch, bytes))).toEqual(picked(sample, kept));
        const condition = columnFromValues(
          BOOLEAN,
          flags.slice(0, sample.rows.length),
        ) as BooleanColumn;
        expect(seen(sample, filterBatchWhere(sample.batch, condition))).toEqual(
          picked(sample, kept),
        );
        // What stands behind a NULL is arbitrary.
        const noisy = { ...condition, bits: new Uint8Array(condition.bits.length).fill(255) };
        const present = all(sample).filter((index) => flags[index] !== null);
        expect(seen(sample, filterBatchWhere(sample.batch, noisy))).toEqual(
          picked(sample, present),
        );
      },
    ),
  );
});

test('a builder can be used again after its column was handed on', () => {
  fc.assert(
    fc.property(
      anyType.chain((type) =>
        fc.tuple(fc.constant(type), fc.array(anyValue(type)), fc.array(anyValue(type))),
      ),
      ([type, first, second]) => {
        const builder = makeBuilder(type, 1);
        const source = columnFromValues(type, [...first, ...second]);
        for (let row = 0; row < first.length; row++) builder.appendFrom(source, row);
        const one = builder.finish();
        for (let row = 0; row < second.length; row++)
          builder.appendFrom(source, first.length + row);
        const two = builder.finish();
        expect(first.map((_, row) => valueAt(one, row))).toEqual(first);
        expect(second.map((_, row) => valueAt(two, row))).toEqual(second);
        expect([one.length, two.length]).toEqual([first.length, second.length]);
      },
    ),
  );
});

test('constant, empty and NULL columns hold what they say', () => {
  const values = (column: Column): unknown[] =>
    Array.from({ length: column.length }, (_, row) => valueAt(column, row));
  expect(values(constantColumn(INT64, '-9223372036854775808', 3))).toEqual([
    -(2n ** 63n),
    -(2n ** 63n),
    -(2n ** 63n),
  ]);
  expect(values(constantColumn(INT32, -7, 2))).toEqual([-7, -7]);
  expect(values(constantColumn(BOOLEAN, true, 9))).toEqual(new Array(9).fill(true));
  expect(values(constantColumn(BOOLEAN, false, 9))).toEqual(new Array(9).fill(false));
  expect(values(constantColumn(FLOAT64, 'NaN', 2))).toEqual([NaN, NaN]);
  expect(values(constantColumn(FLOAT64, '-Infinity', 1))).toEqual([-Infinity]);
  expect(values(constantColumn(TEXT, 'aé😀', 3))).toEqual(['aé😀', 'aé😀', 'aé😀']);
  expect(values(constantColumn(decimalType(38, 2), '-12345678901234567890', 2))).toEqual(
    new Array(2).fill('-123456789012345678.90'),
  );
  expect(values(constantColumn(TIMESTAMP, '1', 1))).toEqual([1n]);
  for (const type of [BOOLEAN, INT32, INT64, FLOAT64, TEXT, TIMESTAMP, decimalType(5, 2), WINDOW]) {
    expect(emptyColumn(type).length).toBe(0);
    expect(values(nullColumn(type, 10))).toEqual(new Array(10).fill(null));
    expect(values(constantColumn(type, null, 3))).toEqual([null, null, null]);
  }
});

const hashesOf = (columns: readonly Column[], rows: number): number[] => {
  const out = new Uint32Array(rows);
  hashRows(columns, rows, out);
  return [...out];
};

test('equal rows hash equal wherever they stand, and most others do not', () => {
  fc.assert(
    fc.property(anySample, (sample) => {
      const { batch } = sample;
      const hashes = hashesOf(batch.columns, batch.rows);
      const reversed = takeBatch(batch, Int32Array.from(all(sample).reverse()), batch.rows);
      expect(hashesOf(reversed.columns, batch.rows).reverse()).toEqual(hashes);
      for (let at = 1; at < batch.rows; at++) {
        const equal = equalRows(batch.columns, at, batch.columns, at - 1);
        expect(equal).toBe(
          sample.schema.every(
            (_, index) =>
              compareValues(
                batch.columns[index] as Column,
                at,
                batch.columns[index] as Column,
                at - 1,
              ) === 0,
          ),
        );
        if (equal) expect(hashes[at]).toBe(hashes[at - 1]);
      }
    }),
  );
  const many = columnFromValues(
    INT64,
    Array.from({ length: 5000 }, (_, index) => BigInt(index)),
  );
  expect(new Set(hashesOf([many], 5000)).size).toBeGreaterThan(4990);
});

test('the two zeros hash equal, all NaN hash equal, and NULL is a value of its own', () => {
  const cells = new Float64Array([0, -0, NaN, NaN]);
  new Uint32Array(cells.buffer)[6] = 0x1234;
  const column: Column = {
    tag: 'float64',
    type: FLOAT64,
    length: 4,
    validity: null,
    values: cells,
  };
  const [zero, minus, nan, other] = hashesOf([column], 4);
  expect([minus, other]).toEqual([zero, nan]);
  expect(compareValues(column, 0, column, 1)).toBe(0);
  expect(compareValues(column, 2, column, 3)).toBe(0);
  const ints = columnFromValues(INT32, [null, 0, null]);
  const [first, value, last] = hashesOf([ints], 3);
  expect(first).toBe(last);
  expect(first).not.toBe(value);
  expect(equalRows([ints], 0, [ints], 2)).toBe(true);
});

test('the hash of each type is what it was when state was first written', () => {
  const pinned = (column: Column): number[] => hashesOf([column], column.length);
  expect({
    int32: pinned(columnFromValues(INT32, [1, -1, null])),
    int64: pinned(columnFromValues(INT64, [1n, -1n])),
    float64: pinned(columnFromValues(FLOAT64, [1, 0.1])),
    text: pinned(columnFromValues(TEXT, ['', 'abc'])),
    boolean: pinned(columnFromValues(BOOLEAN, [true, false])),
    decimal: pinned(columnFromValues(decimalType(10, 2), ['1.00', '-1.00'])),
  }).toMatchInlineSnapshot(`
    {
      "boolean": [
        1364076727,
        0,
      ],
      "decimal": [
        4167200391,
        4170823860,
      ],
      "float64": [
        2524143827,
        2321808256,
      ],
      "int32": [
        1364076727,
        2180083513,
        2578158840,
      ],
      "int64": [
        812446908,
        2707739815,
      ],
      "text": [
        2957072894,
        3953812550,
      ],
    }
  `);
});

test('order is by value: NULL last, NaN after every number, text by code point', () => {
  const order = (column: Column): number[] =>
    Array.from({ length: column.length }, (_, row) => row).sort((left, right) =>
      compareValues(column, left, column, right),
    );
  expect(order(columnFromValues(FLOAT64, [NaN, null, Infinity, -1, 0]))).toEqual([3, 4, 2, 0, 1]);
  expect(order(columnFromValues(TEXT, ['😀', '｡', 'a', 'ab', '']))).toEqual([4, 2, 3, 1, 0]);
  expect(order(columnFromValues(INT64, [1n, -1n, 2n ** 32n, -(2n ** 32n), 2n ** 31n]))).toEqual([
    3, 1, 0, 4, 2,
  ]);
  expect(
    order(
      columnFromValues(decimalType(38, 0), [
        '10',
        '-10',
        `1${'0'.repeat(37)}`,
        `-1${'0'.repeat(37)}`,
      ]),
    ),
  ).toEqual([3, 1, 0, 2]);
  expect(order(columnFromValues(BOOLEAN, [true, false]))).toEqual([1, 0]);
});

test('partitions hold every row once, in order, with its owner', () => {
  fc.assert(
    fc.property(anySample, fc.integer({ min: 1, max: 9 }), (sample, count) => {
      const hashes = new Uint32Array(sample.rows.length);
      hashRows(sample.batch.columns, sample.rows.length, hashes);
      const parts = partitionBatch(sample.batch, hashes, count);
      expect(parts).toHaveLength(count);
      for (const [owner, part] of parts.entries()) {
        const { lower, upper } = keyRangeOf(owner, count);
        const mine = all(sample).filter(
          (row) => (hashes[row] as number) >= lower && (hashes[row] as number) < upper,
        );
        if (part === null) expect(mine).toEqual([]);
        else expect(seen(sample, part)).toEqual(picked(sample, mine));
      }
    }),
  );
});
