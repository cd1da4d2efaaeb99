/** The kernel that writes NDJSON against its twin: the same bytes, and the same count of what JSON cannot express. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { sliceBatch } from '../../src/batch/take.ts';
import type { RecordBatch } from '../../src/batch/record-batch.ts';
import { INT32, INT64, TEXT, TIMESTAMP, decimalType } from '../../src/batch/types.ts';
import type { Schema, SqlType } from '../../src/batch/types.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import type { Row, Value } from '../../src/batch/values.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { FormatSpec } from '../../src/formats/format.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { kernel, useKernels } from '../../src/kernels/kernels.ts';
import { anySample } from '../batch/arbitrary.ts';

beforeAll(() => useKernels(readKernels()));
afterAll(() => useKernels(null));

const SPECS: readonly FormatSpec[] = [
  JSON_FORMAT,
  { ...JSON_FORMAT, decimalEncoding: 'string' },
  { ...JSON_FORMAT, timestampFormat: 'rfc3339' },
  { ...JSON_FORMAT, timestampFormat: 'unix_seconds' },
  { ...JSON_FORMAT, timestampFormat: 'unix_micros' },
];

function expectEqual(schema: Schema, batch: RecordBatch, spec: FormatSpec): void {
  const found = new JsonEncoder(schema, spec, 0);
  const wanted = new JsonEncoder(schema, spec, Infinity);
  const left = found.encode(batch);
  const right = wanted.encode(batch);
  if (Buffer.compare(left, right) !== 0)
    expect(Buffer.from(left).toString('latin1')).toBe(Buffer.from(right).toString('latin1'));
  expect(found.nonFinite).toBe(wanted.nonFinite);
}

test('any batch, whole or cut, is written to the same bytes', () => {
  fc.assert(
    fc.property(
      anySample,
      fc.nat(10),
      fc.constantFrom(...SPECS),
      ({ schema, batch }, cut, spec) => {
        expectEqual(schema, batch, spec);
        expectEqual(schema, sliceBatch(batch, Math.min(cut, batch.rows), batch.rows), spec);
      },
    ),
    { seed: 20_261_129, numRuns: 300 },
  );
});

const column = (type: SqlType): Schema => [{ name: 'x', type, nullable: true }];

function expectColumn(type: SqlType, values: readonly Value[]): void {
  const schema = column(type);
  const rows = values.map((value): Row => ({ x: value }));
  for (const spec of SPECS) expectEqual(schema, batchFromRows(schema, rows), spec);
}

const around = (values: readonly bigint[]): bigint[] =>
  values.flatMap((value) => [value - 1n, value, value + 1n, -value - 1n, -value, -value + 1n]);

const inInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

test('numbers are written alike at every number of digits', () => {
  const powers = Array.from({ length: 20 }, (_, exponent) => 10n ** BigInt(exponent));
  const bits = Array.from({ length: 64 }, (_, exponent) => 2n ** BigInt(exponent));
  const whole = around([...powers, ...bits, 1234567890123456789n]).filter(inInt64);
  expectColumn(INT64, whole);
  expectColumn(
    INT32,
    whole.map(Number).filter((value) => value === (value | 0)),
  );
  const prng = new Prng('decimals');
  for (const scale of [0, 1, 2, 8, 17, 37, 38]) {
    const values = Array.from({ length: 300 }, (_, index) => {
      const text = Array.from({ length: 1 + (index % 38) }, () => prng.below(10)).join('');
      const digits = text.replace(/^0+(?=.)/, '').padStart(scale + 1, '0');
      if (digits.length - (scale === 38 ? 1 : 0) > 38) return null;
      const head = digits.slice(0, digits.length - scale);
      const sign = prng.chance(0.5) && /[1-9]/.test(digits) ? '-' : '';
      return `${sign}${head}${scale > 0 ? `.${digits.slice(digits.length - scale)}` : ''}`;
    });
    expectColumn(decimalType(38, scale), values);
  }
});

test('times are written alike: each minute of some days, every month of leap and other years, fractions, and far years', () => {
  const MINUTE = 60_000_000n;
  const days = [0n, 59n, 60n, 11_016n, -719_528n, -719_469n, 2_932_896n];
  const minutes = days.flatMap((day) =>
    [0n, 1n, 59n, 60n, 719n, 1439n].map((minute) => (day * 1440n + minute) * MINUTE),
  );
  const months = [1896, 1900, 1970, 1999, 2000, 2023, 2024, 9999, 0, 4].flatMap((year) =>
    Array.from({ length: 13 }, (_, month) => {
      const date = new Date(0);
      date.setUTCFullYear(year, month, 1);
      return BigInt(date.getTime()) * 1000n;
    }),
  );
  const fractions = [0n, 1n, 10n, 100_000n, 123_456n, 999_999n, 1_000_000n, 59_999_999n];
  const values = [...minutes, ...months].flatMap((value) => fractions.map((each) => value + each));
  expectColumn(
    TIMESTAMP,
    values.filter((value) => value < 253_402_300_800_000_000n),
  );
  expectColumn(TIMESTAMP, [0n, 253_402_300_799_999_999n]);
  // Beyond them the kernel declines, and the twin writes the batch.
  expectColumn(TIMESTAMP, [0n, 253_402_300_800_000_000n]);
  expectColumn(TIMESTAMP, [0n, -62_167_219_200_000_001n]);
  expectColumn(TIMESTAMP, [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n]);
});

test('text is escaped alike, wherever in a vector what is to be escaped lies', () => {
  const special = ['"', '\\', '\u0000', '\u001f', '\n', '\u007f', 'é', '😀', '/', '""\\\\'];
  expectColumn(
    TEXT,
    special.flatMap((each) =>
      Array.from(
        { length: 34 },
        (_, before) => `${'x'.repeat(before)}${each}${'y'.repeat(before % 19)}`,
      ),
    ),
  );
  expectColumn(TEXT, [...Array.from({ length: 40 }, (_, size) => 'z'.repeat(size)), null, '']);
});

test('the kernel is what writes when it is there', () => {
  const found = kernel<{ write: () => number }>('json-writer');
  expect(found).not.toBeNull();
  found!.memory.bytes.fill(0);
  const schema = column(INT64);
  new JsonEncoder(schema, JSON_FORMAT, 0).encode(batchFromRows(schema, [{ x: 424_242n }]));
  expect(Buffer.from(found!.memory.bytes).includes('{"x":424242}\n')).toBe(true);
});
