/** What a measured engine does, in a process of its own (`main.ts`) or for Thalweg in workerd (`thalweg.ts`). */
import type { InputName } from '../data.ts';
import type { Job } from '../job.ts';

export type Peer = {
  /** Prepares what is not measured: connections, views. Called once for a job. */
  prepare(job: Job, directory: string): Promise<void>;
  /** Runs the job once from the files and drops its rows, or writes them where the job says; the rows of the answer. */
  run(job: Job): Promise<number>;
  /** Runs the job once and writes its rows to `path` as NDJSON. */
  keep(job: Job, path: string): Promise<void>;
};

export type ToPeer =
  | { tag: 'prepare'; job: string; directory: string }
  | { tag: 'run' }
  | { tag: 'keep'; path: string };

export type FromPeer =
  /** `ms`: of the run alone, by the clock of the process. */
  { tag: 'done'; rows: number; ms: number } | { tag: 'failed'; message: string };

/** Rows of input that a rate of this job counts. */
export function rowsRead(job: Job, rows: Readonly<Record<InputName, number>>): number {
  return job.inputs.reduce((sum, input) => sum + rows[input], 0);
}
