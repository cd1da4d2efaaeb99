import { describe, expect, it } from 'vitest';
import { DATE, TIMESTAMP } from '../../src/batch/types.ts';
import { scalarText } from '../../src/batch/scalar-text.ts';
import { columnFromValues } from '../../src/batch/values.ts';
import { functionById } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';
import { INTERVAL } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';

const micros = (iso: string): bigint => BigInt(Date.parse(iso)) * 1000n;
const at = (iso: string) => ({ type: TIMESTAMP, value: micros(iso) });
const OUT = { fails: 'NUMERIC_OUT_OF_RANGE' };

const CASES: readonly Case[] = [
  ['make_date', [2024n, 2n, 30n], OUT],
  ['make_date', [2024n, 13n, 1n], OUT],
  ['date_diff', ['month', at('2024-01-31T00:00:00Z'), at('2024-02-01T00:00:00Z')], 1n],
  ['date_diff', ['week', at('2024-01-07T23:00:00Z'), at('2024-01-08T00:00:00Z')], 1n],
  ['datediff', ['hours', at('1970-01-01T00:59:59Z'), at('1969-12-31T23:00:00Z')], -1n],
  ['date_diff', ['year', at('2024-12-31T00:00:00Z'), at('2025-01-01T00:00:00Z')], 1n],
  [
    'date_diff',
    ['fortnight', at('2024-12-31T00:00:00Z'), at('2025-01-01T00:00:00Z')],
    { fails: 'INVALID_CAST' },
  ],
  ['year', [at('1969-12-31T23:59:59.999Z')], 1969],
  ['dayofweek', [at('2024-03-03T00:00:00Z')], 0],
  ['isodow', [at('2024-03-03T00:00:00Z')], 7],
  ['dayofyear', [at('2024-12-31T00:00:00Z')], 366],
  ['to_date', ['2024-02-30'], { fails: 'INVALID_CAST' }],
];

/** The ages from each second moment to the first, as text. */
const ages = (pairs: readonly (readonly [string, string])[]): string[] => {
  const columns = [0, 1].map((side) =>
    columnFromValues(
      TIMESTAMP,
      pairs.map((pair) => micros(pair[side] as string)),
    ),
  );
  const column = functionById('dates:age').evaluate(
    columns,
    pairs.length,
    new RowErrors(pairs.length),
    INTERVAL,
  );
  return pairs.map((_, row) => scalarText(column, row));
};

describe('dates', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) => check(each));

  it('last_day knows leap years', () => {
    const days = (iso: string) => Math.floor(Date.parse(iso) / 86_400_000);
    const column = functionById('dates:last_day').evaluate(
      [
        {
          tag: 'int32',
          type: DATE,
          length: 2,
          validity: null,
          values: Int32Array.of(days('2024-02-01'), days('2023-02-28')),
        },
      ],
      2,
      new RowErrors(2),
      DATE,
    );
    expect([0, 1].map((row) => scalarText(column, row))).toEqual(['2024-02-29', '2023-02-28']);
  });

  it('ages count whole months first and turn their sign as a whole', () => {
    const found = ages([
      ['2001-04-10T00:00:00Z', '1957-06-13T00:00:00Z'],
      ['2024-03-01T00:00:00Z', '2024-01-31T00:00:00Z'],
      ['2024-01-01T01:00:00Z', '2024-01-01T02:00:00Z'],
    ]);
    expect(found).toEqual(['43 years 9 mons 27 days', '1 mon 1 day', '-01:00:00']);
  });
});
