import { expect, test } from 'vitest';
import { FLOAT64, INT64, TEXT, TIMESTAMP } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { DebeziumDecoder } from '../../src/formats/debezium-decoder.ts';
import { type DecodeColumn, JSON_FORMAT } from '../../src/formats/format.ts';
import type { DecodeResult } from '../../src/formats/json-decoder.ts';

const COLUMNS: DecodeColumn[] = [
  { name: 'id', type: INT64, nullable: false, default: null },
  { name: 'name', type: TEXT, nullable: true, default: null },
  { name: 'price', type: FLOAT64, nullable: false, default: null },
];

function decode(...lines: string[]): DecodeResult {
  const decoder = new DebeziumDecoder(
    COLUMNS,
    { ...JSON_FORMAT, changes: { keys: ['id'] } },
    { unknownByRow: true },
  );
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
  return decoder.decode(bytes, 0, bytes.length, 100, true);
}

/** `+` and the row, or `-` and the key. */
const changesOf = ({ batch }: DecodeResult): string[] =>
  rowsOf(batch, COLUMNS).map((row, at) =>
    batch.retract?.[at] === 1
      ? `-${String(row.id)}`
      : `+${String(row.id)} ${String(row.name)} ${String(row.price)}`,
  );

const row = (id: number, name: string | null, price: number): string =>
  JSON.stringify({ id, name, price });

test('creations, snapshots and updates are the newest rows of their keys, deletions take them away', () => {
  const result = decode(
    `{"before":null,"after":${row(1, 'a', 1)},"op":"c","ts_ms":5}`,
    `{"before":null,"after":${row(2, 'b', 2)},"op":"r","source":{"db":"x"}}`,
    `{"before":${row(1, 'a', 1)},"after":${row(1, 'A', 1.5)},"op":"u"}`,
    `{"op":"d","before":{"id":2},"after":null}`,
  );
  expect(changesOf(result)).toEqual(['+1 a 1', '+2 b 2', '+1 A 1.5', '-2']);
  expect([result.rowsSeen, result.errors, result.unknownFields]).toEqual([4, [], []]);
  expect(result.lineRanges).toHaveLength(8);
});

test('an update that changes the key takes the row of the old key away first', () => {
  const result = decode(`{"before":${row(1, 'a', 1)},"after":${row(9, 'a', 1)},"op":"u"}`);
  expect(changesOf(result)).toEqual(['-1', '+9 a 1']);
  expect([result.rowsSeen, result.lineRanges.length]).toEqual([1, 2]);
});

test('records wrapped in a payload beside their schema are read alike', () => {
  const result = decode(
    `{"schema":{"type":"struct"},"payload":{"before":null,"after":${row(1, null, 1)},"op":"c"}}`,
    `{"before":null,"after":${row(2, 'b', 2)},"op":"c"}`,
    `{"payload":{"before":${row(1, 'x', 1)},"after":null,"op":"d"}}`,
  );
  expect(changesOf(result)).toEqual(['+1 null 1', '+2 b 2', '-1']);
});

test('tombstones and messages of the log are read and give no row, wherever they stand', () => {
  const lines = [
    `null`,
    `{"before":${row(1, 'a', 1)},"after":null,"op":"d"}`,
    `  null \r`,
    `{}`,
    `{"payload":null}`,
    `{"before":null,"after":${row(2, 'b', 2)},"op":"c"}`,
    `{"schema":null,"payload":null}`,
    `{"schema":{"type":"struct"},"payload":null}`,
    `{"op":"m","ts_ms":5,"source":{"db":"x"},"message":{"prefix":"p","content":"Zm9v"}}`,
    `{"schema":{},"payload":{"op":"m","message":{"prefix":"p"}}}`,
    `null`,
  ];
  const result = decode(...lines, '', ' ');
  expect(changesOf(result)).toEqual(['-1', '+2 b 2']);
  expect([result.rowsSeen, result.errors, result.unknownFields]).toEqual([lines.length, [], []]);
  const text = new TextEncoder().encode(`${lines.join('\n')}\n`);
  const ranges = [...result.lineRanges];
  expect(
    lines.map((_, at) =>
      new TextDecoder().decode(text.subarray(ranges[at * 2], ranges[at * 2 + 1])),
    ),
  ).toEqual(lines.map((line) => (line.includes('null \r') ? '  null ' : line)));
});

test('a message or a tombstone needs none of the times that a change must tell', () => {
  const columns: DecodeColumn[] = [
    ...COLUMNS,
    { name: 'written', type: TIMESTAMP, nullable: false, default: null, envelope: 'ts_ms' },
  ];
  const decoder = new DebeziumDecoder(columns, { ...JSON_FORMAT, changes: { keys: ['id'] } });
  const bytes = new TextEncoder().encode('null\n{"op":"m"}\n{"payload":null}\n{"op":"d"}\n');
  const { batch, errors, rowsSeen } = decoder.decode(bytes, 0, bytes.length, 100, true);
  expect([batch.rows, rowsSeen, errors.map(({ rowIndex, code }) => [rowIndex, code])]).toEqual([
    0,
    4,
    [[3, 'MISSING_REQUIRED']],
  ]);
});

test('what only resembles a tombstone is refused: a lost payload must not pass in silence', () => {
  const result = decode(
    `{"schema":null}`,
    `{"payload":{}}`,
    `{"payload":null,"id":1}`,
    `{"id":1,"name":"a","price":1}`,
    `nul`,
    `[null]`,
    `"null"`,
  );
  expect(result.batch.rows).toBe(0);
  expect(result.errors.map(({ code }) => code)).toEqual([
    ...Array<string>(4).fill('MISSING_REQUIRED'),
    ...Array<string>(3).fill('PARSE_ERROR'),
  ]);
});

test('a truncation is refused with its reason: no single row of it can be taken away', () => {
  const result = decode(
    `{"before":null,"after":${row(1, 'a', 1)},"op":"c"}`,
    `{"op":"t","ts_ms":5,"source":{"table":"t"},"before":null,"after":null}`,
    `{"payload":{"op":"t"}}`,
  );
  expect(changesOf(result)).toEqual(['+1 a 1']);
  expect(result.errors.map(({ rowIndex, code, column }) => [rowIndex, code, column])).toEqual([
    [1, 'UNSUPPORTED', 'op'],
    [2, 'UNSUPPORTED', 'op'],
  ]);
  expect(result.errors[0]?.message).toMatchInlineSnapshot(
    `"the table was truncated ("op" is "t"), which takes no single row away: rows that came before it stay; restart the pipeline without state to read the table anew"`,
  );
});

test('integers keep all their digits', () => {
  const result = decode(`{"after":{"id":9007199254740993,"name":"n","price":0},"op":"c"}`);
  expect(changesOf(result)).toEqual(['+9007199254740993 n 0']);
});

test('a record that lacks what its op needs is refused, and only it', () => {
  const result = decode(
    `{"before":null,"after":null,"op":"c"}`,
    `{"before":null,"after":${row(1, 'a', 1)},"op":"c"}`,
    `{"before":null,"after":null,"op":"d"}`,
    `{"before":{"name":"x"},"after":null,"op":"d"}`,
    `{"before":null,"after":${row(3, 'a', 1)},"op":"x"}`,
    `{"before":null,"after":${row(4, 'a', 1)}}`,
    `{"before":null,"after":{"id":5,"name":"a"},"op":"c"}`,
    `{"before":null,"after":{"id":"six","name":"a","price":1},"op":"c"}`,
    `nonsense`,
    `{"before":null,"after":${row(8, 'z', 1)},"op":"u"}`,
  );
  expect(changesOf(result)).toEqual(['+1 a 1', '+8 z 1']);
  expect(result.errors.map(({ rowIndex, code, column }) => [rowIndex, code, column])).toEqual([
    [0, 'MISSING_REQUIRED', 'after'],
    [2, 'MISSING_REQUIRED', 'before'],
    [3, 'MISSING_REQUIRED', 'before'],
    [4, 'TYPE_MISMATCH', 'op'],
    [5, 'MISSING_REQUIRED', 'op'],
    [6, 'MISSING_REQUIRED', 'after.price'],
    [7, 'TYPE_MISMATCH', 'after.id'],
    [8, 'PARSE_ERROR', null],
  ]);
});

test('the times of a change are columns of its rows, plain and wrapped, and must be there when they are read', () => {
  const columns: DecodeColumn[] = [
    { name: 'written', type: TIMESTAMP, nullable: false, default: null, envelope: 'ts_ms' },
    ...COLUMNS,
    { name: 'made', type: TIMESTAMP, nullable: false, default: null, envelope: 'source.ts_ms' },
  ];
  const decoder = new DebeziumDecoder(columns, { ...JSON_FORMAT, changes: { keys: ['id'] } });
  const change = (source: string): string =>
    `{"after":${row(1, 'a', 1)},"before":${row(2, 'b', 1)},"op":"u","ts_ms":1700000000123,${source}}`;
  const lines = [
    change('"source":{"ts_ms":-5,"db":"x"}'),
    `{"payload":${change('"source":{"db":"x","ts_ms":7}')}}`,
    `{"op":"d","before":{"id":2},"ts_ms":8,"source":{"ts_ms":0}}`,
    change('"source":{"db":"x"}'),
    change('"source":{"ts_ms":9000000000001}'),
    change('"source":null'),
  ];
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
  const { batch, errors } = decoder.decode(bytes, 0, bytes.length, 100, true);
  const shown = rowsOf(batch, columns).map(({ id, written, made }) => `${id} ${written} ${made}`);
  const micros = '1700000000123000';
  expect(shown).toEqual([
    `2 ${micros} -5000`,
    `1 ${micros} -5000`,
    `2 ${micros} 7000`,
    `1 ${micros} 7000`,
    '2 8000 0',
  ]);
  expect(errors.map(({ rowIndex, column }) => `${rowIndex} ${column}`)).toEqual([
    '3 source.ts_ms',
    '4 source.ts_ms',
    '5 source.ts_ms',
  ]);
});
