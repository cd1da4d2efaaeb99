/**
 * DuckDB with one thread. `EXPLAIN ANALYZE` runs the query, computes every column of its answer and drops the rows inside DuckDB;
 * fetched chunk by chunk through its interface for Node they cost up to 1.4 times as much, which is no work of the query.
 */
import type { Job } from '../job.ts';
import { duckdbViews } from '../tables.ts';
import type { Peer } from './engine.ts';
import { importPeer } from './peers.ts';

type Connection = {
  run(sql: string): Promise<{ rowsChanged: number }>;
  runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }>;
};
type Api = {
  DuckDBInstance: {
    create(
      path: string,
      options: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection> }>;
  };
};

/** As much of DuckDB's profile as is read: above the query stand the statement and what drops the rows. */
type Profile = { operator_type?: string; operator_cardinality?: number; children: Profile[] };

/** How many rows the uppermost operator of the query gave. */
export function rowsOf(profile: Profile): number {
  const [below] = profile.children;
  if (below === undefined) throw new Error("DuckDB's profile has no query");
  return profile.operator_type === 'EXPLAIN_ANALYZE'
    ? (below.operator_cardinality ?? Number.NaN)
    : rowsOf(below);
}

const sqlOf = (job: Job): string => {
  if (job.duckdb === undefined) throw new Error(`${job.name} has no query for DuckDB`);
  return job.duckdb;
};

export async function duckdb(): Promise<Peer> {
  const { DuckDBInstance } = await importPeer<Api>('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  return {
    prepare: async (job, directory) => {
      for (const view of duckdbViews(job.inputs, directory)) await connection.run(view);
    },
    run: async (job) => {
      const sql = sqlOf(job);
      if (job.sink !== undefined) {
        const format = job.sink === 'ndjson' ? 'JSON' : 'PARQUET';
        return (await connection.run(`COPY (${sql}) TO '/dev/null' (FORMAT ${format})`))
          .rowsChanged;
      }
      const told = await connection.runAndReadAll(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`);
      return rowsOf(JSON.parse(String(told.getRows()[0]?.at(-1))) as Profile);
    },
    keep: async (job, path) => {
      await connection.run(`COPY (${sqlOf(job)}) TO '${path}' (FORMAT JSON)`);
    },
  };
}
