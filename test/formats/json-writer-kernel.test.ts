/** The kernel that writes NDJSON against its twin: the same bytes, and the same count of what JSON cannot express. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sliceBatch } from '../../src/batch/take.ts';
import { INT64 } from '../../src/batch/types.ts';
import type { Schema } from '../../src/batch/types.ts';
import { batchFromRows } from '../../src/batch/values.ts';
import { readKernels } from '../../src/cli/kernels.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { kernel, useKernels } from '../../src/kernels/kernels.ts';
import { anySample } from '../batch/arbitrary.ts';
import { SPECS, differenceOf, firstWritten } from './json-writer-differential.ts';

beforeAll(() => useKernels(readKernels()));
afterAll(() => useKernels(null));

test('any batch, whole or cut, is written to the same bytes', () => {
  fc.assert(
    fc.property(
      anySample,
      fc.nat(10),
      fc.constantFrom(...SPECS),
      ({ schema, batch }, cut, spec) => {
        expect(differenceOf(schema, batch, spec)).toBeNull();
        const part = sliceBatch(batch, Math.min(cut, batch.rows), batch.rows);
        expect(differenceOf(schema, part, spec)).toBeNull();
      },
    ),
    { seed: 20_261_129, numRuns: 300 },
  );
});

test('numbers of every length, times at every edge and text with anything at any place are written alike', () => {
  expect(firstWritten()).toBeNull();
});

test('the kernel is what writes when it is there', () => {
  const found = kernel<{ write: () => number }>('json-writer');
  expect(found).not.toBeNull();
  found!.memory.bytes.fill(0);
  const schema: Schema = [{ name: 'x', type: INT64, nullable: true }];
  new JsonEncoder(schema, JSON_FORMAT, 0).encode(batchFromRows(schema, [{ x: 424_242n }]));
  expect(Buffer.from(found!.memory.bytes).includes('{"x":424242}\n')).toBe(true);
});
