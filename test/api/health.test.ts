import { describe, expect, test } from 'vitest';
import { refusedByLogs } from '../../src/api/observe/health-logs.ts';
import type { ApiServices } from '../../src/api/services.ts';
import { HealthWorld } from './health-world.ts';
import { World } from './world.ts';

const table = (
  name: string,
  options = '',
  columns = 'ts TIMESTAMP NOT NULL, k TEXT, v BIGINT',
): string =>
  `CREATE TABLE ${name} (${columns}, WATERMARK FOR ts) WITH (connector = 'http', format = 'json', type = 'source'${options});`;
const TUMBLE =
  "SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n FROM t GROUP BY 1);";
const SINK =
  "CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');";

const at = (time: string, rest: object = {}): object => ({ ts: `2023-01-01T${time}`, ...rest });

describe('the state of the job', () => {
  test('STARTING before sources read, and NO_ROWS_YET with where to post when they do', () => {
    const world = new HealthWorld(table('t') + TUMBLE);
    expect(world.codes).toEqual(['STARTING']);
    world.start();
    const { health } = world;
    expect(health).toMatchObject({
      code: 'NO_ROWS_YET',
      level: 'waiting',
      sentence: 'Source t has never had a row.',
      fix: { text: 'Post rows to /api/v1/pipelines/pl/tables/t/rows' },
      source: { table: 't', partition: null },
    });
  });

  test('STOPPED says that it is at rest and how to start', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    world.cluster.want({ tag: 'stop', mode: 'checkpoint' });
    world.cluster.runToOutcome();
    expect(world.health).toMatchObject({
      code: 'STOPPED',
      level: 'stopped',
      fix: { action: 'start' },
    });
  });

  test('FINISHED counts rows, and still says when nothing came of them', () => {
    const sql = `CREATE TABLE t (v BIGINT) WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source');
      ${SINK} INSERT INTO out SELECT v FROM t WHERE v > 100;`;
    const world = new HealthWorld(sql, { files: { in: '{"v":1}\n{"v":2}\n' } }).start(0);
    world.cluster.runToOutcome();
    expect(world.health).toMatchObject({
      code: 'FINISHED',
      level: 'ok',
      sentence: 'Every source has ended and all output is committed: 2 rows in, 0 rows out.',
    });
    expect(world.codes).toEqual(['FINISHED', 'ALL_FILTERED']);
  });

  test('FAILED gives the reason, its hint and what to press', () => {
    const world = new HealthWorld(table('t') + TUMBLE);
    const failure = {
      code: 'SOURCE_MISSING' as const,
      domain: 'external' as const,
      retry: 'never' as const,
      message: 'row 7 of t is not there any more',
      error: 'row 7 of t is not there any more',
      hint: 'Restart the pipeline without state.',
    };
    expect(world.healthOf({ ...world.status, state: 'Failed', failure })).toMatchObject({
      code: 'FAILED',
      level: 'failed',
      sentence: 'The pipeline has failed: row 7 of t is not there any more (SOURCE_MISSING).',
      fix: { text: 'Restart the pipeline without state.', action: 'restart_without_state' },
    });
    // Nothing is given up that need not be: a file that is not there yet may come.
    const file = { ...failure, hint: 'Check the option path of the table.' };
    expect(world.healthOf({ ...world.status, state: 'Failed', failure: file })).toMatchObject({
      fix: { text: 'Check the option path of the table.', action: 'start' },
    });
  });

  test('RECOVERING names what the generation takes over after', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    world.cluster.crashHost(0);
    const { generation } = world.cluster;
    while (world.cluster.generation === generation) world.cluster.runFor(10);
    expect(world.codes).toEqual(['RECOVERING']);
    expect(world.health.sentence).toContain('HOST_LOST');
    world.cluster.runFor(5_000);
    expect(world.codes[0]).toBe('NO_ROWS_YET');
  });

  test('LEADER_SILENT when the leader does not answer', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    const silent = { ...world.status, leader: 'silent' as const };
    expect(world.healthOf(silent)).toMatchObject({ code: 'LEADER_SILENT', level: 'warning' });
  });
});

describe('event time', () => {
  test('WINDOW_OPEN says what is waited for, where time stands, and the option that lets it run on', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    world.post('t', [at('10:00:10'), at('10:00:20')]);
    world.cluster.runFor(90_500);
    expect(world.health).toMatchObject({
      code: 'WINDOW_OPEN',
      level: 'waiting',
      sentence: '1 open window, waiting for watermark 10:01:00, now 10:00:20; no events for 90 s',
      fix: { sql: "'watermark.idle_advance' = interval '30 seconds'" },
      window: { count: 1, first_end: Date.parse('2023-01-01T10:01:00Z') * 1000 },
      watermark: Date.parse('2023-01-01T10:00:20Z') * 1000,
    });
    expect(world.codes).toEqual(['WINDOW_OPEN', 'SOURCE_SILENT', 'OK']);
    // The fix is one: with the option the window leaves by itself.
    const fixed = new HealthWorld(table('t', `, ${world.health.fix?.sql}`) + TUMBLE).start();
    fixed.post('t', [at('10:00:10'), at('10:00:20')]);
    fixed.cluster.runFor(90_500);
    expect(fixed.status.totals.rows_out).toBe(1);
    expect(fixed.codes).not.toContain('WINDOW_OPEN');
  });

  test('while rows come, an open window is named without a fix, and not at all once results leave', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    const rows = (from: number, to: number): void => {
      for (let second = from; second < to; second++) {
        const time = new Date(Date.UTC(2023, 0, 1, 10, 0, second)).toISOString();
        world.post('t', [{ ts: time }]);
        world.cluster.runFor(1_000);
      }
    };
    rows(0, 20);
    expect(world.health).toMatchObject({ code: 'WINDOW_OPEN', fix: null, since: null });
    expect(world.health.sentence).toMatch(
      /^1 open window, waiting for watermark 10:01:00, now 10:00:1\d$/,
    );
    rows(20, 70);
    expect(world.codes).toEqual(['OK']);
    expect(world.health.sentence).toMatch(/rows\/s come in/);
  });

  test('PARTITION_HOLDS_WATERMARK names the partition and the option that lets it step aside', () => {
    const world = new HealthWorld(table('t', ', partitions = 2') + TUMBLE).start();
    world.post('t', [at('10:00:10'), at('10:05:00')], 0);
    world.cluster.runFor(20_000);
    expect(world.health).toMatchObject({
      code: 'PARTITION_HOLDS_WATERMARK',
      source: { table: 't', partition: 1 },
      fix: { sql: "idle_time = interval '30 seconds'" },
    });
    expect(world.health.sentence).toContain('partition 1 of source t, which has never had a row');
    world.post('t', [at('10:00:30')], 1);
    world.cluster.runFor(20_000);
    expect(world.health.sentence).toContain(
      'partition 1 of source t, which stands at 2023-01-01 10:00:30 and has had no rows for',
    );
    const { sql } = world.health.fix ?? {};
    const fixed = new HealthWorld(table('t', `, partitions = 2, ${sql}`) + TUMBLE).start();
    fixed.post('t', [at('10:00:10'), at('10:05:00')], 0);
    fixed.cluster.runFor(20_000);
    expect(fixed.codes).toContain('PARTITION_HOLDS_WATERMARK');
    fixed.cluster.runFor(30_000);
    expect(fixed.codes).not.toContain('PARTITION_HOLDS_WATERMARK');
    expect(fixed.status.totals.rows_out).toBe(1);
  });

  test('PARTITION_HOLDS_WATERMARK is silent where all are, and none has reached the end of a window', () => {
    const world = new HealthWorld(table('t', ', partitions = 2') + TUMBLE).start();
    world.post('t', [at('10:00:10')], 0);
    world.post('t', [at('10:00:20')], 1);
    world.cluster.runFor(20_000);
    expect(world.codes[0]).toBe('WINDOW_OPEN');
    expect(world.codes).not.toContain('PARTITION_HOLDS_WATERMARK');
    world.post('t', [at('10:01:20')], 1);
    world.cluster.runFor(20_000);
    expect(world.health.code).toBe('PARTITION_HOLDS_WATERMARK');
  });

  test('PARTITION_HOLDS_WATERMARK of one of two sources that meet', () => {
    const sql = `${table('t')}${table('u')}
      SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n
        FROM (SELECT ts, k FROM t UNION ALL SELECT ts, k FROM u) GROUP BY 1);`;
    const world = new HealthWorld(sql).start();
    world.post('u', [at('10:00:05')]);
    for (let second = 10; second < 22; second++) {
      world.post('t', [at(`10:01:${second}`)]);
      world.cluster.runFor(1_000);
    }
    expect(world.health).toMatchObject({
      code: 'PARTITION_HOLDS_WATERMARK',
      source: { table: 'u', partition: null },
      fix: { sql: "idle_time = interval '30 seconds'" },
    });
    expect(world.health.sentence).toMatch(
      /^Event time waits for source u, which stands at 2023-01-01 10:00:05 and has had no rows for 1\d s; another source has reached/,
    );
  });

  test.each([
    ['10:00:10', '10:00:20'],
    ['10:00:10', '10:00:10'],
  ])(
    'PARTITION_HOLDS_WATERMARK of both sides of an outer join when both are silent: %s, %s',
    (left, right) => {
      const sql = `${table('t')}${table('u')}
        SELECT t.k, u.v FROM t LEFT JOIN u
          ON t.k = u.k AND u.ts BETWEEN t.ts AND t.ts + interval '1 minute';`;
      const world = new HealthWorld(sql).start();
      world.post('t', [at(left, { k: 'a' })]);
      world.post('u', [at(right, { k: 'b' })]);
      world.cluster.runFor(20_000);
      const { health } = world;
      expect(health).toMatchObject({
        code: 'PARTITION_HOLDS_WATERMARK',
        level: 'waiting',
        fix: { sql: "'watermark.idle_advance' = interval '30 seconds'" },
      });
      expect(health.sentence).toMatch(
        /^Event time waits for both sources: t stands at 2023-01-01 10:00:10 and has had no rows for 1\d s; u stands at 2023-01-01 10:00:[12]0 and has had no rows for 1\d s\.$/,
      );
      expect(health.fix?.text).toContain('the tables t, u');
      expect(world.codes.filter((code) => code === 'PARTITION_HOLDS_WATERMARK')).toHaveLength(1);
      // One that goes on leaves the other to blame.
      for (let second = 30; second < 42; second++) {
        world.post('t', [at(`10:00:${second}`, { k: 'a' })]);
        world.cluster.runFor(1_000);
      }
      expect(world.health.sentence).toMatch(/^Event time waits for source u, which stands at/);
    },
  );

  test('NO_WATERMARK names the source that has not given one', () => {
    const sql = `${table('t')}${table('u')}
      SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n
        FROM (SELECT ts, k FROM t UNION ALL SELECT ts, k FROM u) GROUP BY 1);`;
    const world = new HealthWorld(sql).start();
    world.post('t', [at('10:00:10')]);
    world.cluster.runFor(3_000);
    expect(world.codes.slice(0, 2)).toEqual(['NO_ROWS_YET', 'NO_WATERMARK']);
    expect(world.health.others[0]?.sentence).toContain('source u has not given one');
  });

  test('WATERMARK_IN_FUTURE tells how far, and ALL_LATE that nothing was in time', () => {
    const world = new HealthWorld(table('t') + TUMBLE).start();
    world.post('t', [{ ts: '2099-01-01T00:00:00' }]);
    world.cluster.runFor(2_000);
    world.post('t', [at('10:00:10'), at('10:00:11')]);
    world.cluster.runFor(2_000);
    expect(world.health).toMatchObject({
      code: 'WATERMARK_IN_FUTURE',
      level: 'warning',
      source: { table: 't', partition: 0 },
      fix: { action: 'restart_without_state' },
    });
    expect(world.health.sentence).toMatch(
      /stands at 2099-01-01 00:00:00, [\d,]+ days ahead of the clock: .* 2 rows came late/,
    );
  });

  test('ALL_LATE says how far event time had come and how to let it wait', () => {
    const sql = `${table('t')} SELECT window.start AS s, n FROM (SELECT tumble(interval '1 minute') AS window, count(*) AS n
      FROM t WHERE v > 0 GROUP BY 1);`;
    const world = new HealthWorld(sql).start();
    world.post('t', [at('12:00:00', { v: 0 })]);
    world.cluster.runFor(2_000);
    world.post('t', [at('10:00:10', { v: 1 }), at('10:00:20', { v: 2 })]);
    world.cluster.runFor(2_000);
    expect(world.health).toMatchObject({
      code: 'ALL_LATE',
      fix: { sql: "WATERMARK FOR ts AS ts - interval '1 hour'" },
    });
    expect(world.health.sentence).toContain('All 2 rows came to');
    expect(world.health.sentence).toContain('event time had reached 2023-01-01 12:00:00');
  });

  test('SOURCE_SILENT when everything that came is out', () => {
    const world = new HealthWorld(`${table('t')} SELECT k FROM t;`).start();
    world.post('t', [at('10:00:10')]);
    world.cluster.runFor(45_000);
    expect(world.codes).toEqual(['SOURCE_SILENT', 'OK']);
    expect(world.health.sentence).toMatch(/^No rows have come into source t for 4\d s\.$/);
  });
});

describe('rows', () => {
  test('ALL_BAD gives the first reason', () => {
    const world = new HealthWorld(`${table('t')} SELECT k FROM t;`).start();
    world.post('t', [{ ts: 'yesterday' }, { ts: null }]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({
      code: 'ALL_BAD',
      level: 'warning',
      source: { table: 't' },
    });
    expect(world.health.sentence).toMatch(
      /^All 2 rows of source t were refused\. The first: .*ts.*\.$/,
    );
  });

  test('ALL_BAD names the operator in which every row failed, and is silent once one row passes', () => {
    const world = new HealthWorld(`${table('t')} SELECT 1 / v AS q FROM t;`).start();
    world.post('t', [at('10:00:10', { v: 0 }), at('10:00:11', { v: 0 })]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({ code: 'ALL_BAD', level: 'warning' });
    expect(world.health.sentence).toMatch(/^All 2 rows failed in .*1 \/ .*DIVISION_BY_ZERO/);
    world.post('t', [at('10:00:12', { v: 2 })]);
    world.cluster.runFor(3_000);
    expect(world.codes).not.toContain('ALL_BAD');
  });

  test('SOME_BAD counts the rows that failed while others pass, with the last reason', () => {
    const world = new HealthWorld(`${table('t')} SELECT 1 / v AS q FROM t;`).start();
    world.post('t', [at('10:00:10', { v: 1 }), at('10:00:11', { v: 0 })]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({ code: 'SOME_BAD', level: 'warning', source: null });
    expect(world.health.sentence).toMatch(
      /^1 row failed and was left out, the last with DIVISION_BY_ZERO: q: .*\.$/,
    );
    expect(world.codes.at(-1)).toBe('OK');
    world.post('t', [{ ts: 'yesterday' }]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({ code: 'SOME_BAD', source: { table: 't' } });
    expect(world.health.sentence).toMatch(/^2 rows failed and were left out.*TYPE_MISMATCH/);
    // What is long over stands behind what flows; of a pipeline that is at rest it is told.
    const { status } = world;
    const later = { ...status, at: status.at + 601_000_000 };
    const { code, others } = world.healthOf(later);
    expect(code).not.toBe('SOME_BAD');
    expect(others.at(-1)).toMatchObject({ code: 'SOME_BAD', level: 'ok' });
    const ended = world.healthOf({ ...later, state: 'Finished' });
    expect([ended.code, ended.others.map((each) => each.code)]).toEqual(['FINISHED', ['SOME_BAD']]);
  });

  test('SOME_BAD is not said where no row failed, nor beside ALL_BAD of the same rows', () => {
    const good = new HealthWorld(`${table('t')} SELECT k FROM t;`).start();
    good.post('t', [at('10:00:10', { k: 'a' })]);
    good.cluster.runFor(3_000);
    expect(good.codes).not.toContain('SOME_BAD');
    const bad = new HealthWorld(`${table('t')} SELECT k FROM t;`).start();
    bad.post('t', [{ ts: 'yesterday' }]);
    bad.cluster.runFor(3_000);
    expect(bad.codes).toContain('ALL_BAD');
    expect(bad.codes).not.toContain('SOME_BAD');
  });

  test('ALL_BAD as well when the log refused every row, which no generation has seen', async () => {
    const api = new World();
    const sql = `${table('t', ', partitions = 2')} SELECT k FROM t;`;
    const { id } = await api.create(sql);
    for (let partition = 0; partition < 2; partition++)
      await api.call('POST', `/api/v1/pipelines/${id}/tables/t/rows?partition=${partition}`, [
        { ts: 'yesterday', k: 'a' },
      ]);
    const world = new HealthWorld(sql).start();
    const status = { ...world.status, pipeline_id: id };
    world.refused = await refusedByLogs(api.services, status, world.graph);
    expect(world.health).toMatchObject({
      code: 'ALL_BAD',
      level: 'warning',
      source: { table: 't' },
    });
    expect(world.health.sentence).toMatch(
      /^All 2 rows posted to source t were refused\. The last: .*ts.* \(TYPE_MISMATCH\)\.$/,
    );
    // Of a source that has had rows nobody asks, nor of one whose pipeline is at rest, and a log that fails is left out.
    const none = async (services: ApiServices, changed: object): Promise<number> =>
      (await refusedByLogs(services, { ...status, ...changed }, world.graph)).size;
    const operators = status.operators.map((each) => ({ ...each, rows_in: 1 }));
    expect(await none(api.services, { operators })).toBe(0);
    expect(await none(api.services, { state: 'Stopped' })).toBe(0);
    const log = (): never => {
      throw new Error('it does not answer');
    };
    expect(await none({ ...api.services, log }, {})).toBe(0);
    // A row that the log has taken is not refused, also before anybody has read it.
    await api.call('POST', `/api/v1/pipelines/${id}/tables/t/rows?partition=1`, [
      at('10:00:10', { k: 'a', v: 1 }),
    ]);
    expect(await none(api.services, {})).toBe(0);
  });

  test('ALL_FILTERED names the condition', () => {
    const world = new HealthWorld(`${table('t')} SELECT k FROM t WHERE v > 100;`).start();
    world.post('t', [at('10:00:10', { v: 1 }), at('10:00:11', { v: 2 })]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({ code: 'ALL_FILTERED', level: 'warning' });
    expect(world.health.sentence).toContain(
      'All 2 rows were dropped by the condition: where v > 100',
    );
  });

  test('JOIN_WITHOUT_MATCH counts both sides', () => {
    const sql = `${table('t')}${table('u')}
      SELECT t.k FROM t JOIN u ON t.k = u.k AND u.ts BETWEEN t.ts AND t.ts + interval '1 minute';`;
    const world = new HealthWorld(sql).start();
    world.post('t', [at('10:00:10', { k: 'a' }), at('10:00:11', { k: 'b' })]);
    world.post('u', [at('10:00:10', { k: 'A' })]);
    world.cluster.runFor(3_000);
    expect(world.health).toMatchObject({ code: 'JOIN_WITHOUT_MATCH', level: 'warning' });
    expect(world.health.sentence).toMatch(
      /^2 rows and 1 row have come to .*, and none has met another\.$/,
    );
    // The sources stand a second apart, and both are silent: rows of an inner join wait for no watermark.
    world.cluster.runFor(20_000);
    expect(world.codes.slice(0, 1)).toEqual(['JOIN_WITHOUT_MATCH']);
  });

  test('OK says what flows', () => {
    const world = new HealthWorld(`${table('t')} SELECT k FROM t;`).start();
    for (let second = 0; second < 5; second++) {
      world.post('t', [at('10:00:10'), at('10:00:10')]);
      world.cluster.runFor(1_000);
    }
    expect(world.codes).toEqual(['OK']);
    expect(world.health.sentence).toMatch(
      /^[12](\.\d)? rows\/s come in, [12](\.\d)? rows\/s go out\.$/,
    );
  });
});

describe('checkpoints and flow', () => {
  test('COMMIT_PENDING says how many rows wait and for how long', () => {
    const sql = `${table('t')}${SINK} INSERT INTO out SELECT k FROM t;`;
    const world = new HealthWorld(sql, { checkpointIntervalMs: 60_000 }).start();
    world.post('t', [at('10:00:10'), at('10:00:11')]);
    world.cluster.runFor(15_000);
    expect(world.health.code).toBe('COMMIT_PENDING');
    expect(world.health.sentence).toMatch(
      /^2 rows for sink out are staged and can be seen when epoch \d+ is committed, in 4\d s\.$/,
    );
    world.cluster.runFor(60_000);
    expect(world.codes).not.toContain('COMMIT_PENDING');
    expect(world.cluster.rows()).toHaveLength(2);
  });

  const idle = new HealthWorld(`${table('t')}${SINK} INSERT INTO out SELECT k FROM t;`).start();
  const checkpoint = {
    epoch: 7,
    kind: 'scheduled' as const,
    attempt: 1,
    started_at: idle.status.at - 40_000_000,
    aligned_at: null,
    published_at: null,
    committed_at: null,
    bytes: 0,
    rows: 0,
    items: 0,
    hosts: [],
  };

  test('CHECKPOINT_FAILING and CHECKPOINT_SLOW of a checkpoint that does not come to its end', () => {
    const { status } = idle;
    const failing = idle.healthOf({
      ...status,
      checkpoint: { ...status.checkpoint, running: { ...checkpoint, attempt: 2 } },
    });
    expect(failing).toMatchObject({
      code: 'CHECKPOINT_FAILING',
      sentence: 'Epoch 7 is in attempt 2 of 3, after 40 s. Host 0 has not reported.',
    });
    expect(failing.others.map(({ code }) => code)).toContain('CHECKPOINT_SLOW');
  });

  test('CHECKPOINT_SLOW names the phase that took longest', () => {
    const { status } = idle;
    const host = {
      index: 0,
      bytes: 1,
      align_micros: 25_000_000,
      snapshot_micros: 1000,
      upload_micros: 2_000_000,
      reported_at: checkpoint.started_at + 28_000_000,
    };
    const last = { ...checkpoint, committed_at: status.at - 1_000_000, hosts: [host] };
    const { others } = idle.healthOf({ ...status, checkpoint: { ...status.checkpoint, last } });
    expect(others.find(({ code }) => code === 'CHECKPOINT_SLOW')?.sentence).toBe(
      'Checkpoint 7 took 39 s; host 0 waited for barriers for 25 s.',
    );
  });

  test('BACKPRESSURE names the operator whose queue is full, BEHIND the rows that are not read', () => {
    const { status } = idle;
    const operators = status.operators.map((operator) =>
      operator.kind === 'sink' ? { ...operator, backpressure: 0.97 } : operator,
    );
    const sources = status.sources.map((source) => ({
      ...source,
      partitions: source.partitions.map((each) => ({ ...each, backlog_rows: 1_250_000 })),
    }));
    const health = idle.healthOf({ ...status, operators, sources });
    expect(health).toMatchObject({ code: 'BACKPRESSURE', level: 'warning' });
    expect(health.sentence).toContain('sink out (r2) holds everything before it back');
    expect(health.others[0]).toMatchObject({ code: 'BEHIND', source: { table: 't' } });
    expect(health.others[0]?.sentence).toContain(
      '1,250,000 stored rows of source t are not read yet',
    );
  });
});
