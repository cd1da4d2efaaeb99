import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sliceBatch } from '../../src/batch/take.ts';
import { FLOAT64, INT32, INT64, TEXT, TIMESTAMP, decimalType } from '../../src/batch/types.ts';
import type { Schema, SqlType } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf } from '../../src/batch/values.ts';
import type { Row, Value } from '../../src/batch/values.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { FormatSpec } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { anySample } from '../batch/arbitrary.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const field = (name: string, type: SqlType): Schema[number] => ({ name, type, nullable: true });

function encode(schema: Schema, rows: Row[], spec: Partial<FormatSpec> = {}): string {
  return decoder.decode(
    new JsonEncoder(schema, { ...JSON_FORMAT, ...spec }).encode(batchFromRows(schema, rows)),
  );
}

/** A value as another JSON writer puts it, except that numbers it cannot hold are left to the caller. */
function plain(value: Value, type: SqlType): unknown {
  if (value === null) return null;
  if (type.tag === 'float64') return Number.isFinite(value as number) ? value : null;
  if (type.tag === 'struct') {
    return Object.fromEntries(
      type.fields.map((child) => [
        child.name,
        plain((value as Row)[child.name] as Value, child.type),
      ]),
    );
  }
  return type.tag === 'text' || type.tag === 'boolean' || type.tag === 'int32' ? value : undefined;
}

test('every row is JSON of one line that other parsers read, with the same text, numbers and nulls', () => {
  fc.assert(
    fc.property(anySample, fc.nat(10), ({ schema, rows, batch }, cut) => {
      const bytes = new JsonEncoder(schema, JSON_FORMAT).encode(
        sliceBatch(batch, Math.min(cut, batch.rows), batch.rows),
      );
      const lines = decoder.decode(bytes).split('\n');
      expect(lines.pop()).toBe('');
      expect(lines).toHaveLength(Math.max(0, rows.length - cut));
      for (const [index, line] of lines.entries()) {
        const parsed = JSON.parse(line) as Record<string, unknown>;
        expect(Object.keys(parsed)).toEqual(schema.map(({ name }) => name));
        for (const { name, type } of schema) {
          const wanted = plain((rows[index + cut] as Row)[name] as Value, type);
          if (wanted === undefined || type.tag === 'struct') continue;
          expect(parsed[name]).toEqual(wanted);
        }
      }
    }),
  );
});

test('what was encoded decodes to the same values, with every digit', () => {
  const specs: FormatSpec[] = [
    JSON_FORMAT,
    { ...JSON_FORMAT, decimalEncoding: 'string' },
    ...(['unix_seconds', 'unix_millis', 'unix_micros', 'unix_nanos'] as const).map(
      (timestampFormat) => ({
        ...JSON_FORMAT,
        timestampFormat,
      }),
    ),
  ];
  const hasNaN = (value: Value): boolean =>
    typeof value === 'number'
      ? !Number.isFinite(value)
      : typeof value === 'object' && value !== null && Object.values(value).some(hasNaN);
  const inCalendar = (value: Value): boolean =>
    typeof value === 'bigint'
      ? value > -9_000_000_000_000_000n && value < 9_000_000_000_000_000n
      : typeof value !== 'object' || value === null || Object.values(value).every(inCalendar);
  fc.assert(
    fc.property(anySample, fc.constantFrom(...specs), ({ schema, rows }, spec) => {
      const kept = rows.filter(
        (row) => !hasNaN(row) && (spec.timestampFormat !== 'unix_nanos' || inCalendar(row)),
      );
      const bytes = new JsonEncoder(schema, spec).encode(batchFromRows(schema, kept));
      const columns = schema.map((column) => ({ ...column, default: null }));
      const result = new JsonDecoder(columns, spec).decode(bytes, 0, bytes.length, 1000);
      expect(result.errors).toEqual([]);
      expect(rowsOf(result.batch, schema)).toEqual(kept);
    }),
  );
});

test('the digits of large numbers and the form of timestamps are exactly these bytes', () => {
  const schema = [
    field('id', INT64),
    field('d', decimalType(38, 18)),
    field('ts', TIMESTAMP),
    field('f', FLOAT64),
    field('i', INT32),
  ];
  const row = {
    id: 2033735037361704962n,
    d: '12345678901234567890.123456789012345678',
    ts: 1_700_000_000_123_456n,
    f: 1.5,
    i: -7,
  };
  expect(encode(schema, [row, { ...row, f: 1e21, ts: 1_700_000_000_000_000n, d: null }])).toBe(
    '{"id":2033735037361704962,"d":12345678901234567890.123456789012345678,"ts":"2023-11-14T22:13:20.123456","f":1.5,"i":-7}\n' +
      '{"id":2033735037361704962,"d":null,"ts":"2023-11-14T22:13:20","f":1e+21,"i":-7}\n',
  );
  expect(
    encode([field('d', decimalType(5, 4))], [{ d: '-0.005' }], { decimalEncoding: 'string' }),
  ).toBe('{"d":"-0.0050"}\n');
  expect(
    encode([field('ts', TIMESTAMP)], [{ ts: -1_500n }, { ts: 2_000_000n }], {
      timestampFormat: 'unix_millis',
    }),
  ).toBe('{"ts":-1.5}\n{"ts":2000}\n');
});

test('the sign of a negative zero is kept, and whole doubles have no point', () => {
  expect(encode([field('f', FLOAT64)], [{ f: -0 }, { f: 0 }, { f: -3 }, { f: 4294967296 }])).toBe(
    '{"f":-0}\n{"f":0}\n{"f":-3}\n{"f":4294967296}\n',
  );
});

test('text is escaped only where JSON demands it', () => {
  expect(encode([field('a"b', TEXT)], [{ 'a"b': 'q" b\\ n\n t\t z\u0000 é\u2028😀/' }])).toBe(
    '{"a\\"b":"q\\" b\\\\ n\\n t\\t z\\u0000 é\u2028😀/"}\n',
  );
});

test('numbers JSON does not have become null and are counted', () => {
  const schema = [field('f', FLOAT64)];
  const encoder = new JsonEncoder(schema, JSON_FORMAT);
  const bytes = encoder.encode(
    batchFromRows(schema, [{ f: NaN }, { f: Infinity }, { f: null }, { f: 0 }]),
  );
  expect(decoder.decode(bytes)).toBe('{"f":null}\n{"f":null}\n{"f":null}\n{"f":0}\n');
  expect(encoder.nonFinite).toBe(2);
});

test('changes say what a row was and what it is now', () => {
  const schema = [field('k', TEXT), field('n', INT64)];
  const batch = {
    ...batchFromRows(schema, [
      { k: 'a', n: 1n },
      { k: 'a', n: 1n },
      { k: 'a', n: 2n },
      { k: 'a', n: 2n },
      { k: 'b', n: 3n },
    ]),
    retract: Uint8Array.of(0, 1, 0, 1, 0),
  };
  const encoder = new JsonEncoder(schema, JSON_FORMAT);
  expect(decoder.decode(encoder.encodeChanges(batch, [0]))).toBe(
    '{"before":null,"after":{"k":"a","n":1},"op":"c"}\n' +
      '{"before":{"k":"a","n":1},"after":{"k":"a","n":2},"op":"u"}\n' +
      '{"before":{"k":"a","n":2},"after":null,"op":"d"}\n' +
      '{"before":null,"after":{"k":"b","n":3},"op":"c"}\n',
  );
  const ops = (bytes: Uint8Array): string[] =>
    decoder
      .decode(bytes)
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { op: string }).op);
  expect(ops(encoder.encodeChanges(batch))).toEqual(['c', 'd', 'c', 'd', 'c']);
  expect(ops(encoder.encodeChanges({ ...batch, retract: null }, [0]))).toEqual([
    'c',
    'c',
    'c',
    'c',
    'c',
  ]);
});
