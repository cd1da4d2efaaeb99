/**
 * The kernel `parquet` against its twins: whole files of texts, and Snappy, which is decompressed again. What DuckDB says of
 * such files is in parquet-writer.test.ts.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compileKernel } from '../../../scripts/kernels.ts';
import { compiledKernel, readKernels } from '../../../src/cli/kernels.ts';
import type { RecordBatch } from '../../../src/batch/record-batch.ts';
import { sliceBatch } from '../../../src/batch/take.ts';
import { BYTEA, type Schema, TEXT } from '../../../src/batch/types.ts';
import { batchFromRows } from '../../../src/batch/values.ts';
import { ParquetWriter } from '../../../src/formats/parquet/parquet-writer.ts';
import { Prng } from '../../../src/base/prng.ts';
import {
  compressSnappy,
  compressTwin,
  decompressSnappy,
} from '../../../src/formats/parquet/snappy.ts';
import { useKernels } from '../../../src/kernels/kernels.ts';

beforeEach(() => useKernels(readKernels()));
afterEach(() => useKernels(null));

/** Bytes that repeat near and far, for longer and shorter, over ends of blocks, and bytes that do not. */
function sample(seed: string): Uint8Array {
  const prng = new Prng(seed);
  const size = prng.pick([0, 1, 15, 16, 17, 600, 5_000, 65_535, 65_536, 65_537, 200_000]);
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size;) {
    const length = 1 + prng.below(prng.pick([3, 12, 70, 400, 5_000]));
    const back = at === 0 ? 0 : 1 + prng.below(Math.min(at, prng.pick([4, 2_050, 70_000])));
    const repeats = back > 0 && prng.chance(0.6);
    for (let index = 0; index < length && at < size; index++, at++)
      bytes[at] = repeats ? (bytes[at - back] as number) : prng.below(256);
  }
  return bytes;
}

const seeds = Array.from({ length: 80 }, (_, index) => `snappy ${index}`);

test('kernel and twin give the same bytes, from which the source comes back', () => {
  for (const seed of seeds) {
    const source = sample(seed);
    const twin = compressTwin(source).slice();
    expect(Buffer.compare(compressSnappy(source), twin), seed).toBe(0);
    expect(Buffer.compare(decompressSnappy(twin, source.length), source), seed).toBe(0);
  }
});

const SCHEMA: Schema = [
  { name: 'a', type: TEXT, nullable: true },
  { name: 'b', type: BYTEA, nullable: true },
];

/** Texts of all lengths, many of which begin alike or are the beginning of others. */
function texts(seed: string): RecordBatch {
  const prng = new Prng(seed);
  const start = prng.pick(['', 'https://www.example.com/', 'é']);
  const text = (): string => {
    const end = Array.from({ length: prng.below(prng.pick([2, 9, 40, 90])) }, () =>
      prng.pick(['a', 'b', '\0', 'é', '🦎', '\x7f']),
    );
    return prng.chance(0.1) ? start.slice(0, 7) : start + end.join('');
  };
  const count = prng.pick([63, 64, 65, 300]);
  const rows = Array.from({ length: count + 3 }, () => ({
    a: text(),
    b: `\\x${Buffer.from(text()).toString('hex')}`,
  }));
  return sliceBatch(batchFromRows(SCHEMA, rows), 3, count + 3);
}

function fileOf(batches: readonly RecordBatch[]): Uint8Array {
  const writer = new ParquetWriter(SCHEMA, { compression: 'uncompressed', rowGroupBytes: 30_000 });
  for (const batch of batches) writer.append(batch);
  return writer.finish();
}

const isSameFile = (seed: string): boolean => {
  const batches = [texts(seed), texts(`${seed}, too`)];
  const found = fileOf(batches);
  useKernels(null);
  const wanted = fileOf(batches);
  return Buffer.compare(found, wanted) === 0;
};

test('files of texts are the same with the kernel and without', () => {
  const modules = readKernels();
  for (const seed of seeds) {
    useKernels(modules);
    expect(isSameFile(seed), seed).toBe(true);
  }
});

test('what repeats becomes small', () => {
  const words = new TextEncoder().encode('the quick brown fox '.repeat(5_000));
  expect(compressSnappy(words).length).toBeLessThan(words.length / 15);
  const noise = Uint8Array.from({ length: 50_000 }, () => 0);
  const prng = new Prng('noise');
  noise.forEach((_, index) => (noise[index] = prng.below(256)));
  expect(compressSnappy(noise).length).toBeLessThan(noise.length + 32);
});

test('bytes that are not compressed ones are refused, never read beyond', () => {
  const good = compressTwin(sample('snappy 7')).slice();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(100), (bytes, size) => {
      try {
        expect(decompressSnappy(bytes, size)).toHaveLength(size);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'BROKEN_PARQUET' });
      }
    }),
    { seed: 3, numRuns: 2_000 },
  );
  expect(() => decompressSnappy(good.subarray(0, good.length >> 1), 5_000)).toThrow('page');
});

describe('a fault in the kernel is seen', () => {
  const FAULTS: readonly [string, string, string][] = [
    ['a shorter repetition', '(ctz(difference) >> 3)', '(ctz(difference) >> 4)'],
    [
      'no bytes at the end of a repetition',
      'while (end < to && load<u8>(end)',
      'while (end < from && load<u8>(end)',
    ],
    ['a table that is kept', 'memory.fill(table, 0, TABLE_BYTES);', ''],
    ['a copy of another size', 'COPY_MAX - 4 : COPY_MAX', 'COPY_MAX : COPY_MAX'],
    ['no short copies', 'distance < 2048', 'distance < 1024'],
    [
      'literals without their last byte',
      'memory.copy(at, from, size);',
      'memory.copy(at, from, size - 1);',
    ],
    ['long literals cut', 'store<u16>(at + 1, <u16>stored);', 'store<u8>(at + 1, <u8>stored);'],
    ['no word behind a repetition', 'if (before < last) store', 'if (before < from) store'],
    ['steps that do not grow', 'tries++ >> 5', 'tries >> 5'],
    ['half of a short text', 'v128.store(at + 16, v128.load(from + 16));', ''],
    ['long texts cut', 'memory.copy(at, from, size);', 'memory.copy(at, from, 40);'],
    ['order by the last of eight bytes', 'bswap(ours) < bswap(theirs)', 'ours < theirs'],
    ['no order of what begins alike', 'size < otherSize ? -1 : i32(size > otherSize)', '0'],
    ['bytes with a sign', '<i32>load<u8>(one + index)', '<i32>load<i8>(one + index)'],
    ['no largest', 'largest = at;', ''],
  ];
  test.each(FAULTS)(
    '%s',
    async (_name, from, to) => {
      let planted = false;
      const wasm = await compileKernel('parquet', {
        optimizeLevel: 0,
        change: (_path, text) => {
          planted ||= text.includes(from);
          return text.replace(from, to);
        },
      });
      expect(planted).toBe(true);
      const modules = { ...readKernels(), parquet: compiledKernel(wasm) };
      useKernels(modules);
      const isSame = (seed: string): boolean => {
        const source = sample(seed);
        return Buffer.compare(compressSnappy(source), compressTwin(source)) === 0;
      };
      const isSameText = (seed: string): boolean => {
        useKernels(modules);
        return isSameFile(seed);
      };
      expect(seeds.every(isSame) && seeds.every(isSameText)).toBe(false);
    },
    30_000,
  );
});
