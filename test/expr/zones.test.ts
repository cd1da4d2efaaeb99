/** AT TIME ZONE against the language's own clock of zones. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TEXT, TIMESTAMP, TIMESTAMPTZ } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import { call, column, literal, run } from './support.ts';

const ZONES = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Africa/Casablanca',
  'UTC',
];
const HOUR = 3_600_000_000;

const toLocal = (zone: string, times: readonly bigint[]) =>
  run(call('timezone', literal(TEXT, zone), column(0, TIMESTAMPTZ)), [TIMESTAMPTZ, times]);
const toMoment = (zone: string, times: readonly bigint[]) =>
  run(call('timezone', literal(TEXT, zone), column(0, TIMESTAMP)), [TIMESTAMP, times]);

/** What clocks showed, in microseconds. */
function shown(zone: string, micros: number): number {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(micros / 1000);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const millis = Date.UTC(
    of('year'),
    of('month') - 1,
    of('day'),
    of('hour'),
    of('minute'),
    of('second'),
  );
  return millis * 1000;
}

test('a moment shows what clocks of the zone showed, and comes back unless clocks went back over it', () => {
  const seconds = fc.integer({ min: 0, max: 2_000_000_000 });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), fc.array(seconds, { maxLength: 10 }), (zone, picks) => {
      const moments = picks.map((pick) => BigInt(pick) * 1_000_000n);
      const local = toLocal(zone, moments).values as bigint[];
      expect(local).toEqual(moments.map((moment) => BigInt(shown(zone, Number(moment)))));
      const back = toMoment(zone, local).values as bigint[];
      back.forEach((moment, index) => {
        expect(shown(zone, Number(moment))).toBe(Number(local[index]));
        expect(moment).toBeGreaterThanOrEqual(moments[index] as bigint);
      });
    }),
    { numRuns: 40, seed: 11 },
  );
});

test('a time that clocks jumped over lies as much later, one that came twice is the later one', () => {
  const at = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;
  const utc = (zone: string, text: string): Value => toMoment(zone, [at(text)]).values[0] as Value;
  expect(utc('America/New_York', '2024-03-10T02:30:00')).toBe(at('2024-03-10T07:30:00'));
  expect(utc('America/New_York', '2024-03-10T01:59:59')).toBe(at('2024-03-10T06:59:59'));
  expect(utc('America/New_York', '2024-03-10T03:00:00')).toBe(at('2024-03-10T07:00:00'));
  expect(utc('America/New_York', '2024-11-03T01:30:00')).toBe(at('2024-11-03T06:30:00'));
  expect(utc('America/New_York', '2024-11-03T00:59:59')).toBe(at('2024-11-03T04:59:59'));
  expect(utc('Europe/Paris', '2024-10-27T02:30:00')).toBe(at('2024-10-27T01:30:00'));
});

test('a zone can be an offset, and what is no zone fails its row', () => {
  expect(toLocal('+05:30', [0n]).values).toEqual([BigInt(5.5 * HOUR)]);
  expect(toLocal('-8', [0n]).values).toEqual([BigInt(-8 * HOUR)]);
  expect(toLocal('Mars/Olympus', [0n])).toMatchObject({
    values: [null],
    errors: [{ row: 0, code: 'INVALID_CAST' }],
  });
});
