/**
 * Reports of users about types, from the bytes of a row to the bytes of the answer: what a table reads,
 * what a query makes of it, and what a sink writes.
 */
import { describe, expect, test } from 'vitest';
import { batchFromRows, rowsOf, type Value } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { JSON_FORMAT, type FormatSpec } from '../../src/formats/format.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { runRows } from './run-graph.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Answer = {
  lines: string[];
  rejected: { row: number; code: string; column: string | null }[];
  failed: string[];
  nonFinite: number;
};

/** Runs a query over the lines of one table `t`. */
function answer(
  columns: string,
  query: string,
  lines: readonly string[],
  options = '',
  sink: Partial<FormatSpec> = {},
): Answer {
  const sql = `CREATE TABLE t (${columns}) WITH (connector = 'http'${options}); ${query}`;
  const { graph, errors } = planSql(sql, DECLARATIONS, { defaultSink: 'stdout' });
  if (graph === null) throw new Error(JSON.stringify(errors));
  const source = graph.operators.find(({ spec }) => spec.tag === 'source');
  const target = graph.operators.find(({ spec }) => spec.tag === 'sink');
  if (source?.spec.tag !== 'source' || target === undefined) throw new Error('no source or sink');
  const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(''));
  const { physical, format } = source.spec;
  const read = new JsonDecoder(physical, format).decode(bytes, 0, bytes.length, 1000);
  const { rows, failed } = runRows(sql, { t: rowsOf(read.batch, physical) });
  const writer = new JsonEncoder(target.schema, { ...JSON_FORMAT, ...sink });
  const written = decoder.decode(writer.encode(batchFromRows(target.schema, rows)));
  return {
    lines: written.split('\n').slice(0, -1),
    rejected: read.errors.map(({ rowIndex, code, column }) => ({ row: rowIndex, code, column })),
    failed: failed.map(({ code }) => code),
    nonFinite: writer.nonFinite,
  };
}

test('whole numbers past 2^53 keep every digit, and what is none is refused (U02)', () => {
  const { lines, rejected } = answer(
    'id BIGINT NOT NULL, rel BIGINT',
    'SELECT id, id + 1 AS nxt, rel FROM t;',
    [
      '{"id":9007199254740993,"rel":-9223372036854775808}',
      '{"id":2033735037361704962,"rel":null}',
      '{"id":"9007199254740995","rel":1}',
      '{"id":9223372036854775808}',
      '{"id":1.5}',
    ],
  );
  expect(lines).toEqual([
    '{"id":9007199254740993,"nxt":9007199254740994,"rel":-9223372036854775808}',
    '{"id":2033735037361704962,"nxt":2033735037361704963,"rel":null}',
    '{"id":9007199254740995,"nxt":9007199254740996,"rel":1}',
  ]);
  expect(rejected).toMatchObject([
    { row: 3, code: 'NUMERIC_OUT_OF_RANGE', column: 'id' },
    { row: 4, code: 'TYPE_MISMATCH', column: 'id' },
  ]);
});

test('decimals are exact and keep their scale, as numbers and as texts (U04)', () => {
  const lines = [
    '{"k":"a","amt":12345678901234567890.123456789012345678}',
    '{"k":"a","amt":"0.000000000000000001"}',
    '{"k":"b","amt":0.1}',
    '{"k":"b","amt":0.2}',
  ];
  const columns = 'k TEXT, amt DECIMAL(38,18)';
  const totals = answer(columns, 'SELECT k, CAST(sum(amt) AS TEXT) AS s FROM t GROUP BY k;', lines);
  expect([...totals.lines].sort()).toEqual([
    '{"k":"a","s":"12345678901234567890.123456789012345679"}',
    '{"k":"b","s":"0.300000000000000000"}',
  ]);
  const quoted = answer(columns, 'SELECT amt FROM t;', lines, '', { decimalEncoding: 'string' });
  expect(quoted.lines[0]).toBe('{"amt":"12345678901234567890.123456789012345678"}');
  expect(answer(columns, 'SELECT amt FROM t;', lines).lines[1]).toBe(
    '{"amt":0.000000000000000001}',
  );
});

test('small decimals are values like any other (U05)', () => {
  const { lines, rejected } = answer('x DECIMAL(5,4)', 'SELECT CAST(x AS TEXT) AS x FROM t;', [
    '{"x":0.005}',
    '{"x":-0.005}',
    '{"x":"0.0001"}',
    '{"x":12.3}',
  ]);
  expect(lines).toEqual(['{"x":"0.0050"}', '{"x":"-0.0050"}', '{"x":"0.0001"}']);
  expect(rejected).toEqual([{ row: 3, code: 'NUMERIC_OUT_OF_RANGE', column: 'x' }]);
});

test('a sum that does not fit is an error of the row, not another number (U06)', () => {
  const values = ['{"v":9223372036854775807}', '{"v":1}'];
  const { lines, failed } = answer('v BIGINT', 'SELECT sum(v) AS s FROM t;', values);
  expect(failed).toContain('NUMERIC_OVERFLOW');
  expect(lines.filter((line) => line !== '{"s":9223372036854775807}')).toEqual([]);
});

test('NaN and the infinities are null in JSON, and counted (U08)', () => {
  const { lines, nonFinite } = answer('s TEXT', 'SELECT CAST(s AS DOUBLE) AS x FROM t;', [
    '{"s":"NaN"}',
    '{"s":"-Infinity"}',
    '{"s":"1.5"}',
  ]);
  expect(lines).toEqual(['{"x":null}', '{"x":null}', '{"x":1.5}']);
  expect(nonFinite).toBe(2);
});

describe('the unit of a number of time is declared, never guessed (U10)', () => {
  const read = (type: string, unit: string | null, line: string): Answer =>
    answer(
      `ts ${type}`,
      'SELECT ts FROM t;',
      [line],
      unit === null ? '' : `, 'timestamp_format' = '${unit}'`,
    );
  test.each([
    ['TIMESTAMP(6)', 'unix_micros', '1700000000123456', '2023-11-14T22:13:20.123456'],
    ['TIMESTAMP', 'unix_seconds', '1700000000', '2023-11-14T22:13:20'],
    ['TIMESTAMP', 'unix_millis', '1700000000000', '2023-11-14T22:13:20'],
    ['TIMESTAMP(9)', 'unix_nanos', '1700000000123456789', '2023-11-14T22:13:20.123456789'],
    ['TIMESTAMP(3)', 'unix_nanos', '1700000000123456789', '2023-11-14T22:13:20.123'],
    ['TIMESTAMP(0)', 'unix_millis', '1700000000500', '2023-11-14T22:13:21'],
    ['TIMESTAMPTZ', 'unix_seconds', '-1.5', '1969-12-31T23:59:58.5Z'],
    ['DATE', 'unix_millis', '-1', '1969-12-31'],
  ])('%s from %s', (type, unit, number, text) => {
    expect(read(type, unit, `{"ts":${number}}`).lines).toEqual([`{"ts":"${text}"}`]);
  });
  test.each(['TIMESTAMP', 'TIMESTAMP(9)', 'TIMESTAMPTZ', 'DATE'])('%s without a unit', (type) => {
    expect(read(type, null, '{"ts":1700000000}').rejected).toMatchObject([
      { code: 'TIMESTAMP_UNIT_REQUIRED', column: 'ts' },
    ]);
  });
});

test('texts count and order by code points (U14)', () => {
  const lines = ['{"s":"a😀bc"}', '{"s":"😀"}', '{"s":"｡"}', '{"s":"\\ud800"}'];
  const parts = answer('s TEXT', 'SELECT length(s) AS l, substring(s, 1, 2) AS p FROM t;', lines);
  expect(parts.lines.slice(0, 2)).toEqual(['{"l":4,"p":"a😀"}', '{"l":1,"p":"😀"}']);
  expect(parts.rejected).toMatchObject([{ row: 3 }]);
  const ends = answer('s TEXT', 'SELECT min(s) AS a, max(s) AS b FROM t;', lines.slice(1, 3));
  expect(ends.lines.at(-1)).toBe('{"a":"｡","b":"😀"}');
});

test('missing, null, empty and default are four things (U19)', () => {
  const { lines, rejected } = answer(
    "id INT NOT NULL, name TEXT NOT NULL DEFAULT 'anon', q INT DEFAULT 1, tags TEXT[] DEFAULT ['x'], at STRUCT<x INT> DEFAULT STRUCT(7 AS x)",
    'SELECT id, name, q, tags, at FROM t;',
    ['{"id":1}', '{"id":2,"name":null}', '{"id":3,"name":"","q":null,"tags":[],"at":{}}'],
  );
  expect(lines).toEqual([
    '{"id":1,"name":"anon","q":1,"tags":["x"],"at":{"x":7}}',
    '{"id":3,"name":"","q":null,"tags":[],"at":{"x":null}}',
  ]);
  expect(rejected).toEqual([{ row: 1, code: 'NULL_VIOLATION', column: 'name' }]);
});

const EVERY = `flag BOOLEAN, a TINYINT, b SMALLINT, ub SMALLINT UNSIGNED, uc INT UNSIGNED, ud BIGINT UNSIGNED,
  f FLOAT, n DECIMAL(20, 4), bytes BYTEA, doc JSON, day DATE, clock TIME, length INTERVAL, nanos TIMESTAMP(9),
  at TIMESTAMPTZ, tags TEXT[], spots STRUCT<x DOUBLE, name TEXT>[]`;
const LINE =
  '{"flag":true,"a":-128,"b":-32768,"ub":65535,"uc":4294967295,"ud":18446744073709551615,"f":0.1,"n":1.5000,' +
  '"bytes":"AP8=","doc":{"b":[1.10,9007199254740993],"a":null},"day":"1900-02-28","clock":"23:59:59.999999",' +
  '"length":"1 year 2 mons -3 days +04:05:06","nanos":"2023-11-14T22:13:20.123456789","at":"2023-11-14T22:13:20Z",' +
  '"tags":["a",null,"\\"q\\""],"spots":[{"x":1.5,"name":"s"},null]}';

test('a value of every type comes out as it went in, also as a key', () => {
  const spaced = LINE.replaceAll(',"', ' , "').replaceAll(':{', ': {');
  expect(answer(EVERY, 'SELECT * FROM t;', [spaced, '{}']).lines[0]).toBe(LINE);
  const names = [...EVERY.matchAll(/(?:^|, |\n\s*)(\w+) (?=[A-Z])/g)].map(
    ([, name]) => name as string,
  );
  const keys = names.filter((name) => name !== 'name').join(', ');
  const grouped = answer(EVERY, `SELECT ${keys}, count(*) AS n2 FROM t GROUP BY ${keys};`, [
    LINE,
    spaced,
    '{}',
    LINE,
  ]);
  expect(grouped.lines[0]).toBe(`${LINE.slice(0, -1)},"n2":3}`);
  expect(grouped.lines).toHaveLength(2);
});

test('what does not fit its type is refused with its column, and the other rows go on', () => {
  const wrong: [string, string, string][] = [
    ['a', '128', 'NUMERIC_OUT_OF_RANGE'],
    ['ub', '-1', 'NUMERIC_OUT_OF_RANGE'],
    ['ud', '18446744073709551616', 'NUMERIC_OUT_OF_RANGE'],
    ['f', '1e39', 'NUMERIC_OUT_OF_RANGE'],
    ['bytes', '"AP8"', ''],
    ['bytes', '"A"', 'TYPE_MISMATCH'],
    ['day', '"2023-02-29"', 'TYPE_MISMATCH'],
    ['clock', '"25:00"', 'TYPE_MISMATCH'],
    ['length', '"soon"', 'TYPE_MISMATCH'],
    ['nanos', '"2300-01-01"', 'TYPE_MISMATCH'],
    ['tags', '"a"', 'TYPE_MISMATCH'],
    ['tags', '[1]', 'TYPE_MISMATCH'],
    ['spots', '[{"x":"no"}]', 'TYPE_MISMATCH'],
    ['tags', '["a",]', 'PARSE_ERROR'],
    ['doc', '{"a":}', 'PARSE_ERROR'],
  ];
  const lines = wrong.flatMap(([name, value]) => [`{"${name}":${value}}`, LINE]);
  const { lines: written, rejected } = answer(EVERY, 'SELECT * FROM t;', lines);
  expect(written.filter((line) => line === LINE)).toHaveLength(wrong.length);
  expect(rejected.map(({ row, code }) => [row, code])).toEqual(
    wrong.flatMap(([, , code], index) => (code === '' ? [] : [[2 * index, code]])),
  );
});

test('Gregorian and leap days, a month too short, and a day of 25 hours', () => {
  const { lines } = answer(
    'd DATE, at TIMESTAMPTZ',
    `SELECT d + INTERVAL '1 month' AS later, d - DATE '2023-03-01' AS days, date_part('year', d) AS y,
       (at AT TIME ZONE 'America/New_York') AS shown,
       ((at AT TIME ZONE 'America/New_York') + INTERVAL '1 day') AT TIME ZONE 'America/New_York' AS tomorrow
     FROM t;`,
    [
      '{"d":"2024-01-31","at":"2024-11-03T04:30:00Z"}',
      '{"d":"1899-12-31","at":"2024-03-10T05:00:00Z"}',
    ],
  );
  expect(lines).toEqual([
    '{"later":"2024-02-29T00:00:00","days":336,"y":2024,"shown":"2024-11-03T00:30:00","tomorrow":"2024-11-04T05:30:00Z"}',
    '{"later":"1900-01-31T00:00:00","days":-44985,"y":1899,"shown":"2024-03-10T00:00:00","tomorrow":"2024-03-11T04:00:00Z"}',
  ]);
});

test.each(['TIMESTAMPTZ', 'TIMESTAMP(9)', 'TIMESTAMP(3)', 'TIMESTAMP'])(
  'windows take event times of type %s',
  (type) => {
    const sql = `CREATE TABLE t (at ${type} NOT NULL, v INT UNSIGNED, WATERMARK FOR at AS at - INTERVAL '1 second')
      WITH (connector = 'http');
      SELECT tumble(INTERVAL '1 minute') AS w, sum(v) AS s, max(at) AS last FROM t GROUP BY w;`;
    const scale = type === 'TIMESTAMP(9)' ? 1000n : 1n;
    const at = (seconds: number): bigint => BigInt(seconds) * 1_000_000n * scale;
    const { rows, late } = runRows(sql, {
      t: [
        { at: at(5), v: 4_294_967_295n },
        { at: at(59), v: 1n },
        { at: at(61), v: 7n },
      ],
    });
    expect(late).toEqual([]);
    expect(rows).toEqual([
      { w: { start: 0n, end: 60_000_000n }, s: 4_294_967_296n, last: at(59) },
      { w: { start: 60_000_000n, end: 120_000_000n }, s: 7n, last: at(61) },
    ]);
  },
);

test.each<[string, Value, Value]>([
  ['INTERVAL', '1 0 0', '0 30 0'],
  ['INT[]', [1, null], [1, null]],
  ['STRUCT<x DATE>', { x: 1 }, { x: 1 }],
  ['BIGINT UNSIGNED', 2n ** 63n, 2n ** 63n],
  ['DATE', -1, -1],
  ['DOUBLE', -0, 0],
  ['JSON', '{"a":1}', '{"a":1}'],
])('rows meet in a join by equal values of %s', (type, left, right) => {
  const { rows } = runRows(
    `CREATE TABLE l (k ${type}, v INT) WITH (connector = 'http');
     CREATE TABLE r (k ${type}, w INT) WITH (connector = 'http');
     SELECT l.v, r.w FROM l JOIN r ON l.k = r.k;`,
    {
      l: [
        { k: left, v: 1 },
        { k: null, v: 3 },
      ],
      r: [
        { k: right, w: 2 },
        { k: null, w: 4 },
      ],
    },
  );
  expect(rows).toEqual([{ v: 1, w: 2 }]);
});
