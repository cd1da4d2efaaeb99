/** What a benchmark answers. */

export type Measurement = {
  /** What was measured, as it stands in the table. */
  name: string;
  unit: 'rows/s' | 'MB' | 'ms' | 's' | 'operations';
  values: number[];
  /** How, in one sentence; with the size of the input. */
  note: string;
};

export type BenchOptions = {
  /** Rows of the throughput jobs; null: each job's own number. */
  rows: number | null;
  /** Repetitions of a job. */
  runs: number;
  log: (line: string) => void;
};

export type Bench = { summary: string; run: (options: BenchOptions) => Promise<Measurement[]> };
