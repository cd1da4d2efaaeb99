/** Joins with the versions of a table: what was valid at a row's time, whatever order, batches and restarts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SmallPipeline } from './small-pipeline.ts';

const ORDERS = `
  CREATE TABLE o (id INT NOT NULL, k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts AS ts - interval '3 seconds')
    WITH (connector = 'http', type = 'source');`;
const CHANGES = `
  CREATE TABLE c (k INT PRIMARY KEY, v INT NOT NULL, at TIMESTAMP METADATA FROM 'ts_ms', WATERMARK FOR at AS at - interval '3 seconds')
    WITH (connector = 'http', format = 'debezium_json', type = 'source');`;
const ROWS = `
  CREATE TABLE r (k INT, v INT NOT NULL, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at - interval '3 seconds')
    WITH (connector = 'http', type = 'source');`;

type Order = { id: number; k: number | null; time: number };
type Change = { k: number; v: number | null; time: number };

const iso = (second: number): string => new Date(second * 1000).toISOString();
const orderLine = ({ id, k, time }: Order): string => JSON.stringify({ id, k, ts: iso(time) });
const changeLine = ({ k, v, time }: Change): string =>
  JSON.stringify(
    v === null
      ? { op: 'd', before: { k }, after: null, ts_ms: time * 1000 }
      : { op: 'c', before: null, after: { k, v }, ts_ms: time * 1000 },
  );

/** The value of the last change of the key up to the time, by time and then by arrival; null: none, or it was deleted. */
function validAt(changes: readonly Change[], { k, time }: Order, strict = false): number | null {
  let found: Change | null = null;
  for (const change of changes) {
    if (change.k !== k || change.time > time || (strict && change.time === time)) continue;
    if (found === null || change.time >= found.time) found = change;
  }
  return found?.v ?? null;
}

type Case = {
  name: string;
  sql: string;
  /** What comes out for an order and the value valid at its time; undefined: nothing. */
  out: (value: number | null) => number | null | undefined;
  strict?: boolean;
  deletes?: false;
};

const CASES: readonly Case[] = [
  {
    name: 'an inner join',
    sql: `${CHANGES} SELECT o.id, c.v FROM o JOIN c FOR SYSTEM_TIME AS OF o.ts ON o.k = c.k;`,
    out: (value) => value ?? undefined,
  },
  {
    name: 'a left join',
    sql: `${CHANGES} SELECT o.id, c.v FROM o LEFT JOIN c FOR SYSTEM_TIME AS OF o.ts ON c.k = o.k;`,
    out: (value) => value,
  },
  {
    name: 'a left join with a condition on the version',
    sql: `${CHANGES} SELECT o.id, c.v FROM o LEFT JOIN c FOR SYSTEM_TIME AS OF o.ts ON c.k = o.k AND c.v > 1;`,
    out: (value) => (value !== null && value > 1 ? value : null),
  },
  {
    name: 'a view that filters and computes',
    sql: `${CHANGES} CREATE VIEW big AS SELECT v * 2 AS v, k AS key, coalesce(v, 7) AS w FROM c WHERE v > 0;
      SELECT o.id, big.v - big.w AS v FROM o LEFT JOIN big FOR SYSTEM_TIME AS OF o.ts ON key = o.k WHERE big.w IS NULL OR big.w < 3;`,
    out: (value) => (value === null || value === 0 ? null : value < 3 ? value : undefined),
  },
  {
    name: 'a strict as-of join',
    sql: `${CHANGES} SELECT o.id, c.v FROM o ASOF JOIN c ON o.k = c.k AND o.ts > c.at;`,
    out: (value) => value ?? undefined,
    strict: true,
  },
  {
    name: 'the newest rows by row_number()',
    sql: `${ROWS} CREATE VIEW newest AS SELECT k, v, at FROM (
        SELECT *, row_number() OVER (PARTITION BY k ORDER BY at DESC) AS rn FROM r) AS ranked WHERE rn = 1;
      SELECT o.id, n.v FROM o LEFT JOIN newest FOR SYSTEM_TIME AS OF o.ts AS n ON n.k = o.k;`,
    out: (value) => value,
    deletes: false,
  },
  {
    name: 'the newest rows by DISTINCT ON',
    sql: `${ROWS} CREATE VIEW newest AS SELECT DISTINCT ON (k) k, v, at FROM r ORDER BY k, at DESC;
      SELECT o.id, n.v FROM o JOIN newest FOR SYSTEM_TIME AS OF o.ts AS n ON n.k = o.k;`,
    out: (value) => value ?? undefined,
    deletes: false,
  },
];

/** Steps of time, and how much earlier than the clock a row is: less than the watermark allows. */
const moment = fc.record({ step: fc.nat({ max: 2 }), early: fc.nat({ max: 2 }) });
const timed = <T extends { step: number; early: number }>(
  rows: readonly T[],
): (T & { time: number })[] => {
  let clock = 10;
  return rows.map((row) => ({ ...row, time: (clock += row.step) - row.early }));
};
const order = fc.record({ moment, k: fc.option(fc.nat({ max: 2 }), { freq: 8 }) });
const change = fc.record({
  moment,
  k: fc.nat({ max: 2 }),
  v: fc.option(fc.nat({ max: 4 }), { freq: 3 }),
});

describe('a row meets the version that was valid at its time', () => {
  test.each(CASES)('$name', ({ sql, out, strict, deletes }) => {
    fc.assert(
      fc.property(
        fc.array(order, { maxLength: 12 }),
        fc.array(change, { maxLength: 12 }),
        fc.array(fc.constantFrom('o', 'c', 'restart'), { maxLength: 16 }),
        (orderRows, changeRows, steps) => {
          const orders = timed(orderRows.map((row) => ({ ...row, ...row.moment }))).map(
            ({ k, time }, id): Order => ({ id, k, time }),
          );
          const changes = timed(changeRows.map((row) => ({ ...row, ...row.moment }))).map(
            ({ k, v, time }): Change => ({ k, v: deletes === false ? (v ?? 9) : v, time }),
          );
          const pipeline = new SmallPipeline(ORDERS + sql);
          const table = deletes === false ? 'r' : 'c';
          const lineOf = (row: Change): string =>
            deletes === false
              ? JSON.stringify({ k: row.k, v: row.v, at: iso(row.time) })
              : changeLine(row);
          let [nextOrder, nextChange] = [0, 0];
          for (const step of steps) {
            if (step === 'restart') pipeline.restart();
            else if (step === 'o')
              pipeline.append('o', orders.slice(nextOrder, (nextOrder += 2)).map(orderLine));
            else pipeline.append(table, changes.slice(nextChange, (nextChange += 2)).map(lineOf));
          }
          pipeline.append(table, changes.slice(nextChange).map(lineOf));
          pipeline.append('o', orders.slice(nextOrder).map(orderLine));
          pipeline.end();
          const expected = orders.flatMap((row) => {
            const v = out(row.k === null ? null : validAt(changes, row, strict));
            return v === undefined ? [] : [JSON.stringify({ id: row.id, v })];
          });
          expect([pipeline.failed, pipeline.late]).toEqual([[], []]);
          expect(pipeline.rows()).toEqual(expected.sort());
          expect(pipeline.changes().every(({ retract }) => !retract)).toBe(true);
        },
      ),
      { numRuns: 60, seed: 23 },
    );
  });
});

test('versions that event time has passed are freed but for the last, and of a deleted key all', () => {
  const pipeline = new SmallPipeline(`${ORDERS} ${CHANGES}
    SELECT o.id, c.v FROM o JOIN c FOR SYSTEM_TIME AS OF o.ts ON o.k = c.k;`);
  const held = (): number => pipeline.stateRows('join');
  const changes = [1, 2, 3, 4].map((v): Change => ({ k: 1, v, time: v }));
  pipeline.append('c', changes.map(changeLine));
  expect(held()).toBe(4);
  pipeline.append('c', [changeLine({ k: 2, v: 5, time: 40 })]);
  pipeline.append('o', [orderLine({ id: 1, k: 9, time: 40 })]);
  // The last version of 1, the one of 2, and the order that waits.
  expect(held()).toBe(3);
  pipeline.append('c', [
    changeLine({ k: 1, v: null, time: 41 }),
    changeLine({ k: 2, v: 6, time: 60 }),
  ]);
  pipeline.append('o', [orderLine({ id: 2, k: 1, time: 60 })]);
  expect(held()).toBe(3);
});

test('rows of a snapshot count although their times are long past', () => {
  const pipeline = new SmallPipeline(`${ORDERS} ${CHANGES}
    SELECT o.id, c.v FROM o JOIN c FOR SYSTEM_TIME AS OF o.ts ON o.k = c.k;`);
  pipeline.append('c', [changeLine({ k: 1, v: 1, time: 500 })]);
  pipeline.append('o', [orderLine({ id: 1, k: 2, time: 501 })]);
  pipeline.append('c', [changeLine({ k: 2, v: 2, time: 3 }), changeLine({ k: 2, v: 1, time: 2 })]);
  pipeline.end();
  expect(pipeline.rows()).toEqual(['{"id":1,"v":2}']);
  expect(pipeline.late).toEqual([]);
});

test('a deletion that tells only its key ends the version as of the latest time before it', () => {
  const SQL = `${ORDERS}
    CREATE TABLE c (k INT PRIMARY KEY, v INT NOT NULL, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at - interval '3 seconds')
      WITH (connector = 'http', format = 'debezium_json', type = 'source');
    SELECT o.id, c.v FROM o LEFT JOIN c FOR SYSTEM_TIME AS OF o.ts ON o.k = c.k;`;
  const upsert = (k: number, v: number, time: number): string =>
    JSON.stringify({ op: 'c', after: { k, v, at: iso(time) } });
  const lines = [
    upsert(1, 1, 10),
    upsert(2, 2, 20),
    '{"op":"d","before":{"k":1}}',
    upsert(2, 3, 30),
  ];
  for (const size of [1, 2, 4]) {
    const pipeline = new SmallPipeline(SQL, size);
    for (let at = 0; at < lines.length; at += size)
      pipeline.append('c', lines.slice(at, at + size));
    pipeline.append(
      'o',
      [12, 19, 20, 25].map((time, id) => orderLine({ id, k: 1, time })),
    );
    pipeline.end();
    expect(pipeline.failed).toEqual([]);
    expect(pipeline.rows()).toEqual([
      '{"id":0,"v":1}',
      '{"id":1,"v":1}',
      '{"id":2,"v":null}',
      '{"id":3,"v":null}',
    ]);
  }
});

test('early results of a window are joined as they were when its end had passed', () => {
  const pipeline = new SmallPipeline(`${ORDERS} ${ROWS}
    CREATE VIEW sums AS SELECT k, sum(v) AS v, tumble(interval '10 seconds', early => interval '1 second') AS w FROM r GROUP BY k, w;
    SELECT o.id, s.v FROM o ASOF JOIN sums AS s ON o.k = s.k AND o.ts >= s.w.end - interval '1 microsecond';`);
  const line = (v: number, time: number): string => JSON.stringify({ k: 1, v, at: iso(time) });
  pipeline.append('r', [line(1, 1)]);
  pipeline.advanceClock(3000);
  pipeline.append('r', [line(2, 2)]);
  pipeline.advanceClock(3000);
  pipeline.append('r', [line(4, 11)]);
  pipeline.append('o', [orderLine({ id: 1, k: 1, time: 9 }), orderLine({ id: 2, k: 1, time: 12 })]);
  pipeline.end();
  expect(pipeline.rows()).toEqual(['{"id":2,"v":3}']);
  expect([pipeline.failed, pipeline.late]).toEqual([[], []]);
});
