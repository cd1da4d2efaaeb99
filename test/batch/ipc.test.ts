import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBatch, encodeBatch } from '../../src/batch/ipc.ts';
import { sliceBatch } from '../../src/batch/take.ts';
import {
  BYTEA,
  DATE,
  INT32,
  INT64,
  INT8,
  JSON_TYPE,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMESTAMP_NS,
  UINT64,
  decimalType,
  listType,
} from '../../src/batch/types.ts';
import type { Schema, SqlType } from '../../src/batch/types.ts';
import { batchFromRows, columnFromValues, rowsOf, valueAt } from '../../src/batch/values.ts';
import type { Value } from '../../src/batch/values.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import { anySample } from './arbitrary.ts';

const times = (column: Int64Column | null): unknown =>
  column === null ? null : Array.from({ length: column.length }, (_, row) => valueAt(column, row));

test('a batch survives the wire whole, also a slice and at any byte position', () => {
  fc.assert(
    fc.property(anySample, fc.nat(7), fc.nat(40), (sample, shift, cut) => {
      const sent = sliceBatch(sample.batch, Math.min(cut, sample.rows.length), sample.rows.length);
      const encoded = encodeBatch(sample.schema, sent);
      const shifted = new Uint8Array(encoded.length + shift).subarray(shift);
      shifted.set(encoded);
      const received = decodeBatch(sample.schema, shifted);
      expect(received.rows).toBe(sent.rows);
      expect(rowsOf(received, sample.schema)).toEqual(sample.rows.slice(cut));
      expect(times(received.eventTime)).toEqual(times(sent.eventTime));
      expect(received.retract === null ? null : [...received.retract]).toEqual(
        sent.retract === null ? null : [...sent.retract],
      );
      // What was received can be sent on.
      expect(
        rowsOf(decodeBatch(sample.schema, encodeBatch(sample.schema, received)), sample.schema),
      ).toEqual(sample.rows.slice(cut));
    }),
  );
});

const schema: Schema = [
  { name: 'id', type: INT64, nullable: false },
  { name: 'at', type: TIMESTAMP, nullable: true },
  { name: 'name', type: TEXT, nullable: true },
  { name: 'price', type: decimalType(10, 2), nullable: true },
  {
    name: 'pair',
    type: { tag: 'struct', fields: [{ name: 'x', type: INT32, nullable: true }] },
    nullable: true,
  },
];

test('another Arrow reader sees the names, types and values', () => {
  const batch = batchFromRows(schema, [
    { id: 2n ** 60n, at: 1_700_000_000_123_456n, name: 'é', price: '1.50', pair: { x: 5 } },
    { id: -1n, at: null, name: null, price: null, pair: null },
  ]);
  const eventTime = columnFromValues(TIMESTAMP, [1n, 2n]) as Int64Column;
  const table = tableFromIPC(
    encodeBatch(schema, { ...batch, eventTime, retract: Uint8Array.of(0, 1) }),
  );
  expect(
    table.schema.fields.map(({ name, type, nullable }) => `${name} ${String(type)} ${nullable}`),
  ).toEqual([
    'id Int64 false',
    'at Timestamp<MICROSECOND> true',
    'name Utf8 true',
    'price Decimal[10e+2] true',
    'pair Struct<{x:Int32}> true',
    '_timestamp Timestamp<MICROSECOND> false',
    '_retract Bool false',
  ]);
  expect([table.getChild('id')?.get(0), table.getChild('id')?.get(1)]).toEqual([2n ** 60n, -1n]);
  expect([table.getChild('name')?.get(0), table.getChild('name')?.get(1)]).toEqual(['é', null]);
  expect([table.getChild('_retract')?.get(0), table.getChild('_retract')?.get(1)]).toEqual([
    false,
    true,
  ]);
  expect(table.getChild('pair')?.get(0)?.toJSON()).toEqual({ x: 5 });
  expect(table.getChild('pair')?.get(1)).toBeNull();
  expect([...(table.getChild('price')?.get(0) as Uint32Array)]).toEqual([150, 0, 0, 0]);
});

test('a batch without columns keeps its count of rows', () => {
  expect(
    decodeBatch([], encodeBatch([], { rows: 3, columns: [], eventTime: null, retract: null })).rows,
  ).toBe(3);
});

test('bytes of another schema and damaged bytes are refused with a code', () => {
  const encoded = encodeBatch(
    [{ name: 'a', type: INT32, nullable: true }],
    batchFromRows([{ name: 'a', type: INT32, nullable: true }], [{ a: 1 }]),
  );
  const refused = expect.objectContaining({ code: 'INTERNAL' });
  expect(() => decodeBatch([{ name: 'a', type: INT64, nullable: true }], encoded)).toThrow(refused);
  expect(() => decodeBatch(schema, encoded)).toThrow(refused);
  expect(() => decodeBatch([], encoded)).toThrow(refused);
  expect(() => decodeBatch(schema, new Uint8Array(0))).toThrow(refused);
  expect(() => decodeBatch(schema, encoded.subarray(0, 40))).toThrow(refused);
  for (let at = 0; at < encoded.length; at++) {
    try {
      decodeBatch([{ name: 'a', type: INT32, nullable: true }], encoded.slice(0, at));
    } catch (thrown) {
      expect(thrown, `cut at ${at}`).toEqual(refused);
    }
  }
});

test('words that start at an odd word are sent right', () => {
  const words = new Int32Array(new Int32Array([9, 1, 2, 3, 4]).buffer, 4, 4);
  const column: Int64Column = { tag: 'int64', type: INT64, length: 2, validity: null, words };
  const one: Schema = [{ name: 'a', type: INT64, nullable: false }];
  const batch = { rows: 2, columns: [column], eventTime: null, retract: null };
  expect(rowsOf(decodeBatch(one, encodeBatch(one, batch)), one)).toEqual(rowsOf(batch, one));
});

test('any Arrow reader sees dates, times, moments, unsigned numbers, bytes and lists as such', () => {
  const fields: [string, SqlType, Value][] = [
    ['day', DATE, -1],
    ['clock', TIME, 1_000_001n],
    ['at', TIMESTAMPTZ, 1_700_000_000_000_000n],
    ['nanos', TIMESTAMP_NS, 1_700_000_000_000_000_001n],
    ['big', UINT64, 18_446_744_073_709_551_615n],
    ['bytes', BYTEA, '\\x00ff'],
    ['tags', listType(TEXT), ['a', null]],
    ['small', INT8, -128],
    ['doc', JSON_TYPE, '{"a":1}'],
  ];
  const types: Schema = fields.map(([name, type]) => ({ name, type, nullable: true }));
  const row = Object.fromEntries(fields.map(([name, , value]) => [name, value]));
  const table = tableFromIPC(encodeBatch(types, batchFromRows(types, [row])));
  expect(table.schema.fields.map(({ type }) => String(type))).toEqual([
    'Date32<DAY>',
    'Time64<MICROSECOND>',
    'Timestamp<MICROSECOND, UTC>',
    'Timestamp<NANOSECOND>',
    'Uint64',
    'Binary',
    'List<Utf8>',
    'Int32',
    'Utf8',
  ]);
  const seen = (name: string): unknown => table.getChild(name)?.get(0);
  expect(seen('clock')).toBe(1_000_001n);
  expect(seen('big')).toBe(18_446_744_073_709_551_615n);
  expect(seen('bytes')).toEqual(Uint8Array.of(0, 255));
  expect([...(seen('tags') as Iterable<unknown>)]).toEqual(['a', null]);
  expect(seen('small')).toBe(-128);
});

test('a type is not taken for another one that travels in the same form', () => {
  const of = (type: SqlType): Schema => [{ name: 'v', type, nullable: true }];
  const bytes = encodeBatch(of(INT8), batchFromRows(of(INT8), [{ v: 1 }]));
  expect(() => decodeBatch(of(INT32), bytes)).toThrow('column v is Int32 TINYINT');
  const nested = encodeBatch(of(listType(INT8)), batchFromRows(of(listType(INT8)), [{ v: [1] }]));
  expect(() => decodeBatch(of(listType(INT32)), nested)).toThrow('TINYINT');
});
