/** Runs of rows folded at once against the same rows folded one by one, whatever overlaps and however large values are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INT32, INT64, type SqlType } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf } from '../../src/batch/values.ts';
import type { Column } from '../../src/batch/column.ts';
import type { Accumulator } from '../../src/expr/accumulator.ts';
import { CountAccumulator } from '../../src/expr/aggregates/count.ts';
import { ExactSumAccumulator } from '../../src/expr/aggregates/exact-sum.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';

const SEED = 20_261_130;
const DECIMAL: SqlType = { tag: 'decimal', precision: 30, scale: 2 };

const small = fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n });
const large = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const huge = fc.bigInt({ min: -(10n ** 28n), max: 10n ** 28n });

/** The columns to sum, each with a few values that no double holds. */
const KINDS: readonly { type: SqlType; result: SqlType; value: fc.Arbitrary<bigint | number> }[] = [
  { type: INT32, result: INT64, value: small.map(Number) },
  { type: INT64, result: INT64, value: fc.oneof({ weight: 20, arbitrary: small }, large) },
  {
    type: DECIMAL,
    result: { tag: 'decimal', precision: 38, scale: 6 },
    value: fc.oneof({ weight: 20, arbitrary: small }, huge),
  },
];

const rows = fc.array(
  fc.record({
    value: fc.nat(9),
    passes: fc.nat(3),
    lo: fc.nat(30),
    length: fc.integer({ min: -2, max: 30 }),
  }),
  { minLength: 1, maxLength: 30 },
);

function statesOf(accumulator: Accumulator, groups: Int32Array): unknown[] {
  const columns = [
    ...accumulator.stateColumns(groups),
    accumulator.results(groups, new RowErrors(groups.length)),
  ];
  const schema = columns.map(({ type }, at) => ({ name: `c${at}`, type, nullable: true }));
  return rowsOf({ rows: groups.length, columns, eventTime: null, retract: null }, schema);
}

test.each(KINDS.map((kind) => [kind.type.tag, kind] as const))(
  'runs of %s rows count and add up to what their rows do',
  (_, { type, result, value }) => {
    const outcomes = { folded: 0, left: 0 };
    fc.assert(
      fc.property(
        rows,
        fc.array(fc.option(value, { freq: 4 }), { minLength: 10, maxLength: 10 }),
        fc.boolean(),
        (steps, values, filtered) => {
          const count = steps.length;
          const batch = batchFromRows(
            [{ name: 'v', type, nullable: true }],
            steps.map((step) => ({ v: values[step.value] ?? null })),
          );
          const passes = filtered
            ? Uint8Array.from(steps, (step) => Number(step.passes > 0))
            : null;
          const lo = Int32Array.from(steps, (step) => step.lo % (count + 1));
          const hi = Int32Array.from(steps, (step, at) =>
            Math.min(count, (lo[at] as number) + step.length),
          );
          const groups = Int32Array.from({ length: count }, (__, at) => at);
          const make = (kind: string): Accumulator =>
            kind === 'count'
              ? new CountAccumulator()
              : new ExactSumAccumulator({ label: kind, kind: kind as 'sum', input: type, result });
          for (const kind of ['count', 'avg', 'sum']) {
            const [one, other] = [make(kind), make(kind)];
            one.resize(count);
            other.resize(count);
            const args = batch.columns as Column[];
            if (one.addRuns?.({ lo, hi }, count, args, passes) !== true) {
              outcomes.left++;
              // Nothing was done.
              expect(statesOf(one, groups)).toEqual(statesOf(other, groups));
              continue;
            }
            outcomes.folded++;
            for (let group = 0; group < count; group++) {
              const owners = Int32Array.from(steps, (__, row) =>
                row >= (lo[group] as number) &&
                row < (hi[group] as number) &&
                (passes === null || passes[row] === 1)
                  ? group
                  : -1,
              );
              other.update(owners, count, args, null);
            }
            expect(statesOf(one, groups)).toEqual(statesOf(other, groups));
          }
        },
      ),
      { seed: SEED, numRuns: 100 },
    );
    expect(outcomes.folded).toBeGreaterThan(100);
    if (type.tag !== 'int32') expect(outcomes.left).toBeGreaterThan(5);
  },
);
