/** UNNEST from SQL to rows: in FROM, in the SELECT list and in GROUP BY. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { Row } from '../../src/batch/values.ts';
import { runRows } from './run-graph.ts';
import { SmallPipeline } from './small-pipeline.ts';

const TABLE = `CREATE TABLE t (id INT, xs INT[], ys TEXT[], spots STRUCT<x INT, name TEXT>[], doc JSON)
  WITH (connector = 'http', format = 'json', type = 'source');`;

const LINES = [
  '{"id":1,"xs":[10,11],"ys":["a"],"spots":[{"x":1,"name":"p"},null],"doc":["q",{"r":1}]}',
  '{"id":2,"xs":[],"ys":["b",null],"spots":[],"doc":[]}',
  '{"id":3,"xs":null,"ys":null,"spots":null,"doc":null}',
  '{"id":4,"xs":[10],"ys":[],"spots":[{"x":2,"name":"s"}],"doc":[null]}',
];

function rowsOf(query: string, batchRows = 64): string[] {
  const pipeline = new SmallPipeline(`${TABLE}${query};`, batchRows);
  pipeline.append('t', LINES);
  pipeline.end();
  expect(pipeline.failed).toEqual([]);
  return pipeline.rows();
}

const errorsOf = (query: string): string[][] =>
  planSql(`${TABLE}${query};`, DECLARATIONS, { defaultSink: 'preview' }).errors.map(
    ({ code, hint }) => [code, hint?.split(';')[0] ?? ''],
  );

describe('in FROM', () => {
  test.each([
    ['a comma', 'FROM t, unnest(xs) AS u (x)'],
    ['CROSS JOIN', 'FROM t CROSS JOIN UNNEST(t.xs) AS u (x)'],
    ['JOIN LATERAL', 'FROM t JOIN LATERAL unnest(xs) AS u (x) ON TRUE'],
    ['a name of the element', 'FROM t, unnest(xs) x'],
  ])('%s gives a row for each element, none for an empty list or NULL', (_, from) => {
    expect(rowsOf(`SELECT id, x ${from}`)).toEqual([
      '{"id":1,"x":10}',
      '{"id":1,"x":11}',
      '{"id":4,"x":10}',
    ]);
  });

  test('LEFT JOIN keeps rows without elements', () => {
    expect(
      rowsOf('SELECT id, x, n FROM t LEFT JOIN unnest(xs) WITH ORDINALITY AS u (x, n) ON TRUE'),
    ).toEqual([
      '{"id":1,"x":10,"n":1}',
      '{"id":1,"x":11,"n":2}',
      '{"id":2,"x":null,"n":null}',
      '{"id":3,"x":null,"n":null}',
      '{"id":4,"x":10,"n":1}',
    ]);
  });

  test('several lists go side by side, and a shorter one ends with NULLs', () => {
    expect(
      rowsOf('SELECT id, x, y, n FROM t, unnest(xs, ys) WITH ORDINALITY AS u (x, y, n)'),
    ).toEqual([
      '{"id":1,"x":10,"y":"a","n":1}',
      '{"id":1,"x":11,"y":null,"n":2}',
      '{"id":2,"x":null,"y":"b","n":1}',
      '{"id":2,"x":null,"y":null,"n":2}',
      '{"id":4,"x":10,"y":null,"n":1}',
    ]);
  });

  test('structs are one column, or one for each field when all are named', () => {
    expect(rowsOf('SELECT id, s.name AS name FROM t, unnest(spots) AS s')).toEqual([
      '{"id":1,"name":"p"}',
      '{"id":1,"name":null}',
      '{"id":4,"name":"s"}',
    ]);
    expect(rowsOf('SELECT id, x, name FROM t, unnest(spots) AS s (x, name)')).toEqual([
      '{"id":1,"x":1,"name":"p"}',
      '{"id":1,"x":null,"name":null}',
      '{"id":4,"x":2,"name":"s"}',
    ]);
  });

  test('elements of JSON, of constants and of series', () => {
    expect(rowsOf('SELECT id, e FROM t, unnest(CAST(doc AS JSON[])) AS e')).toEqual([
      '{"id":1,"e":"\\"q\\""}',
      '{"id":1,"e":"{\\"r\\":1}"}',
      '{"id":4,"e":null}',
    ]);
    expect(rowsOf('SELECT x FROM unnest([3, 1]) AS u (x)')).toEqual(['{"x":1}', '{"x":3}']);
    expect(rowsOf('SELECT id, n FROM t, generate_series(1, id) AS g (n) WHERE id < 3')).toEqual([
      '{"id":1,"n":1}',
      '{"id":2,"n":1}',
      '{"id":2,"n":2}',
    ]);
  });

  test('one stands behind another, and between tables that are joined', () => {
    expect(rowsOf('SELECT id, x, y FROM t, unnest(xs) AS a (x), unnest(ys) AS b (y)')).toEqual([
      '{"id":1,"x":10,"y":"a"}',
      '{"id":1,"x":11,"y":"a"}',
    ]);
    const joined = rowsOf(
      'SELECT a.id, b.id AS other, x FROM t a, unnest(a.xs) AS u (x), t b WHERE a.id = b.id AND b.id > 1',
    );
    expect(joined).toEqual(['{"id":4,"other":4,"x":10}']);
    expect(
      rowsOf(
        'SELECT a.id, x, y FROM t a JOIN t b ON a.id = b.id, unnest(a.xs, b.ys) AS u (x, y) WHERE a.id = 4',
      ),
    ).toEqual(['{"id":4,"x":10,"y":null}']);
  });
});

describe('in the SELECT list', () => {
  test('each element is a row, inside expressions as well', () => {
    expect(rowsOf('SELECT id, unnest(xs) + 1 AS x FROM t')).toEqual([
      '{"id":1,"x":11}',
      '{"id":1,"x":12}',
      '{"id":4,"x":11}',
    ]);
  });

  test('two lists go side by side; the same list is taken apart once', () => {
    expect(
      rowsOf('SELECT unnest(xs) AS x, unnest(ys) AS y, unnest(xs) AS again FROM t WHERE id = 1'),
    ).toEqual(['{"x":10,"y":"a","again":10}', '{"x":11,"y":null,"again":11}']);
  });

  test('it comes behind WHERE, OVER and grouping', () => {
    expect(rowsOf('SELECT id, unnest(array_agg(id)) AS x FROM t WHERE id > 2 GROUP BY id')).toEqual(
      ['{"id":3,"x":3}', '{"id":4,"x":4}'],
    );
    expect(rowsOf('SELECT row_number() OVER (ORDER BY id) AS n, unnest(xs) AS x FROM t')).toEqual([
      '{"n":1,"x":10}',
      '{"n":1,"x":11}',
      '{"n":4,"x":10}',
    ]);
  });

  test('GROUP BY takes rows apart first', () => {
    const expected = ['{"x":10,"n":2}', '{"x":11,"n":1}'];
    expect(rowsOf('SELECT unnest(xs) AS x, count(*) AS n FROM t GROUP BY x')).toEqual(expected);
    expect(rowsOf('SELECT unnest(xs) AS x, count(*) AS n FROM t GROUP BY 1')).toEqual(expected);
    expect(
      rowsOf('SELECT x, count(*) AS n FROM (SELECT unnest(xs) AS x FROM t) GROUP BY x'),
    ).toEqual(expected);
  });
});

test('elsewhere it is refused, and so is what is no list', () => {
  expect(errorsOf('SELECT id FROM t WHERE unnest(xs) = 1')).toMatchObject([
    ['UNSUPPORTED', 'it belongs to FROM, the SELECT list and GROUP BY'],
  ]);
  expect(errorsOf('SELECT max(unnest(xs)) FROM t')).toMatchObject([
    ['UNSUPPORTED', 'it belongs to FROM, the SELECT list and GROUP BY'],
  ]);
  expect(errorsOf('SELECT unnest(id) FROM t')).toEqual([['TYPE_ERROR', '']]);
  expect(errorsOf('SELECT unnest(doc) FROM t')).toEqual([
    ['TYPE_ERROR', 'an array in JSON becomes a list by CAST(… AS JSON[])'],
  ]);
  expect(errorsOf('SELECT x FROM t, unnest(xs) AS u (x, y)')).toEqual([['TYPE_ERROR', '']]);
  expect(errorsOf('SELECT x FROM t, unnest(zs) AS u (x)')).toEqual([
    ['UNKNOWN_COLUMN', 'the columns are id, xs, ys, spots, doc'],
  ]);
});

test('a row that is taken back takes its elements back', () => {
  const sql = `CREATE TABLE c (id INT PRIMARY KEY, xs INT[]) WITH (connector = 'http', format = 'debezium_json', type = 'source');
    SELECT x, count(*) AS n FROM c, unnest(xs) AS u (x) GROUP BY x;`;
  const pipeline = new SmallPipeline(sql);
  pipeline.append('c', ['{"before":null,"after":{"id":1,"xs":[1,2,2]},"op":"c"}']);
  pipeline.append('c', ['{"before":{"id":1,"xs":[1,2,2]},"after":{"id":1,"xs":[2]},"op":"u"}']);
  pipeline.end();
  expect(pipeline.rows()).toEqual(['{"x":2,"n":1}']);
});

test('elements are those of the lists, whatever the batches and their length', () => {
  const lists = fc.array(
    fc.record({
      xs: fc.option(fc.array(fc.option(fc.integer({ min: -9, max: 9 })), { maxLength: 5 })),
      long: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(lists, fc.constantFrom(1, 3, 64), (given, batchRows) => {
      // Longer than a batch, so that one list fills several.
      const rows = given.map(({ xs, long }, id) => ({
        id,
        xs: long && xs !== null ? Array.from({ length: 700 }, () => xs).flat() : xs,
      }));
      const sql = `${TABLE} SELECT id, x, n FROM t LEFT JOIN unnest(xs) WITH ORDINALITY AS u (x, n) ON TRUE;`;
      const expected = rows.flatMap(({ id, xs }): Row[] =>
        xs === null || xs.length === 0
          ? [{ id, x: null, n: null }]
          : xs.map((x, at) => ({ id, x, n: BigInt(at + 1) })),
      );
      expect(runRows(sql, { t: rows as never }, batchRows).rows).toEqual(expected);
    }),
    { seed: 20_261_130, numRuns: 40 },
  );
});
