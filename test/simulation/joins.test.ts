/**
 * Joins of two files under crashes of hosts and leader, split brains and changes of the parallelism. The committed rows
 * equal a nested loop over the rows.
 */
import { describe, expect, test } from 'vitest';
import { Prng } from '../../src/base/prng.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { foldChanges, linesOf, ndjson, rowsOf, timeOf, type Row } from './rows.ts';

const table = (name: string): string => `
CREATE TABLE ${name} (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '3 seconds')
  WITH (connector = 'single_file', path = '${name}', format = 'json', type = 'source');`;
const sink = (format: string): string =>
  `CREATE TABLE out WITH (connector = 'r2', path = 'out', format = '${format}', type = 'sink');`;

type Pair = { v: number; w: number | null };
type Case = {
  name: string;
  format: 'json' | 'debezium_json';
  temporary?: boolean;
  query: string;
  expected: (left: readonly Row[], right: readonly Row[]) => Pair[];
};

/** Each left row with what it meets. */
const joined = (left: readonly Row[], meets: (row: Row) => readonly Row[], pads: boolean): Pair[] =>
  left.flatMap((row): Pair[] => {
    const partners = meets(row);
    return partners.length === 0 && pads
      ? [{ v: row.v, w: null }]
      : partners.map(({ v: w }) => ({ v: row.v, w }));
  });

const apart = (row: Row, other: Row): number => timeOf(other) - timeOf(row);

const CASES: readonly Case[] = [
  {
    name: 'a left join by interval',
    format: 'json',
    query:
      "SELECT t.v, u.v AS w FROM t LEFT JOIN u ON t.k = u.k AND u.ts BETWEEN t.ts - interval '200 milliseconds' AND t.ts + interval '400 milliseconds'",
    expected: (left, right) =>
      joined(
        left,
        (row) =>
          right.filter(
            (other) => other.k === row.k && apart(row, other) >= -200 && apart(row, other) <= 400,
          ),
        true,
      ),
  },
  {
    name: 'a left join that takes rows back',
    format: 'debezium_json',
    query: 'SELECT t.v, u.v AS w FROM t LEFT JOIN u ON t.k = u.k AND u.v > t.v + 900',
    expected: (left, right) =>
      joined(
        left,
        (row) => right.filter((other) => other.k === row.k && other.v > row.v + 900),
        true,
      ),
  },
  {
    name: 'a join with counts of the other side',
    format: 'debezium_json',
    query:
      'SELECT t.v, n.w FROM t JOIN (SELECT k, count(*) AS w FROM u GROUP BY k) AS n ON t.k = n.k WHERE t.v > 500',
    expected: (left, right) =>
      left
        .filter(({ v }) => v > 500)
        .flatMap(({ k, v }) => {
          const w = right.filter((other) => other.k === k).length;
          return w === 0 ? [] : [{ v, w }];
        }),
  },
  {
    name: 'a join with the last row',
    format: 'json',
    query: 'SELECT t.v, u.v AS w FROM t ASOF LEFT JOIN u ON t.k = u.k AND t.ts >= u.ts',
    expected: (left, right) =>
      joined(
        left,
        (row) => {
          const before = right.filter((other) => other.k === row.k && apart(row, other) <= 0);
          const last = Math.max(...before.map(timeOf));
          return before.filter((other) => timeOf(other) === last).slice(-1);
        },
        true,
      ),
  },
  {
    name: 'a join with a table that is read first',
    format: 'json',
    temporary: true,
    query: 'SELECT t.v, u.v AS w FROM t LEFT JOIN u ON t.k = u.k AND t.v = u.v + 1',
    expected: (left, right) =>
      joined(
        left,
        (row) => right.filter((other) => other.k === row.k && row.v === other.v + 1),
        true,
      ),
  },
];

/** Times are of even milliseconds, so that no two rows of the last-row join are one version. */
const inputs = (seed: string): [Row[], Row[]] => [
  rowsOf(`${seed}/left`, 500, 0),
  rowsOf(`${seed}/right`, 300, 0),
];

describe.each(CASES)('$name', ({ format, temporary, query, expected }) => {
  const seeds = Array.from({ length: 5 }, (_, index) => `joins-${index}`);
  test.each(seeds)('commits each row once under crashes, seed %s', (seed) => {
    const [left, right] = inputs(seed);
    const prng = new Prng(seed);
    const u =
      temporary === true
        ? table('u').replace('CREATE TABLE', 'CREATE TEMPORARY TABLE')
        : table('u');
    const planned = planSql(
      `${table('t')}${u}${sink(format)}INSERT INTO out ${query};`,
      DECLARATIONS,
      { defaultSink: 'preview' },
    );
    if (planned.graph === null) throw new Error(JSON.stringify(planned.errors));
    const cluster = new SimulatedCluster({
      seed,
      graph: planned.graph,
      parallelism: 1 + prng.below(3),
      files: { t: ndjson(left), u: ndjson(right) },
      checkpointIntervalMs: 150,
      readBytesMax: 1_000,
    });
    cluster.startGeneration('created');
    for (let fault = 0; fault < 4; fault++) {
      cluster.runFor(prng.below(400));
      const kind = prng.below(5);
      if (kind === 0) cluster.crashLeader();
      else if (kind === 1) cluster.splitBrain();
      else if (kind === 2) cluster.parallelism = 1 + prng.below(3);
      else cluster.crashHost(prng.below(cluster.parallelism));
    }
    expect(cluster.runToOutcome().tag, cluster.trace.join('\n')).toBe('finished');
    const committed = format === 'json' ? cluster.rows().sort() : foldChanges(cluster.rows());
    const wanted = linesOf(expected(left, right));
    expect(wanted.length).toBeGreaterThan(20);
    expect(committed).toEqual(wanted);
  });
});
