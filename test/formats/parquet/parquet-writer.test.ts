/** Files of the writer, read by DuckDB. */
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Prng } from '../../../src/base/prng.ts';
import {
  decimalType,
  INT64,
  type Schema,
  TEXT,
  TIMESTAMP,
  type TypeTag,
} from '../../../src/batch/types.ts';
import { sliceBatch } from '../../../src/batch/take.ts';
import { batchFromRows, type Row, type Value } from '../../../src/batch/values.ts';
import { type ParquetOptions, ParquetWriter } from '../../../src/formats/parquet/parquet-writer.ts';
import { readKernels } from '../../../src/cli/kernels.ts';
import { useKernels } from '../../../src/kernels/kernels.ts';
import { anySample } from '../../batch/arbitrary.ts';
import { Reader } from './duckdb.ts';

const TIMEOUT_MS = 30_000;
const SEED = 20_261_130;

let reader: Reader;
beforeAll(async () => {
  useKernels(readKernels());
  reader = await Reader.open();
});
afterAll(() => {
  useKernels(null);
  reader.close();
});

const anyOptions: fc.Arbitrary<ParquetOptions> = fc.record({
  compression: fc.constantFrom('uncompressed', 'snappy'),
  rowGroupBytes: fc.constantFrom(1, 200, 1_000_000),
});

/** The rows as a file, handed over in pieces of so many rows. */
function fileOf(
  schema: Schema,
  rows: readonly Row[],
  options: ParquetOptions,
  piece = 2048,
): Uint8Array {
  const writer = new ParquetWriter(schema, options);
  const batch = batchFromRows(schema, rows);
  for (let at = 0; at < rows.length; at += piece)
    writer.append(sliceBatch(batch, at, Math.min(rows.length, at + piece)));
  expect(writer.rows).toBe(rows.length);
  return writer.finish();
}

/** DuckDB shows bytes that are no printable ASCII as `\\xE9`. */
const unescaped = (text: string): string =>
  Buffer.from(
    text.replace(/[^\0-\x7f]/gu, (char) => Buffer.from(char).toString('latin1')),
    'latin1',
  ).toString();

/** -0 and 0 are different values here, as the bytes are. */
const same = (found: unknown, wanted: unknown): void => expect(found).toStrictEqual(wanted);

test(
  'rows of any types are read back to the last digit',
  async () => {
    const property = fc.asyncProperty(
      anySample,
      anyOptions,
      fc.integer({ min: 1, max: 20 }),
      async ({ schema, rows }, options, piece) => {
        same(await reader.rows(fileOf(schema, rows, options, piece), schema), rows);
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: 150 });
  },
  TIMEOUT_MS,
);

test(
  'columns that are never NULL need no levels, and a struct may have fields that are and fields that are not',
  async () => {
    const inner: Schema = [
      { name: 'a', type: INT64, nullable: false },
      { name: 'b', type: TEXT, nullable: true },
      { name: 'c', type: { tag: 'list', element: INT64 }, nullable: false },
    ];
    const schema: Schema = [
      { name: 'n', type: INT64, nullable: false },
      { name: 's', type: { tag: 'struct', fields: inner }, nullable: false },
      { name: 'o', type: { tag: 'struct', fields: inner }, nullable: true },
    ];
    const rows: Row[] = [
      { n: 1n, s: { a: 2n, b: null, c: [] }, o: null },
      { n: 2n, s: { a: 3n, b: 'x', c: [1n, null, 3n] }, o: { a: 4n, b: '', c: [null] } },
    ];
    for (const compression of ['uncompressed', 'snappy'] as const) {
      const bytes = fileOf(schema, rows, { compression, rowGroupBytes: 1e6 });
      same(await reader.rows(bytes, schema), rows);
    }
  },
  TIMEOUT_MS,
);

const MANY: Schema = [
  { name: 'id', type: INT64, nullable: true },
  { name: 'kind', type: TEXT, nullable: true },
  { name: 'day', type: TIMESTAMP, nullable: true },
  { name: 'price', type: decimalType(23, 3), nullable: true },
  { name: 'wide', type: TEXT, nullable: true },
];

/** Columns that repeat, that do not, and one that repeats at first only. */
function manyRows(count: number): Row[] {
  const prng = new Prng('parquet');
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index) * 1_000_003n,
    kind: index % 7 === 3 ? null : prng.pick(['view', 'click', 'buy', '']),
    day: BigInt(Math.floor(index / 500)) * 86_400_000_000n,
    price: `${prng.below(1_000_000)}.${String(prng.below(1000)).padStart(3, '0')}`,
    wide: index < 4000 ? `s${index % 5}` : `${'é'.repeat(prng.below(30))}${index}`,
  }));
}

test(
  'dictionaries, several pages and several row groups give the same rows',
  async () => {
    const rows = manyRows(60_000);
    for (const compression of ['uncompressed', 'snappy'] as const) {
      const bytes = fileOf(MANY, rows, { compression, rowGroupBytes: 1_500_000 });
      same(await reader.rows(bytes, MANY), rows);
      const path = reader.write(bytes);
      const encodings = await reader.ask(
        `SELECT path_in_schema AS path, string_agg(DISTINCT encodings, '; ') AS used, count(*) AS groups
           FROM parquet_metadata('${path}') GROUP BY 1 ORDER BY 1`,
      );
      const used = Object.fromEntries(encodings.map(({ path: name, used: text }) => [name, text]));
      expect(used['kind']).toBe('RLE, RLE_DICTIONARY');
      expect(used['day']).toBe('RLE, RLE_DICTIONARY');
      expect(used['id']).toBe('RLE, PLAIN');
      expect(used['wide']).toContain('RLE, RLE_DICTIONARY');
      expect(encodings.every(({ groups }) => Number(groups) > 1)).toBe(true);
    }
  },
  TIMEOUT_MS,
);

/** Their order by other means than the writer's: of numbers as such, of text by its bytes. */
const COMPARE: Partial<Record<TypeTag, (left: Value, right: Value) => number>> = {
  text: (left, right) => Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right))),
  decimal: (left, right) => {
    const digits = (value: Value): bigint => BigInt(String(value).replace('.', ''));
    return digits(left) < digits(right) ? -1 : Number(digits(left) > digits(right));
  },
};
const byNumber = (left: Value, right: Value): number =>
  (left as number) < (right as number) ? -1 : Number((left as number) > (right as number));
const TOLD: readonly TypeTag[] = [
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'decimal',
  'text',
  'float64',
  'float32',
];

test(
  'statistics are the smallest and the largest value that is there, and how many are not',
  async () => {
    const property = fc.asyncProperty(anySample, anyOptions, async (sample, options) => {
      const { rows } = sample;
      const schema = sample.schema.filter(({ type }) => TOLD.includes(type.tag));
      if (rows.length === 0 || schema.length === 0) return;
      const file = fileOf(schema, rows, { ...options, rowGroupBytes: 1e9 }, 7);
      const path = reader.write(file);
      for (const { name, type } of schema) {
        const values = rows.map((row) => row[name] as Value);
        const present = values
          .filter((value) => value !== null && !Number.isNaN(value))
          .toSorted(COMPARE[type.tag] ?? byNumber);
        const [found] = await reader.ask(
          `SELECT stats_min_value AS least, stats_max_value AS most, stats_null_count AS nulls
             FROM parquet_metadata('${path}') WHERE path_in_schema = '${name}'`,
        );
        expect(found?.['nulls']).toBe(BigInt(values.filter((value) => value === null).length));
        for (const [bound, value] of [
          [found?.['least'], present.at(0)],
          [found?.['most'], present.at(-1)],
        ]) {
          if (value === undefined) expect(bound).toBeNull();
          else if (type.tag === 'text' && Buffer.byteLength(String(value)) > 64)
            expect(bound).toBeNull();
          else if (typeof value === 'number')
            expect(Math.fround(Number(bound)) + 0).toBe(Math.fround(value) + 0);
          else if (type.tag === 'text') expect(unescaped(String(bound))).toBe(value);
          // DuckDB shows a decimal that is all fraction without the zero.
          else expect(String(bound).replace(/^(-?)\./, '$10.')).toBe(String(value));
        }
      }
      rmSync(path);
    });
    await fc.assert(property, { seed: SEED, numRuns: 60 });
  },
  TIMEOUT_MS,
);

test(
  'a column that does not compress is left as it is, and others of the file are compressed',
  async () => {
    const prng = new Prng('noise');
    const noise = (): string =>
      Array.from({ length: 40 }, () => String.fromCharCode(33 + prng.below(90))).join('');
    const schema: Schema = [
      { name: 'noise', type: TEXT, nullable: true },
      { name: 'words', type: TEXT, nullable: true },
    ];
    const rows = Array.from({ length: 20_000 }, (_, index) => ({
      noise: noise(),
      words: `the same words again ${index}`,
    }));
    const bytes = fileOf(schema, rows, { compression: 'snappy', rowGroupBytes: 500_000 });
    same(await reader.rows(bytes, schema), rows);
    const found = await reader.ask(
      `SELECT path_in_schema AS path, string_agg(DISTINCT compression) AS used
         FROM parquet_metadata('${reader.write(bytes)}') GROUP BY 1 ORDER BY 1`,
    );
    expect(found).toEqual([
      { path: 'noise', used: 'UNCOMPRESSED' },
      { path: 'words', used: 'SNAPPY' },
    ]);
  },
  TIMEOUT_MS,
);

test('a file without rows is a file with a schema', async () => {
  const bytes = fileOf(MANY, [], { compression: 'snappy', rowGroupBytes: 1000 });
  same(await reader.rows(bytes, MANY), []);
});

test('a writer that has closed a file writes the next as it would write the first', () => {
  const rows = manyRows(3000);
  const options: ParquetOptions = { compression: 'snappy', rowGroupBytes: 100_000 };
  const writer = new ParquetWriter(MANY.slice(0, 3), options);
  const batch = batchFromRows(MANY.slice(0, 3), rows);
  writer.append(batch);
  const first = writer.finish();
  writer.append(batch);
  expect(writer.finish()).toEqual(first);
});
