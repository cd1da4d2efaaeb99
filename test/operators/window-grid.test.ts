/** Windows cut by local time, against the calendar that the runtime shows for each instant by itself (U30). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { timeZone } from '../../src/base/time-zone.ts';
import { LocalClock } from '../../src/operators/local-clock.ts';
import { WindowGrid } from '../../src/operators/window-grid.ts';

const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const at = (text: string): number => Date.parse(text) * 1000;
const iso = (micros: number): string => new Date(micros / 1000).toISOString().replace('.000Z', 'Z');

/** The tumbling window of an instant. */
function windowAt(instant: number, widthMicros: number, timezone: string): [string, string] {
  const grid = new WindowGrid({ tag: 'tumble', widthMicros, offsetMicros: 0, timezone });
  const start = grid.paneOfInstant(instant);
  return [iso(grid.instantOf(start)), iso(grid.instantOf(start + widthMicros))];
}

const ZONES = [
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'America/Havana',
  'America/Asuncion',
  'America/Caracas',
  'Europe/London',
  'Europe/Berlin',
  'Europe/Dublin',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Asia/Kolkata',
  'Asia/Beirut',
  'Asia/Pyongyang',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'Pacific/Apia',
  'Pacific/Chatham',
];

describe('local days and hours', () => {
  test('the day the clocks go back has 25 hours, the day they go forward 23 (U30)', () => {
    const day = (text: string): [string, string] => windowAt(at(text), DAY, 'America/New_York');
    for (const time of ['04:00:00', '04:30:00', '05:30:00', '06:30:00', '23:00:00'])
      expect(day(`2024-11-03T${time}Z`)).toEqual(['2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z']);
    expect(day('2024-11-04T04:30:00Z')[0]).toBe('2024-11-03T04:00:00Z');
    expect(day('2024-11-04T05:00:00Z')).toEqual(['2024-11-04T05:00:00Z', '2024-11-05T05:00:00Z']);
    expect(day('2024-03-10T12:00:00Z')).toEqual(['2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z']);
  });

  test('the hour that comes twice is two windows, and the one left out is none (U30)', () => {
    const hour = (text: string): [string, string] => windowAt(at(text), HOUR, 'America/New_York');
    expect(hour('2024-11-03T05:30:00Z')).toEqual(['2024-11-03T05:00:00Z', '2024-11-03T06:00:00Z']);
    expect(hour('2024-11-03T06:30:00Z')).toEqual(['2024-11-03T06:00:00Z', '2024-11-03T07:00:00Z']);
    expect(hour('2024-03-10T06:59:59Z')).toEqual(['2024-03-10T06:00:00Z', '2024-03-10T07:00:00Z']);
    expect(hour('2024-03-10T07:00:00Z')).toEqual(['2024-03-10T07:00:00Z', '2024-03-10T08:00:00Z']);
  });

  test('a day whose midnight is left out begins at the jump, one whose midnight comes twice at the first', () => {
    expect(windowAt(at('2018-11-04T12:00:00Z'), DAY, 'America/Sao_Paulo')).toEqual([
      '2018-11-04T03:00:00Z',
      '2018-11-05T02:00:00Z',
    ]);
    // At 01:00 in Havana it was midnight again.
    expect(windowAt(at('2023-11-05T05:30:00Z'), DAY, 'America/Havana')).toEqual([
      '2023-11-05T04:00:00Z',
      '2023-11-06T05:00:00Z',
    ]);
    // Samoa had no 30 December 2011.
    expect(windowAt(at('2011-12-30T09:00:00Z'), DAY, 'Pacific/Apia')[1]).toBe(
      '2011-12-30T10:00:00Z',
    );
    expect(windowAt(at('2011-12-30T10:00:00Z'), DAY, 'Pacific/Apia')[0]).toBe(
      '2011-12-30T10:00:00Z',
    );
  });

  test('six hours of local time are five or seven when the clocks change', () => {
    const quarter = (text: string): [string, string] =>
      windowAt(at(text), 6 * HOUR, 'Europe/Berlin');
    expect(quarter('2024-03-31T00:30:00Z')).toEqual([
      '2024-03-30T23:00:00Z',
      '2024-03-31T04:00:00Z',
    ]);
    expect(quarter('2024-10-27T00:30:00Z')).toEqual([
      '2024-10-26T22:00:00Z',
      '2024-10-27T05:00:00Z',
    ]);
  });

  test('a window holds its instants, ends where the next begins, and a day is a local date, in 20 zones', () => {
    const dates = new Map(
      ZONES.map((zone) => [
        zone,
        new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }),
      ]),
    );
    const date = (zone: string, micros: number): string =>
      must(dates.get(zone), 'a zone').format(micros / 1000);
    const grids = new Map(
      ZONES.flatMap((zone) =>
        [DAY, HOUR, 6 * HOUR, 900_000_000].map((widthMicros) => [
          `${zone} ${widthMicros}`,
          new WindowGrid({ tag: 'tumble', widthMicros, offsetMicros: 0, timezone: zone }),
        ]),
      ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.constantFrom(DAY, HOUR, 6 * HOUR, 900_000_000),
        fc.integer({
          min: at('1970-01-01T00:00:00Z') / 1e6,
          max: at('2060-01-01T00:00:00Z') / 1e6,
        }),
        (zone, width, seconds) => {
          const instant = seconds * 1e6;
          const grid = must(grids.get(`${zone} ${width}`), 'a grid');
          const position = grid.paneOfInstant(instant);
          const start = grid.instantOf(position);
          const end = grid.instantOf(position + width);
          expect(start).toBeLessThanOrEqual(instant);
          expect(end).toBeGreaterThan(instant);
          expect(grid.paneOfInstant(end)).toBeGreaterThanOrEqual(position + width);
          expect(grid.paneOfInstant(end - 1)).toBe(position);
          expect(grid.paneOfInstant(start)).toBe(position);
          if (width !== DAY || date(zone, instant) !== date(zone, start)) return;
          expect(date(zone, end)).not.toBe(date(zone, instant));
          expect(date(zone, start - 1000)).not.toBe(date(zone, instant));
        },
      ),
      { numRuns: 10_000 },
    );
  }, 60_000);

  test('a position grows with the instant and leads back to it', () => {
    const zone = must(timeZone('Australia/Lord_Howe'), 'the zone');
    const clock = new LocalClock(zone, HOUR);
    let before = -Infinity;
    for (
      let instant = at('2024-04-06T10:00:00Z');
      instant < at('2024-04-06T20:00:00Z');
      instant += HOUR / 12
    ) {
      const position = clock.positionOf(instant);
      expect(position).toBeGreaterThanOrEqual(before);
      expect(clock.instantOf(position)).toBeLessThanOrEqual(instant);
      before = position;
    }
  });

  test('what a zone is asked first does not change its windows', () => {
    const order = (first: string, second: string): [string, string] => {
      const grid = new WindowGrid({
        tag: 'tumble',
        widthMicros: DAY,
        offsetMicros: 0,
        timezone: 'Europe/Lisbon',
      });
      const [one, two] = [grid.paneOfInstant(at(first)), grid.paneOfInstant(at(second))];
      return [iso(grid.instantOf(one)), iso(grid.instantOf(two))];
    };
    const early = '1951-07-01T12:00:00Z';
    const late = '2031-07-01T12:00:00Z';
    expect(order(late, early)).toEqual(order(early, late).reverse());
  });
});

test('a hop of any slide has the panes both its ends fall on, and every window that holds a row', () => {
  const grid = new WindowGrid({ tag: 'hop', slideMicros: 4, widthMicros: 6, offsetMicros: 1 });
  const windows: [number, number][] = [];
  expect(grid.pane).toBe(2);
  grid.forEachWindowOf(grid.paneOfInstant(10), (start, end) => windows.push([start, end]));
  expect(windows).toEqual([
    [5, 11],
    [9, 15],
  ]);
});
