/**
 * The kernel of the decoder against its twin: the same rows, columns byte for byte, errors, ranges and warnings, whatever the
 * input. That the twin is right is for json-decoder.test.ts; that these tests see a fault in any fast path, for the faults
 * planted in test/kernels/json-faults.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INT64 } from '../../src/batch/types.ts';
import { rowsOf } from '../../src/batch/values.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonDecoder } from '../../src/formats/json-decoder.ts';
import { Prng } from '../../src/base/prng.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { useKernels } from '../../src/kernels/kernels.ts';
import { alikeCase, awkwardCases, cutCases, refusedCases } from './json-alike.ts';
import {
  firstDifference,
  hostileCase,
  lendingDifference,
  neighbourCases,
  unreadDifference,
  utf8Case,
  windowsCase,
} from './json-differential.ts';

/** Rounds of random input; a longer run is asked for by the environment. */
const ROUNDS = Number(process.env['KERNEL_ROUNDS'] ?? 400);
const FULL_UTF8 = process.env['KERNEL_ROUNDS'] !== undefined;

beforeAll(() => useKernels(readKernels()));
afterAll(() => useKernels(null));

test('kernel and twin decode any input alike', () => {
  const totals = { rows: 0, errors: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const seed = `kernel ${round}`;
    const difference = firstDifference(hostileCase(new Prng(seed)), totals);
    expect(difference, `seed ${seed}`).toBeNull();
  }
  expect(totals.rows).toBeGreaterThan(ROUNDS * 5);
  expect(totals.errors).toBeGreaterThan(ROUNDS);
}, 600_000);

test('a decoder that lends its memory gives what one gives that does not, kernel, twin or both in turns', () => {
  for (let round = 0; round < ROUNDS / 2; round++) {
    const seed = `lending ${round}`;
    for (const kernelBytesMin of [0, 1000, Infinity]) {
      const difference = lendingDifference(hostileCase(new Prng(seed)), kernelBytesMin);
      expect(difference, `seed ${seed}, the kernel from ${kernelBytesMin} bytes on`).toBeNull();
    }
  }
}, 600_000);

test('texts that nobody reads are judged as those that are read, and come out empty', () => {
  const totals = { rows: 0, errors: 0 };
  for (let round = 0; round < ROUNDS / 2; round++) {
    const seed = `unread ${round}`;
    for (const kernelBytesMin of [0, Infinity]) {
      const difference = unreadDifference(hostileCase(new Prng(seed)), kernelBytesMin, totals);
      expect(difference, `seed ${seed}, the kernel from ${kernelBytesMin} bytes on`).toBeNull();
    }
  }
  const [texts] = neighbourCases();
  const columns = texts!.columns.map((column) => ({ ...column, nullable: false }));
  expect(unreadDifference({ ...texts!, columns }, 0, totals)).toBeNull();
  expect(totals.rows).toBeGreaterThan(ROUNDS * 5);
  expect(totals.errors).toBeGreaterThan(ROUNDS);
}, 600_000);

test('a lending decoder makes room when there are more rows than the last ones let expect', () => {
  const decoder = new JsonDecoder(
    [{ name: 'x', type: INT64, nullable: true, default: null }],
    JSON_FORMAT,
    { kernelBytesMin: Infinity },
  );
  decoder.lend();
  for (const [count, width] of [
    [600, 1],
    [3, 900],
    [300, 1],
    [2000, 1],
  ] as const) {
    const lines = Array.from(
      { length: count },
      (_, i) => `{"x":${i % 7 === 0 ? 'null' : i}${' '.repeat(width)}}\n`,
    );
    const bytes = new TextEncoder().encode(lines.join(''));
    const { batch } = decoder.decode(bytes, 0, bytes.length, 8192, true);
    expect(rowsOf(batch, [{ name: 'x', type: INT64, nullable: true }]).map(({ x }) => x)).toEqual(
      Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : BigInt(i))),
    );
  }
});

test('kernel and twin judge UTF-8 alike: all pairs, edges of three and four bytes, at several places of a vector', () => {
  for (let lane = 0; lane < (FULL_UTF8 ? 16 : 3); lane++) {
    expect(
      firstDifference(utf8Case(FULL_UTF8 ? lane : [0, 13, 14][lane]!)),
      `lane ${lane}`,
    ).toBeNull();
  }
}, 600_000);

test('kernel and twin judge rows alike that are one character away from sound ones, and rows at bounds', () => {
  const totals = { rows: 0, errors: 0 };
  for (const [index, each] of neighbourCases().entries())
    expect(firstDifference(each, totals), `case ${index}`).toBeNull();
  expect(totals.rows).toBeGreaterThan(4000);
  expect(totals.errors).toBeGreaterThan(4000);
}, 600_000);

test('columns that move to a larger place while rows are read take all of them', () => {
  // Far shorter rows than a decoder expects at first, so that there is room for few of them.
  const lines = Array.from({ length: 5000 }, (_, i) => `{"x":${i}}\n`);
  const bytes = new TextEncoder().encode(lines.join(''));
  const difference = firstDifference({
    columns: [{ name: 'x', type: INT64, nullable: true, default: null }],
    spec: JSON_FORMAT,
    options: {},
    bytes,
    cuts: [bytes.length],
    rowsMax: 8192,
  });
  expect(difference).toBeNull();
});

test('input of many windows is read and hashed as a whole, a line that no window holds included', () => {
  const totals = { rows: 0, errors: 0 };
  expect(firstDifference(windowsCase(), totals)).toBeNull();
  expect(totals.rows).toBe(1601);
});

test('rows alike, which the kernel reads two at once, are read as by its twin wherever one departs', () => {
  const totals = { rows: 0, errors: 0 };
  for (let round = 0; round < 3 * ROUNDS; round++) {
    const seed = `alike ${round}`;
    expect(firstDifference(alikeCase(new Prng(seed)), totals), `seed ${seed}`).toBeNull();
  }
  for (const [index, each] of [...awkwardCases(), ...refusedCases(), ...cutCases()].entries())
    expect(firstDifference(each), `case ${index}`).toBeNull();
  expect(totals.rows).toBeGreaterThan(ROUNDS * 50);
  expect(totals.errors).toBeGreaterThan(ROUNDS);
}, 600_000);
