/**
 * Moments beyond 2^53 microseconds from 1970: their distances were those of the nearest doubles, two that print differently could
 * share one text, and a sum through them could be a microsecond off.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { INTERVAL, TEXT, TIMESTAMP } from '../../src/batch/types.ts';
import { apply } from '../expr/support.ts';
import { runRows } from '../operators/run-graph.ts';

const FAR = 253_402_300_798_999_999n;
const MOST = 2n ** 63n - 1n;
const moment = fc.oneof(
  fc.bigInt({ min: -MOST - 1n, max: MOST }),
  fc.bigInt({ min: FAR - 3_000_000n, max: FAR + 3_000_000n }),
  fc.bigInt({ min: 2n ** 53n - 100n, max: 2n ** 53n + 100n }),
  fc.bigInt({ min: -3_000_000_000n, max: 3_000_000_000n }),
);
const SIZES: Readonly<Record<string, bigint>> = {
  microsecond: 1n,
  millisecond: 1000n,
  second: 1_000_000n,
  minute: 60_000_000n,
  hour: 3_600_000_000n,
  day: 86_400_000_000n,
};

const floorDiv = (value: bigint, by: bigint): bigint => value / by - (value % by < 0n ? 1n : 0n);

test('date_diff counts bounds exactly, however far the moments are', () => {
  fc.assert(
    fc.property(moment, moment, fc.constantFrom(...Object.keys(SIZES)), (start, end, unit) => {
      const size = SIZES[unit] as bigint;
      const wanted = floorDiv(end, size) - floorDiv(start, size);
      const { values, errors } = apply(
        'date_diff',
        [TEXT, TIMESTAMP, TIMESTAMP],
        [[unit, start, end]],
      );
      if (BigInt.asIntN(64, wanted) === wanted) expect([values, errors]).toEqual([[wanted], []]);
      else expect(errors.map(({ code }) => code)).toEqual(['NUMERIC_OUT_OF_RANGE']);
    }),
    { seed: 20_261_130, numRuns: 500 },
  );
});

test('moments on both sides of a minute print as they are, one behind the other', () => {
  const minute = 253_402_300_740_000_000n;
  const times = [minute - 1n, minute, minute - 1n, minute, minute + 59_999_999n];
  const { rows } = runRows(
    `CREATE TABLE t (f TIMESTAMP) WITH (connector = 'http', type = 'source');
     SELECT strftime(f, '%Y-%m-%d %H:%M') AS s FROM t;`,
    { t: times.map((f) => ({ f })) },
  );
  expect(rows.map(({ s }) => s)).toEqual(
    ['58', '59', '58', '59', '59'].map((each) => `9999-12-31 23:${each}`),
  );
});

test('days and time of an interval are added as one', () => {
  const day = 86_400_000_000n;
  for (const start of [1n, 2n, 3n, 4n, 5n].flatMap((less) => [2n ** 53n - less, less - 2n ** 53n]))
    for (const sign of [1n, -1n]) {
      const { values } = apply('+', [TIMESTAMP, INTERVAL], [[start, `0 ${sign} ${-sign * day}`]]);
      expect(values).toEqual([start]);
    }
});
