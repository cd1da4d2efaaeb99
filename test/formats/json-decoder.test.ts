import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { assert } from '../../src/base/assert.ts';
import { Prng } from '../../src/base/prng.ts';
import {
  BOOLEAN,
  FLOAT64,
  INT32,
  INT64,
  TEXT,
  TIMESTAMP,
  decimalType,
} from '../../src/batch/types.ts';
import type { SqlType } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import type { Row } from '../../src/batch/values.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import type { DecodeColumn, FormatSpec } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import type { DecodeError, DecodeResult } from '../../src/formats/json-decoder.ts';
import { anyColumns, anyLines } from './generator.ts';
import { utf8Case, utf8Sequences } from './json-differential.ts';
import { judge, linesOf } from './oracle.ts';

const encoder = new TextEncoder();

const column = (name: string, type: SqlType, nullable = true): DecodeColumn => ({
  name,
  type,
  nullable,
  default: null,
});

function decodeAll(
  columns: readonly DecodeColumn[],
  input: string | Uint8Array,
  spec: Partial<FormatSpec> = {},
): DecodeResult & { rows: Row[] } {
  const bytes = typeof input === 'string' ? encoder.encode(input) : input;
  const result = new JsonDecoder(
    columns,
    { ...JSON_FORMAT, ...spec },
    { unknownByRow: true },
  ).decode(bytes, 0, bytes.length, 8192, true);
  return { ...result, rows: rowsOf(result.batch, columns) };
}

const codes = (errors: readonly DecodeError[]): string[] =>
  errors.map(({ rowIndex, code, column: name }) => `${rowIndex} ${code} ${name}`);

type Outcome = {
  rows: Row[];
  errors: { start: number; end: number; parse: boolean }[];
  ranges: number[];
  seen: number;
};

/** Decodes in pieces as a stream brings them, each of a random size. */
function decodeInPieces(
  prng: Prng,
  columns: readonly DecodeColumn[],
  bytes: Uint8Array,
  pieceMax: number,
): Outcome {
  const decoder = new JsonDecoder(columns, JSON_FORMAT);
  const outcome: Outcome = { rows: [], errors: [], ranges: [], seen: 0 };
  let kept = 0;
  let end = 0;
  let idle = 0;
  while (kept < bytes.length) {
    end = Math.min(bytes.length, end + 1 + prng.below(pieceMax));
    // A copy with something else behind it, so that reading too far shows.
    const piece = new Uint8Array(end - kept + 9).fill(10);
    piece.set(bytes.subarray(kept, end));
    const from = 0;
    const rowsMax = 1 + prng.below(20);
    const result = decoder.decode(piece, from, end - kept, rowsMax, end === bytes.length);
    assert(result.batch.rows <= rowsMax, 'no more rows than asked for');
    outcome.rows.push(...rowsOf(result.batch, columns));
    for (const error of result.errors) {
      assert(error.rowIndex < result.rowsSeen, 'an error names a row that was seen');
      outcome.errors.push({
        start: error.start + kept,
        end: error.end + kept,
        parse: error.code === 'PARSE_ERROR',
      });
    }
    for (const position of result.lineRanges) outcome.ranges.push(position + kept);
    outcome.seen += result.rowsSeen;
    assert(
      result.rowsSeen === result.batch.rows + result.errors.length,
      'every row is accepted or refused',
    );
    idle = result.consumed === 0 && end === bytes.length ? idle + 1 : 0;
    assert(idle < 2, 'the end of the input is reached');
    kept += result.consumed;
  }
  return outcome;
}

function expected(columns: readonly DecodeColumn[], bytes: Uint8Array): Outcome {
  const outcome: Outcome = { rows: [], errors: [], ranges: [], seen: 0 };
  for (const { start, end } of linesOf(bytes)) {
    const verdict = judge(bytes.subarray(start, end), columns);
    if (verdict.tag === 'blank') continue;
    outcome.seen++;
    if (verdict.tag === 'bad') {
      outcome.errors.push({
        start,
        end: bytes[end - 1] === 13 ? end - 1 : end,
        parse: verdict.parse,
      });
      continue;
    }
    outcome.rows.push(verdict.row);
    const isSpace = (at: number): boolean => [32, 9, 13].includes(bytes[at] as number);
    let from = start;
    let to = end;
    while (isSpace(from)) from++;
    while (isSpace(to - 1)) to--;
    outcome.ranges.push(from, to);
  }
  return outcome;
}

/** Bytes that arrive at once; single bytes are rare because they cost a call each. */
const PIECE_SIZES = [1, 50, 50, 500, 500, 500, 2000, 2000, 100_000, 100_000];

test('rows, nulls and refusals agree with an independent parser, whatever comes in and however it is cut', () => {
  let accepted = 0;
  let refused = 0;
  for (let round = 0; round < 400; round++) {
    const seed = `decode ${round}`;
    const prng = new Prng(seed);
    const columns = anyColumns(prng);
    const bytes = anyLines(prng, columns, 1 + prng.below(30), prng.pick([0, 0.1, 0.6]));
    const wanted = expected(columns, bytes);
    const found = decodeInPieces(prng, columns, bytes, prng.pick(PIECE_SIZES));
    // The fast comparison first: the other one explains the difference but takes most of the time.
    if (!isDeepStrictEqual(found, wanted)) expect(found, `seed ${seed}`).toEqual(wanted);
    accepted += wanted.rows.length;
    refused += wanted.errors.length;
  }
  // The generator must keep both sides busy.
  expect(accepted).toBeGreaterThan(1000);
  expect(refused).toBeGreaterThan(1000);
}, 60_000);

test('random bytes are refused without harm', () => {
  for (let round = 0; round < 300; round++) {
    const seed = `noise ${round}`;
    const prng = new Prng(seed);
    const columns = anyColumns(prng);
    const alphabet = prng.chance(0.5)
      ? null
      : encoder.encode('{}[]",:\\u0d8-+.eE1 \n\rtruefalsnid');
    const bytes = Uint8Array.from({ length: 400 }, () =>
      alphabet === null ? prng.below(256) : (alphabet[prng.below(alphabet.length)] as number),
    );
    expect(decodeInPieces(prng, columns, bytes, 60), `seed ${seed}`).toEqual(
      expected(columns, bytes),
    );
  }
}, 30_000);

test('every invalid UTF-8 sequence of two and three bytes in a text is refused and every valid one kept', () => {
  const checker = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const wanted = utf8Sequences().map((sequence) => {
    try {
      return checker.decode(Uint8Array.from(sequence));
    } catch {
      return null;
    }
  });
  const { columns, bytes } = utf8Case(0);
  const decoder = new JsonDecoder(columns, JSON_FORMAT);
  const found: (string | null)[] = [];
  for (let at = 0; at < bytes.length;) {
    const result = decoder.decode(bytes, at, bytes.length, 8192);
    const texts = rowsOf(result.batch, columns).map((row) => row['s'] as string);
    const refused = new Set(result.errors.map((error) => error.rowIndex));
    expect(result.errors.every((error) => error.code === 'PARSE_ERROR')).toBe(true);
    let next = 0;
    for (let row = 0; row < result.rowsSeen; row++)
      found.push(refused.has(row) ? null : (texts[next++] as string));
    at = result.consumed;
  }
  expect(found).toHaveLength(wanted.length);
  expect(found.findIndex((text, index) => text !== wanted[index])).toBe(-1);
}, 30_000);

test('a row without a required field and one of the wrong type are reported with their place, an unknown field as a warning', () => {
  const columns = [
    column('netuid', INT32, false),
    column('observed_at', INT64, false),
    column('note', TEXT),
  ];
  const result = decodeAll(
    columns,
    '{"netuid":1,"observed_at":10,"note":"a"}\n{"observed_at":11}\n{"netuid":"x","observed_at":12}\n{"netuid":4,"observed_at":13,"extra":true}\n',
  );
  expect(result.rows).toEqual([
    { netuid: 1, observed_at: 10n, note: 'a' },
    { netuid: 4, observed_at: 13n, note: null },
  ]);
  expect(
    result.errors.map(({ rowIndex, code, column: name, expected: type }) => ({
      rowIndex,
      code,
      name,
      type,
    })),
  ).toEqual([
    { rowIndex: 1, code: 'MISSING_REQUIRED', name: 'netuid', type: 'INT' },
    { rowIndex: 2, code: 'TYPE_MISMATCH', name: 'netuid', type: 'INT' },
  ]);
  expect(result.warnings).toEqual([{ code: 'UNKNOWN_FIELD', column: 'extra', count: 1 }]);
  expect(result.unknownFields).toEqual([{ rowIndex: 3, column: 'extra' }]);
  expect(result.rowsSeen).toBe(4);
});

test('a BIGINT beyond 2^53 keeps every digit, as number and as text, and is never rounded', () => {
  const columns = [column('id', INT64, false), column('rel', INT64)];
  const result = decodeAll(
    columns,
    '{"id":9007199254740993,"rel":-9223372036854775808}\n{"id":2033735037361704962,"rel":null}\n{"id":"9007199254740995","rel":1}\n' +
      '{"id":9223372036854775808}\n{"id":1.5}\n{"id":1e2}\n{"id":3.00}\n',
  );
  expect(result.rows).toEqual([
    { id: 9007199254740993n, rel: -9223372036854775808n },
    { id: 2033735037361704962n, rel: null },
    { id: 9007199254740995n, rel: 1n },
    { id: 100n, rel: null },
    { id: 3n, rel: null },
  ]);
  expect(codes(result.errors)).toEqual(['3 NUMERIC_OUT_OF_RANGE id', '4 TYPE_MISMATCH id']);
});

test('a DECIMAL is taken from its source text', () => {
  const columns = [column('amt', decimalType(38, 18))];
  const result = decodeAll(
    columns,
    '{"amt":12345678901234567890.123456789012345678}\n{"amt":"0.000000000000000001"}\n{"amt":0.1}\n',
  );
  expect(result.rows.map((row) => row['amt'])).toEqual([
    '12345678901234567890.123456789012345678',
    '0.000000000000000001',
    '0.100000000000000000',
  ]);
});

test('small decimals are legal, and one with too many digits before the point is out of range', () => {
  const result = decodeAll(
    [column('x', decimalType(5, 4))],
    '{"x":0.005}\n{"x":-0.005}\n{"x":"0.0001"}\n{"x":12.3}\n{"x":0.00005}\n',
  );
  expect(result.rows.map((row) => row['x'])).toEqual(['0.0050', '-0.0050', '0.0001', '0.0001']);
  expect(codes(result.errors)).toEqual(['3 NUMERIC_OUT_OF_RANGE x']);
  expect(result.errors[0]?.expected).toBe('DECIMAL(5, 4)');
});

test('a numeric timestamp needs a declared unit', () => {
  const columns = [column('ts', TIMESTAMP)];
  const at = (spec: Partial<FormatSpec>, value: string): unknown =>
    decodeAll(columns, `{"ts":${value}}\n`, spec).rows[0]?.['ts'];
  expect(at({ timestampFormat: 'unix_micros' }, '1700000000123456')).toBe(1_700_000_000_123_456n);
  expect(at({ timestampFormat: 'unix_seconds' }, '1700000000')).toBe(1_700_000_000_000_000n);
  expect(at({ timestampFormat: 'unix_seconds' }, '1700000000.25')).toBe(1_700_000_000_250_000n);
  expect(at({ timestampFormat: 'unix_millis' }, '1700000000000')).toBe(1_700_000_000_000_000n);
  expect(at({ timestampFormat: 'unix_nanos' }, '1700000000123456789')).toBe(1_700_000_000_123_456n);
  expect(at({ timestampFormat: 'unix_nanos' }, '-1')).toBe(-1n);
  expect(at({ timestampFormat: 'unix_millis' }, '"1700000000000"')).toBe(1_700_000_000_000_000n);
  expect(at({ timestampFormat: 'unix_millis' }, '"2023-11-14T22:13:20Z"')).toBe(
    1_700_000_000_000_000n,
  );
  for (const timestampFormat of [null, 'rfc3339'] as const) {
    const { errors } = decodeAll(columns, '{"ts":1700000000}\n', { timestampFormat });
    expect(codes(errors)).toEqual(['0 TIMESTAMP_UNIT_REQUIRED ts']);
    for (const unit of ['unix_seconds', 'unix_millis', 'unix_micros', 'unix_nanos'])
      expect(errors[0]?.message).toContain(unit);
  }
  expect(
    codes(
      decodeAll(columns, '{"ts":9223372036854775807}\n', { timestampFormat: 'unix_seconds' })
        .errors,
    ),
  ).toEqual(['0 NUMERIC_OUT_OF_RANGE ts']);
});

test('a timestamp is never taken for one of the minute before that differs in a single character', () => {
  const columns = [column('ts', TIMESTAMP)];
  const known = '2011-11-11T11:11:11';
  for (let at = 0; at < known.length; at++) {
    for (const character of '0123456789-:T Zx') {
      const other = known.slice(0, at) + character + known.slice(at + 1);
      const bytes = encoder.encode(`{"ts":"${known}"}\n{"ts":"${other}"}\n{"ts":"${other}.5"}\n`);
      const found = decodeInPieces(new Prng(at), columns, bytes, 1000);
      expect(found, other).toEqual(expected(columns, bytes));
    }
  }
});

test('microseconds stay exact in years far from now', () => {
  const columns = [column('ts', TIMESTAMP)];
  for (const year of ['0000', '0001', '1684', '1685', '1969', '2254', '2255', '2256', '9999']) {
    const seconds = ['01.000001', '02.999999', '59.123457', '00'];
    const bytes = encoder.encode(
      seconds.map((s) => `{"ts":"${year}-06-30T23:59:${s}"}\n`).join(''),
    );
    const found = decodeInPieces(new Prng(year), columns, bytes, 1000);
    expect(found, year).toEqual(expected(columns, bytes));
  }
});

test('lines end at LF only: U+2028 stays within its row, with CRLF, without a last LF and byte by byte', () => {
  const columns = [column('id', INT32), column('msg', TEXT)];
  const wanted = [
    { id: 1, msg: 'a\u2028b' },
    { id: 2, msg: 'c' },
  ];
  for (const end of ['\n', '\r\n']) {
    for (const last of ['', end]) {
      const bytes = encoder.encode(`{"id":1,"msg":"a\u2028b"}${end}{"id":2,"msg":"c"}${last}`);
      expect(decodeAll(columns, bytes).rows).toEqual(wanted);
      const pieces = decodeInPieces(new Prng(1), columns, bytes, 1);
      expect(pieces.rows).toEqual(wanted);
      expect(pieces.errors).toEqual([]);
    }
  }
});

test('a lone surrogate is an error row, a pair is one character', () => {
  const result = decodeAll(
    [column('s', TEXT)],
    '{"s":"\\ud83d"}\n{"s":"\\ud83d\\ude00"}\n{"s":"\\ude00"}\n{"t":"\\ud800"}\n',
  );
  expect(result.rows).toEqual([{ s: '😀' }]);
  expect(codes(result.errors)).toEqual([
    '0 PARSE_ERROR null',
    '2 PARSE_ERROR null',
    '3 PARSE_ERROR null',
  ]);
});

test('escapes and control characters in text are taken or refused one by one', () => {
  const columns = [column('s', TEXT)];
  for (const escape of [
    '\\ud83d\\ue000',
    '\\ud83d\\udbff',
    '\\ud83dxudc00',
    '\\ud83',
    '\\u00g0',
    '\\x41',
    '\\U0041',
    '\\',
  ]) {
    expect(codes(decodeAll(columns, `{"s":"${escape}"}`).errors), escape).toEqual([
      '0 PARSE_ERROR null',
    ]);
  }
  const all = '\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\udbff\\udfff\\u0000';
  expect(decodeAll(columns, `{"s":"${all}"}`).rows).toEqual([
    { s: JSON.parse(`"${all}"`) as string },
  ]);
  for (let byte = 0; byte < 32; byte++) {
    if (byte === 10) continue;
    const row = encoder.encode(`{"s":"a${String.fromCharCode(byte)}b"}`);
    expect(codes(decodeAll(columns, row).errors), `byte ${byte}`).toEqual(['0 PARSE_ERROR null']);
  }
  expect(decodeAll(columns, '{"s":"\u007f"}').rows).toEqual([{ s: '\u007f' }]);
});

test('unknown fields of a refused row are not counted', () => {
  const result = decodeAll(
    [column('id', INT32)],
    '{"x":1,"id":"?"}\n{"y":1,"id":1}\n{"x":2\n{"y":2}\n',
  );
  expect(result.warnings).toEqual([{ code: 'UNKNOWN_FIELD', column: 'y', count: 2 }]);
  expect(result.unknownFields).toEqual([
    { rowIndex: 1, column: 'y' },
    { rowIndex: 3, column: 'y' },
  ]);
});

test('reserved words are column names like any other', () => {
  const columns = [
    column('timestamp', INT64),
    column('group', TEXT),
    column('window', TEXT),
    column('order', INT32),
    column('end', INT32),
  ];
  expect(
    decodeAll(columns, '{"timestamp":1,"group":"g","window":"w","order":3,"end":9}').rows,
  ).toEqual([{ timestamp: 1n, group: 'g', window: 'w', order: 3, end: 9 }]);
});

test('missing, null, empty and default are four things', () => {
  const columns: DecodeColumn[] = [
    column('id', INT32, false),
    { name: 'name', type: TEXT, nullable: false, default: 'anon' },
    { name: 'q', type: INT32, nullable: true, default: 1 },
  ];
  const result = decodeAll(
    columns,
    '{"id":1}\n{"id":2,"name":null}\n{"id":3,"name":"","q":null}\n',
  );
  expect(result.rows).toEqual([
    { id: 1, name: 'anon', q: 1 },
    { id: 3, name: '', q: null },
  ]);
  expect(codes(result.errors)).toEqual(['1 NULL_VIOLATION name']);
});

test('a default of every type stands in for a missing key', () => {
  const columns: DecodeColumn[] = [
    { name: 'a', type: BOOLEAN, nullable: false, default: true },
    { name: 'b', type: INT64, nullable: false, default: '-9223372036854775808' },
    { name: 'c', type: FLOAT64, nullable: false, default: 0.5 },
    { name: 'd', type: decimalType(10, 2), nullable: false, default: '-150' },
    { name: 'e', type: TIMESTAMP, nullable: false, default: '1' },
    { name: 'f', type: TEXT, nullable: false, default: 'é'.repeat(500) },
  ];
  const row = { a: true, b: -(2n ** 63n), c: 0.5, d: '-1.50', e: 1n, f: 'é'.repeat(500) };
  expect(decodeAll(columns, '{}\n{}\n').rows).toEqual([row, row]);
});

test('one poison record costs only itself and shows its own bytes', () => {
  const text = '{"id":1}\n{"id":\n{"id":"abc"}\n{"id":4}\n';
  const result = decodeAll([column('id', INT32, false)], text);
  expect(result.rows).toEqual([{ id: 1 }, { id: 4 }]);
  expect(codes(result.errors)).toEqual(['1 PARSE_ERROR null', '2 TYPE_MISMATCH id']);
  expect(result.errors.map(({ start, end }) => text.slice(start, end))).toEqual([
    '{"id":',
    '{"id":"abc"}',
  ]);
});

test('of a key given twice the last value counts, also when the first one did not fit', () => {
  const columns = [column('a', INT32, false), column('s', TEXT)];
  const result = decodeAll(
    columns,
    '{"a":1,"s":"long one","s":"x","a":2}\n{"a":"x","a":3,"s":null,"s":"y"}\n{"a":1,"a":"x"}\n{"a":4,"s":"z","s":null}\n',
  );
  expect(result.rows).toEqual([
    { a: 2, s: 'x' },
    { a: 3, s: 'y' },
    { a: 4, s: null },
  ]);
  expect(codes(result.errors)).toEqual(['2 TYPE_MISMATCH a']);
});

test('keys match exactly, or else in any case', () => {
  const columns = [column('id', INT32), column('ID', INT32), column('userName', TEXT)];
  expect(
    decodeAll(columns, '{"ID":1,"id":2,"username":"u"}\n{"Id":3,"USERNAME":"v"}\n').rows,
  ).toEqual([
    { id: 2, ID: 1, userName: 'u' },
    { id: 3, ID: null, userName: 'v' },
  ]);
});

test('a struct column takes nested objects and says which field is wrong', () => {
  const pair: SqlType = {
    tag: 'struct',
    fields: [
      { name: 'x', type: INT32, nullable: false },
      { name: 's', type: TEXT, nullable: true },
    ],
  };
  const result = decodeAll(
    [column('p', pair)],
    '{"p":{"x":1,"s":"a"}}\n{"p":null}\n{"p":{"X":2,"other":[1]}}\n{"p":{"s":"b"}}\n{"p":{"x":"y"}}\n{"p":5}\n{"p":{"x":1,}}\n{}\n',
  );
  expect(result.rows).toEqual([
    { p: { x: 1, s: 'a' } },
    { p: null },
    { p: { x: 2, s: null } },
    { p: null },
  ]);
  expect(codes(result.errors)).toEqual([
    '3 MISSING_REQUIRED p.x',
    '4 TYPE_MISMATCH p.x',
    '5 TYPE_MISMATCH p',
    '6 PARSE_ERROR null',
  ]);
});

test('an unstructured table holds the text of each row', () => {
  const result = decodeAll([column('value', TEXT)], ' {"a": [1, 2]} \n{"a":}\n"x"\n', {
    unstructured: true,
  });
  expect(result.rows).toEqual([{ value: '{"a": [1, 2]}' }, { value: '"x"' }]);
  expect(codes(result.errors)).toEqual(['1 PARSE_ERROR null']);
});

test('nesting beyond the limit and a row beyond its size are refused, not followed', () => {
  const deep = '['.repeat(100_000);
  const long = `{"id":1,"pad":"${'x'.repeat(1024 * 1024)}"}`;
  const result = decodeAll([column('id', INT32)], `{"id":1,"d":${deep}\n${long}\n{"id":2}\n`);
  expect(result.rows).toEqual([{ id: 2 }]);
  expect(codes(result.errors)).toEqual(['0 PARSE_ERROR null', '1 ROW_TOO_LARGE null']);
});

test('more distinct keys than are learned are still read', () => {
  const rows = Array.from({ length: 400 }, (_, index) => `{"key${index}":${index},"id":${index}}`);
  const result = decodeAll([column('id', INT32)], rows.join('\n'));
  expect(result.rows.map((row) => row['id'])).toEqual(rows.map((_, index) => index));
  expect(result.warnings).toHaveLength(400);
});
