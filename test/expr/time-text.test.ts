import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEXT, TIMESTAMP } from '../../src/batch/types.ts';
import { type Case, check, titleOf } from './cases.ts';
import { apply, call, column, literal, run } from './support.ts';

const at = (iso: string) => ({ type: TIMESTAMP, value: BigInt(Date.parse(iso)) * 1000n });
const BAD = { fails: 'PARSE_ERROR' };
const NONE = { fails: 'INVALID_CAST' };

const CASES: readonly Case[] = [
  [
    'to_char',
    [at('2024-03-05T07:08:09Z'), 'HH12:MI:SS am, FMDay DD FMMonth Y, Q'],
    '07:08:09 am, Tuesday 05 March 2024, 1',
  ],
  [
    'to_char',
    [at('2024-03-05T00:08:09Z'), 'FMHH12 PM "year" IYYY-IW-ID DDD'],
    '12 AM year 2024-10-2 065',
  ],
  ['to_char', [at('2024-03-05T00:00:00Z'), 'Month|MON|dy'], 'March    |MAR|tue'],
  ['to_char', [at('2024-03-05T07:08:09Z'), 'yyyy-mm-dd hh24:mi'], '2024-03-05 07:08'],
  [
    'to_char',
    [at('2024-03-05T07:08:09Z'), '%H:%M %-d.%-m.%y %j %G-W%V %% %p'],
    '07:08 5.3.24 065 2024-W10 % AM',
  ],
  ['to_char', [at('2024-03-05T07:08:09Z'), '%K'], BAD],
  ['to_char', [at('2024-03-05T07:08:09Z'), '"open'], BAD],
  [
    'strftime',
    [at('1969-12-31T23:59:59.5Z'), '%F %T.%f %s %a %u %w'],
    '1969-12-31 23:59:59.500000 -1 Wed 3 3',
  ],
  ['strftime', [at('2021-01-03T00:00:00Z'), '%G-%V %A %e %b'], '2020-53 Sunday  3 Jan'],
  [
    'strftime',
    [at('2024-03-05T17:08:09.123Z'), '%I%P %l %3f %.6f %N %c'],
    '05pm  5 123 .123000 123000000 2024-03-05 17:08:09',
  ],
  [
    'date_format',
    [at('2024-03-05T07:08:09.045Z'), 'yyyy-MM-dd HH:mm:ss.SSS'],
    '2024-03-05 07:08:09.045',
  ],
  [
    'date_format',
    [at('2024-03-05T17:08:09Z'), "d MMM yy, EEEE h a 'o''clock'"],
    "5 Mar 24, Tuesday 5 PM o'clock",
  ],
  ['date_format', [at('2024-03-05T17:08:09Z'), 'yyyy-bb'], BAD],
  ['date_format', [at('2024-03-05T17:08:09Z'), ''], ''],
  [
    'to_timestamp',
    ['5 March 2024, 07 PM', 'DD Month YYYY, HH12 AM'],
    BigInt(Date.parse('2024-03-05T19:00:00Z')) * 1000n,
  ],
  [
    'to_timestamp',
    ['20240305070809', 'YYYYMMDDHH24MISS'],
    BigInt(Date.parse('2024-03-05T07:08:09Z')) * 1000n,
  ],
  ['to_timestamp', ['2024-02-30', 'YYYY-MM-DD'], NONE],
  ['to_timestamp', ['2024-02-3x', 'YYYY-MM-DD'], NONE],
  ['to_timestamp', ['2024-02-03 ', 'YYYY-MM-DD'], NONE],
  ['to_timestamp', ['', 'YYYY'], NONE],
  ['strptime', ['99-365', '%y-%j'], BigInt(Date.parse('1999-12-31T00:00:00Z')) * 1000n],
  ['strptime', ['07:08:09.5', '%H:%M:%S.%g'], BigInt(Date.parse('1970-01-01T07:08:09.5Z')) * 1000n],
  ['strptime', ['25:00', '%H:%M'], NONE],
];

describe('time patterns', () => {
  it.each(CASES.map((each) => [titleOf(each), each] as const))('%s', (_, each) => check(each));

  it('read back what they have written, for every moment of 10,000 years', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
    const pattern = fc.constantFrom(
      ['to_char', 'to_timestamp', 'YYYY-MM-DD HH24:MI:SS.US'],
      ['strftime', 'strptime', '%A %d %B %Y %I:%M:%S.%f %p'],
      ['strftime', 'strptime', '%Y/%j %H.%M.%S,%f'],
    );
    fc.assert(
      fc.property(
        fc.array(micros, { minLength: 1, maxLength: 5 }),
        pattern,
        (values, [write = '', read = '', text = '']) => {
          const written = apply(
            write,
            [TIMESTAMP, TEXT],
            values.map((value) => [value, text]),
          );
          const found = apply(
            read,
            [TEXT, TEXT],
            written.values.map((value) => [value, text]),
          );
          expect(found.errors).toEqual([]);
          expect(found.values).toEqual(values);
        },
      ),
      { seed: 20261129, numRuns: 300 },
    );
  });

  it('write rows that look alike at once, and each as it is alone, beyond the whole numbers of a double too', () => {
    const day = 86_400_000_000n;
    const near = fc.tuple(
      fc.constantFrom(
        0n,
        day,
        -day,
        60_000_000n,
        2n ** 53n - (2n ** 53n % day),
        2n ** 56n - (2n ** 56n % day),
      ),
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(near, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('YYYY-MM-DD', 'DD HH24:MI', 'HH24', 'YYYY', 'MI:SS'),
        (stretches, pattern) => {
          const times = stretches.flatMap(([start, step, count]) =>
            Array.from({ length: count }, (_, at) => start + BigInt(step * (at + 1))),
          );
          const expr = call('to_char', column(0, TIMESTAMP), literal(TEXT, pattern));
          const alone = times.map((time) => run(expr, [TIMESTAMP, [time]]).values[0]);
          expect(run(expr, [TIMESTAMP, times]).values).toEqual(alone);
        },
      ),
      { seed: 20_261_130, numRuns: 200 },
    );
  });

  it('write each row of one stretch of time alike and tell the next one apart', () => {
    const day = 86_400_000_000n;
    const values = [0n, 1n, day - 1n, day, -1n, -day];
    const { values: found } = apply(
      'date_format',
      [TIMESTAMP, TEXT],
      values.map((value) => [value, 'yyyy-MM-dd']),
    );
    expect(found).toEqual([
      '1970-01-01',
      '1970-01-01',
      '1970-01-01',
      '1970-01-02',
      '1969-12-31',
      '1969-12-31',
    ]);
  });
});
