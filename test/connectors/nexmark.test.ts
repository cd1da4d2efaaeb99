import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { rowsOf, type Row } from '../../src/batch/values.ts';
import { NEXMARK_FIELDS, NEXMARK_SCHEMA } from '../../src/connectors/nexmark/schema.ts';
import { NexmarkSource } from '../../src/connectors/nexmark/source.ts';
import {
  contextOf,
  drain,
  noReads,
  restored,
  rowsGiven,
  rowText,
  type Given,
} from './source-driver.ts';

/** Field names as the data set spells them. */
const SPELLING: Record<string, string> = {
  email_address: 'emailAddress',
  credit_card: 'creditCard',
  item_name: 'itemName',
  initial_bid: 'initialBid',
  datetime: 'dateTime',
};

function plainObject(struct: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(struct).map(([name, value]) => {
      const isTime = name === 'datetime' || name === 'expires';
      const plain = isTime
        ? new Date(Number(value) / 1000).toISOString()
        : typeof value === 'bigint'
          ? Number(value)
          : value;
      return [SPELLING[name] ?? name, plain];
    }),
  );
}

function eventLine(row: Row): string {
  const type = ['person', 'auction', 'bid'].findIndex((kind) => row[kind] !== null);
  const kind = ['person', 'auction', 'bid'][type] as string;
  if (Object.values(row).filter((value) => value !== null).length !== 1)
    throw new Error('an event is one of three');
  return `{"event_type":${type},"${kind}":${JSON.stringify(plainObject(row[kind] as Row))}}\n`;
}

const md5 = (texts: readonly string[]): string =>
  createHash('md5').update(texts.join('')).digest('hex');
const context = (options: Record<string, string | number>, schema = NEXMARK_SCHEMA, rest = {}) =>
  contextOf('nexmark', options, schema, rest);

test('100,000 events of seed 0 are the pinned data set, byte for byte', () => {
  const source = new NexmarkSource(context({ events: 100_000 }));
  const outcome = drain(source, noReads, () => 0);
  expect(outcome.ended).toBe(true);
  const lines = outcome.given.flatMap((each) => rowsOf(each.batch, NEXMARK_SCHEMA).map(eventLine));
  expect(lines).toHaveLength(100_000);
  expect(md5(lines)).toBe('581d254482bdb94c095470f4867532f6');
}, 60_000);

test('a table of one kind has the flat rows of that kind, whatever the batch size', () => {
  const hashes = {
    person: 'e56a2613c8cb8a5de4a309f092f1eba7',
    auction: 'a43b41bb36874b37da4f8c4a647ed8b5',
  };
  for (const [kind, hash] of Object.entries(hashes) as ['person' | 'auction', string][]) {
    for (const batchRows of [7, 8192]) {
      const source = new NexmarkSource(
        context({ events: 100_000, table: kind }, NEXMARK_FIELDS[kind], { batchRows }),
      );
      const rows = rowsGiven(drain(source, noReads, () => 0).given, NEXMARK_FIELDS[kind]);
      expect(md5(rows.map((row) => `${JSON.stringify(plainObject(row))}\n`))).toBe(hash);
    }
  }
});

test('declared columns are picked by name', () => {
  const schema = [NEXMARK_FIELDS.bid[2], NEXMARK_FIELDS.bid[0]] as never;
  const picked = rowsGiven(
    drain(new NexmarkSource(context({ events: 500, table: 'bid' }, schema)), noReads, () => 0)
      .given,
    schema,
  );
  const all = rowsGiven(
    drain(
      new NexmarkSource(context({ events: 500, table: 'bid' }, NEXMARK_FIELDS.bid)),
      noReads,
      () => 0,
    ).given,
    NEXMARK_FIELDS.bid,
  );
  expect(picked).toEqual(all.map(({ price, auction }) => ({ price, auction })));
});

test('the union of rows is the same for any number of partitions and subtasks', () => {
  const all = (partitions: number, parallelism: number): string[] => {
    const given: Given[] = [];
    for (let subtask = 0; subtask < parallelism; subtask++) {
      const source = new NexmarkSource(
        context({ events: 5000, partitions, seed: 7 }, NEXMARK_SCHEMA, { subtask, parallelism }),
      );
      given.push(...drain(source, noReads, () => 0).given);
    }
    return rowsGiven(given, NEXMARK_SCHEMA).map(rowText).sort();
  };
  const expected = all(1, 1);
  expect(expected).toHaveLength(5000);
  for (const [partitions, parallelism] of [
    [1, 3],
    [4, 1],
    [4, 3],
    [3, 5],
  ] as const) {
    expect(all(partitions, parallelism)).toEqual(expected);
  }
});

test('replay from any snapshot gives the same remaining rows', () => {
  const make = () =>
    new NexmarkSource(
      context({ events: 3000, partitions: 2, out_of_order: 50 }, NEXMARK_SCHEMA, { batchRows: 37 }),
    );
  const whole = drain(make(), noReads, () => 0).given.length;
  for (const stop of [0, 1, 5, 20, whole - 1]) {
    const source = make();
    drain(source, noReads, () => 0, stop);
    const resumed = restored(make, source.snapshot());
    const rest = rowsGiven(drain(source, noReads, () => 0).given, NEXMARK_SCHEMA)
      .map(rowText)
      .sort();
    const again = rowsGiven(drain(resumed, noReads, () => 0).given, NEXMARK_SCHEMA)
      .map(rowText)
      .sort();
    expect(again).toEqual(rest);
  }
});

test('out of order groups hold the same event times as ordered ones', () => {
  const times = (outOfOrder: number): number[] =>
    rowsGiven(
      drain(
        new NexmarkSource(
          context({ events: 1000, table: 'bid', out_of_order: outOfOrder }, NEXMARK_FIELDS.bid),
        ),
        noReads,
        () => 0,
      ).given,
      NEXMARK_FIELDS.bid,
    ).map((row) => Number(row['datetime']));
  const ordered = times(1);
  const shuffled = times(50);
  expect(shuffled).not.toEqual(ordered);
  expect(shuffled.toSorted((left, right) => left - right)).toEqual(ordered);
});

test('with a rate, rows come when they are due and late readers catch up', () => {
  const source = new NexmarkSource(context({ event_rate: 100 }));
  const start = 1_700_000_000_000;
  expect(drain(source, noReads, () => start - 1)).toMatchObject({
    given: [],
    waits: 1,
    lastWaitMs: start + 9,
  });
  expect(rowsGiven(drain(source, noReads, () => start).given, NEXMARK_SCHEMA)).toHaveLength(1);
  expect(drain(source, noReads, () => start + 5)).toMatchObject({
    given: [],
    lastWaitMs: start + 15,
  });
  expect(
    rowsGiven(drain(source, noReads, () => start + 60_000).given, NEXMARK_SCHEMA),
  ).toHaveLength(6000);
});
