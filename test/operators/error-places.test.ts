import { describe, expect, test } from 'vitest';
import { SmallPipeline } from './small-pipeline.ts';

const WITH = "WITH (connector = 'http', format = 'json', type = 'source')";
const SALES = `CREATE TABLE sales (id BIGINT NOT NULL, note TEXT, price BIGINT, qty BIGINT) ${WITH};`;
const GOOD = '{"id":1,"note":"7","price":10,"qty":2}';
const NO_QTY = '{"id":2,"note":"7","price":10,"qty":0}';
const NO_NUMBER = '{"id":3,"note":"x","price":10,"qty":2}';
const HUGE = '{"id":1,"note":"7","price":9223372036854775807,"qty":2}';

const HUGE_AT = '{"id":1,"price":9223372036854775807,"ts":"2024-01-01T10:00:00"}';

/** Where rows went wrong, and how. */
function placesOf(sql: string, lines: readonly string[], tables = ['sales']): string[] {
  const pipeline = new SmallPipeline(sql);
  for (const table of tables) pipeline.append(table, lines);
  pipeline.end();
  return pipeline.failed.map(({ code, column }) => `${code} in ${column}`);
}

describe('a row that cannot be computed is told with', () => {
  test.each([
    [
      'the output column',
      `${SALES}SELECT id, price / qty AS each FROM sales;`,
      [GOOD, NO_QTY],
      'DIVISION_BY_ZERO in each',
    ],
    [
      'the condition',
      `${SALES}SELECT id FROM sales WHERE price / qty > 3;`,
      [GOOD, NO_QTY],
      'DIVISION_BY_ZERO in (price / qty) > 3',
    ],
    [
      'the key of a group',
      `${SALES}SELECT price / qty AS each, count(*) AS n FROM sales GROUP BY price / qty;`,
      [GOOD, NO_QTY],
      'DIVISION_BY_ZERO in price / qty',
    ],
    [
      'the argument of an aggregate',
      `${SALES}SELECT id, sum(CAST(note AS BIGINT)) AS total FROM sales GROUP BY id;`,
      [GOOD, NO_NUMBER],
      'INVALID_CAST in CAST(note AS BIGINT)',
    ],
    [
      'the FILTER of an aggregate',
      `${SALES}SELECT id, count(*) FILTER (WHERE price / qty > 3) AS n FROM sales GROUP BY id;`,
      [GOOD, NO_QTY],
      'DIVISION_BY_ZERO in (price / qty) > 3',
    ],
    [
      'the result of an aggregate',
      `${SALES}SELECT id, count(*) AS n, sum(price) AS total FROM sales GROUP BY id;`,
      [HUGE, HUGE],
      'NUMERIC_OVERFLOW in sum(price)',
    ],
    [
      'the result of the aggregate of a window',
      `CREATE TABLE sales (id BIGINT NOT NULL, price BIGINT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) ${WITH};
       SELECT tumble(INTERVAL '1 minute') AS w, sum(price) AS total FROM sales GROUP BY w;`,
      [HUGE_AT, HUGE_AT],
      'NUMERIC_OVERFLOW in total',
    ],
    [
      'the generated column',
      `CREATE TABLE sales (id BIGINT NOT NULL, price BIGINT, qty BIGINT, each BIGINT GENERATED ALWAYS AS (price / qty)) ${WITH};
       SELECT id, each FROM sales;`,
      [GOOD, NO_QTY],
      'DIVISION_BY_ZERO in each',
    ],
  ])('%s', (_what, sql, lines, place) => {
    expect(placesOf(sql, lines)).toEqual([place]);
  });

  test('the key of a join, and its condition', () => {
    const stock = SALES.replace('TABLE sales', 'TABLE stock');
    const both = ['sales', 'stock'];
    const keyed = `${SALES}${stock}SELECT a.id FROM sales a JOIN stock b ON a.price / a.qty = b.id;`;
    expect(placesOf(keyed, [GOOD, NO_QTY], both)).toEqual(['DIVISION_BY_ZERO in price / qty']);
    const tested = `${SALES}${stock}SELECT a.id FROM sales a JOIN stock b ON a.id = b.id AND a.price / b.qty > 3;`;
    expect(placesOf(tested, [GOOD, NO_QTY], both)).toEqual([
      'DIVISION_BY_ZERO in (price / qty) > 3',
    ]);
  });

  test('no more of an expression than a line holds', () => {
    const long = Array.from({ length: 40 }, () => 'price / qty').join(' + ');
    const [place] = placesOf(`${SALES}SELECT id FROM sales WHERE ${long} > 3;`, [NO_QTY]);
    expect(place).toMatch(/^DIVISION_BY_ZERO in .{119}…$/);
  });
});
