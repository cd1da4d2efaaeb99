/** What a pipeline of the simulated cluster is, and the tables that most of them have. */
import type { SimulatedCluster } from '../harness/cluster.ts';
import type { SimulatedLogs } from '../harness/cluster/logs.ts';

export type Pipeline = {
  name: string;
  sql: string;
  files: Record<string, string>;
  logs?: SimulatedLogs;
  /** Rows to append while the pipeline runs, in order; each after a pause. */
  appends?: { partition: number; rows: string[] }[];
  /** Without an end of its own, the pipeline is stopped when this many rows are committed. */
  rowsCommitted?: number;
  /** A restart without state changes nothing about the answer. */
  stateless: boolean;
  /** Lines that were committed and what they should be, each in an order of their own. */
  answer(cluster: SimulatedCluster): { committed: string[]; expected: string[] };
  /** Rows that the counters of the last checkpoint have to show as late, summed over operators. */
  late?: number;
  /** Rows that cannot be read or computed. */
  errors?: number;
};

export const table = (name: string, options: string, lag = '3 seconds'): string => `
CREATE TABLE ${name} (ts TIMESTAMP NOT NULL, k TEXT, v BIGINT, WATERMARK FOR ts AS ts - interval '${lag}')
  WITH (${options}, format = 'json', type = 'source');`;
export const fileTable = (name: string, path = name): string =>
  table(name, `connector = 'single_file', path = '${path}'`);
export const sink = (name: string, options = ''): string =>
  `CREATE TABLE ${name} WITH (connector = 'r2', path = '${name}', format = 'json', type = 'sink'${options});`;

export const onlySink = (
  cluster: SimulatedCluster,
  expected: string[],
): { committed: string[]; expected: string[] } => ({
  committed: cluster.rows().sort(),
  expected,
});
