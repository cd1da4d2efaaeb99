/** `npm run bench:job`: measures the main job on this machine and writes what it finds into docs/benchmarks.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { withSection } from '../../scripts/docs.ts';
import { checkpoint } from './checkpoint.ts';
import { httpTumbleR2 } from './http-tumble-r2.ts';
import { latency } from './latency.ts';
import { lineage } from './lineage.ts';
import type { Bench } from './measurement.ts';
import { memory } from './memory.ts';
import { nexmarkTumbleBlackhole } from './nexmark-tumble-blackhole.ts';
import { recovery } from './recovery.ts';
import { type JobResult, machine, mergeResults, resultTables } from './report.ts';
import { setUp } from './set-up.ts';
import { chosen, mustBeWritable, parsed, refuseSwallowed, wholeNumber } from '../options.ts';
import { readable, summarise } from './statistics.ts';

const JOBS: Record<string, Bench & { runs: number }> = {
  'http-tumble-r2': { ...httpTumbleR2, runs: 3 },
  'nexmark-tumble-blackhole': { ...nexmarkTumbleBlackhole, runs: 3 },
  recovery: { ...recovery, runs: 10 },
  checkpoint: { ...checkpoint, runs: 10 },
  lineage: { ...lineage, runs: 10 },
  latency: { ...latency, runs: 3 },
  memory: { ...memory, runs: 1 },
  'set-up': { ...setUp, runs: 1 },
};

const ROOT = resolve(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/benchmarks.md');
const RESULTS = join(ROOT, 'bench/product/results.json');
/** One-minute load above which the result says that the machine was busy. */
const QUIET_LOAD = 0.5;

const USAGE = `npm run bench:job -- [--jobs a,b] [--rows N] [--runs N] [--json FILE] [--dry]
  --jobs a,b   default: all of them, one after another
  --rows N     rows of the throughput jobs (default: each job's own)
  --runs N     repetitions (default: each job's own)
  --json FILE  write the raw measurements there as well
  --dry        leave docs/benchmarks.md as it is
jobs:
${Object.entries(JOBS)
  .map(
    ([name, { summary, runs }]) =>
      `  ${name.padEnd(26)}${summary} (${runs} run${runs === 1 ? '' : 's'})`,
  )
  .join('\n')}`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function measure(job: string, rows: number | null, runs: number | null): Promise<JobResult> {
  const bench = JOBS[job] as Bench & { runs: number };
  const load = loadavg()[0] ?? 0;
  say(`== ${job}`);
  const measurements = await bench.run({ rows, runs: runs ?? bench.runs, log: say });
  for (const { name, unit, values } of measurements)
    say(`${name}: ${readable(summarise(values).median)} ${unit}`);
  const written = process.argv.slice(2).filter((argument) => argument !== '--dry');
  return {
    job,
    date: new Date().toISOString().slice(0, 10),
    command: `npm run bench:job${written.length === 0 ? '' : ` -- ${written.join(' ')}`}`,
    machine: machine(),
    remark:
      load > QUIET_LOAD
        ? `Other work ran on the machine (load ${load.toFixed(1)} before the start).`
        : '',
    measurements,
  };
}

function writeDocument(results: readonly JobResult[]): void {
  const earlier = existsSync(RESULTS)
    ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as JobResult[])
    : [];
  const merged = mergeResults(earlier, results);
  const text = withSection(readFileSync(DOCUMENT, 'utf8'), 'results', resultTables(merged));
  if (text === undefined) throw new Error(`${DOCUMENT} has lost its markers`);
  writeFileSync(RESULTS, `${JSON.stringify(merged, null, 1)}\n`);
  writeFileSync(DOCUMENT, text);
}

async function main(): Promise<void> {
  refuseSwallowed(['rows', 'runs', 'dry'], 'bench:job', process.env);
  const declared = {
    jobs: { type: 'string' },
    rows: { type: 'string' },
    runs: { type: 'string' },
    json: { type: 'string' },
    dry: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  const values = parsed(process.argv.slice(2), declared, USAGE);
  if (values.help) return void process.stdout.write(`${USAGE}\n`);
  const rows = values.rows === undefined ? null : wholeNumber('rows', values.rows, USAGE);
  const runs = values.runs === undefined ? null : wholeNumber('runs', values.runs, USAGE);
  const jobs = chosen('job', values.jobs, Object.keys(JOBS), USAGE);
  if (values.json !== undefined) mustBeWritable(values.json);
  if (!values.dry) mustBeWritable(DOCUMENT);
  const results: JobResult[] = [];
  for (const job of jobs) results.push(await measure(job, rows, runs));
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
  if (!values.dry) writeDocument(results);
}

try {
  await main();
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
