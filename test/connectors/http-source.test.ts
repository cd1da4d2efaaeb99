import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { INT32, INT64, type Schema } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { LogStore, type SqlRow } from '../../src/connectors/http/log-store.ts';
import { makeSource } from '../../src/connectors/registry.ts';
import { JSON_FORMAT, type DecodeColumn, type FormatSpec } from '../../src/formats/format.ts';
import type { ErrorReport } from '../../src/base/errors.ts';
import type { Source } from '../../src/connectors/connector.ts';
import { contextOf, drain, restored, rowsGiven, type Given, type Reader } from './source-driver.ts';

const SCHEMA: Schema = [{ name: 'i', type: INT64, nullable: false }];
const still = (): number => 0;

function makeLog(): LogStore {
  const database = new DatabaseSync(':memory:');
  return new LogStore({
    exec: (query, ...bindings) => database.prepare(query).all(...bindings) as SqlRow[],
    transaction: (work) => work(),
  });
}

function append(log: LogStore, lines: readonly string[]): void {
  const ndjson = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
  log.append([{ idempotencyKey: null, bodyHash: '', ndjson, rows: lines.length, rejected: [] }], 0);
}

/** Answers reads as the log's object would, a few bytes at a time. */
const logReader =
  (logs: readonly LogStore[], bytesMax: number): Reader =>
  (request) => {
    if (request.tag !== 'log' || request.table !== 't')
      throw new Error('another read was expected');
    const read = (logs[request.partition] as LogStore).read(
      request.offset,
      Math.min(bytesMax, request.bytesMax),
    );
    if (read.tag === 'rows')
      return {
        tag: 'log',
        firstOffset: read.firstOffset,
        rows: read.rows,
        bytes: read.bytes,
        endOffset: read.endOffset,
      };
    return { tag: 'missing', path: 't' };
  };

/** Polls until so many rows have been given, good or bad: the source itself never ends. */
function drainAll(
  source: Source,
  read: Reader,
  rows: number,
): { given: Given[]; failed: ErrorReport | null } {
  const given: Given[] = [];
  for (let seen = 0, polls = 0; seen < rows && polls < 2000; polls++) {
    const step = source.poll(0);
    if (step.tag === 'read') source.onRead(step.partition, read(step.request));
    else if (step.tag === 'failed') return { given, failed: step.report };
    else if (step.tag === 'batch') {
      given.push(step);
      seen += step.batch.rows + step.problems.length;
    }
  }
  return { given, failed: null };
}

const make = (badData: FormatSpec['badData'], partitions: number, rest = {}) =>
  makeSource(
    contextOf('http', { partitions }, SCHEMA, {
      batchRows: 3,
      spec: { format: { ...JSON_FORMAT, badData } },
      ...rest,
    }),
  );

test('the rows of every partition come once and in order, and replay from any snapshot gives the rest again', () => {
  const partsArbitrary = fc.array(
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.nat().map((i) => `{"i":${i}}`) },
        { weight: 1, arbitrary: fc.constant('{"i":"x"}') },
      ),
      { maxLength: 20 },
    ),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(
      partsArbitrary,
      fc.integer({ min: 1, max: 60 }),
      fc.nat({ max: 8 }),
      (parts, bytesMax, stop) => {
        const logs = parts.map((lines) => {
          const log = makeLog();
          if (lines.length > 0) append(log, lines);
          return log;
        });
        const read = logReader(logs, bytesMax);
        const total = parts.flat().length;
        const source = make('dead_letter', parts.length);
        const head = drainAll(source, read, Math.min(stop, total)).given;
        const left =
          total - head.reduce((sum, each) => sum + each.batch.rows + each.problems.length, 0);
        const resumed = restored(() => make('dead_letter', parts.length), source.snapshot());
        for (const each of [source, resumed]) {
          const given = [...head, ...drainAll(each, read, left).given];
          parts.forEach((lines, partition) => {
            const mine = given.filter((step) => step.partition === partition);
            const good = lines
              .filter((line) => !line.includes('x'))
              .map((line) => BigInt((JSON.parse(line) as { i: number }).i));
            expect(rowsGiven(mine, SCHEMA).map((row) => row['i'])).toEqual(good);
            const bad = lines.flatMap((line, at) => (line.includes('x') ? [at] : []));
            mine
              .flatMap((step) => step.problems)
              .forEach((problem, at) => expect(problem.message).toContain(`row ${bad[at]} of t`));
          });
          expect(each.snapshot()).toEqual(
            Object.fromEntries(parts.map((lines, at) => [String(at), lines.length])),
          );
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('a quiet log is asked once and then waited for', () => {
  const log = makeLog();
  const source = make('fail', 1);
  expect(source.poll(0)).toMatchObject({
    tag: 'read',
    request: { tag: 'log', table: 't', offset: 0 },
  });
  expect(source.poll(0)).toEqual({ tag: 'wait', untilMs: null });
  append(log, ['{"i":1}']);
  source.onRead(
    0,
    logReader(
      [log],
      100,
    )({ tag: 'log', table: 't', partition: 0, offset: 0, bytesMax: 100, waitMs: 0 }),
  );
  const steps = [source.poll(0), source.poll(0)];
  expect(steps.find((step) => step.tag === 'read')).toMatchObject({ request: { offset: 1 } });
  expect(steps.find((step) => step.tag === 'batch')).toMatchObject({ batch: { rows: 1 } });
  expect(source.poll(0)).toEqual({ tag: 'wait', untilMs: null });
});

test('bad_data = fail stops at the bad row and names it', () => {
  const log = makeLog();
  append(log, ['{"i":1}', '{"i":', '{"i":3}']);
  const { failed } = drainAll(
    make('fail', 2, { subtask: 0, parallelism: 2 }),
    logReader([log], 1000),
    3,
  );
  expect(failed).toMatchObject({ code: 'PARSE_ERROR' });
  expect(failed?.message).toContain('row 1 of t, partition 0');
});

test('a log that has lost the rows asked for fails the source instead of skipping them', () => {
  const log = makeLog();
  append(log, ['{"i":1}']);
  log.trim(1, 0);
  append(log, ['{"i":2}']);
  expect(drain(make('drop', 1), logReader([log], 100), still).failed).toMatchObject({
    code: 'SOURCE_MISSING',
  });
  const ahead = make('drop', 1);
  ahead.restore({ '0': 5 });
  const empty: Reader = () => ({
    tag: 'log',
    firstOffset: 5,
    rows: 0,
    bytes: new Uint8Array(0),
    endOffset: 0,
  });
  expect(drain(ahead, empty, still).failed).toMatchObject({ code: 'SOURCE_MISSING' });
});

test('partitions are shared out among the subtasks', () => {
  const owned = [0, 1, 2].map((subtask) => make('drop', 5, { subtask, parallelism: 3 }).partitions);
  expect(owned).toEqual([[0, 3], [1, 4], [2]]);
  expect(make('drop', 1, { subtask: 1, parallelism: 2 }).poll(0)).toEqual({ tag: 'ended' });
});

test('partition and offset of each row are columns of it, whatever lies between and is read at once', () => {
  const log = makeLog();
  append(
    log,
    Array.from({ length: 40 }, (_, index) => (index % 5 === 3 ? '{"i":"no"}' : `{"i":${index}}`)),
  );
  const columns: DecodeColumn[] = [
    { name: 'at', type: INT64, nullable: false, default: null, metadata: 'offset_id' },
    { name: 'i', type: INT64, nullable: false, default: null },
    { name: 'part', type: INT32, nullable: false, default: null, metadata: 'partition' },
  ];
  const context = contextOf('http', { partitions: 1 }, SCHEMA, {
    batchRows: 7,
    spec: { format: { ...JSON_FORMAT, badData: 'dead_letter' }, physical: columns },
  });
  const source = makeSource(context);
  const { given, failed } = drainAll(source, logReader([log], 60), 40);
  expect(failed).toBeNull();
  const rows = given.flatMap(({ batch }) => rowsOf(batch, columns));
  expect(rows).toEqual(
    Array.from({ length: 40 }, (_, index) => index)
      .filter((index) => index % 5 !== 3)
      .map((index) => ({ at: BigInt(index), i: BigInt(index), part: 0 })),
  );
});

test('a source of many partitions reads ahead no more than one of a few', () => {
  const partitions = 200;
  const huge = 900_000;
  const source = make('drop', partitions);
  const line = new TextEncoder().encode(`{"i":1,"x":"${'y'.repeat(huge)}"}\n`);
  const asked: number[] = [];
  let held = 0;
  let most = 0;
  let given = 0;
  for (let polls = 0; given < 2 * partitions && polls < 10_000; polls++) {
    const step = source.poll(0);
    if (step.tag === 'read') {
      if (step.request.tag !== 'log') throw new Error('a log is read');
      asked.push(step.request.bytesMax);
      held += line.length;
      most = Math.max(most, held);
      const { offset: firstOffset } = step.request;
      source.onRead(step.partition, {
        tag: 'log',
        firstOffset,
        rows: 1,
        bytes: line,
        endOffset: firstOffset + 1,
      });
    } else if (step.tag === 'batch') {
      held -= line.length * step.read;
      given += step.read;
    }
  }
  expect(given).toBe(2 * partitions);
  // Rows that are small come in stretches whose sum is bounded; of those that are not, no more is read than there is room for.
  expect(Math.max(...asked) * partitions).toBeLessThanOrEqual(LIMITS.readAheadBytesMax);
  expect(most).toBeLessThanOrEqual(LIMITS.readAheadBytesMax + line.length);
});
