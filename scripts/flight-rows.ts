/**
 * Writes `src/connectors/example/flight-rows.ts`: the flights of the dataset `flights`, packed into text. They are a sample of
 * what the Bureau of Transportation Statistics publishes, as the npm package `vega-datasets` ships it.
 * `npm run example:flights:rows` makes the file anew; a test says so when it is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

type FileRow = {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
};

export const FLIGHT_ROWS_PATH = join(
  import.meta.dirname,
  '..',
  'src/connectors/example/flight-rows.ts',
);
const LINE_LENGTH = 230;

/** `2001/01/01 00:47` → minutes since 1970, as if it were UTC: the file names no zone. */
function minutesOf(date: string): number {
  const match = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d)$/.exec(date);
  if (match === null) throw new Error(`"${date}" is not a date of the flights file`);
  const [, year, month, day, hour, minute] = match.map(Number);
  return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute) / 60_000;
}

/** Cut behind a semicolon into lines. */
function lines(items: readonly string[]): string {
  const made: string[] = [];
  let line = '';
  for (const item of items) {
    if (line.length + item.length + 1 > LINE_LENGTH) {
      made.push(line);
      line = '';
    }
    line += `${item};`;
  }
  return [...made, line].join('\n');
}

export function flightRowsText(): string {
  const main = createRequire(import.meta.url).resolve('vega-datasets');
  const path = join(dirname(main), '..', 'data', 'flights-5k.json');
  const rows = (JSON.parse(readFileSync(path, 'utf8')) as FileRow[]).map((row) => ({
    minutes: minutesOf(row.date),
    delay: row.delay,
    route: `${row.origin}${row.destination}${row.distance}`,
  }));
  rows.sort((left, right) => left.minutes - right.minutes);
  const routes = [...new Set(rows.map(({ route }) => route))].sort();
  const numbers = new Map(routes.map((route, number) => [route, number]));
  let before = rows[0]?.minutes ?? 0;
  const packed = rows.map(({ minutes, delay, route }) => {
    const passed = minutes - before;
    before = minutes;
    return [passed, delay, numbers.get(route) ?? 0].map((part) => part.toString(36)).join(',');
  });
  return `/**
 * ${rows.length.toLocaleString('en')} real departures in the United States, January to March 2001, packed into text. Made by
 * scripts/flight-rows.ts from the npm package vega-datasets (source: Bureau of Transportation Statistics); do not edit.
 */

/** Local time of the first departure as if it were UTC, in minutes since 1970. */
export const FIRST_MINUTE = ${rows[0]?.minutes ?? 0};

/** Each: airport of departure, airport of arrival, distance in miles. */
export const ROUTES = \`
${lines(routes)}
\`;

/** Each, in base 36: minutes since the departure before, delay in minutes, number of the route. */
export const FLIGHTS = \`
${lines(packed)}
\`;
`;
}

if (import.meta.main) writeFileSync(FLIGHT_ROWS_PATH, flightRowsText());
