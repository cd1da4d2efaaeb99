/** What the project wants of its speed, as ratios within one run, and whether the records have it. */
import { PAUSE_CHANGED, PAUSE_WHOLE, RESTORE } from './own-jobs.ts';
import { NEXMARK } from './nexmark/queries.ts';
import { readable } from './product/statistics.ts';
import { type JobRecord, ratio } from './table.ts';

type Target = {
  what: string;
  wanted: string;
  /** What was measured; null: nothing. */
  measured(records: ReadonlyMap<string, JobRecord>): number | null;
  met(value: number): boolean;
  unit: string;
};

const faster = (job: string, other: string, title: string, least: number, own: string): Target => ({
  what: `${job}${own === 'twins' ? ', TypeScript only' : ''}`,
  wanted: `≥ ${least} × ${title}`,
  measured: (records) => {
    const record = records.get(job);
    return record === undefined ? null : ratio(record, other, own);
  },
  met: (value) => value >= least,
  unit: '×',
});

const figure = (job: string, name: string, wanted: string, unit: string) => ({
  what: name,
  wanted,
  measured: (records: ReadonlyMap<string, JobRecord>): number | null =>
    records.get(job)?.figures.find((found) => found.name.startsWith(name))?.value ?? null,
  unit,
});

const FAST = ['tumble', 'q1', 'q5', 'join'];

/** How many times as long the one takes as the other, over the same rows. */
const HOPS: Target = {
  what: 'hop of 3,600 panes beside one of 60',
  wanted: '< 3 × its time',
  measured: (records) => {
    const rateOf = (job: string): number | undefined =>
      records.get(job)?.results.find(({ engine }) => engine === 'thalweg')?.rowsPerSecond ??
      undefined;
    const [few, many] = [rateOf('hop-60'), rateOf('hop-3600')];
    return few === undefined || many === undefined ? null : few / many;
  },
  met: (value) => value < 3,
  unit: '×',
};

export const TARGETS: readonly Target[] = [
  ...FAST.map((job) => faster(job, 'duckdb', 'DuckDB', 2.5, 'thalweg')),
  ...NEXMARK.filter(({ name }) => !FAST.includes(name)).map(({ name }) =>
    faster(name, 'duckdb', 'DuckDB', 1, 'thalweg'),
  ),
  ...['tumble', 'q1'].map((job) => faster(job, 'duckdb', 'DuckDB', 1, 'twins')),
  ...['updating', 'join'].map((job) => faster(job, 'd2mini', 'd2mini', 10, 'thalweg')),
  { ...figure('state', PAUSE_WHOLE, '< 20 ms', 'ms'), met: (value) => value < 20 },
  { ...figure('state', PAUSE_CHANGED, '< 20 ms', 'ms'), met: (value) => value < 20 },
  { ...figure('state', RESTORE, '≥ 100 MB/s', 'MB/s'), met: (value) => value >= 100 },
  HOPS,
];

/** @param all also those that nothing was measured for */
export function targetTable(records: readonly JobRecord[], all: boolean): string {
  const byJob = new Map(records.map((record) => [record.job, record]));
  const lines = TARGETS.flatMap(({ what, wanted, measured, met, unit }) => {
    const value = measured(byJob);
    if (value === null) return all ? [`| ${what} | ${wanted} | – | not measured |`] : [];
    const verdict = met(value) ? 'yes' : '**no**';
    return [`| ${what} | ${wanted} | ${readable(value)} ${unit} | ${verdict} |`];
  });
  if (lines.length === 0) return '';
  return ['| target | wanted | measured | met |', '|---|---|---|---|', ...lines].join('\n');
}
