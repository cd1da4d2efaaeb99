/** SET updating_ttl: what is forgotten, when, and what that does to answers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SmallPipeline } from './small-pipeline.ts';

const at = (second: number): string =>
  new Date(Date.UTC(2024, 0, 1, 10) + second * 1000).toISOString().slice(0, 19);
const row = (second: number, k: number, v = 0): string =>
  `{"ts":"${at(second)}","k":${k},"v":${v}}`;

const program = (query: string, delay = 0): string => `SET updating_ttl = interval '10 seconds';
  CREATE TABLE t (ts TIMESTAMP, k INT, v INT, WATERMARK FOR ts AS ts - interval '${delay} seconds')
    WITH (connector = 'http', format = 'json', type = 'source');
  ${query};`;
const COUNTS = program('SELECT k, count(*) AS n FROM t GROUP BY k');

describe('keys that nothing comes for', () => {
  test.each([1, 64, 2048])(
    'are forgotten without a retraction, and start from zero again (U40), batches of %i',
    (batchRows) => {
      const pipeline = new SmallPipeline(COUNTS, batchRows);
      for (let second = 0; second < 1000; second += 100)
        pipeline.append(
          't',
          Array.from({ length: 100 }, (_, step) => row(second + step, second + step)),
        );
      pipeline.append('t', [row(1000, 0)]);
      expect(pipeline.stateRows('updating-aggregate')).toBeLessThanOrEqual(12);
      pipeline.restart();
      expect(pipeline.stateRows('updating-aggregate')).toBeLessThanOrEqual(12);
      pipeline.append('t', [row(1001, 0)]);
      pipeline.end();
      const ofZero = pipeline.changes().filter(({ row: text }) => text.startsWith('{"k":0,'));
      expect(ofZero).toEqual([
        { row: '{"k":0,"n":1}', retract: false },
        { row: '{"k":0,"n":1}', retract: false },
        { row: '{"k":0,"n":1}', retract: true },
        { row: '{"k":0,"n":2}', retract: false },
      ]);
      expect(pipeline.changes()).toHaveLength(1003);
      expect(pipeline.late).toEqual([]);
    },
  );

  test('give their last result before they go', () => {
    const pipeline = new SmallPipeline(COUNTS);
    pipeline.append('t', [row(0, 1), row(1, 1), row(2, 1), row(60, 2), row(61, 2)]);
    expect(pipeline.rows()).toContain('{"k":1,"n":3}');
    expect(pipeline.stateRows('updating-aggregate')).toBe(1);
    pipeline.end();
    expect(pipeline.rows()).toEqual(['{"k":1,"n":3}', '{"k":2,"n":2}']);
  });

  test('are told of in the plan', () => {
    const { physical } = planSql(COUNTS, DECLARATIONS, { defaultSink: 'preview' });
    expect(physical).toContain('keys idle > 10 seconds restart from zero');
    const unbounded = planSql(COUNTS.slice(COUNTS.indexOf(';') + 1), DECLARATIONS, {
      defaultSink: 'preview',
    });
    expect(unbounded.physical).toContain('never freed; SET updating_ttl bounds them');
  });

  test('without keys the one row stays', () => {
    const pipeline = new SmallPipeline(program('SELECT count(*) AS n FROM t'));
    pipeline.append('t', [row(0, 1), row(100, 1)]);
    pipeline.end();
    expect(pipeline.rows()).toEqual(['{"n":2}']);
  });

  test('a row behind everything that is remembered is late', () => {
    const pipeline = new SmallPipeline(COUNTS);
    pipeline.append('t', [row(0, 1), row(50, 2), row(3, 1), row(45, 1)]);
    pipeline.end();
    expect(pipeline.rows()).toEqual(['{"k":1,"n":1}', '{"k":1,"n":1}', '{"k":2,"n":1}']);
    expect(pipeline.late.map(({ raw }) => raw)).toEqual([`{"ts":"${at(3)}","k":1}`]);
  });
});

test('DISTINCT shows a row again when it was forgotten', () => {
  const pipeline = new SmallPipeline(program('SELECT DISTINCT k FROM t'));
  pipeline.append('t', [row(0, 1), row(5, 1), row(40, 1)]);
  pipeline.end();
  expect(pipeline.rows()).toEqual(['{"k":1}', '{"k":1}']);
});

test('an aggregate over one that forgets goes on with what it knows', () => {
  const pipeline = new SmallPipeline(
    program(
      'SELECT count(*) AS keys, sum(n) AS n FROM (SELECT k, count(*) AS n FROM t GROUP BY k)',
    ),
  );
  pipeline.append('t', [row(0, 1), row(1, 1), row(40, 2)]);
  pipeline.append('t', [row(41, 1)]);
  pipeline.end();
  expect(pipeline.rows()).toEqual(['{"keys":3,"n":4}']);
});

/** Rows of a key with gaps of no more than ten seconds belong together: one result for each such stretch. */
function expected(rows: readonly { second: number; k: number; v: number }[]): string[] {
  const results: string[] = [];
  for (const k of new Set(rows.map((each) => each.k))) {
    const own = rows.filter((each) => each.k === k).sort((one, other) => one.second - other.second);
    for (let from = 0; from < own.length;) {
      let to = from + 1;
      while (to < own.length && own[to]!.second - own[to - 1]!.second <= 10) to++;
      const stretch = own.slice(from, to);
      const values = stretch.map(({ v }) => v);
      const total = values.reduce((sum, v) => sum + v, 0);
      results.push(`{"k":${k},"n":${stretch.length},"s":${total},"m":${Math.max(...values)}}`);
      from = to;
    }
  }
  return results.sort();
}

test(
  'results depend on event times only: not on batches, order within the bound, or restarts',
  { timeout: 30_000 },
  () => {
    const rows = fc.array(
      fc.record({
        second: fc.integer({ min: 0, max: 120 }),
        shift: fc.integer({ min: 0, max: 20 }),
        k: fc.integer({ min: 0, max: 2 }),
        v: fc.integer({ min: 0, max: 9 }),
      }),
      { maxLength: 40 },
    );
    const turns = fc.array(fc.constantFrom('restart', 'checkpoint', 'go on'), { maxLength: 6 });
    const query = 'SELECT k, count(*) AS n, sum(v) AS s, max(v) AS m FROM t GROUP BY k';
    fc.assert(
      fc.property(rows, fc.constantFrom(1, 2, 5, 64), turns, (given, size, cuts) => {
        const sorted = [...given].sort((one, other) => one.second - other.second);
        // Nobody is further behind than the watermark waits for.
        const arriving = [...sorted].sort(
          (one, other) => one.second + one.shift - (other.second + other.shift),
        );
        const pipeline = new SmallPipeline(program(query, 20), size, cuts.length % 2 === 0 ? 1 : 4);
        for (let from = 0; from < arriving.length; from += size) {
          const part = arriving.slice(from, from + size);
          pipeline.append(
            't',
            part.map(({ second, k, v }) => row(second, k, v)),
          );
          const turn = cuts[from % Math.max(1, cuts.length)];
          if (turn === 'restart') pipeline.restart();
          else if (turn === 'checkpoint') pipeline.checkpoint();
        }
        pipeline.end();
        expect(pipeline.late).toEqual([]);
        expect(pipeline.rows()).toEqual(expected(given));
      }),
      { seed: 20_261_130, numRuns: 120 },
    );
  },
);
