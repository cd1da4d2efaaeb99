import { expect, test } from 'vitest';
import { IMPULSE_SCHEMA, ImpulseSource } from '../../src/connectors/impulse/source.ts';
import type { Int64Column } from '../../src/batch/column.ts';
import { contextOf, drain, noReads, restored, rowsGiven, rowText } from './source-driver.ts';

const CREATED = 1_700_000_000_000;
const make = (options: Record<string, number>, rest = {}) =>
  new ImpulseSource(contextOf('impulse', options, IMPULSE_SCHEMA, rest));
const later = (): number => CREATED + 1e9;

test('counts from 0 to the message count and ends', () => {
  const outcome = drain(make({ event_rate: 10, message_count: 2500 }), noReads, later);
  expect(outcome.ended).toBe(true);
  expect(rowsGiven(outcome.given, IMPULSE_SCHEMA).map((row) => Number(row['counter']))).toEqual(
    Array.from({ length: 2500 }, (_, at) => at),
  );
});

test('any number of partitions and subtasks gives the same counters', () => {
  for (const [partitions, parallelism] of [
    [1, 1],
    [3, 1],
    [4, 2],
    [2, 5],
  ] as const) {
    const rows = Array.from({ length: parallelism }, (_, subtask) =>
      make(
        { event_rate: 10, message_count: 1001, partitions },
        { subtask, parallelism, batchRows: 64 },
      ),
    ).flatMap((source) => rowsGiven(drain(source, noReads, later).given, IMPULSE_SCHEMA));
    expect(rows.map((row) => Number(row['counter'])).sort((left, right) => left - right)).toEqual(
      Array.from({ length: 1001 }, (_, at) => at),
    );
    expect(
      rows.every((row) => Number(row['subtask_index']) === Number(row['counter']) % partitions),
    ).toBe(true);
  }
});

test('event times count from the creation of the pipeline, at the rate or the interval given', () => {
  const times = (options: Record<string, number>): number[] => {
    const [first] = drain(make(options), noReads, later).given;
    const { words } = first?.batch.eventTime as Int64Column;
    return [0, 1, 2].map(
      (row) =>
        (words[row * 2 + 1] as number) * 4294967296 +
        ((words[row * 2] as number) >>> 0) -
        CREATED * 1000,
    );
  };
  expect(times({ event_rate: 4, message_count: 3 })).toEqual([0, 250_000, 500_000]);
  expect(times({ event_rate: 4, message_count: 3, event_time_interval: 7 })).toEqual([0, 7, 14]);
});

test('rows come when they are due', () => {
  const source = make({ event_rate: 2 });
  expect(drain(source, noReads, () => CREATED).given).toHaveLength(1);
  expect(drain(source, noReads, () => CREATED + 499)).toMatchObject({
    given: [],
    lastWaitMs: CREATED + 509,
  });
  expect(
    rowsGiven(drain(source, noReads, () => CREATED + 1500).given, IMPULSE_SCHEMA).map(
      (row) => row['counter'],
    ),
  ).toEqual([1n, 2n, 3n]);
});

test('replay from any snapshot gives the same remaining rows', () => {
  const fresh = () =>
    make({ event_rate: 10, message_count: 700, partitions: 3 }, { batchRows: 50 });
  for (const stop of [0, 1, 4, 9]) {
    const source = fresh();
    drain(source, noReads, later, stop);
    const resumed = restored(fresh, source.snapshot());
    const rest = rowsGiven(drain(source, noReads, later).given, IMPULSE_SCHEMA)
      .map(rowText)
      .sort();
    expect(
      rowsGiven(drain(resumed, noReads, later).given, IMPULSE_SCHEMA)
        .map(rowText)
        .sort(),
    ).toEqual(rest);
  }
});
