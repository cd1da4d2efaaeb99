import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyRangeOf } from '../../src/base/hash.ts';
import { hashRows } from '../../src/batch/row-hash.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { FLOAT64, INT64, TEXT, WINDOW, type Schema } from '../../src/batch/types.ts';
import type { StateTable } from '../../src/state/state-table.ts';
import { decodeStateTable, encodeStateTable } from '../../src/state/table-file.ts';

const SCHEMA: Schema = [
  { name: 'k', type: INT64, nullable: true },
  { name: 't', type: TEXT, nullable: true },
  { name: 'f', type: FLOAT64, nullable: false },
  { name: 'w', type: WINDOW, nullable: true },
];

function tableOf(rows: readonly Row[]): StateTable {
  const batch = batchFromRows(SCHEMA, rows);
  const hashes = new Uint32Array(rows.length);
  hashRows(batch.columns.slice(0, 1), rows.length, hashes);
  return {
    table: 'groups',
    schema: SCHEMA,
    rows: rows.length,
    columns: batch.columns,
    hashes,
    changes: null,
  };
}

const rowsOfTable = (table: StateTable): Row[] =>
  rowsOf(
    { rows: table.rows, columns: table.columns, eventTime: null, retract: null },
    table.schema,
  );

const rowArbitrary: fc.Arbitrary<Row> = fc.record({
  k: fc.option(fc.bigInt({ min: -9223372036854775808n, max: 9223372036854775807n })),
  t: fc.option(fc.string({ unit: 'grapheme' })),
  f: fc.double(),
  w: fc.option(
    fc.record({
      start: fc.bigInt({ min: 0n, max: 2n ** 52n }),
      end: fc.bigInt({ min: 0n, max: 2n ** 52n }),
    }),
  ),
});

const sorted = (rows: readonly Row[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(row, (_, value: unknown) =>
        typeof value === 'bigint' ? `n${value}` : typeof value === 'number' ? `f${value}` : value,
      ),
    )
    .sort();

test('any number of key ranges share the rows out without loss or double', () => {
  fc.assert(
    fc.property(
      fc.array(rowArbitrary, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      (rows, count) => {
        const bytes = encodeStateTable(tableOf(rows));
        const parts = Array.from({ length: count }, (_, index) =>
          decodeStateTable(bytes, keyRangeOf(index, count)),
        );
        expect(sorted(parts.flatMap(rowsOfTable))).toEqual(sorted(rows));
        parts.forEach((part, index) => {
          const { lower, upper } = keyRangeOf(index, count);
          for (const hash of part.hashes) expect(hash >= lower && hash < upper).toBe(true);
          expect(part.table).toBe('groups');
          expect(part.schema).toEqual(SCHEMA);
        });
      },
    ),
  );
});

test('a table of several chunks keeps its rows in order, also when the bytes are not aligned', () => {
  const rows: Row[] = Array.from({ length: 70_000 }, (_, at) => ({
    k: BigInt(at),
    t: `v${at}`,
    f: at / 2,
    w: null,
  }));
  const encoded = encodeStateTable(tableOf(rows));
  const shifted = new Uint8Array(encoded.length + 3);
  shifted.set(encoded, 3);
  const table = decodeStateTable(shifted.subarray(3), keyRangeOf(0, 1));
  expect(table.rows).toBe(70_000);
  expect(
    rowsOfTable(table).every(
      (row, at) => row.k === BigInt(at) && row.t === `v${at}` && row.f === at / 2,
    ),
  ).toBe(true);
});

test('bytes that are no state file, or of another version, are refused', () => {
  const good = encodeStateTable(tableOf([{ k: 1n, t: 'a', f: 1, w: null }]));
  expect(() => decodeStateTable(new Uint8Array(4), keyRangeOf(0, 1))).toThrow('not a state file');
  expect(() => decodeStateTable(good.subarray(0, good.length - 100), keyRangeOf(0, 1))).toThrow(
    'cut short',
  );
  const newer = good.slice();
  newer[8] = 3;
  expect(() => decodeStateTable(newer, keyRangeOf(0, 1))).toThrow('version 3');
});
