import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Int64Column } from '../../src/batch/column.ts';
import { INT64, TEXT, TIMESTAMP, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, columnFromValues, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { makeSink, makeSource } from '../../src/connectors/registry.ts';
import { stdoutPrefix } from '../../src/connectors/stdout/sink.ts';
import type { SinkContext, SinkOutput, StageRequest } from '../../src/connectors/connector.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { footerOfFile } from '../../src/formats/parquet/joined-file.ts';
import { numberOf } from '../../src/formats/parquet/thrift.ts';
import type { RowProblem } from '../../src/operators/operator.ts';
import { contextOf } from './source-driver.ts';
import { NO_VALUE } from '../../src/connectors/partitioner.ts';
import { NEXMARK_SCHEMA } from '../../src/connectors/nexmark/schema.ts';

const SCHEMA: Schema = [
  { name: 'k', type: TEXT, nullable: true },
  { name: 'n', type: INT64, nullable: true },
];

const context = (rest: Partial<SinkContext> = {}): SinkContext => ({
  table: 'out put',
  options: {},
  format: JSON_FORMAT,
  schema: SCHEMA,
  updating: false,
  keyColumns: [],
  subtask: 2,
  parallelism: 3,
  writerId: 'w1',
  pipelineId: 'pl_1',
  ...rest,
});

class Staged implements SinkOutput {
  readonly requests: (StageRequest & { epoch: number })[] = [];
  readonly shown: string[] = [];
  epoch = 1;

  stage(request: StageRequest): void {
    this.requests.push({ ...request, epoch: this.epoch });
  }

  preview(rows: Uint8Array): void {
    this.shown.push(new TextDecoder().decode(rows));
  }

  readonly problems: RowProblem[] = [];

  fail(problems: readonly RowProblem[]): void {
    this.problems.push(...problems);
  }
}

const textOf = (requests: readonly StageRequest[]): string =>
  requests.map(({ bytes }) => new TextDecoder().decode(bytes)).join('');
const line = (row: Row): string => `{"k":${JSON.stringify(row['k'])},"n":${row['n']}}\n`;
const rowsOfFile = (bytes: Uint8Array): number => numberOf(footerOfFile(bytes).fields, 3);
const rowArbitrary = fc.record({
  k: fc.option(fc.string({ maxLength: 10 })),
  n: fc.bigInt({ min: -99n, max: 99n }),
});

for (const [connector, options] of [
  ['r2', { path: '/out/flights/', file_bytes_max: 200 }],
  ['stdout', {}],
  ['single_file', { path: 'out.ndjson' }],
] as const) {
  test(`${connector} stages every row once, in its epoch, under names used once`, () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.array(rowArbitrary, { maxLength: 12 }), fc.constant('barrier' as const)),
          { maxLength: 25 },
        ),
        (events) => {
          const sink = makeSink(connector, context({ options }));
          const output = new Staged();
          const expected = new Map<number, string>();
          for (const event of [...events, 'barrier' as const]) {
            if (event === 'barrier') {
              sink.onBarrier(output.epoch, output);
              expect(sink.bufferedBytes()).toBe(0);
              output.epoch++;
            } else {
              sink.onBatch(batchFromRows(SCHEMA, event), output.epoch, output);
              expected.set(
                output.epoch,
                (expected.get(output.epoch) ?? '') + event.map(line).join(''),
              );
            }
          }
          for (let epoch = 1; epoch < output.epoch; epoch++) {
            const mine = output.requests.filter((request) => request.epoch === epoch);
            expect(textOf(mine)).toBe(expected.get(epoch) ?? '');
            expect(
              mine.every(({ key }) => key.includes(`part-${String(epoch).padStart(7, '0')}-002-`)),
            ).toBe(true);
          }
          expect(new Set(output.requests.map(({ key }) => key)).size).toBe(output.requests.length);
          expect(
            output.requests.every(
              ({ rows, bytes }) =>
                rows === new TextDecoder().decode(bytes).split('\n').length - 1 && rows > 0,
            ),
          ).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
}

/** Where a row belongs, by the words of the documentation. */
function folderOf({ k, n }: Row, micros: number): string {
  const text = k === null || k === '' ? '__HIVE_DEFAULT_PARTITION__' : String(k);
  const escaped = text.replace(/[^A-Za-z0-9_.-]/gu, (char) =>
    [...new TextEncoder().encode(char)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
  const time = new Date(micros / 1000).toISOString();
  return `${time.slice(0, 10)}/${time.slice(11, 13)}h/k=${escaped}/n=${n}/`;
}

test('rows lie in the folders of their time and columns, in their order, with a bound on open files', () => {
  const HALF_HOUR = 1_800_000_000;
  const start = Date.UTC(2024, 1, 29, 22) * 1000;
  fc.assert(
    fc.property(
      fc.array(
        fc.array(
          fc.record({
            k: fc.option(fc.constantFrom('', 'a', 'b/c', 'é=%', "it's", '..')),
            n: fc.bigInt({ min: -1n, max: 1n }),
            step: fc.nat(6),
          }),
          { maxLength: 30 },
        ),
        { maxLength: 6 },
      ),
      fc.integer({ min: 1, max: 9 }),
      (batches, openMax) => {
        const options = {
          path: 'o',
          'partitioning.fields': '["k","n"]',
          'partitioning.time_pattern': '/%F/%Hh/',
          'partitioning.open_max': openMax,
        };
        const sink = makeSink('r2', context({ options }));
        const output = new Staged();
        const wanted = new Map<string, string>();
        for (const rows of batches) {
          const batch = batchFromRows(SCHEMA, rows);
          const times = rows.map(({ step }) => BigInt(start + step * HALF_HOUR));
          const eventTime = columnFromValues(TIMESTAMP, times) as Int64Column;
          sink.onBatch({ ...batch, eventTime }, 1, output);
          for (const row of rows) {
            const folder = folderOf(row, start + row.step * HALF_HOUR);
            wanted.set(folder, (wanted.get(folder) ?? '') + line(row));
          }
        }
        const early = output.requests.length;
        sink.onBarrier(1, output);
        expect(output.requests.length - early).toBeLessThanOrEqual(openMax);
        expect(sink.bufferedBytes()).toBe(0);
        const found = new Map<string, string>();
        for (const request of output.requests) {
          const folder = request.key.slice(2, request.key.lastIndexOf('/') + 1);
          found.set(folder, (found.get(folder) ?? '') + textOf([request]));
        }
        expect(new Map([...found].sort())).toEqual(new Map([...wanted].sort()));
        expect(new Set(output.requests.map(({ key }) => key)).size).toBe(output.requests.length);
      },
    ),
    { numRuns: 100 },
  );
});

test('rows of one folder stay in their order where their values differ', () => {
  const options = { path: 'o', 'partitioning.fields': '["k"]' };
  const sink = makeSink('r2', context({ options }));
  const output = new Staged();
  const rows = [null, '', null, '', NO_VALUE, null].map((k, n) => ({ k, n: BigInt(n) }));
  sink.onBatch(batchFromRows(SCHEMA, rows), 1, output);
  sink.onBarrier(1, output);
  expect(output.requests.map((request) => textOf([request]))).toEqual([rows.map(line).join('')]);
});

test('a row without event time, and one whose folder has no name, are told apart from the others', () => {
  const options = {
    path: 'o',
    'partitioning.fields': '["k"]',
    'partitioning.time_pattern': '%Y',
    'partitioning.open_max': 4,
  };
  const sink = makeSink('r2', context({ options }));
  const output = new Staged();
  const rows = [
    { k: 'a', n: 1n },
    { k: 'é'.repeat(160), n: 2n },
  ];
  sink.onBatch(batchFromRows(SCHEMA, rows), 1, output);
  sink.onBarrier(1, output);
  expect(output.requests.map(({ key }) => key)).toEqual([
    'o/__HIVE_DEFAULT_PARTITION__/k=a/part-0000001-002-0000-w1.ndjson',
  ]);
  expect(output.problems).toMatchObject([
    { row: 0, code: 'ROW_TOO_LARGE', raw: line(rows[1]!).trim() },
  ]);
});

test('many folders together hold a bounded number of bytes', () => {
  const options = { path: 'o', 'partitioning.fields': '["n"]', 'partitioning.open_max': 1000 };
  const sink = makeSink('r2', context({ options }));
  const output = new Staged();
  const k = 'x'.repeat(100_000);
  const rows = Array.from({ length: 50 }, (_, n) => ({ k, n: BigInt(n) }));
  const batch = batchFromRows(SCHEMA, rows);
  for (let round = 0; round < 12; round++) {
    sink.onBatch(batch, 1, output);
    expect(sink.bufferedBytes()).toBeLessThan(34 * 1024 * 1024);
  }
  sink.onBarrier(1, output);
  expect(output.requests.reduce((sum, request) => sum + request.rows, 0)).toBe(600);
});

test('Parquet files are closed by rows and by bytes, and hold the rows they say', () => {
  const format = { tag: 'parquet', compression: 'snappy', rowGroupBytes: 1e6 } as const;
  const options = { path: 'o', file_rows_max: 10 };
  const sink = makeSink('r2', context({ options, format }));
  const output = new Staged();
  for (let at = 0; at < 5; at++)
    sink.onBatch(
      batchFromRows(
        SCHEMA,
        Array.from({ length: 4 }, () => ({ k: 'a', n: 1n })),
      ),
      1,
      output,
    );
  sink.onBatch(batchFromRows(SCHEMA, []), 1, output);
  sink.onBarrier(1, output);
  expect(output.requests.map(({ key, rows }) => `${rows} ${key}`)).toEqual([
    '12 o/part-0000001-002-0000-w1.parquet',
    '8 o/part-0000001-002-0001-w1.parquet',
  ]);
  for (const { bytes, rows } of output.requests) expect(rowsOfFile(bytes)).toBe(rows);
});

test('names and methods are those the commit expects', () => {
  const keyOf = (connector: string, options: SinkContext['options']): string[] => {
    const sink = makeSink(connector, context({ options }));
    const output = new Staged();
    sink.onBatch(batchFromRows(SCHEMA, [{ k: 'a', n: 1n }]), 12, output);
    sink.onBarrier(12, output);
    return output.requests.map(({ key, method }) => `${method} ${key}`);
  };
  expect(keyOf('r2', { path: '/out/flights/' })).toEqual([
    'multipart out/flights/part-0000012-002-0000-w1.ndjson',
  ]);
  expect(keyOf('r2', { path: '/' })).toEqual(['multipart part-0000012-002-0000-w1.ndjson']);
  expect(keyOf('stdout', {})).toEqual([
    `multipart ${stdoutPrefix('pl_1', 'out put')}part-0000012-002-0000-w1.ndjson`,
  ]);
  expect(keyOf('single_file', { path: 'o' })).toEqual([
    'object thalweg-staged/pl_1/out%20put/part-0000012-002-0000-w1.ndjson',
  ]);
  expect(keyOf('blackhole', {})).toEqual([]);
});

test('a file is closed when it would grow beyond its limit', () => {
  const sink = makeSink('r2', context({ options: { path: 'o', file_bytes_max: 60 } }));
  const output = new Staged();
  for (let at = 0; at < 10; at++)
    sink.onBatch(batchFromRows(SCHEMA, [{ k: 'abc', n: 1n }]), 1, output);
  sink.onBarrier(1, output);
  expect(output.requests.map(({ rows }) => rows)).toEqual([3, 3, 3, 1]);
});

test('an updating result is written as changes', () => {
  const sink = makeSink('preview', context({ updating: true, keyColumns: [0] }));
  const output = new Staged();
  const batch = batchFromRows(SCHEMA, [
    { k: 'a', n: 1n },
    { k: 'a', n: 1n },
    { k: 'a', n: 2n },
  ]);
  sink.onBatch({ ...batch, retract: Uint8Array.from([0, 1, 0]) }, 1, output);
  expect(output.shown).toEqual([
    '{"before":null,"after":{"k":"a","n":1},"op":"c"}\n{"before":{"k":"a","n":1},"after":{"k":"a","n":2},"op":"u"}\n',
  ]);
  sink.onBarrier(1, output);
  expect([output.requests, sink.bufferedBytes()]).toEqual([[], 0]);
});

test('every declared connector can be made, and nothing else', () => {
  const needed = { path: 'p', event_rate: 1, dataset: 'clicks' };
  for (const declaration of DECLARATIONS) {
    const fallbacks = Object.fromEntries(
      declaration.options.flatMap((option) =>
        option.fallback === null ? [] : [[option.name, option.fallback]],
      ),
    );
    const required = Object.fromEntries(
      declaration.options
        .filter((option) => option.required)
        .map((option) => [option.name, needed[option.name as 'path']]),
    );
    const options = { ...fallbacks, ...required } as Record<string, string | number>;
    if (declaration.source) {
      const { option, schemas } = declaration.schemaByOption ?? { option: '', schemas: {} };
      const schema = declaration.schema ?? schemas[String(options[option])] ?? SCHEMA;
      const source = makeSource(contextOf(declaration.name, options, schema));
      expect(source.partitions).toEqual([0]);
      expect(source.poll(1_700_000_000_000).tag).toMatch(/^(read|batch)$/);
    }
    if (declaration.sink)
      expect(makeSink(declaration.name, context({ options })).bufferedBytes()).toBe(0);
  }
  expect(() => makeSink('kafka', context())).toThrow('no sink connector "kafka"');
  expect(() => makeSource(contextOf('stdout', {}, NEXMARK_SCHEMA))).toThrow(
    'no source connector "stdout"',
  );
});
