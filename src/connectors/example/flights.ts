/**
 * Real flights in the order of their departure, with the times they had: local times of the airport, read as UTC. Behind the
 * last one the same flights follow once more, 13 weeks later, so that weekdays stay what they were.
 */
import { assert } from '../../base/assert.ts';
import { INT64, TEXT, TIMESTAMP } from '../../batch/types.ts';
import { bytesOf, type Dataset, field, text, whole } from './fields.ts';
import { FIRST_MINUTE, FLIGHTS as PACKED, ROUTES as PACKED_ROUTES } from './flight-rows.ts';

type Route = { origin: Uint8Array; destination: Uint8Array; distance: number };

type Unpacked = {
  routes: readonly Route[];
  /** Of each flight: minutes since 1970, delay in minutes, number of the route. */
  minutes: Int32Array;
  delays: Int16Array;
  routeOf: Int16Array;
};

/** 13 weeks: more than the 90 days that the flights span. */
const ROUND_MINUTES = 13 * 7 * 24 * 60;

/** Unpacked at the first use, once for the whole program. */
let unpacked: Unpacked | null = null;

const partsOf = (packed: string): string[] =>
  packed
    .replaceAll('\n', '')
    .split(';')
    .filter((part) => part !== '');

function unpack(): Unpacked {
  const routes = partsOf(PACKED_ROUTES).map((route): Route => ({
    origin: bytesOf(route.slice(0, 3)),
    destination: bytesOf(route.slice(3, 6)),
    distance: Number(route.slice(6)),
  }));
  const rows = partsOf(PACKED);
  const minutes = new Int32Array(rows.length);
  const delays = new Int16Array(rows.length);
  const routeOf = new Int16Array(rows.length);
  let minute = FIRST_MINUTE;
  rows.forEach((row, index) => {
    const [passed = 0, delay = 0, route = 0] = row.split(',').map((part) => parseInt(part, 36));
    minute += passed;
    minutes[index] = minute;
    delays[index] = delay;
    routeOf[index] = route;
  });
  assert(minute - FIRST_MINUTE < ROUND_MINUTES, 'a round is over before the next one begins');
  return { routes, minutes, delays, routeOf };
}

export const FLIGHTS: Dataset = {
  schema: [
    field('origin', TEXT),
    field('destination', TEXT),
    field('delay', INT64),
    field('distance', INT64),
    field('ts', TIMESTAMP),
  ],
  rowsPerSecond: 50,
  historySeconds: 30,
  make() {
    unpacked ??= unpack();
    const { routes, minutes, delays, routeOf } = unpacked;
    return {
      write(row, columns) {
        const round = Math.floor(row / minutes.length);
        const index = row - round * minutes.length;
        const route = routes[routeOf[index] as number] as Route;
        const at = ((minutes[index] as number) + round * ROUND_MINUTES) * 60_000_000;
        text(columns, 0, route.origin);
        text(columns, 1, route.destination);
        whole(columns, 2, delays[index] as number);
        whole(columns, 3, route.distance);
        whole(columns, 4, at);
        return at;
      },
    };
  },
};
