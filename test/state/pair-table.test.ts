import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT64 } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { PairTable } from '../../src/state/pair-table.ts';

const SEED = 50_652;

/** Ids that lie close together are found by their distance, others by hashing; room may be asked for at any time. */
const stretch = fc.record({
  first: fc.constantFrom(0n, -5n, 1000n, 2n ** 32n - 3n, 2n ** 40n, -(2n ** 31n), 2n ** 62n),
  count: fc.constantFrom(1, 70, 300, 3000),
  step: fc.constantFrom(1n, -1n, 7n, 1_000_003n),
  reserve: fc.option(fc.constantFrom(1, 100, 1000, 5000)),
});

test('each id keeps the number of its first row, whatever comes between and however little room is asked for', () => {
  fc.assert(
    fc.property(fc.array(stretch, { minLength: 1, maxLength: 6 }), (stretches) => {
      const table = new PairTable(INT64, 'int64');
      const numbers = new Map<bigint, number>();
      for (const { first, count, step, reserve } of stretches) {
        const ids = Array.from({ length: count }, (_, index) => first + step * BigInt(index));
        const found = new Int32Array(count);
        table.lookupOrInsert([columnFromValues(INT64, ids)], 0, count, found);
        for (const id of ids) if (!numbers.has(id)) numbers.set(id, numbers.size);
        expect([...found]).toEqual(ids.map((id) => numbers.get(id)));
        // Less than it holds already is no order to shrink.
        if (reserve !== null) table.reserve(reserve);
      }
      expect(table.count).toBe(numbers.size);
    }),
    {
      seed: SEED,
      numRuns: 60,
      examples: [[[{ first: 0n, count: 3000, step: 1n, reserve: 1000 }]]],
    },
  );
});
