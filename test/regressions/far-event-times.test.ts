/**
 * Beyond 2^53 microseconds from 1970 windows were wrong by their width, and a time that stands for "never" made all rows behind it
 * late. Such a row is an error of its own.
 */
import { expect, test } from 'vitest';
import { EVENT_TIME_MAX } from '../../src/operators/times.ts';
import { runRows } from '../operators/run-graph.ts';

const TABLE = `CREATE TABLE t (ts TIMESTAMP, v INT, WATERMARK FOR ts AS ts - interval '5 seconds')
  WITH (connector = 'http', type = 'source');`;
const DAY = 86_400_000_000n;
const MOST = BigInt(EVENT_TIME_MAX);
const FAR = [
  MOST + 1n,
  -MOST - 1n,
  253_402_300_799_999_999n,
  -62_135_596_800_000_000n,
  2n ** 53n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];

test.each([1, 3, 2048])(
  'rows of far times are refused, and move no watermark, in batches of %i',
  (batchRows) => {
    const near = [0n, 5n * DAY, 6n * DAY + 1n, 6n * DAY];
    const t = near.flatMap((ts, at) => [
      { ts, v: at },
      ...FAR.map((far) => ({ ts: far, v: -1 })),
      { ts: null, v: -2 },
    ]);
    const { rows, late } = runRows(
      `${TABLE} SELECT tumble(interval '1 day') AS w, min(ts) AS first, count(*) AS n FROM t GROUP BY w;`,
      { t },
      batchRows,
    );
    expect(rows.map(({ first, n }) => [first, n])).toEqual([
      [0n, 1n],
      [5n * DAY, 1n],
      [6n * DAY, 2n],
    ]);
    expect(late).toEqual([]);
  },
);

test('windows of the first and the last time that is taken hold it', () => {
  for (const call of [
    `tumble(interval '1 day')`,
    `hop(interval '7 hours', interval '14 hours')`,
    `cumulate(interval '1 hour', interval '1 day')`,
    `tumble(interval '1 microsecond')`,
    `session(interval '1 day')`,
  ]) {
    const t = [-MOST, -MOST + 1n, MOST - 1n, MOST].map((ts) => ({ ts, v: 1 }));
    const { rows, failed } = runRows(
      `${TABLE} SELECT w.start AS s, w."end" AS e, lo, hi FROM
        (SELECT ${call} AS w, min(ts) AS lo, max(ts) AS hi FROM t GROUP BY w) AS q;`,
      { t },
    );
    expect(failed).toEqual([]);
    expect(rows.length).toBeGreaterThan(1);
    for (const { s, e, lo, hi } of rows)
      expect([
        call,
        BigInt(s as bigint) <= (lo as bigint),
        (hi as bigint) < BigInt(e as bigint),
      ]).toEqual([call, true, true]);
  }
});

test('a deletion without a time does not get that of a row that was refused', () => {
  const sql = `CREATE TABLE u (id INT PRIMARY KEY, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (connector = 'http', format = 'debezium_json', type = 'source');
    SELECT count(*) AS n FROM u;`;
  const created = (id: number, ts: string): string =>
    `{"before":null,"after":{"id":${id},"ts":"${ts}"},"op":"c"}`;
  const u = [
    created(1, '2024-01-01T00:00:00'),
    created(2, '2024-01-01T00:00:01'),
    created(3, '9999-12-31T00:00:00'),
    `{"before":{"id":1},"after":null,"op":"d"}`,
    '',
  ].join('\n');
  expect(runRows(sql, { u }).rows).toEqual([{ n: 1n }]);
});
