/**
 * The flights: real departures in the United States from January to March 2001, a sample of what the Bureau of
 * Transportation Statistics publishes, as the npm package `vega-datasets` ships it. Delays are minutes, negative when early.
 *
 * The file says `2001/01/01 00:47` and names no time zone; the Bureau gives local times. They are sent as if they
 * were UTC, so an hour of the result is an hour on the airport's own clock, and equal hours of two airports
 * need not be the same moment. Nothing else of a row is changed.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export type FileRow = {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
};

/** A row as it is posted; `date` in RFC 3339. */
export type FlightRow = FileRow;

/** What `flights.sql` gives for an airport and hour; `hour` in milliseconds since 1970. */
export type HourlyDelays = {
  origin: string;
  hour: number;
  flights: number;
  totalDelay: number;
  averageDelay: number;
  worstDelay: number;
};

/** The files there are, by their number of rows. */
export const FLIGHT_FILES: ReadonlyMap<number, string> = new Map([
  [2_000, 'flights-2k.json'],
  [5_000, 'flights-5k.json'],
  [10_000, 'flights-10k.json'],
  [20_000, 'flights-20k.json'],
]);

const HOUR_MS = 3_600_000;

/** Flights in event-time order: the smallest file that has `count` rows, cut to `count`. */
export async function readFlights(count: number): Promise<FlightRow[]> {
  const size = [...FLIGHT_FILES.keys()].find((rows) => rows >= count) ?? 20_000;
  const main = createRequire(import.meta.url).resolve('vega-datasets');
  const path = join(dirname(main), '..', 'data', FLIGHT_FILES.get(size) as string);
  const rows = JSON.parse(await readFile(path, 'utf8')) as FileRow[];
  const shaped = rows.map((row) => ({ ...row, date: timestampOf(row.date) }));
  // The files are in order already; a sort that keeps equal times in place makes sure of it.
  return shaped
    .sort((left, right) => (left.date < right.date ? -1 : left.date > right.date ? 1 : 0))
    .slice(0, count);
}

/** `2001/01/01 00:47` → `2001-01-01T00:47:00Z`. */
export function timestampOf(fileDate: string): string {
  const match = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d)$/.exec(fileDate);
  if (match === null) throw new Error(`"${fileDate}" is not a date of the flights file`);
  const [, year, month, day, hour, minute] = match;
  return `${year}-${month}-${day}T${hour}:${minute}:00Z`;
}

/** Only a time, two days after the last flight: every hour before it is over. */
export function heartbeatAfter(rows: readonly FlightRow[]): { date: string } {
  const last = rows.at(-1);
  if (last === undefined) throw new Error('there are no flights');
  return { date: new Date(Date.parse(last.date) + 48 * HOUR_MS).toISOString() };
}

/** The same question answered without Thalweg, to compare with. */
export function computeDelays(rows: readonly FlightRow[]): HourlyDelays[] {
  const groups = new Map<string, HourlyDelays>();
  for (const { date, delay, origin } of rows) {
    const hour = Math.floor(Date.parse(date) / HOUR_MS) * HOUR_MS;
    const key = `${origin} ${hour}`;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, {
        origin,
        hour,
        flights: 1,
        totalDelay: delay,
        averageDelay: delay,
        worstDelay: delay,
      });
      continue;
    }
    group.flights++;
    group.totalDelay += delay;
    group.worstDelay = Math.max(group.worstDelay, delay);
  }
  for (const group of groups.values()) group.averageDelay = group.totalDelay / group.flights;
  return [...groups.values()];
}

/** A row of the sink, or of the live output. */
export function parseDelays(row: Record<string, unknown>): HourlyDelays {
  const hour = String(row['hour']);
  return {
    origin: String(row['origin']),
    hour: Date.parse(/Z$|[+-]\d\d:\d\d$/.test(hour) ? hour : `${hour}Z`),
    flights: Number(row['flights']),
    totalDelay: Number(row['total_delay']),
    averageDelay: Number(row['average_delay']),
    worstDelay: Number(row['worst_delay']),
  };
}

export type Comparison = { same: number; missing: string[]; unexpected: string[] };

/** Compares as multisets: a row that was committed twice is unexpected once. */
export function compareDelays(
  committed: readonly HourlyDelays[],
  expected: readonly HourlyDelays[],
): Comparison {
  const open = new Map<string, number>();
  for (const row of expected) open.set(lineOf(row), (open.get(lineOf(row)) ?? 0) + 1);
  const unexpected: string[] = [];
  let same = 0;
  for (const row of committed) {
    const line = lineOf(row);
    const left = open.get(line) ?? 0;
    if (left === 0) unexpected.push(line);
    else {
      open.set(line, left - 1);
      same++;
    }
  }
  const missing = [...open].flatMap(([line, count]) => Array.from({ length: count }, () => line));
  return { same, missing, unexpected };
}

const lineOf = ({
  origin,
  hour,
  flights,
  totalDelay,
  averageDelay,
  worstDelay,
}: HourlyDelays): string =>
  JSON.stringify([origin, hour, flights, totalDelay, averageDelay, worstDelay]);
