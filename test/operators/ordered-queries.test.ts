/** Top-N, OVER, set operations and VALUES from SQL to rows, against plain JavaScript over the same rows. */
import { describe, expect, test, vi } from 'vitest';
import { INT64, TEXT, type Schema } from '../../src/batch/types.ts';
import { batchFromRows, rowsOf, type Row } from '../../src/batch/values.ts';
import { TopN } from '../../src/operators/top-n.ts';
import { Collected, column, text } from './harness.ts';
import { runSql } from './run-graph.ts';

vi.setConfig({ testTimeout: 60_000 });

const BIDS = `CREATE TABLE bid (WATERMARK FOR datetime AS datetime - interval '4 seconds')
  WITH (connector = 'nexmark', table = 'bid', events = '12000');`;

const sorted = (rows: readonly Row[]): string[] => rows.map(text).sort();

const bids = runSql(`${BIDS} SELECT auction, bidder, price, datetime, url FROM bid;`).rows;

const big = (row: Row, name: string): bigint => row[name] as bigint;

const compare = (left: Row, right: Row, keys: readonly [string, 1 | -1][]): number => {
  for (const [name, direction] of keys) {
    const [here, there] = [left[name], right[name]];
    if (here !== there) return (here as bigint) < (there as bigint) ? -direction : direction;
  }
  return 0;
};

function groups(rows: readonly Row[], key: (row: Row) => string): Row[][] {
  const known = new Map<string, Row[]>();
  for (const row of rows) known.set(key(row), [...(known.get(key(row)) ?? []), row]);
  return [...known.values()];
}

describe('Nexmark', () => {
  test('q18, the last bid of each bidder on each auction, is one row a key', () => {
    const { rows } = runSql(`${BIDS}
      SELECT auction, bidder, price, datetime FROM (
        SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY datetime DESC) AS rank_number FROM bid)
      WHERE rank_number <= 1;`);
    const wanted = groups(bids, (row) => `${big(row, 'bidder')} ${big(row, 'auction')}`).map(
      (each) => {
        const [first] = [...each].sort((left, right) =>
          compare(left, right, [
            ['datetime', -1],
            ['price', 1],
            ['url', 1],
          ]),
        );
        const { url: _, ...kept } = first as Row;
        return kept;
      },
    );
    expect(rows.length).toBeGreaterThan(2900);
    expect(sorted(rows)).toEqual(sorted(wanted));
  });

  test('q19, the ten highest bids of each auction with their places', () => {
    const { rows } = runSql(`${BIDS}
      SELECT auction, price, bidder, place FROM (
        SELECT auction, price, bidder, datetime, row_number() OVER (PARTITION BY auction ORDER BY price DESC, datetime) AS place FROM bid)
      WHERE place <= 10;`);
    const wanted = groups(bids, (row) => `${big(row, 'auction')}`).flatMap((each) =>
      [...each]
        .sort((left, right) =>
          compare(left, right, [
            ['price', -1],
            ['datetime', 1],
            ['bidder', 1],
          ]),
        )
        .slice(0, 10)
        .map((row, place) => ({
          auction: row['auction'] ?? null,
          price: row['price'] ?? null,
          bidder: row['bidder'] ?? null,
          place: BigInt(place + 1),
        })),
    );
    expect(sorted(rows)).toEqual(sorted(wanted));
  });

  test('q6, the mean of the last ten closing prices of each seller, over a Top-N that takes rows back', () => {
    const sql = `
      CREATE TABLE auction (WATERMARK FOR datetime AS datetime - interval '4 seconds') WITH (connector = 'nexmark', table = 'auction', events = '12000');
      ${BIDS}
      CREATE VIEW won AS SELECT seller, id, price, closed FROM (
        SELECT a.seller, a.id, b.price, b.datetime AS closed,
          row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.datetime) AS rn
        FROM auction a JOIN bid b ON a.id = b.auction AND b.datetime BETWEEN a.datetime AND a.expires) WHERE rn = 1;`;
    const { rows: won, failed } = runSql(`${sql} SELECT * FROM won;`);
    const { rows } = runSql(
      `${sql} SELECT seller, id, avg(price) OVER (PARTITION BY seller ORDER BY closed, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS mean FROM won;`,
    );
    const wanted = groups(won, (row) => `${big(row, 'seller')}`).flatMap((each) => {
      const ordered = [...each].sort((left, right) =>
        compare(left, right, [
          ['closed', 1],
          ['id', 1],
        ]),
      );
      return ordered.map((row, at) => {
        const last = ordered
          .slice(Math.max(0, at - 10), at + 1)
          .map((other) => Number(other['price']));
        return {
          seller: row['seller'] ?? null,
          id: row['id'] ?? null,
          mean: last.reduce((sum, price) => sum + price, 0) / last.length,
        };
      });
    });
    expect(failed).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
    expect(sorted(rows)).toEqual(sorted(wanted));
  });
});

describe('in one query', () => {
  test('ORDER BY and LIMIT keep the first rows of the whole, also of an aggregate', () => {
    const { rows } = runSql(
      `${BIDS} SELECT auction, count(*) AS n FROM bid GROUP BY auction ORDER BY n DESC, auction LIMIT 3 OFFSET 1;`,
    );
    const counts = groups(bids, (row) => `${big(row, 'auction')}`).map((each) => ({
      auction: each[0]?.['auction'] ?? null,
      n: BigInt(each.length),
    }));
    const wanted = counts
      .sort((left, right) =>
        compare(left, right, [
          ['n', -1],
          ['auction', 1],
        ]),
      )
      .slice(1, 4);
    expect(sorted(rows)).toEqual(sorted(wanted));
  });

  test('ORDER BY event time gives rows in this order', () => {
    const { rows } = runSql(`${BIDS} SELECT price FROM bid ORDER BY datetime, price;`);
    const wanted = [...bids].sort((left, right) =>
      compare(left, right, [
        ['datetime', 1],
        ['price', 1],
      ]),
    );
    expect(rows.map((row) => row['price'])).toEqual(wanted.map((row) => row['price']));
  });

  test('DISTINCT ON by event time keeps the first row of each key, for good', () => {
    const { rows } = runSql(
      `${BIDS} SELECT DISTINCT ON (bidder) bidder, datetime, price FROM bid ORDER BY bidder, datetime, price;`,
    );
    const wanted = groups(bids, (row) => `${big(row, 'bidder')}`).map((each) => {
      const [first] = [...each].sort((left, right) =>
        compare(left, right, [
          ['datetime', 1],
          ['price', 1],
        ]),
      );
      return {
        bidder: first?.['bidder'] ?? null,
        datetime: first?.['datetime'] ?? null,
        price: first?.['price'] ?? null,
      };
    });
    expect(sorted(rows)).toEqual(sorted(wanted));
  });

  test('VALUES, SELECT without FROM and a memory table are rows like others', () => {
    expect(
      runSql(`CREATE TABLE m (a BIGINT, b TEXT); INSERT INTO m VALUES (1, 'x'), (2, NULL);
      SELECT a, coalesce(b, '-') AS b FROM m WHERE a > 1 UNION ALL SELECT 7, 'y';`).rows,
    ).toEqual([
      { a: 2n, b: '-' },
      { a: 7n, b: 'y' },
    ]);
  });

  test.each([
    ['EXCEPT', ['1']],
    ['EXCEPT ALL', ['1', '1', '2']],
    ['INTERSECT', ['2', '3']],
    ['INTERSECT ALL', ['2', '3']],
    ['UNION', ['1', '2', '3', '4']],
  ])('%s counts rows', (operator, wanted) => {
    const { rows } = runSql(
      `SELECT a FROM (VALUES (1), (1), (2), (2), (3)) AS l (a) ${operator} SELECT b FROM (VALUES (2), (3), (3), (4)) AS r (b);`,
    );
    expect(rows.map((row) => String(row['a'])).sort()).toEqual(wanted);
  });
});

describe('a Top-N over changes', () => {
  const schema: Schema = [
    { name: 'id', type: TEXT, nullable: false },
    { name: 'g', type: TEXT, nullable: false },
    { name: 'score', type: INT64, nullable: false },
  ];
  const make = (): TopN =>
    new TopN(
      {
        tag: 'top-n',
        partitionBy: [column(1, TEXT)],
        orderBy: [
          { expr: column(2, INT64), descending: true, nullsFirst: true },
          { expr: column(0, TEXT), descending: false, nullsFirst: false },
        ],
        limit: 2,
        offset: 0,
        ties: false,
        ranked: false,
        retracting: true,
        flushMs: 1000,
      },
      schema,
    );

  test.each([1, 6])(
    'a row that had left the top and was deleted never comes back (U37), flushed every %i changes',
    (every) => {
      const top = make();
      const output = new Collected();
      const change = (id: string, score: number, gone: boolean): void =>
        top.onBatch(
          0,
          {
            ...batchFromRows(schema, [{ id, g: 'x', score }]),
            retract: Uint8Array.of(Number(gone)),
          },
          output,
        );
      const changes: [string, number, boolean][] = [
        ['A', 1, false],
        ['B', 9, false],
        ['C', 8, false],
        ['A', 1, true],
        ['B', 9, true],
        ['D', 2, false],
      ];
      changes.forEach(([id, score, gone], at) => {
        change(id, score, gone);
        if ((at + 1) % every === 0) top.onBarrier(output);
      });
      expect(standing(output)).toEqual(['C', 'D']);
      change('C', 8, true);
      change('D', 2, true);
      top.onBarrier(output);
      expect(standing(output)).toEqual([]);
      expect(top.stateRows()).toBe(0);
      expect(output.failed).toEqual([]);
    },
  );

  test('a row that is taken back and never came is an error of that row', () => {
    const top = make();
    const output = new Collected();
    top.onBatch(
      0,
      { ...batchFromRows(schema, [{ id: 'A', g: 'x', score: 1 }]), retract: Uint8Array.of(1) },
      output,
    );
    top.onBarrier(output);
    expect(output.failed).toMatchObject([
      { code: 'NOTHING_TO_RETRACT', raw: '{"id":"A","g":"x","score":1}' },
    ]);
    expect(output.batches).toEqual([]);
  });

  const standing = (output: Collected): unknown[] => {
    const ids: unknown[] = [];
    for (const batch of output.batches)
      rowsOf(batch, schema).forEach((row, at) => {
        if (batch.retract?.[at] === 1) ids.splice(ids.indexOf(row['id']), 1);
        else ids.push(row['id']);
      });
    return ids.sort();
  };
});
