/** DuckDB with one thread. Rows are fetched chunk by chunk and dropped: no value of them becomes one of JavaScript. */
import type { Job } from '../job.ts';
import { duckdbViews } from '../tables.ts';
import type { Peer } from './engine.ts';
import { importPeer } from './peers.ts';

type Chunk = { rowCount: number };
type Connection = {
  run(sql: string): Promise<{ rowsChanged: number }>;
  stream(sql: string): Promise<{ fetchChunk(): Promise<Chunk | null> }>;
};
type Api = {
  DuckDBInstance: {
    create(
      path: string,
      options: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection> }>;
  };
};

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
      const result = await connection.stream(sql);
      let rows = 0;
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return rows;
        rows += chunk.rowCount;
      }
    },
    keep: async (job, path) => {
      await connection.run(`COPY (${sqlOf(job)}) TO '${path}' (FORMAT JSON)`);
    },
  };
}
