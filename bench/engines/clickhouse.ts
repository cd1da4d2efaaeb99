/** ClickHouse as a library (chdb) with one thread. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '../job.ts';
import { clickhouseViews } from '../tables.ts';
import type { Peer } from './engine.ts';
import { importPeer } from './peers.ts';

type Api = { Session: new (folder: string) => { query(sql: string, format?: string): string } };

const SETTINGS = [
  'max_threads = 1',
  'max_parsing_threads = 1',
  'input_format_parallel_parsing = 0',
  "date_time_input_format = 'best_effort'",
  'output_format_json_quote_64bit_integers = 0',
  'output_format_json_quote_decimals = 0',
];

const sqlOf = (job: Job): string => {
  if (job.clickhouse === undefined) throw new Error(`${job.name} has no query for ClickHouse`);
  return job.clickhouse;
};

/** @param folder for its own files: the ones that it makes for itself stay when its process is killed */
export async function clickhouse(folder: string): Promise<Peer> {
  const { Session } = await importPeer<Api>('chdb');
  const session = new Session(join(folder, 'chdb'));
  for (const setting of SETTINGS) session.query(`SET ${setting}`);
  return {
    prepare: async (job, directory) => {
      session.query('CREATE DATABASE IF NOT EXISTS bench ENGINE = Memory');
      session.query('USE bench');
      for (const view of clickhouseViews(job.inputs, directory)) session.query(view);
    },
    /** The number of rows is not told by a query whose rows are dropped; `keep` has shown which they are. */
    run: async (job) => {
      const sql = sqlOf(job);
      if (job.sink === undefined) session.query(`${sql} FORMAT Null`);
      else {
        const format = job.sink === 'ndjson' ? 'JSONEachRow' : 'Parquet';
        session.query(`${sql} INTO OUTFILE '/dev/null' APPEND FORMAT ${format}`);
      }
      return Number.NaN;
    },
    keep: async (job, path) => {
      if (existsSync(path)) rmSync(path);
      session.query(`${sqlOf(job)} INTO OUTFILE '${path}' FORMAT JSONEachRow`);
    },
  };
}
