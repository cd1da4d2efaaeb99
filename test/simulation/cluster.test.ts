/**
 * Exactly once, simulated: a windowed pipeline over files under crashes of hosts and leader and split
 * brains, at moments drawn from a seed. The committed rows equal an independently computed answer.
 */
import { describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SimulatedCluster } from '../harness/cluster.ts';

const SQL = `
CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '3 seconds')
  WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source');
CREATE TABLE sink WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO sink SELECT k, window.start AS s, count(*) AS n, sum(v) AS total, min(v) AS low, max(v) AS high
FROM (SELECT k, v, tumble(interval '10 seconds') AS window FROM t WHERE v % 7 <> 0 GROUP BY k, v, window) x
GROUP BY k, window;
`;

const SIMPLE = `
CREATE TABLE t (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '3 seconds')
  WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source');
CREATE TABLE sink WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO sink SELECT k, window.start AS s, n, total FROM (
  SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n, sum(v) AS total FROM t WHERE v % 7 <> 0 GROUP BY k, window);
`;

const PARTITIONED = `
CREATE TABLE bid (auction BIGINT, price BIGINT, datetime TIMESTAMP, WATERMARK FOR datetime AS datetime)
  WITH (connector = 'nexmark', "table" = 'bid', events = 3000, event_rate = 2500, partitions = 4);
CREATE TABLE sink WITH (connector = 'r2', path = 'out', format = 'json', type = 'sink');
INSERT INTO sink SELECT auction, window.start AS s, n, total FROM (
  SELECT auction, tumble(interval '200 milliseconds') AS window, count(*) AS n, sum(price) AS total FROM bid GROUP BY auction, window);
`;

type Row = { ts: string; k: string; v: number };

const BASE_MS = Date.UTC(2026, 0, 1);

/** Rows two seconds out of order, and every fiftieth a minute late. */
function rowsOf(seed: string, count: number): Row[] {
  const prng = new Prng(seed);
  return Array.from({ length: count }, (_, index) => ({
    ts: new Date(BASE_MS + index * 50 - (prng.chance(0.02) ? 60_000 : prng.below(2_000)))
      .toISOString()
      .replace('Z', ''),
    k: `key-${prng.below(9)}`,
    v: prng.below(1_000) - 300,
  }));
}

/** What one reader that takes row after row says: late is what comes after its window has closed. */
function expected(rows: readonly Row[]): string[] {
  const groups = new Map<string, { k: string; s: string; n: number; total: number }>();
  let watermarkMs = -Infinity;
  for (const { ts, k, v } of rows) {
    const atMs = Date.parse(`${ts}Z`);
    const startMs = Math.floor(atMs / 10_000) * 10_000;
    const late = startMs + 10_000 <= watermarkMs;
    watermarkMs = Math.max(watermarkMs, atMs - 3_000);
    if (late || v % 7 === 0) continue;
    const s = new Date(startMs).toISOString().slice(0, 19);
    const group = groups.get(`${k}/${s}`) ?? { k, s, n: 0, total: 0 };
    group.n++;
    group.total += v;
    groups.set(`${k}/${s}`, group);
  }
  return [...groups.values()].map((group) => JSON.stringify(group)).sort();
}

function clusterOf(
  sql: string,
  seed: string,
  rows: readonly Row[],
  parallelism: number,
): SimulatedCluster {
  const planned = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
  if (planned.graph === null) throw new Error(JSON.stringify(planned.errors));
  return new SimulatedCluster({
    seed,
    graph: planned.graph,
    parallelism,
    files: { in: rows.map((row) => `${JSON.stringify(row)}\n`).join('') },
    checkpointIntervalMs: 150,
    readBytesMax: 1_000,
  });
}

describe('a windowed pipeline', () => {
  test.each([1, 2, 3])('gives the right rows at parallelism %i without faults', (parallelism) => {
    const rows = rowsOf('quiet', 2_000);
    const cluster = clusterOf(SIMPLE, 'quiet', rows, parallelism);
    cluster.startGeneration('created');
    expect(cluster.runToOutcome().tag).toBe('finished');
    expect(cluster.rows().sort()).toEqual(expected(rows));
  });

  const seeds = Array.from(
    { length: Number(process.env['SEEDS'] ?? 60) },
    (_, index) => `faults-${index}`,
  );
  test.each(seeds)('commits each row once under crashes and split brains, seed %s', (seed) => {
    const prng = new Prng(seed);
    const rows = rowsOf(seed, 1_500);
    const cluster = clusterOf(SIMPLE, seed, rows, 1 + prng.below(3));
    cluster.startGeneration('created');
    const faults = 1 + prng.below(5);
    for (let fault = 0; fault < faults; fault++) {
      cluster.runFor(prng.below(700));
      const kind = prng.below(5);
      if (kind === 0) cluster.crashLeader();
      else if (kind === 1) cluster.splitBrain();
      else if (kind === 2) cluster.parallelism = 1 + prng.below(3);
      else cluster.crashHost(prng.below(cluster.parallelism));
    }
    const outcome = cluster.runToOutcome();
    if (process.env['TRACE'] !== undefined)
      process.stdout.write(`${seed}\n${cluster.trace.join('\n')}`);
    expect(outcome.tag, `seed ${seed}\n${cluster.trace.join('\n')}`).toBe('finished');
    expect(cluster.rows().sort(), `seed ${seed}\n${cluster.trace.join('\n')}`).toEqual(
      expected(rows),
    );
  });

  test.each(seeds.slice(0, 30))(
    'aligns barriers of several readers under crashes, seed %s',
    (seed) => {
      const run = (parallelism: number, faulty: boolean): string[] => {
        const prng = new Prng(seed);
        const cluster = clusterOf(PARTITIONED, seed, [], parallelism);
        cluster.startGeneration('created');
        for (let fault = 0; faulty && fault < 4; fault++) {
          cluster.runFor(100 + prng.below(400));
          if (prng.chance(0.3)) cluster.crashLeader();
          else cluster.crashHost(prng.below(cluster.parallelism));
          if (prng.chance(0.3)) cluster.parallelism = 1 + prng.below(4);
        }
        expect(cluster.runToOutcome().tag, `seed ${seed}\n${cluster.trace.join('\n')}`).toBe(
          'finished',
        );
        return cluster.rows().sort();
      };
      const quiet = run(1, false);
      expect(quiet.length).toBeGreaterThan(50);
      expect(run(3, true), `seed ${seed}`).toEqual(quiet);
    },
  );

  test('the same seed gives the same trace', () => {
    const traces = [0, 1].map(() => {
      const cluster = clusterOf(SIMPLE, 'twice', rowsOf('twice', 800), 2);
      cluster.startGeneration('created');
      cluster.runFor(400);
      cluster.crashHost(1);
      cluster.runToOutcome();
      return cluster.trace;
    });
    expect(traces[0]).toEqual(traces[1]);
  });

  test('aggregates stacked on the same window agree with their inner rows', () => {
    const rows = rowsOf('stacked', 1_000);
    const cluster = clusterOf(SQL, 'stacked', rows, 2);
    cluster.startGeneration('created');
    expect(cluster.runToOutcome().tag).toBe('finished');
    const onTime = rows.filter(
      ({ ts }, index) => Date.parse(`${ts}Z`) > BASE_MS + index * 50 - 10_000,
    );
    const distinct = new Set(
      onTime
        .filter(({ v }) => v % 7 !== 0)
        .map(({ ts, k, v }) => `${k} ${Math.floor(Date.parse(`${ts}Z`) / 10_000)} ${v}`),
    );
    const counted = cluster
      .rows()
      .reduce((sum, line) => sum + (JSON.parse(line) as { n: number }).n, 0);
    expect(counted).toBe(distinct.size);
  });
});
