/** The comparison as Markdown. Results of jobs that were not run this time are kept. */
import type { Compared } from './compare.ts';
import { readable } from './product/statistics.ts';

/** What one run of the benchmark found for one job. */
export type JobRecord = {
  job: string;
  summary: string;
  /** UTC day. */
  date: string;
  command: string;
  machine: string;
  /** What else ran, when the machine was not quiet. */
  remark: string;
  /** Of input. */
  rows: number;
  results: Compared[];
  /** What is no rate of an engine. */
  figures: Figure[];
};

export type Figure = { name: string; value: number; unit: 'ms' | 'ns' | 'MB' | 'MB/s' | 'rows/s' };

const valueText = ({ value, unit }: Figure): string => `${readable(value)} ${unit}`;
export const figureText = (figure: Figure): string => `${figure.name}: ${valueText(figure)}`;

export function mergeRecords(
  earlier: readonly JobRecord[],
  now: readonly JobRecord[],
  order: readonly string[],
): JobRecord[] {
  const place = ({ job }: JobRecord): number => {
    const at = order.indexOf(job);
    return at < 0 ? order.length : at;
  };
  return [
    ...earlier.filter(({ job }) => !now.some((record) => record.job === job)),
    ...now,
  ].toSorted((left, right) => place(left) - place(right));
}

const millions = (rate: number): string =>
  (rate / 1e6).toLocaleString('en-US', { maximumSignificantDigits: 3 });

const megabytes = (bytes: number | null): string =>
  bytes === null ? '' : ` (${Math.round(bytes / 1e6)} MB)`;

const engineOf = (record: JobRecord, engine: string): Compared | undefined =>
  record.results.find((result) => result.engine === engine);

/** How many times as fast as `other` Thalweg was; null when one of them has no figure. */
export function ratio(record: JobRecord, other: string, own = 'thalweg'): number | null {
  const mine = engineOf(record, own)?.rowsPerSecond ?? null;
  const theirs = engineOf(record, other)?.rowsPerSecond ?? null;
  return mine === null || theirs === null ? null : mine / theirs;
}

function cell(result: Compared | undefined, notes: string[]): string {
  if (result === undefined) return '–';
  if (result.rowsPerSecond !== null)
    return `${millions(result.rowsPerSecond)}${megabytes(result.peakRssBytes)}`;
  const failure = result.failure ?? 'not measured';
  const note = `${result.job}, ${result.engine}: ${failure}`;
  notes.push(note);
  return `[${notes.length}]`;
}

function ratioCell(value: number | null): string {
  if (value === null) return '–';
  return `**${value < 0.1 ? readable(value) : value.toFixed(value < 10 ? 2 : 0)}**`;
}

/** Where the figures of these records come from; records of one run are named together. */
function origins(records: readonly JobRecord[]): string[] {
  const runs = new Map<string, string[]>();
  for (const { job, date, command, machine, remark } of records) {
    const run = `\`${command}\`, ${date}, ${machine}.${remark === '' ? '' : ` ${remark}`}`;
    runs.set(run, [...(runs.get(run) ?? []), job]);
  }
  return [...runs].map(([run, jobs]) => `* ${jobs.join(', ')}: ${run}`);
}

export type Column = { engine: string; title: string };

export function comparisonTable(
  records: readonly JobRecord[],
  columns: readonly Column[],
  ratios: readonly Column[],
): string {
  const notes: string[] = [];
  const head = [
    'job',
    'rows',
    ...columns.map(({ title }) => title),
    ...ratios.map(({ title }) => `× ${title}`),
  ];
  const lines = records
    .filter(({ results }) => results.length > 0)
    .map((record) => {
      const cells = [
        `${record.job}: ${record.summary}`,
        record.rows.toLocaleString('en-US'),
        ...columns.map(({ engine }) => cell(engineOf(record, engine), notes)),
        ...ratios.map(({ engine }) => ratioCell(ratio(record, engine))),
      ];
      return `| ${cells.join(' | ')} |`;
    });
  const figures = records.flatMap(({ job, figures: own }) =>
    own.map((figure) => `| ${job} | ${figure.name} | ${valueText(figure)} |`),
  );
  return [
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---|').join('')}`,
    ...lines,
    ...(notes.length === 0 ? [] : ['', ...notes.map((note, at) => `${at + 1}. ${note}`)]),
    ...(figures.length === 0
      ? []
      : ['', '| job | measured | value |', '|---|---|---|', ...figures]),
    '',
    ...origins(records),
  ].join('\n');
}
