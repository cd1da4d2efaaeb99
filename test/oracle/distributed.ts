/**
 * A program over files in the simulated cluster: at some parallelism, with checkpoints, killed and restored at another.
 * What it committed, added up, is its answer, each row as the line of JSON that stands in the bucket.
 */
import { Prng } from '../../src/base/prng.ts';
import type { Schema } from '../../src/batch/types.ts';
import { batchFromRows, type Row } from '../../src/batch/values.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import { JSON_FORMAT } from '../../src/formats/format.ts';
import { JsonEncoder } from '../../src/formats/json-encoder.ts';
import { planSql } from '../../src/graph/plan-sql.ts';
import { SimulatedCluster } from '../harness/cluster.ts';

export const SINK = `CREATE TABLE out WITH (connector = 'r2', path = 'out', format = 'debezium_json', type = 'sink');`;

export type Life = {
  readonly seed: string;
  readonly parallelism: number;
  /** What it is restored at, once it was killed; null: it runs through. */
  readonly then: number | null;
  readonly batchRows: number;
};

/** @param program  writes into `out`, which is `SINK` */
export function committedLines(
  program: string,
  files: Record<string, string>,
  { seed, parallelism, then, batchRows }: Life,
): string[] {
  const { graph, errors } = planSql(program, DECLARATIONS, { defaultSink: 'preview' });
  if (graph === null) throw new Error(JSON.stringify(errors));
  const prng = new Prng(`life/${seed}`);
  const cluster = new SimulatedCluster({
    seed,
    graph,
    parallelism,
    files,
    checkpointIntervalMs: 60,
    settings: { batchRows },
    readBytesMax: then === null ? 100_000 : 300,
  });
  cluster.startGeneration('created');
  if (then !== null) {
    awaitRunning(cluster);
    // Long enough for some checkpoints, short enough to be in the midst of it.
    cluster.runFor(40 + prng.below(400));
    cluster.parallelism = then;
    if (prng.chance(0.5)) cluster.crashLeader();
    else cluster.crashHost(prng.below(parallelism));
    if (prng.chance(0.4)) {
      awaitRunning(cluster);
      cluster.runFor(prng.below(300));
      cluster.crashHost(prng.below(then));
    }
  }
  const outcome = cluster.runToOutcome(2_000_000, 600_000);
  if (outcome.tag !== 'finished')
    throw new Error(`ended as ${JSON.stringify(outcome)}\n${cluster.trace.slice(-30).join('\n')}`);
  return added(cluster.rows());
}

/** Until rows flow, or everything is over before one can look. */
function awaitRunning(cluster: SimulatedCluster): void {
  for (let looks = 0; looks < 2_000; looks++) {
    if (cluster.outcome !== null || cluster.status().phase === 'running') return;
    cluster.runFor(10);
  }
}

/** What changes leave; a row that is taken back more often than it is added throws. */
export function added(changes: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const change of changes) {
    const [before, after] = partsOf(change);
    if (before !== 'null') counts.set(before, (counts.get(before) ?? 0) - 1);
    if (after !== 'null') counts.set(after, (counts.get(after) ?? 0) + 1);
  }
  for (const [row, count] of counts)
    if (count < 0) throw new Error(`${row} is taken back ${-count} times more than it is added`);
  return [...counts].flatMap(([row, count]) => Array<string>(count).fill(row)).sort();
}

/** The texts of both rows of a change, with every digit. */
function partsOf(change: string): readonly [before: string, after: string] {
  const [start, middle] = ['{"before":', ',"after":'];
  let depth = 0;
  let quoted = false;
  for (let at = start.length; at < change.length; at++) {
    const character = change[at] as string;
    if (quoted && character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '{') depth++;
    else if (!quoted && character === '}') depth--;
    if (depth > 0 || quoted || !change.startsWith(middle, at + 1)) continue;
    const after = change.slice(at + 1 + middle.length, change.lastIndexOf(',"op":'));
    return [change.slice(start.length, at + 1), after];
  }
  throw new Error(`no change: ${change}`);
}

/** Rows as the lines that a sink writes of them. */
export function linesOf(rows: readonly Row[], schema: Schema): string[] {
  const bytes = new JsonEncoder(schema, JSON_FORMAT).encode(batchFromRows(schema, rows));
  const lines = new TextDecoder().decode(bytes).split('\n');
  return lines.filter((line) => line !== '').sort();
}
