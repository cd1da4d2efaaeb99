import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInterval, parseInterval } from '../../src/plan/interval.ts';

describe('interval text', () => {
  test.each([
    ['1 hour 30 minutes', 5_400_000_000n],
    ['1h30m', 5_400_000_000n],
    ['00:01:30', 90_000_000n],
    ['2 days 01:00', 176_400_000_000n],
    ['1.5 seconds', 1_500_000n],
    ['0.0000019 seconds', 1n],
    ['-1 minute', -60_000_000n],
    ['-00:00:00.25', -250_000n],
    ['250 ms', 250_000n],
    ['7 US', 7n],
    ['1 week', 604_800_000_000n],
  ])('%s is %s microseconds', (text, micros) => {
    expect(parseInterval(text, null)).toEqual({ months: 0, micros });
  });

  test('a unit beside the text counts its number', () => {
    expect(parseInterval('5', 'minute')).toEqual({ months: 0, micros: 300_000_000n });
    expect(parseInterval(' -2 ', 'quarter')).toEqual({ months: -6, micros: 0n });
    expect(parseInterval('5 minutes', 'minute')).toBeNull();
  });

  test('months are kept apart from time', () => {
    expect(parseInterval('1 year 2 months 3 days', null)).toEqual({
      months: 14,
      micros: 259_200_000_000n,
    });
    expect(parseInterval('1.5 years', null)).toEqual({ months: 18, micros: 0n });
    expect(parseInterval('1.5 months', null)).toBeNull();
  });

  test.each([
    '',
    ' ',
    '5',
    'minute',
    '5 fortnights',
    '1 hour x',
    '1:75',
    '1 hour,',
    '--1 hour',
    '1e3 ms',
  ])('"%s" is no interval', (text) => expect(parseInterval(text, null)).toBeNull());

  test('what is printed is read as the same length', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 16n }), (micros) => {
        expect(parseInterval(formatInterval(micros), null)).toEqual({ months: 0, micros });
      }),
    );
  });
});
