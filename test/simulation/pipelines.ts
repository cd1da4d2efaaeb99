/** Pipelines for the simulated cluster, each with inputs drawn from a seed and an answer computed independently. */
import { Prng } from '../../src/base/prng.ts';
import { SimulatedLogs } from '../harness/cluster/logs.ts';
import { fileTable, onlySink, type Pipeline, sink, table } from './pipeline.ts';
import {
  BASE_MS,
  foldChanges,
  linesOf,
  ndjson,
  rowsOf,
  type Row,
  timeText,
  windowsOf,
} from './rows.ts';
import { calledAhead, calledBehind, calledForRows } from './function-pipelines.ts';
import { matched } from './match-pipeline.ts';
import { hopping, sessions } from './window-pipelines.ts';

const WINDOWED = `INSERT INTO out SELECT k, window.start AS s, n, total FROM (
  SELECT k, tumble(interval '10 seconds') AS window, count(*) AS n, sum(v) AS total
  FROM t WHERE v % 7 <> 0 GROUP BY k, window);`;

function windowed(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const { windows, late } = windowsOf(input);
  return {
    name: 'windowed',
    sql: fileTable('t') + sink('out', ', file_bytes_max = 65536') + WINDOWED,
    files: { t: ndjson(input) },
    stateless: false,
    late,
    answer: (cluster) => onlySink(cluster, linesOf(windows)),
  };
}

/** One group for each window: all rows go to subtask 0. */
function keyless(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const { windows, late } = windowsOf(input, () => '');
  return {
    name: 'keyless',
    sql: `${fileTable('t')}${sink('out')}INSERT INTO out SELECT window.start AS s, n, total FROM (
      SELECT tumble(interval '10 seconds') AS window, count(*) AS n, sum(v) AS total FROM t WHERE v % 7 <> 0 GROUP BY window);`,
    files: { t: ndjson(input) },
    stateless: false,
    late,
    answer: (cluster) =>
      onlySink(cluster, linesOf(windows.map(({ s, n, total }) => ({ s, n, total })))),
  };
}

/** The key may fail: where, depends on whether rows are shuffled. */
function failingKey(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows, 0);
  const groups = new Map<number, number>();
  const kept = input.filter(({ v }) => v < 400 && v !== 0);
  for (const { v } of kept)
    groups.set(Math.trunc(1000 / v), (groups.get(Math.trunc(1000 / v)) ?? 0) + 1);
  return {
    name: 'failing key',
    sql: `${fileTable('t')}${sink('out', '').replace("'json', type = 'sink'", "'debezium_json', type = 'sink'")}
      INSERT INTO out SELECT 1000 / v AS q, count(*) AS n FROM t WHERE v < 400 GROUP BY 1000 / v;`,
    files: { t: ndjson(input) },
    stateless: false,
    late: 0,
    errors: input.filter(({ v }) => v === 0).length,
    answer: (cluster) => ({
      committed: foldChanges(cluster.rows()),
      expected: linesOf([...groups].map(([q, n]) => ({ q, n }))),
    }),
  };
}

function updating(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const groups = new Map<string, { k: string; n: number; total: number; top: number }>();
  for (const { k, v } of input) {
    const group = groups.get(k) ?? { k, n: 0, total: 0, top: -Infinity };
    groups.set(k, { k, n: group.n + 1, total: group.total + v, top: Math.max(group.top, v) });
  }
  return {
    name: 'updating',
    sql: `${fileTable('t')}CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'debezium_json', type = 'sink', file_bytes_max = 65536);
      INSERT INTO out SELECT k, count(*) AS n, sum(v) AS total, max(v) AS top FROM t GROUP BY k;`,
    files: { t: ndjson(input) },
    stateless: false,
    answer: (cluster) => ({
      committed: foldChanges(cluster.rows()),
      expected: linesOf([...groups.values()]),
    }),
  };
}

function union(seed: string, rows: number): Pipeline {
  const left = rowsOf(`${seed}/left`, rows);
  const right = rowsOf(`${seed}/right`, new Prng(seed).below(rows));
  return {
    name: 'union',
    sql: `${fileTable('t')}${fileTable('u')}${sink('out')}
      INSERT INTO out SELECT k, v FROM t UNION ALL SELECT k, v + 10000 AS v FROM u WHERE v > 0;`,
    files: { t: ndjson(left), u: ndjson(right) },
    stateless: true,
    answer: (cluster) =>
      onlySink(
        cluster,
        linesOf([
          ...left.map(({ k, v }) => ({ k, v })),
          ...right.filter(({ v }) => v > 0).map(({ k, v }) => ({ k, v: v + 10_000 })),
        ]),
      ),
  };
}

/** Windows over two inputs, none of whose rows may be late: how the inputs meet depends on time. */
function unionWindowed(seed: string, rows: number): Pipeline {
  const left = rowsOf(`${seed}/left`, rows, 0);
  const right = rowsOf(`${seed}/right`, new Prng(seed).below(rows), 0);
  const { windows } = windowsOf([...left, ...right].sort((a, b) => (a.ts < b.ts ? -1 : 1)));
  return {
    name: 'union windowed',
    sql: `${fileTable('a')}${fileTable('b')}${sink('out')}
      CREATE VIEW t AS SELECT ts, k, v FROM a UNION ALL SELECT ts, k, v FROM b;${WINDOWED}`,
    files: { a: ndjson(left), b: ndjson(right) },
    stateless: false,
    late: 0,
    answer: (cluster) => onlySink(cluster, linesOf(windows)),
  };
}

function twoSinks(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const expected = [
    ...linesOf(input.filter(({ v }) => v > 0).map(({ k, v }) => ({ k, v }))),
    ...linesOf(input.map(({ k, v }) => ({ k, double: v * 2 }))),
  ];
  return {
    name: 'two sinks',
    sql: `${fileTable('t')}${sink('some', ', file_bytes_max = 65536')}
      CREATE TABLE every WITH (connector = 'single_file', path = 'every', format = 'json', type = 'sink');
      INSERT INTO some SELECT k, v FROM t WHERE v > 0; INSERT INTO every SELECT k, v * 2 AS double FROM t;`,
    files: { t: ndjson(input) },
    stateless: true,
    answer: (cluster) => onlySink(cluster, expected.sort()),
  };
}

/** Bad lines, rows whose expressions fail, huge rows, and a filter. */
function projected(seed: string, rows: number): Pipeline {
  const prng = new Prng(seed);
  const input = rowsOf(seed, rows).map((row) => ({
    ...row,
    k: prng.chance(0.01) ? row.k.repeat(3_000) : row.k,
  }));
  const lines = input.map((row) => {
    const fate = prng.below(20);
    return { row, bad: fate === 0, text: fate === 0 ? '{"ts": 1' : JSON.stringify(row) };
  });
  const good = lines.filter(({ bad }) => !bad).map(({ row }) => row);
  return {
    name: 'projected',
    sql: `${fileTable('t').replace("type = 'source'", "type = 'source', bad_data = 'drop'")}${sink('out', ', file_bytes_max = 65536')}
      INSERT INTO out SELECT k, 1000 / v AS q FROM t WHERE v < 400;`,
    files: { t: lines.map(({ text }) => `${text}\n`).join('') },
    stateless: true,
    errors: lines.length - good.length + good.filter(({ v }) => v === 0).length,
    answer: (cluster) =>
      onlySink(
        cluster,
        linesOf(
          good
            .filter(({ v }) => v < 400 && v !== 0)
            .map(({ k, v }) => ({ k, q: Math.trunc(1000 / v) })),
        ),
      ),
  };
}

const PARTITIONS = 3;

/** Rows dealt to the partitions of a log, in pieces; the last of each closes all windows. */
function dealt(prng: Prng, rows: readonly Row[]): { partition: number; rows: string[] }[] {
  const appends: { partition: number; rows: string[] }[] = [];
  for (let at = 0; at < rows.length;) {
    const piece = rows.slice(at, at + 1 + prng.below(40));
    at += piece.length;
    appends.push({
      partition: prng.below(PARTITIONS),
      rows: piece.map((row) => JSON.stringify(row)),
    });
  }
  const last = { ts: timeText(BASE_MS + 86_400_000), k: 'last', v: 7 };
  for (let partition = 0; partition < PARTITIONS; partition++)
    appends.push({ partition, rows: [JSON.stringify(last)] });
  return appends;
}

function http(seed: string, rows: number, idle: boolean): Pipeline {
  const input = rowsOf(seed, rows, 0);
  const options = `connector = 'http', partitions = ${PARTITIONS}${idle ? ", idle_time = '2 seconds'" : ''}`;
  const { windows } = windowsOf(input.toSorted((a, b) => (a.ts < b.ts ? -1 : 1)));
  return {
    name: 'http',
    // Partitions are read at different speeds, and an idle one holds nobody back: nothing may be late all the same.
    sql: table('t', options, idle ? '2 hours' : '3 seconds') + sink('out') + WINDOWED,
    files: {},
    logs: new SimulatedLogs(),
    appends: dealt(new Prng(`${seed}/deal`), input),
    rowsCommitted: windows.length,
    stateless: false,
    late: 0,
    answer: (cluster) => onlySink(cluster, linesOf(windows)),
  };
}

function httpProjected(seed: string, rows: number): Pipeline {
  const input = rowsOf(seed, rows);
  const expected = linesOf(input.filter(({ v }) => v > 7).map(({ k, v }) => ({ k, v })));
  return {
    name: 'http projected',
    sql: `${table('t', `connector = 'http', partitions = ${PARTITIONS}`)}${sink('out')}INSERT INTO out SELECT k, v FROM t WHERE v > 7;`,
    files: {},
    logs: new SimulatedLogs(),
    appends: dealt(new Prng(`${seed}/deal`), input),
    rowsCommitted: expected.length,
    stateless: true,
    answer: (cluster) => onlySink(cluster, expected),
  };
}

/** No rows at all. */
function empty(): Pipeline {
  return {
    name: 'empty',
    sql: fileTable('t') + sink('out') + WINDOWED,
    files: { t: '' },
    stateless: true,
    late: 0,
    answer: (cluster) => onlySink(cluster, []),
  };
}

const MAKERS: ((seed: string, rows: number) => Pipeline)[] = [
  windowed,
  keyless,
  failingKey,
  updating,
  union,
  unionWindowed,
  twoSinks,
  projected,
  (seed, rows) => http(seed, rows, false),
  (seed, rows) => http(seed, rows, true),
  httpProjected,
  hopping,
  sessions,
  calledAhead,
  calledBehind,
  calledForRows,
  matched,
];

export type { Pipeline };

export function drawPipeline(prng: Prng, seed: string): Pipeline {
  if (prng.chance(0.02)) return empty();
  return prng.pick(MAKERS)(seed, prng.pick([5, 300, 800, 1_200]));
}
