import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FLIGHT_ROWS_PATH, flightRowsText } from '../../scripts/flight-rows.ts';
import type { Row } from '../../src/batch/values.ts';
import {
  DATASET_NAMES,
  DATASET_SCHEMAS,
  DATASETS,
  type DatasetName,
} from '../../src/connectors/example/datasets.ts';
import { shuffledPlace } from '../../src/connectors/example/draw.ts';
import type { Dataset } from '../../src/connectors/example/fields.ts';
import { ExampleSource } from '../../src/connectors/example/source.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import {
  contextOf,
  drain,
  noReads,
  restored,
  rowsGiven,
  rowText,
  type Given,
} from './source-driver.ts';

type Options = Record<string, string | number>;
type Made = { row: Row; at: number; takesAway: boolean };

const CREATED_MS = 1_700_000_000_000;
const SECOND = 1_000_000;

function sourceOf(dataset: DatasetName, options: Options, batchRows = 1000): ExampleSource {
  const changes = (DATASETS[dataset] as Dataset).changesOf;
  const format =
    changes === undefined ? JSON_FORMAT : { ...JSON_FORMAT, changes: { keys: [changes] } };
  return new ExampleSource(
    contextOf('example', { dataset, ...options }, DATASET_SCHEMAS[dataset], {
      batchRows,
      pipelineCreatedMs: CREATED_MS,
      spec: { format },
    }),
  );
}

function madeOf(given: readonly Given[], dataset: DatasetName): Made[] {
  return given.flatMap((each) => {
    const rows = rowsGiven([each], DATASET_SCHEMAS[dataset]);
    const words = each.batch.eventTime?.words as Int32Array;
    return rows.map((row, index) => ({
      row,
      at: (words[index * 2 + 1] as number) * 2 ** 32 + ((words[index * 2] as number) >>> 0),
      takesAway: each.batch.retract?.[index] === 1,
    }));
  });
}

const made = (dataset: DatasetName, options: Options, batchRows?: number): Made[] =>
  madeOf(drain(sourceOf(dataset, options, batchRows), noReads, () => 0).given, dataset);

const textOf = ({ row, at, takesAway }: Made): string =>
  `${at} ${takesAway ? '-' : '+'} ${rowText(row)}\n`;

const md5 = (rows: readonly Made[]): string =>
  createHash('md5').update(rows.map(textOf).join('')).digest('hex');

test('3,000 rows of seed 0 are pinned, whatever the batch size', () => {
  const hashes = Object.fromEntries(
    DATASET_NAMES.map((name) => {
      const hash = md5(made(name, { events: 3000 }));
      expect(md5(made(name, { events: 3000 }, 7)), name).toBe(hash);
      return [name, hash];
    }),
  );
  expect(hashes).toMatchInlineSnapshot(`
    {
      "cards": "b64e1c7724941af8b29fc3bf210bea75",
      "clicks": "c4219352f5aafde00f87e4f98e9f6ecc",
      "customers": "7307d568c5061c75bcb096345f7adcac",
      "flights": "81d827bee98ed6796a841cba4efbbadd",
      "orders": "5498bcabe689e273735aa0b441af38ed",
      "payments": "54397b6078b318e6ac8ba4b6c2dd3b9a",
      "plays": "f98f9fecdde54cf2281b99fe9c7ab1ea",
      "sensors": "fbae5237929c44b2c63285993a3d4934",
    }
  `);
});

test('another seed gives other rows, but for the flights', () => {
  for (const name of DATASET_NAMES) {
    const [first, second] = [made(name, { events: 200 }), made(name, { events: 200, seed: 5 })];
    if (name === 'flights') expect(second).toEqual(first);
    else expect(second, name).not.toEqual(first);
  }
});

test('a source that is restored anywhere gives the rows that were left, live or not', () => {
  const later = CREATED_MS + 20_000;
  for (const name of DATASET_NAMES)
    for (const options of [{ events: 250 }, { event_rate: 2 }] as Options[])
      for (const stop of [0, 1, 2]) {
        const make = () => sourceOf(name, options, 41);
        const source = make();
        drain(source, noReads, () => later, stop);
        const resumed = restored(make, source.snapshot());
        const left = madeOf(drain(source, noReads, () => later).given, name);
        const again = madeOf(drain(resumed, noReads, () => later).given, name);
        expect(again.map(textOf), `${name} ${JSON.stringify(options)} ${stop}`).toEqual(
          left.map(textOf),
        );
        expect(left.length).toBeGreaterThan(0);
      }
});

test('a live dataset has begun before the pipeline was made and goes on when rows are due', () => {
  for (const name of DATASET_NAMES) {
    const source = sourceOf(name, {});
    const { rowsPerSecond, historySeconds } = DATASETS[name] as Dataset;
    const backlog = madeOf(drain(source, noReads, () => CREATED_MS).given, name);
    expect(backlog.length, name).toBeGreaterThan(rowsPerSecond * historySeconds * 0.8);
    const next = madeOf(drain(source, noReads, () => CREATED_MS + 10_000).given, name);
    expect(next.length, name).toBeGreaterThan(rowsPerSecond * 9);
    expect(next.length, name).toBeLessThan(rowsPerSecond * 11);
    if (name === 'flights') continue;
    for (const { at } of [...backlog, ...next]) {
      expect(at).toBeLessThanOrEqual((CREATED_MS + 10_000) * 1000);
      expect(at).toBeGreaterThanOrEqual((CREATED_MS - historySeconds * 1000 - 2_000) * 1000);
    }
    // No row comes before it has happened.
    for (const { at } of backlog) expect(at, name).toBeLessThanOrEqual(CREATED_MS * 1000);
  }
});

test('only the first subtask reads, and a high rate does not make a long past', () => {
  const context = contextOf('example', { dataset: 'clicks' }, DATASET_SCHEMAS.clicks, {
    subtask: 1,
    parallelism: 2,
  });
  const idle = new ExampleSource(context);
  expect(idle.partitions).toEqual([]);
  expect(drain(idle, noReads, () => 0).ended).toBe(true);
  const fast = drain(
    sourceOf('clicks', { event_rate: 1_000_000 }, 8192),
    noReads,
    () => CREATED_MS,
  );
  expect(rowsGiven(fast.given, DATASET_SCHEMAS.clicks)).toHaveLength(20_001);
});

test('clicks come at most a second and a half out of order', () => {
  const clicks = made('clicks', { events: 5000 });
  let newest = 0;
  let disorder = 0;
  for (const { at } of clicks) {
    disorder = Math.max(disorder, newest - at);
    newest = Math.max(newest, at);
  }
  expect(disorder).toBeGreaterThan(SECOND / 2);
  expect(disorder).toBeLessThan(1.5 * SECOND);
});

test('a shuffled block is a shuffle', () => {
  for (const size of [1, 2, 3, 10, 97, 100])
    for (let block = 0; block < 20; block++) {
      const places = Array.from({ length: size }, (_, at) => shuffledPlace(3, block, at, size));
      expect(places.toSorted((left, right) => left - right)).toEqual(places.map((_, at) => at));
    }
});

test.each([0.5, 3, 10, 250])(
  'payments belong to orders, within twenty seconds, once, and one in 25 is missing; %d a second',
  (rate) => {
    const options = { events: 6000, event_rate: rate };
    const end = CREATED_MS + 1e9;
    const drained = (name: DatasetName) =>
      madeOf(drain(sourceOf(name, options), noReads, () => end).given, name);
    const orders = new Map(drained('orders').map(({ row, at }) => [row['order_id'], { row, at }]));
    const payments = drained('payments');
    const paid = new Set<unknown>();
    let before = 0;
    for (const { row, at } of payments) {
      expect(at).toBeGreaterThanOrEqual(before);
      before = at;
      const order = orders.get(row['order_id']);
      if (order === undefined) continue;
      expect(paid.has(row['order_id'])).toBe(false);
      paid.add(row['order_id']);
      expect(row['amount']).toEqual(order.row['amount']);
      expect(at).toBeGreaterThanOrEqual(order.at);
      expect(at - order.at).toBeLessThanOrEqual(20 * SECOND);
    }
    // The last orders are paid by payments that were not asked for.
    const settled = [...orders.values()].slice(0, 5000);
    const unpaid = settled.filter(({ row }) => !paid.has(row['order_id'])).length;
    expect(unpaid).toBeGreaterThan(5000 / 25 - 15);
    expect(unpaid).toBeLessThan(5000 / 25 + 15);
  },
);

test('of every fifteen seconds of card payments one card is in three cities within ten', () => {
  const cards = made('cards', { events: 6000 });
  const uses = new Map<unknown, Made[]>();
  for (const each of cards)
    uses.set(each.row['card'], [...(uses.get(each.row['card']) ?? []), each]);
  const thefts = [...uses.values()].flatMap((rows) =>
    rows.flatMap((first, index) => {
      const near = rows.slice(index, index + 3);
      const cities = new Set(near.map(({ row }) => row['city']));
      const last = near.at(-1) as Made;
      return cities.size === 3 && last.at - first.at <= 10 * SECOND ? [first.at] : [];
    }),
  );
  const start = cards[0]?.at as number;
  const stretches = new Set(thefts.map((at) => Math.floor((at - start) / (15 * SECOND))));
  expect([...stretches].sort((left, right) => left - right)).toEqual(
    Array.from({ length: 20 }, (_, index) => index),
  );
  expect(thefts).toHaveLength(20);
});

test('the songs that are played most change from minute to minute', () => {
  const plays = made('plays', { events: 12_000 });
  const topOf = (from: number): string => {
    const counts = new Map<string, number>();
    for (const { row } of plays.slice(from, from + 1500)) {
      const song = String(row['song']);
      counts.set(song, (counts.get(song) ?? 0) + 1);
    }
    const ranked = [...counts].sort((left, right) => right[1] - left[1]);
    expect((ranked[0]?.[1] as number) / 1500).toBeGreaterThan(0.12);
    return ranked[0]?.[0] as string;
  };
  expect(new Set([0, 3000, 6000, 9000].map(topOf)).size).toBeGreaterThan(2);
});

test('in every forty seconds one sensor is silent for fifteen, and some readings are late', () => {
  const readings = made('sensors', { events: 16 * 40 * 10 });
  const heard = new Map<unknown, number>();
  const silences: number[] = [];
  let newest = 0;
  let late = 0;
  for (const { row, at } of readings) {
    if (at < newest - 10 * SECOND) {
      late++;
      expect(newest - at).toBeLessThan(31 * SECOND);
      continue;
    }
    newest = Math.max(newest, at);
    const before = heard.get(row['sensor']) ?? at;
    if (at - before > 10 * SECOND) silences.push(at - before);
    heard.set(row['sensor'], at);
  }
  expect(heard.size).toBe(8);
  expect(silences.length).toBeGreaterThanOrEqual(9);
  for (const silence of silences) expect(silence).toBeLessThan(16 * SECOND);
  expect(late).toBeGreaterThan(30);
  expect(late).toBeLessThan(110);
});

test('changes of customers make sense one after the other, and the table stays of one size', () => {
  const changes = made('customers', { events: 20_000 });
  const table = new Map<unknown, Row>();
  for (const [index, { row, takesAway }] of changes.entries()) {
    const held = table.get(row['id']);
    if (takesAway) {
      // A deletion tells the row as it is held.
      expect(held).toEqual(row);
      table.delete(row['id']);
      continue;
    }
    if (held !== undefined) {
      expect(row['name']).toBe(held['name']);
      expect(row['spent']).not.toEqual(held['spent']);
    } else if (index >= 60) expect(String(row['spent'])).toBe('0.00');
    table.set(row['id'], row);
    if (index > 60) expect(table.size).toBeGreaterThan(45);
    expect(table.size).toBeLessThanOrEqual(60);
  }
  expect(changes.filter(({ takesAway }) => takesAway).length).toBeGreaterThan(1900);
});

type FileRow = {
  date: string;
  delay: number;
  distance: number;
  origin: string;
  destination: string;
};

test('flights are those of the file, in their order; then the same ones 13 weeks later', () => {
  const main = createRequire(import.meta.url).resolve('vega-datasets');
  const file = path.join(path.dirname(main), '..', 'data', 'flights-5k.json');
  const wanted = (JSON.parse(readFileSync(file, 'utf8')) as FileRow[]).map(
    ({ date, origin, destination, delay, distance }) =>
      `${Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}:00Z`) * 1000} ${origin} ${destination} ${delay} ${distance}`,
  );
  const flights = made('flights', { events: 10_000 });
  const line = ({ row, at }: Made, moved = 0): string =>
    `${at - moved} ${row['origin']} ${row['destination']} ${row['delay']} ${row['distance']}`;
  expect(
    flights
      .slice(0, 5000)
      .map((flight) => line(flight))
      .sort(),
  ).toEqual(wanted.sort());
  const later = flights.slice(5000).map((flight) => line(flight, 13 * 7 * 86_400 * SECOND));
  expect(later).toEqual(flights.slice(0, 5000).map((flight) => line(flight)));
  for (const [index, { at }] of flights.entries())
    expect(at).toBeGreaterThanOrEqual(flights[index - 1]?.at ?? 0);
});

test('the packed flights are what the script makes (npm run example:flights:rows)', () => {
  expect(readFileSync(FLIGHT_ROWS_PATH, 'utf8')).toBe(flightRowsText());
});
