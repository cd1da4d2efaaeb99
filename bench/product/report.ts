/** The results as a document. Results of jobs that were not run this time are kept. */
import { cpus, totalmem } from 'node:os';
import type { Measurement } from './measurement.ts';
import { readable, summarise } from './statistics.ts';

export type JobResult = {
  job: string;
  /** UTC day. */
  date: string;
  command: string;
  machine: string;
  /** What else ran, when the machine was not quiet. */
  remark: string;
  measurements: Measurement[];
};

/** Processors, memory, system and Node of this machine. */
export function machine(): string {
  const processors = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, ${memoryGb} GB, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}

export function mergeResults(
  earlier: readonly JobResult[],
  now: readonly JobResult[],
): JobResult[] {
  return [
    ...earlier.filter(({ job }) => !now.some((result) => result.job === job)),
    ...now,
  ].toSorted((left, right) => (left.job < right.job ? -1 : 1));
}

/** The tables between the markers of docs/benchmarks.md. */
export function resultTables(results: readonly JobResult[]): string {
  return results
    .map(({ job, date, command, machine: where, remark, measurements }) =>
      [
        `### ${job}`,
        '',
        `\`${command}\`, ${date}, ${where}.${remark === '' ? '' : ` ${remark}`}`,
        '',
        '| measured | median | least | most | runs | how |',
        '|---|---|---|---|---|---|',
        ...measurements.map(({ name, unit, values, note }) => {
          const { median, min, max, runs } = summarise(values);
          return `| ${name} | **${readable(median)} ${unit}** | ${readable(min)} | ${readable(max)} | ${runs} | ${note} |`;
        }),
      ].join('\n'),
    )
    .join('\n\n');
}
