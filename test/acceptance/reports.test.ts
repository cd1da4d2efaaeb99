/**
 * The cases of `cases.ts`, each in batches of one row and of all, in one subtask and in several, without a break and
 * restored from its checkpoint after every row: the same rows come out, and none is lost.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SmallPipeline } from '../operators/small-pipeline.ts';
import { CASES, type Case } from './cases.ts';

const WAYS = [1, 1000].flatMap((batchRows) =>
  [1, 4].flatMap((parallelism) =>
    [false, true].map((restarts) => ({ batchRows, parallelism, restarts })),
  ),
);

/** Lines one by one, or, all at once, those of a table that follow each other together. */
function feed(
  pipeline: SmallPipeline,
  { input }: Case,
  together: boolean,
  after: () => void,
): void {
  for (let from = 0; from < input.length;) {
    const [table] = input[from] as (typeof input)[number];
    let to = from + 1;
    while (together && to < input.length && input[to]?.[0] === table) to++;
    pipeline.append(
      table,
      input.slice(from, to).map(([, line]) => line),
    );
    after();
    from = to;
  }
}

describe.each(CASES.map((each) => [`${each.title} (${each.id})`, each] as const))(
  '%s',
  (_, each) => {
    test.each(WAYS)(
      '$batchRows rows a batch, $parallelism subtasks, restarts: $restarts',
      (way) => {
        const pipeline = new SmallPipeline(each.sql, way.batchRows, way.parallelism);
        feed(pipeline, each, way.batchRows > 1 && !way.restarts, () => {
          if (way.restarts) pipeline.restart();
        });
        pipeline.end();
        expect(pipeline.lines()).toEqual([...each.expected].sort());
        const failed = pipeline.failed.map(({ code }) => code).sort();
        expect(failed).toEqual([...(each.refused ?? [])].sort());
        expect(pipeline.late).toHaveLength(each.late ?? 0);
        const { read, refused, passed } = pipeline.sourceCounts();
        expect([read, passed + refused]).toEqual([each.input.length, each.input.length]);
        if (each.counted !== true) return;
        const counted = pipeline.values().reduce((sum, row) => sum + Number(row['n']), 0);
        expect(counted + pipeline.late.length).toBe(passed);
      },
    );
  },
);

describe('a sum that does not fit (U06)', () => {
  const BIG = [
    '{"ts":"2024-01-01T10:00:00","v":9223372036854775807}',
    '{"ts":"2024-01-01T10:00:01","v":1}',
  ];
  test.each([
    ['of all rows', 'SELECT sum(v) AS s FROM t;'],
    [
      'of a window',
      "SELECT s FROM (SELECT sum(v) AS s, tumble(interval '1 minute') AS w FROM t GROUP BY w);",
    ],
    ['OVER all rows', 'SELECT sum(v) OVER () AS s FROM t;'],
    ['OVER rows in order', 'SELECT sum(v) OVER (ORDER BY ts) AS s FROM t;'],
  ])('%s is an error that names it, never another number', (_, query) => {
    for (const { batchRows, restarts } of WAYS) {
      const pipeline = new SmallPipeline(
        `CREATE TABLE t (ts TIMESTAMP, v BIGINT, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source'); ${query}`,
        batchRows,
      );
      for (const line of BIG) {
        pipeline.append('t', [line]);
        if (restarts) pipeline.restart();
      }
      pipeline.end();
      for (const line of pipeline.lines()) expect(line).toBe('{"s":9223372036854775807}');
      expect(pipeline.failed.map(({ code }) => code)).toContain('NUMERIC_OVERFLOW');
    }
  });
});

test('a value of three million characters is state like any other, and is restored (U53)', () => {
  const sql = `CREATE TABLE t (k INT, s TEXT) WITH (connector = 'http', format = 'json', type = 'source');
    SELECT k, count(*) AS n, length(string_agg(s, '')) AS l FROM t GROUP BY k;`;
  const pipeline = new SmallPipeline(sql, 1000);
  const line = `{"k":1,"s":"${'a'.repeat(1000)}"}`;
  for (let from = 0; from < 3000; from += 1000) {
    pipeline.append(
      't',
      Array.from({ length: 1000 }, () => line),
    );
    pipeline.restart();
  }
  pipeline.append(
    't',
    Array.from({ length: 150 }, (_, at) => `{"k":${100 + at},"s":"b"}`),
  );
  pipeline.restart();
  pipeline.end();
  const lines = pipeline.lines();
  expect(lines).toHaveLength(151);
  expect(lines[0]).toBe('{"k":1,"n":3000,"l":3000000}');
  expect(lines.slice(1).every((each) => each.endsWith('"n":1,"l":1}'))).toBe(true);
});

/** Cases that need more than rows in and rows out, and where they are held. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  U08: 'test/operators/types-reports.test.ts',
  U18: 'test/plan/binder.test.ts',
  U24: 'test/operators/window-reports.test.ts',
  U25: 'test/operators/window-reports.test.ts',
  U40: 'test/operators/time-to-live.test.ts',
};

test.each(Object.entries(ELSEWHERE))('%s is held by %s', (id, file) => {
  expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')).toMatch(
    new RegExp(String.raw`\((U\d+, )*${id}(, U\d+)*\)`),
  );
});
