/** What has to hold of a finished run, seen from its store and its output alone. */
import type { PhysicalGraph } from '../../src/graph/graph.ts';
import type { OperatorCounters } from '../../src/protocol/messages.ts';
import type { SimulatedCluster } from '../harness/cluster.ts';
import type { Pipeline } from './pipelines.ts';

/** Counters of the newest checkpoint, summed over subtasks. */
export function lastCounters(cluster: SimulatedCluster): Map<string, OperatorCounters> {
  const { canonical } = cluster.world.bucket;
  const manifest = canonical.get(canonical.size);
  const sums = new Map<string, OperatorCounters>();
  for (const { operator, table, value } of manifest?.broadcast ?? []) {
    if (table !== 'counters') continue;
    const counters = value as OperatorCounters;
    const sum = sums.get(operator);
    if (sum === undefined) sums.set(operator, { ...counters });
    else
      for (const name of Object.keys(sum) as (keyof OperatorCounters)[])
        sum[name] += counters[name];
  }
  return sums;
}

const CONSERVING = new Set(['source', 'filter', 'project', 'union']);

/** Rows in = rows out, filtered, wrong; what leaves an operator arrives at the next. Messages of what does not hold. */
export function unbalanced(
  graph: PhysicalGraph,
  counters: Map<string, OperatorCounters>,
): string[] {
  const problems: string[] = [];
  for (const { id, spec } of graph.operators) {
    const own = counters.get(id);
    if (own === undefined) continue;
    for (const [name, count] of Object.entries(own))
      if (!Number.isSafeInteger(count) || count < 0) problems.push(`${id}: ${name} is ${count}`);
    if (CONSERVING.has(spec.tag) && own.rowsIn !== own.rowsOut + own.filtered + own.errors)
      problems.push(`${id}: ${JSON.stringify(own)} does not add up`);
    const edges = graph.edges.filter((edge) => edge.to === id);
    const sent = edges.reduce((sum, { from }) => sum + (counters.get(from)?.rowsOut ?? 0), 0);
    if (edges.length > 0 && sent !== own.rowsIn)
      problems.push(`${id} took ${own.rowsIn} of ${sent} rows`);
  }
  return problems;
}

/**
 * Throws what is wrong with the output, the counters and the lineage.
 * @param reset the pipeline was restarted without state: its counters began anew
 */
export function checkRun(cluster: SimulatedCluster, pipeline: Pipeline, reset: boolean): void {
  cluster.world.bucket.check();
  const { committed, expected } = pipeline.answer(cluster);
  if (JSON.stringify(committed) !== JSON.stringify(expected))
    throw new Error(`${pipeline.name}: ${difference(committed, expected)}`);
  const counters = lastCounters(cluster);
  const problems = unbalanced(cluster.world.options.graph, counters);
  const sum = (name: 'late' | 'errors'): number =>
    [...counters.values()].reduce((total, each) => total + each[name], 0);
  for (const name of ['late', 'errors'] as const) {
    const wanted = pipeline[name];
    if (wanted !== undefined && !reset && sum(name) !== wanted)
      problems.push(`${sum(name)} rows count as ${name}, not ${wanted}`);
  }
  if (problems.length > 0) throw new Error(`${pipeline.name}: ${problems.join('; ')}`);
}

function difference(committed: readonly string[], expected: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const line of expected) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of committed) counts.set(line, (counts.get(line) ?? 0) - 1);
  const off = [...counts].filter(([, count]) => count !== 0);
  const shown = off
    .slice(0, 8)
    .map(
      ([line, count]) =>
        `${count > 0 ? 'missing' : 'too many'} ${Math.abs(count)}: ${line.slice(0, 120)}`,
    );
  return `${committed.length} rows instead of ${expected.length}, ${off.length} differ\n${shown.join('\n')}`;
}
