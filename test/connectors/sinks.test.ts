import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { makeSink, makeSource } from '../../src/connectors/registry.ts';
import { stdoutPrefix } from '../../src/connectors/stdout/sink.ts';
import type { SinkContext, SinkOutput, StageRequest } from '../../src/connectors/connector.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { contextOf } from './source-driver.ts';
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

  fail(): void {}
}

const textOf = (requests: readonly StageRequest[]): string =>
  requests.map(({ bytes }) => new TextDecoder().decode(bytes)).join('');
const line = (row: Row): string => `{"k":${JSON.stringify(row['k'])},"n":${row['n']}}\n`;
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
  const needed = { path: 'p', event_rate: 1 };
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
      const schema = declaration.schema ?? SCHEMA;
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
