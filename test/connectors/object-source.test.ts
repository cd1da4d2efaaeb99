import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { JSON_FORMAT, type FormatSpec } from '../../src/formats/format.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { useKernels } from '../../src/kernels/kernels.ts';
import { StreamHash } from '../../src/lineage/stream-hash.ts';
import { makeSource } from '../../src/connectors/registry.ts';
import type { Source } from '../../src/connectors/connector.ts';
import { contextOf, drain, restored, rowsGiven, rowText, type Reader } from './source-driver.ts';

const SCHEMA: Schema = [
  { name: 'i', type: INT64, nullable: false },
  { name: 's', type: TEXT, nullable: true },
];

const make = (
  badData: FormatSpec['badData'] = 'dead_letter',
  batchRows = 1000,
  rest = {},
): Source =>
  makeSource(
    contextOf('single_file', { path: 'in.ndjson' }, SCHEMA, {
      batchRows,
      spec: { format: { ...JSON_FORMAT, badData } },
      ...rest,
    }),
  );

/** An object store that gives at most `stride` bytes a read, as it may. */
function objectReader(text: string | Uint8Array, stride: number): Reader {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return (request) => {
    if (request.tag !== 'object' || request.path !== 'in.ndjson')
      throw new Error('another read was expected');
    return {
      tag: 'object',
      bytes: bytes.slice(request.offset, request.offset + Math.min(stride, request.length)),
      size: bytes.length,
    };
  };
}

const SEED = 20_261_130;

const still = (): number => 0;

const lineArbitrary = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ i: fc.nat(), s: fc.string({ unit: 'grapheme', maxLength: 20 }) })
      .map((row) => ({ line: JSON.stringify(row), good: true })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('{"i":', '{"s":"x"}', 'nonsense', '{"i":1.5}')
      .map((line) => ({ line, good: false })),
  },
  { weight: 1, arbitrary: fc.constant({ line: '', good: null }) },
);

test('every line is given out once, in order and with its number, however reads and batches cut', () => {
  fc.assert(
    fc.property(
      fc.array(lineArbitrary, { maxLength: 40 }),
      fc.integer({ min: 1, max: 90 }),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      fc.nat({ max: 12 }),
      (lines, stride, batchRows, endsWithLineFeed, stop) => {
        const text = lines.map(({ line }) => line).join('\n') + (endsWithLineFeed ? '\n' : '');
        const read = objectReader(text, stride);
        const expected = lines
          .filter(({ good }) => good === true)
          .map(({ line }) => {
            const { i, s } = JSON.parse(line) as { i: number; s: string };
            return rowText({ i: BigInt(i), s });
          });
        const bad = lines.flatMap(({ line, good }, at) =>
          good === false ? [{ line: at + 1, raw: line }] : [],
        );
        const source = make('dead_letter', batchRows);
        const head = drain(source, read, still, stop);
        const resumed = restored(() => make('dead_letter', batchRows), source.snapshot());
        for (const tail of [drain(source, read, still), drain(resumed, read, still)]) {
          const given = [...head.given, ...tail.given];
          expect(rowsGiven(given, SCHEMA).map(rowText)).toEqual(expected);
          const problems = given.flatMap((each) => each.problems);
          expect(problems.map((problem) => problem.raw)).toEqual(bad.map(({ raw }) => raw));
          problems.forEach((problem, at) =>
            expect(problem.message).toContain(`line ${bad[at]?.line} (byte `),
          );
          expect(tail.ended || head.ended).toBe(true);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('a range begins with the row that the last one cut, and nothing is asked for behind the end', () => {
  const text = '{"i":1}\n{"i":2}\n{"i":3}\n{"i":4}\n{"i":5}';
  const offsets: number[] = [];
  const answer = objectReader(text, 20);
  const outcome = drain(
    make('fail'),
    (request) => {
      if (request.tag === 'object') offsets.push(request.offset);
      return answer(request);
    },
    still,
  );
  expect(offsets).toEqual([0, 16, 32]);
  expect(rowsGiven(outcome.given, SCHEMA).map((row) => row['i'])).toEqual([1n, 2n, 3n, 4n, 5n]);
});

test('bad_data says whether a bad row stops the source, is counted, or is kept', () => {
  const text = '{"i":1}\n{"i":"x"}\n{"i":3}\n';
  const failed = drain(make('fail', 1), objectReader(text, 100), still);
  expect(rowsGiven(failed.given, SCHEMA).map((row) => row['i'])).toEqual([1n]);
  expect(failed.failed).toMatchObject({ code: 'TYPE_MISMATCH', detail: 'The row is: {"i":"x"}' });
  expect(failed.failed?.message).toContain(
    'line 2 (byte 8) of in.ndjson: "x" is no BIGINT (column i)',
  );
  for (const [badData, raw] of [
    ['drop', null],
    ['dead_letter', '{"i":"x"}'],
  ] as const) {
    const outcome = drain(make(badData), objectReader(text, 100), still);
    expect(rowsGiven(outcome.given, SCHEMA).map((row) => row['i'])).toEqual([1n, 3n]);
    expect(outcome.given.flatMap((each) => each.problems)).toMatchObject([
      { code: 'TYPE_MISMATCH', column: 'i', raw },
    ]);
  }
});

test('a bad row is told by the number of its line, whatever lines lie before it and however they are cut', () => {
  const before = fc.array(
    fc.constantFrom('{"i":1}\n', '{"i":22}\n', '{"i":3}\r\n', ' {"i":4} \n', '\n', ' \r\n'),
    { maxLength: 40 },
  );
  const sizes = { rows: fc.integer({ min: 1, max: 9 }), stride: fc.integer({ min: 9, max: 400 }) };
  fc.assert(
    fc.property(before, fc.record(sizes), (lines, { rows, stride }) => {
      const start = lines.join('');
      const text = `${start}{"i":"x"}\n{"i":5}\n`;
      const { failed } = drain(make('fail', rows), objectReader(text, stride), still);
      const place = `line ${lines.length + 1} (byte ${start.length}) of in.ndjson`;
      expect(failed?.message).toContain(place);
    }),
    { seed: SEED, numRuns: 300 },
  );
});

test('a line too long to be a row is put aside without being kept', () => {
  const long = `{"i":1,"s":"${'x'.repeat(LIMITS.ingestRowBytesMax + 3_000_000)}"}`;
  const text = `{"i":1}\n${long}\n{"i":3}\n${long}`;
  const outcome = drain(make(), objectReader(text, 700_000), still);
  expect(outcome.ended).toBe(true);
  expect(rowsGiven(outcome.given, SCHEMA).map((row) => row['i'])).toEqual([1n, 3n]);
  const problems = outcome.given.flatMap((each) => each.problems);
  expect(problems.map(({ code }) => code)).toEqual(['ROW_TOO_LARGE', 'ROW_TOO_LARGE']);
  expect(problems[1]?.message).toContain('line 4 (byte ');
});

test('a missing object and a failed read fail the source', () => {
  expect(drain(make(), () => ({ tag: 'missing', path: 'in.ndjson' }), still).failed).toMatchObject({
    code: 'SOURCE_MISSING',
    message: 'there is no in.ndjson',
  });
  const report = {
    code: 'SOURCE_FAILED',
    domain: 'external',
    retry: 'backoff',
    message: 'no answer',
  } as const;
  expect(drain(make(), () => ({ tag: 'failed', report }), still).failed).toEqual(report);
});

test('an empty object, a byte order mark and other subtasks', () => {
  expect(drain(make(), objectReader('', 10), still)).toMatchObject({ given: [], ended: true });
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"i":7}')]);
  expect(rowsGiven(drain(make(), objectReader(marked, 99), still).given, SCHEMA)).toEqual([
    { i: 7n, s: null },
  ]);
  const other = make('fail', 10, { subtask: 1, parallelism: 2 });
  expect([
    other.partitions,
    other.snapshot(),
    drain(other, objectReader('', 1), still).ended,
  ]).toEqual([[], {}, true]);
});

test('the input given with batches is what lies between the offsets, also of blank and of endless lines, wherever cut', () => {
  const long = `{"i":1,"s":"${'x'.repeat(LIMITS.ingestRowBytesMax * 2)}"}`;
  const text = ['', '{"i":1}', '', '', 'nonsense', long, '', '{"i":2}', long].join('\n');
  const bytes = new TextEncoder().encode(text);
  for (const stride of [300_000, 700_001, LIMITS.ingestRowBytesMax * 8]) {
    for (const batchRows of [1, 1000]) {
      let source = make('dead_letter', batchRows);
      let rows = 0;
      for (let begun = 0; begun < bytes.length;) {
        const { given, ended } = drain(source, objectReader(text, stride), still, 1);
        const pieces = given.map((each) => each.input ?? new Uint8Array(0));
        const { offset } = source.snapshot()['0'] as { offset: number };
        const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
        expect(length).toBe(offset - begun);
        let at = begun;
        for (const piece of pieces) {
          expect(Buffer.compare(piece, bytes.subarray(at, at + piece.length))).toBe(0);
          at += piece.length;
        }
        rows += given.reduce((sum, each) => sum + each.batch.rows + each.problems.length, 0);
        begun = offset;
        if (ended) break;
        // A restart may come anywhere, also within a line that is too long.
        const before = source.snapshot();
        source = restored(() => make('dead_letter', batchRows), before);
        expect(source.snapshot()).toEqual(before);
      }
      expect(rows, `stride ${stride}`).toBe(5);
    }
  }
});

test.each([true, false])(
  'a source that hashes its input by itself takes in just that, with kernels: %s',
  (withKernels) => {
    useKernels(withKernels ? readKernels() : null);
    const long = `{"i":1,"s":"${'x'.repeat(LIMITS.ingestRowBytesMax * 2)}"}`;
    const many = Array.from({ length: 3000 }, (_, i) => `{"i":${i},"s":"row ${i}"}`);
    const text = ['', ...many, '', 'nonsense', long, '', '{"i":2}', long].join('\n');
    const bytes = new TextEncoder().encode(text);
    for (const batchRows of [1, 1000]) {
      let source = make('dead_letter', batchRows);
      for (let begun = 0; begun < bytes.length;) {
        const hash = new StreamHash();
        source.hashWith?.(() => hash);
        const { given, ended } = drain(source, objectReader(text, 300_000), still, 700);
        expect(given.every(({ input }) => input === null)).toBe(true);
        const { offset } = source.snapshot()['0'] as { offset: number };
        const expected = new StreamHash();
        expected.update(bytes.subarray(begun, offset));
        expect([hash.bytes, hash.digest()]).toEqual([offset - begun, expected.digest()]);
        begun = offset;
        if (ended) break;
        source = restored(() => make('dead_letter', batchRows), source.snapshot());
      }
    }
    useKernels(null);
  },
);
