/** Snappy: the kernel against its twin, both against a decompressor, and that against DuckDB by way of the writer's tests. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compileKernel } from '../../../scripts/kernels.ts';
import { compiledKernel, readKernels } from '../../../src/cli/kernels.ts';
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

const seeds = Array.from({ length: 150 }, (_, index) => `snappy ${index}`);

test('kernel and twin give the same bytes, from which the source comes back', () => {
  for (const seed of seeds) {
    const source = sample(seed);
    const twin = compressTwin(source).slice();
    expect(Buffer.compare(compressSnappy(source), twin), seed).toBe(0);
    expect(Buffer.compare(decompressSnappy(twin, source.length), source), seed).toBe(0);
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
  ];
  test.each(FAULTS)(
    '%s',
    async (_name, from, to) => {
      let planted = false;
      const wasm = await compileKernel('snappy', {
        optimizeLevel: 0,
        change: (_path, text) => {
          planted ||= text.includes(from);
          return text.replace(from, to);
        },
      });
      expect(planted).toBe(true);
      useKernels({ ...readKernels(), snappy: compiledKernel(wasm) });
      const isSame = (seed: string): boolean => {
        const source = sample(seed);
        return Buffer.compare(compressSnappy(source), compressTwin(source)) === 0;
      };
      expect(seeds.every(isSame)).toBe(false);
    },
    30_000,
  );
});
