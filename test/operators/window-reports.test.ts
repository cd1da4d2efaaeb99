/** What users of streaming SQL have reported about windows, as they would see it here. */
import { describe, expect, test } from 'vitest';
import { SmallPipeline } from './small-pipeline.ts';

const ts = (time: string, rest = ''): string => `{"ts":"${time}"${rest}}`;
const table = (options = '', watermark = '', column = ''): string =>
  `CREATE TABLE t (ts TIMESTAMP${column}, WATERMARK FOR ts${watermark}) WITH (connector = 'http', format = 'json', type = 'source'${options});`;
const counts = (window: string): string =>
  `SELECT window.start AS s, n FROM (SELECT ${window} AS window, count(*) AS n FROM t GROUP BY 1);`;
const MINUTE = "tumble(interval '1 minute')";

describe('late rows', () => {
  const LINES = [
    ts('2024-01-01T10:00:10', ',"k":"a"'),
    ts('2024-01-01T10:01:05', ',"k":"a"'),
    ts('2024-01-01T10:00:50', ',"k":"late"'),
    ts('2024-01-01T10:01:10', ',"k":"a"'),
  ];

  test.each([1, 2, 3, 4])(
    'are counted and shown whole, whatever the batches: %i (U22, U33)',
    (batchRows) => {
      const pipeline = new SmallPipeline(
        table(", late_rows = 'dead_letter'", '', ', k TEXT') + counts(MINUTE),
        batchRows,
      );
      pipeline.append('t', LINES);
      pipeline.end();
      expect(pipeline.rows()).toEqual([
        '{"s":"2024-01-01T10:00:00","n":1}',
        '{"s":"2024-01-01T10:01:00","n":2}',
      ]);
      expect(pipeline.late).toMatchObject([
        {
          code: 'LATE_ROW',
          message:
            'late by 15000 ms: its window ended at 2024-01-01T10:01:00, and event time had reached 2024-01-01T10:01:05',
        },
      ]);
      expect(pipeline.late[0]?.raw).toContain('"k":"late"');
      const { watermarks } = pipeline;
      expect([...watermarks].sort((left, right) => left - right)).toEqual(watermarks);
    },
  );

  test('within the bound are none: a window waits for its watermark and comes once (U27)', () => {
    const pipeline = new SmallPipeline(
      table('', " AS ts - interval '30 seconds'") + counts(MINUTE),
    );
    const at = (...times: string[]): void =>
      pipeline.append(
        't',
        times.map((time) => ts(`2024-10-25T${time}`)),
      );
    at('11:50:01', '11:50:30', '11:51:10', '11:50:50');
    expect(pipeline.rows()).toEqual([]);
    at('11:51:31');
    expect(pipeline.rows()).toEqual(['{"s":"2024-10-25T11:50:00","n":3}']);
    at('11:50:59');
    expect(pipeline.late).toHaveLength(1);
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-10-25T11:50:00","n":3}',
      '{"s":"2024-10-25T11:51:00","n":2}',
    ]);
  });

  test('change a window that allows lateness: its row is taken back and comes anew', () => {
    const pipeline = new SmallPipeline(
      table() + counts("tumble(interval '1 minute', lateness => interval '30 seconds')"),
    );
    pipeline.append('t', [ts('2024-01-01T10:00:10'), ts('2024-01-01T10:01:05')]);
    pipeline.append('t', [ts('2024-01-01T10:00:50')]);
    pipeline.advanceClock(2_500);
    pipeline.append('t', [ts('2024-01-01T10:01:30'), ts('2024-01-01T10:00:51')]);
    expect(pipeline.changes()).toEqual([
      { row: '{"s":"2024-01-01T10:00:00","n":1}', retract: false },
      { row: '{"s":"2024-01-01T10:00:00","n":1}', retract: true },
      { row: '{"s":"2024-01-01T10:00:00","n":2}', retract: false },
    ]);
    expect(pipeline.late).toHaveLength(1);
  });
});

describe('time that stands still', () => {
  test('a quiet partition holds the rest back until it is idle, and its old rows are late then (U24)', () => {
    const pipeline = new SmallPipeline(
      table(", partitions = 2, idle_time = interval '5 seconds'") + counts(MINUTE),
    );
    pipeline.append('t', [ts('2024-01-01T10:00:10'), ts('2024-01-01T10:01:05')], 0);
    pipeline.append('t', [ts('2024-01-01T10:00:05')], 1);
    pipeline.advanceClock(1_000);
    expect(pipeline.rows()).toEqual([]);
    pipeline.advanceClock(5_000);
    expect(pipeline.rows()).toEqual(['{"s":"2024-01-01T10:00:00","n":2}']);
    pipeline.append('t', [ts('2024-01-01T10:00:40'), ts('2024-01-01T10:01:20')], 1);
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-01-01T10:00:00","n":2}',
      '{"s":"2024-01-01T10:01:00","n":2}',
    ]);
    expect(pipeline.late).toHaveLength(1);
  });

  test('the last window comes out when time is told to go on in silence, and not before (U25)', () => {
    const lines = [ts('2024-01-01T10:00:10'), ts('2024-01-01T10:00:20')];
    const silent = new SmallPipeline(table() + counts(MINUTE));
    silent.append('t', lines);
    silent.advanceClock(90_000);
    expect(silent.rows()).toEqual([]);
    const advancing = new SmallPipeline(
      table(", 'watermark.idle_advance' = interval '30 seconds'") + counts(MINUTE),
    );
    advancing.append('t', lines);
    advancing.advanceClock(60_000);
    expect(advancing.rows()).toEqual([]);
    advancing.advanceClock(30_000);
    expect(advancing.rows()).toEqual(['{"s":"2024-01-01T10:00:00","n":2}']);
  });

  test('what is known of a long window comes early when it is asked for, and the end is the same', () => {
    const pipeline = new SmallPipeline(
      table() + counts("tumble(interval '1 hour', early => interval '10 seconds')"),
    );
    pipeline.append('t', [ts('2024-01-01T10:00:10'), ts('2024-01-01T10:00:20')]);
    pipeline.advanceClock(9_000);
    expect(pipeline.rows()).toEqual([]);
    pipeline.advanceClock(2_000);
    expect(pipeline.rows()).toEqual(['{"s":"2024-01-01T10:00:00","n":2}']);
    pipeline.append('t', [ts('2024-01-01T10:59:00')]);
    pipeline.end();
    expect(pipeline.rows()).toEqual(['{"s":"2024-01-01T10:00:00","n":3}']);
  });
});

test('windows in FROM, as Flink writes them, are those of GROUP BY', () => {
  const pipeline = new SmallPipeline(
    `${table('', '', ', k INT')} SELECT window_start AS s, window_end AS e, window_time AS t, k, count(*) AS n
      FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTES)) GROUP BY window_start, window_end, window_time, k;`,
  );
  pipeline.append('t', [ts('2024-01-01T10:00:10', ',"k":1'), ts('2024-01-01T10:01:05', ',"k":1')]);
  pipeline.end();
  expect(pipeline.lines()).toEqual([
    '{"s":"2024-01-01T09:59:00","e":"2024-01-01T10:01:00","t":"2024-01-01T10:00:59.999999","k":1,"n":1}',
    '{"s":"2024-01-01T10:00:00","e":"2024-01-01T10:02:00","t":"2024-01-01T10:01:59.999999","k":1,"n":2}',
    '{"s":"2024-01-01T10:01:00","e":"2024-01-01T10:03:00","t":"2024-01-01T10:02:59.999999","k":1,"n":1}',
  ]);
});

describe('where windows begin', () => {
  test('long ones at multiples of their width, moved by the offset (U29)', () => {
    const of = (name: string, window: string): string =>
      `SELECT '${name}' AS w, window.start AS s FROM (SELECT ${window} AS window, count(*) AS n FROM t GROUP BY 1)`;
    const pipeline = new SmallPipeline(
      `${table()}${of('m', "tumble(interval '30 days')")}
       UNION ALL ${of('w', "tumble(interval '7 days')")}
       UNION ALL ${of('mon', "tumble(interval '7 days', interval '4 days')")};`,
    );
    pipeline.append('t', [ts('2024-05-08T12:00:00')]);
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"w":"m","s":"2024-04-17T00:00:00"}',
      '{"w":"mon","s":"2024-05-06T00:00:00"}',
      '{"w":"w","s":"2024-05-02T00:00:00"}',
    ]);
  });

  test('local days, also the one of 25 hours (U30)', () => {
    const pipeline = new SmallPipeline(
      `${table().replace('TIMESTAMP', 'TIMESTAMPTZ')}SELECT window.start AS s, window.end AS e, n FROM
        (SELECT tumble(interval '1 day', timezone => 'America/New_York') AS window, count(*) AS n FROM t GROUP BY 1);`,
    );
    const times = ['03T04:30:00', '03T05:30:00', '03T06:30:00', '04T04:30:00', '04T05:30:00'];
    pipeline.append(
      't',
      times.map((time) => ts(`2024-11-${time}Z`)),
    );
    expect(pipeline.types()).toEqual(['s TIMESTAMPTZ', 'e TIMESTAMPTZ', 'n BIGINT']);
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-11-03T04:00:00","e":"2024-11-04T05:00:00","n":4}',
      '{"s":"2024-11-04T05:00:00","e":"2024-11-05T05:00:00","n":1}',
    ]);
  });
});

describe('sliding windows', () => {
  const sums = (window: string): string =>
    table('', '', ', i INT') +
    `SELECT window.start AS s, n, q FROM (SELECT ${window} AS window, count(*) AS n, sum(i) AS q FROM t GROUP BY 1);`;
  const lines = Array.from({ length: 8 }, (_, i) => ts(`2024-01-01T10:00:0${i}`, `,"i":${i}`));

  test.each([false, true])(
    'hold exactly the rows of their width; restarted: %s (U32)',
    (restarts) => {
      const pipeline = new SmallPipeline(sums("hop(interval '2 seconds', interval '6 seconds')"));
      for (const line of lines) {
        pipeline.append('t', [line]);
        if (restarts) pipeline.restart();
      }
      pipeline.end();
      expect(pipeline.rows()).toEqual([
        '{"s":"2024-01-01T09:59:56","n":2,"q":1}',
        '{"s":"2024-01-01T09:59:58","n":4,"q":6}',
        '{"s":"2024-01-01T10:00:00","n":6,"q":15}',
        '{"s":"2024-01-01T10:00:02","n":6,"q":27}',
        '{"s":"2024-01-01T10:00:04","n":4,"q":22}',
        '{"s":"2024-01-01T10:00:06","n":2,"q":13}',
      ]);
    },
  );

  test('also when the width is no multiple of the slide (U32)', () => {
    const pipeline = new SmallPipeline(sums("hop(interval '4 seconds', interval '6 seconds')"));
    for (const line of lines) {
      pipeline.append('t', [line]);
      pipeline.restart();
    }
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-01-01T09:59:56","n":2,"q":1}',
      '{"s":"2024-01-01T10:00:00","n":6,"q":15}',
      '{"s":"2024-01-01T10:00:04","n":4,"q":22}',
    ]);
  });
});

describe('windows of windows', () => {
  const at = (second: number, k: string): string =>
    ts(`2024-01-01T10:00:${String(second).padStart(2, '0')}`, `,"k":"${k}"`);
  const LINES = [at(0, 'a'), at(1, 'a'), at(2, 'b'), at(9, 'a'), at(20, 'b'), at(21, 'b')];

  test('a session is passed on as it is: which sessions are the same, and how many rows they had', () => {
    const pipeline = new SmallPipeline(
      `${table('', '', ', k TEXT')}SELECT w.start AS s, w.end AS e, max(n) AS longest FROM (
        SELECT k, session(interval '5 seconds') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY w;`,
    );
    pipeline.append('t', LINES);
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-01-01T10:00:00","e":"2024-01-01T10:00:06","longest":2}',
      '{"s":"2024-01-01T10:00:02","e":"2024-01-01T10:00:07","longest":1}',
      '{"s":"2024-01-01T10:00:09","e":"2024-01-01T10:00:14","longest":1}',
      '{"s":"2024-01-01T10:00:20","e":"2024-01-01T10:00:26","longest":2}',
    ]);
  });

  test.each(['w', "hop(interval '5 seconds', interval '10 seconds')"])(
    'a hop is grouped by its own window again, as %s',
    (again) => {
      const pipeline = new SmallPipeline(
        `${table('', '', ', k TEXT')}SELECT ${again} AS again, max(n) AS top, sum(n) AS n FROM (
          SELECT k, hop(interval '5 seconds', interval '10 seconds') AS w, count(*) AS n FROM t GROUP BY k, w) GROUP BY again;`,
      );
      pipeline.append('t', LINES);
      pipeline.end();
      const rows = pipeline.rows().map((row) => JSON.parse(row) as { again: { start: string } });
      expect(
        rows.map(({ again: { start }, ...rest }) => ({ start: start.slice(17), ...rest })),
      ).toEqual([
        { start: '55', top: 2, n: 3 },
        { start: '00', top: 3, n: 4 },
        { start: '05', top: 1, n: 1 },
        { start: '15', top: 2, n: 2 },
        { start: '20', top: 2, n: 2 },
      ]);
    },
  );

  test('what an updated window takes back is taken back in the windows over it', () => {
    const pipeline = new SmallPipeline(
      `${table('', '', ', k TEXT')}SELECT w.start AS s, sum(n) AS n, count(*) AS keys FROM (
        SELECT k, tumble(interval '10 seconds', early => interval '1 second', lateness => interval '20 seconds') AS w, count(*) AS n
        FROM t GROUP BY k, w) GROUP BY w;`,
    );
    for (const line of [...LINES, at(3, 'c'), at(4, 'a'), at(40, 'a'), at(5, 'a')]) {
      pipeline.append('t', [line]);
      pipeline.advanceClock(1_100);
    }
    pipeline.end();
    expect(pipeline.rows()).toEqual([
      '{"s":"2024-01-01T10:00:00","n":6,"keys":3}',
      '{"s":"2024-01-01T10:00:20","n":2,"keys":1}',
      '{"s":"2024-01-01T10:00:40","n":1,"keys":1}',
    ]);
    expect(pipeline.late).toHaveLength(1);
    expect(pipeline.changes().some(({ retract }) => retract)).toBe(true);
  });
});
