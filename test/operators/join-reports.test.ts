/** What users of other engines reported of joins, as they reported it. */
import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import type { Row } from '../../src/batch/values.ts';
import { runRows } from './run-graph.ts';
import { SmallPipeline } from './small-pipeline.ts';

const micros = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;
const lines = (rows: readonly Row[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(row, (_, value: unknown) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    )
    .sort();

describe('an interval LEFT JOIN emits each unmatched row once, and only when sure', () => {
  const SQL = `
    CREATE TABLE o (id INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
    CREATE TABLE i (oid INT, p TEXT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
    SELECT o.id, i.p FROM o LEFT JOIN i ON o.id = i.oid AND i.ts BETWEEN o.ts AND o.ts + interval '10 seconds';`;
  const o = [
    { id: 1, ts: micros('2024-01-01T10:00:00') },
    { id: 2, ts: micros('2024-01-01T10:00:01') },
    { id: 9, ts: micros('2024-01-01T10:01:00') },
  ];
  const i = [
    { oid: 1, p: 'Foo', ts: micros('2024-01-01T10:00:02') },
    { oid: 1, p: 'Bar', ts: micros('2024-01-01T10:00:10') },
    { oid: 2, p: 'Late', ts: micros('2024-01-01T10:00:12') },
    { oid: 8, p: 'x', ts: micros('2024-01-01T10:01:00') },
  ];
  // With two sources open, turn n reads source n modulo 2; what has ended is not asked again.
  test.each([
    ['all of o first', [0]],
    ['all of i first', [1]],
    ['alternating', [0, 1]],
  ])('%s', (_, turns) => {
    const { rows, failed, late } = runRows(SQL, { o, i }, 1, turns);
    expect([failed, late]).toEqual([[], []]);
    expect(lines(rows)).toEqual([
      '{"id":1,"p":"Bar"}',
      '{"id":1,"p":"Foo"}',
      '{"id":2,"p":null}',
      '{"id":9,"p":null}',
    ]);
    const { graph } = planSql(SQL, DECLARATIONS, { defaultSink: 'preview' });
    expect(graph?.operators.every((operator) => !operator.updating)).toBe(true);
  });
});

describe('NULL keys', () => {
  const SOURCES = `
    CREATE TABLE a (k TEXT, v INT) WITH (connector = 'http', type = 'source');
    CREATE TABLE b (k TEXT, w INT) WITH (connector = 'http', type = 'source');`;
  const a = [
    { k: null, v: 1 },
    { k: 'x', v: 2 },
  ];
  const b = [
    { k: null, w: 7 },
    { k: 'x', w: 8 },
  ];
  const run = (query: string): string[] => lines(runRows(`${SOURCES}${query};`, { a, b }, 1).rows);

  test('NULL does not meet NULL', () =>
    expect(run('SELECT v, w FROM a JOIN b ON a.k = b.k')).toEqual(['{"v":2,"w":8}']));
  test('LEFT JOIN keeps such rows padded', () =>
    expect(run('SELECT v, w FROM a LEFT JOIN b ON a.k = b.k')).toEqual([
      '{"v":1,"w":null}',
      '{"v":2,"w":8}',
    ]));
  test('IS NOT DISTINCT FROM lets them meet', () =>
    expect(run('SELECT v, w FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k')).toEqual([
      '{"v":1,"w":7}',
      '{"v":2,"w":8}',
    ]));
});

test('a window over a join counts rows by the later of both times', () => {
  const SQL = `
    CREATE TABLE a (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
    CREATE TABLE b (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
    SELECT count(*) AS n, max(row_time()) AS last, w.start AS start FROM (
      SELECT row_time() AS at, tumble(interval '10 seconds') AS w, a.k FROM a JOIN b ON a.k = b.k GROUP BY at, w, a.k) AS t
    GROUP BY w;`;
  const at = (seconds: number): bigint => BigInt(seconds) * 1_000_000n;
  const a = [1, 2, 8].map((second) => ({ k: second, ts: at(second) }));
  const b = [
    { k: 1, ts: at(3) },
    { k: 2, ts: at(12) },
    { k: 8, ts: at(13) },
  ];
  for (const turns of [[0], [1], [0, 1]]) {
    const { rows, late } = runRows(SQL, { a, b }, 1, turns);
    expect(late).toEqual([]);
    expect(rows.map(({ n, start }) => `${n} ${start}`).sort()).toEqual(['1 0', '2 10000000']);
  }
});

describe('SET updating_ttl bounds what joins keep (U40)', () => {
  const at = (second: number): string => new Date(second * 1000).toISOString();
  const SOURCES = `SET updating_ttl = interval '10 seconds';
    CREATE TABLE a (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');
    CREATE TABLE b (k INT, ts TIMESTAMP NOT NULL, WATERMARK FOR ts) WITH (connector = 'http', type = 'source');`;
  const CASES = [
    ['SELECT a.k, b.k AS other FROM a LEFT JOIN b ON a.k = b.k', 24, 4, 2],
    ['SELECT a.k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)', 24, 2, 0],
    [
      'SELECT a.k, a.k IN (SELECT k FROM b WHERE b.k IS NOT NULL) AS m FROM a WHERE a.k IS NOT NULL',
      48,
      4,
      2,
    ],
  ] as const;
  test.each(CASES)('%s', (query, held, added, taken) => {
    const pipeline = new SmallPipeline(`${SOURCES} ${query};`);
    for (let second = 0; second < 300; second += 10) {
      const lines = Array.from({ length: 10 }, (_, step) =>
        JSON.stringify({ k: second + step, ts: at(second + step) }),
      );
      pipeline.append('a', lines);
      pipeline.append('b', lines);
    }
    expect(pipeline.stateRows('join')).toBeLessThanOrEqual(held);
    // Key 0 comes again: its partner of long ago is forgotten, and one that comes now is met.
    pipeline.append('a', [JSON.stringify({ k: 0, ts: at(300) })]);
    pipeline.append('b', [JSON.stringify({ k: 0, ts: at(305) })]);
    pipeline.end();
    expect([pipeline.late, pipeline.failed]).toEqual([[], []]);
    const ofZero = pipeline.changes().filter(({ row }) => row.startsWith('{"k":0'));
    // Twice added without a partner, taken back and added with one; a semi join adds only.
    expect(ofZero.filter(({ retract }) => !retract)).toHaveLength(added);
    expect(ofZero.filter(({ retract }) => retract)).toHaveLength(taken);
  });
});

describe('of several rows with one PRIMARY KEY of a table that is read first the last one counts', () => {
  const SOURCES = `
    CREATE TABLE a (id INT, k INT, x INT) WITH (connector = 'http', type = 'source');
    CREATE TEMPORARY TABLE d (k INT PRIMARY KEY, x INT, name TEXT) WITH (connector = 'single_file', path = 'd.json');`;
  const a = [1, 2, 3].map((k) => ({ id: k * 10, k, x: k }));
  const d = [
    { k: 1, x: 1, name: 'old' },
    { k: 2, x: 2, name: 'two' },
    { k: 1, x: 3, name: 'new' },
  ];
  test.each([
    ['by the key', 'SELECT a.id, d.name FROM a JOIN d ON a.k = d.k', ['10 new', '20 two']],
    [
      'by the key, filtered',
      "SELECT a.id, d.name FROM a JOIN d ON a.k = d.k WHERE d.name <> 'new'",
      ['20 two'],
    ],
    [
      'by the key, filtered in ON',
      "SELECT a.id, d.name FROM a LEFT JOIN d ON a.k = d.k AND d.name <> 'new'",
      ['10 null', '20 two', '30 null'],
    ],
    ['by another column', 'SELECT a.id, d.name FROM a JOIN d ON a.x = d.x', ['20 two', '30 new']],
    [
      'by more than the key',
      'SELECT a.id, d.name FROM a LEFT JOIN d ON a.k = d.k AND a.x = d.x',
      ['10 null', '20 two', '30 null'],
    ],
    [
      'as one value',
      'SELECT a.id, (SELECT upper(d.name) FROM d WHERE d.k = a.k) AS name FROM a',
      ['10 NEW', '20 TWO', '30 null'],
    ],
  ])('%s', (_, query, expected) => {
    for (const batchRows of [1, 8])
      for (const turns of [[0], [1], [0, 1]]) {
        const { rows } = runRows(`${SOURCES} ${query};`, { a, d }, batchRows, turns);
        expect(rows.map((row) => Object.values(row).map(String).join(' ')).sort()).toEqual(
          expected,
        );
      }
  });
});
