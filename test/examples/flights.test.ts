import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareDelays,
  computeDelays,
  FLIGHT_FILES,
  type FlightRow,
  heartbeatAfter,
  parseDelays,
  readFlights,
  timestampOf,
} from '../../examples/flights/data.ts';
import { makeData } from '../../examples/earthquakes/make-data.ts';
import { parseEvent } from '../../examples/output-stream.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { ROOT } from '../harness/project-files.ts';

const flight = fc.record({
  date: fc
    .integer({ min: 0, max: 200 })
    .map((minutes) => new Date(Date.UTC(2001, 0, 1) + minutes * 60_000).toISOString()),
  delay: fc.integer({ min: -60, max: 600 }),
  distance: fc.nat(3_000),
  origin: fc.constantFrom('ORD', 'LAX', 'ATL'),
  destination: fc.constantFrom('JFK', 'SEA'),
});

describe('the flights example', () => {
  test('every file has the rows its name says, in event-time order, and nothing of them is lost', async () => {
    expect(FLIGHT_FILES.size).toBeGreaterThan(2);
    for (const count of FLIGHT_FILES.keys()) {
      const rows = await readFlights(count);
      expect(rows.length).toBe(count);
      expect(
        rows.every((row, index) => index === 0 || (rows[index - 1] as FlightRow).date <= row.date),
      ).toBe(true);
      expect(
        rows.every(
          ({ date, origin }) => /^2001-0[123]-\d\dT\d\d:\d\d:00Z$/.test(date) && origin !== '',
        ),
      ).toBe(true);
    }
  });

  test('a date that is none of the file is refused, not guessed', () => {
    expect(timestampOf('2001/03/31 22:27')).toBe('2001-03-31T22:27:00Z');
    expect(() => timestampOf('2001-03-31 22:27')).toThrow('not a date');
  });

  test('the heartbeat comes after every hour of the flights', () => {
    fc.assert(
      fc.property(fc.array(flight, { minLength: 1 }), (rows) => {
        const ordered = rows.toSorted((left, right) => (left.date < right.date ? -1 : 1));
        const beat = Date.parse(heartbeatAfter(ordered).date);
        return computeDelays(ordered).every(({ hour }) => hour + 3_600_000 + 600_000 <= beat);
      }),
    );
  });

  test('the computed rows count every flight once and keep the worst delay', () => {
    fc.assert(
      fc.property(fc.array(flight), (rows) => {
        const groups = computeDelays(rows);
        expect(groups.reduce((sum, group) => sum + group.flights, 0)).toBe(rows.length);
        expect(groups.reduce((sum, group) => sum + group.totalDelay, 0)).toBe(
          rows.reduce((sum, row) => sum + row.delay, 0),
        );
        for (const row of rows) {
          const group = groups.find(
            ({ origin, hour }) =>
              origin === row.origin &&
              hour <= Date.parse(row.date) &&
              Date.parse(row.date) < hour + 3_600_000,
          );
          expect(group?.worstDelay).toBeGreaterThanOrEqual(row.delay);
        }
      }),
    );
  });

  test('a row that is lost, doubled or changed is seen by the comparison', () => {
    fc.assert(
      fc.property(fc.array(flight, { minLength: 1 }), fc.nat(), (rows, pick) => {
        const expected = computeDelays(rows);
        const at = pick % expected.length;
        const row = expected[at] as (typeof expected)[number];
        expect(compareDelays(expected.toReversed(), expected)).toEqual({
          same: expected.length,
          missing: [],
          unexpected: [],
        });
        expect(compareDelays(expected.toSpliced(at, 1), expected).missing.length).toBe(1);
        expect(compareDelays([...expected, row], expected).unexpected.length).toBe(1);
        const changed = compareDelays(
          expected.with(at, { ...row, totalDelay: row.totalDelay + 1 }),
          expected,
        );
        expect([changed.missing.length, changed.unexpected.length]).toEqual([1, 1]);
      }),
    );
  });

  test('a committed line is read with its time as UTC', () => {
    const line = {
      origin: 'ORD',
      hour: '2001-01-01T10:00:00',
      flights: 2,
      total_delay: 3,
      average_delay: 1.5,
      worst_delay: 5,
    };
    const row = {
      origin: 'ORD',
      hour: Date.UTC(2001, 0, 1, 10),
      flights: 2,
      totalDelay: 3,
      averageDelay: 1.5,
      worstDelay: 5,
    };
    expect(parseDelays(line)).toEqual(row);
    expect(parseDelays({ ...line, hour: '2001-01-01T10:00:00Z' })).toEqual(row);
  });
});

describe('the examples', () => {
  test.each([
    ['examples/flights/flights.sql', 2],
    ['examples/earthquakes/earthquakes.sql', 2],
    ['examples/nexmark/bids.sql', 1],
  ])('%s plans without a complaint', (path, sinks) => {
    const plan = planSql(readFileSync(join(ROOT, path), 'utf8'), DECLARATIONS, {
      defaultSink: 'preview',
    });
    expect(plan.errors).toEqual([]);
    expect(plan.warnings).toEqual([]);
    expect(plan.sinks.length).toBe(sinks);
  });

  test('earthquakes.ndjson is what its script makes', async () => {
    expect(readFileSync(join(ROOT, 'examples/earthquakes/earthquakes.ndjson'), 'utf8')).toBe(
      await makeData(),
    );
  });

  test('an event of the live output gives its rows, a comment none', () => {
    const data = JSON.stringify({
      operator_id: 'sink-1',
      generation: 3,
      batch: '[{"a":1},{"a":2}]',
    });
    expect(parseEvent(`id: 3\ndata: ${data}`)).toEqual({
      operatorId: 'sink-1',
      generation: 3,
      rows: [{ a: 1 }, { a: 2 }],
    });
    expect(parseEvent(': keep-alive')).toBeNull();
  });
});
