/** min and max over rows that are taken back, asked for between changes, against a scan of the rows. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FLOAT64, INT64, type SqlType, TEXT } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { makeAccumulator } from '../../src/expr/aggregate-registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { column, valuesOf } from './support.ts';

const ONE = Int32Array.of(0);
const SEED = 20261130;

const TYPES: readonly (readonly [string, SqlType, (value: number) => Value])[] = [
  ['BIGINT', INT64, (value) => BigInt(value)],
  ['DOUBLE', FLOAT64, (value) => value / 4],
  ['TEXT', TEXT, (value) => String(2000 + value)],
];

test.each(TYPES)(
  'the smallest and the largest %s are those of the rows that are left',
  (_name, type, make) => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            value: fc.integer({ min: -300, max: 300 }),
            back: fc.constantFrom('none', 'none', 'largest', 'smallest', 'any'),
            ask: fc.nat(9).map((roll) => roll === 0),
          }),
          { minLength: 100, maxLength: 300 },
        ),
        (steps) => {
          for (const fn of ['min', 'max'] as const) {
            const accumulator = makeAccumulator({
              fn,
              args: [column(0, type)],
              distinct: false,
              filter: null,
              type,
              label: fn,
              retracts: true,
            });
            accumulator.resize(1);
            const rows: number[] = [];
            const change = (value: number, back: 0 | 1): void =>
              accumulator.update(
                ONE,
                1,
                [columnFromValues(type, [make(value)])],
                Uint8Array.of(back),
              );
            steps.forEach(({ value, back, ask }, at) => {
              rows.push(value);
              rows.sort((x, y) => x - y);
              change(value, 0);
              // Groups grow at first, so that they are large enough for what large ones have.
              if (at > 90 && back !== 'none') {
                const place =
                  back === 'smallest' ? 0 : back === 'largest' ? rows.length - 1 : at % rows.length;
                change(rows.splice(place, 1)[0] as number, 1);
              }
              if (!ask) return;
              const best = fn === 'max' ? rows.at(-1) : rows[0];
              expect(valuesOf(accumulator.results(ONE, new RowErrors(1)))).toEqual([
                best === undefined ? null : make(best),
              ]);
            });
          }
        },
      ),
      { seed: SEED, numRuns: 12 },
    );
  },
);
