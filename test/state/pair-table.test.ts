import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT64 } from '../../src/batch/types.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { allGroups } from '../../src/state/group-index.ts';
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

test('a table that was cleared numbers keys as a new one does, and takes those of another as rows', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(stretch, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 4 }),
      fc.boolean(),
      (rounds, withNull) => {
        const cleared = new PairTable(INT64, 'int64');
        const taking = new PairTable(INT64, 'int64');
        for (const stretches of rounds) {
          const ids: (bigint | null)[] = stretches.flatMap(({ first, count, step }) =>
            Array.from({ length: count }, (_, index) => first + step * BigInt(index)),
          );
          if (withNull) ids.splice(ids.length >> 1, 0, null);
          const column = columnFromValues(INT64, ids);
          const fresh = new PairTable(INT64, 'int64');
          const [expected, found] = [new Int32Array(ids.length), new Int32Array(ids.length)];
          fresh.lookupOrInsert([column], 0, ids.length, expected);
          cleared.clear();
          expect(cleared.count).toBe(0);
          cleared.lookupOrInsert([column], 0, ids.length, found);
          expect(found).toEqual(expected);
          expect(cleared.keyColumns(allGroups(cleared.count))).toEqual(
            fresh.keyColumns(allGroups(fresh.count)),
          );

          const numbers = new Int32Array(fresh.count);
          expect(taking.lookupAllOf(fresh, numbers)).toBe(true);
          taking.lookupOrInsert([column], 0, ids.length, found);
          expect(found).toEqual(expected.map((number) => numbers[number] as number));
        }
      },
    ),
    { seed: SEED, numRuns: 40 },
  );
});
