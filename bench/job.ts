/** What `npm run bench` compares engines on: one query over the data set, in every engine's words. */
import type { InputName } from './data.ts';

export type Job = {
  name: string;
  /** In a few words, for the table. */
  summary: string;
  /** The files that the query reads; the rows of all of them are what a rate counts. */
  inputs: readonly InputName[];
  /** The last statement is the query; views may precede it. */
  thalweg: string;
  duckdb?: string;
  clickhouse?: string;
  /** Node and d2mini have programs of the job's name (engines/row-programs.ts, engines/d2mini-programs.ts). */
  programs?: readonly ('node' | 'node-lines' | 'd2mini')[];
  /** Where every engine writes the answer to while it is measured; without it rows are dropped. */
  sink?: 'ndjson' | 'parquet';
  /** Also run with the kernels' twins in TypeScript. */
  twins?: true;
};
