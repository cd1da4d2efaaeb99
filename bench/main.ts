/**
 * `npm run bench`: Thalweg in workerd, DuckDB, ClickHouse, d2mini and plain Node on the same seeded data, one core each, in
 * turns. Prints the table and keeps it in docs/benchmarks.md. Ends with 1 when engines disagree about an answer, or one fails
 * at a query that it has.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { workDir } from '../src/cli/project.ts';
import { withSection } from '../scripts/docs.ts';
import { canPin } from './child.ts';
import { compare, NOT_SUPPORTED } from './compare.ts';
import { dataSet, type DataSet } from './data.ts';
import { type Engine, ENGINES, type Places } from './engines/engines.ts';
import { installPeers } from './engines/peers.ts';
import { rowsRead } from './engines/engine.ts';
import { JOBS } from './jobs.ts';
import { removeWithUs, sweep } from './leftovers.ts';
import {
  chosen,
  mustBeWritable,
  parsed,
  refuseSwallowed,
  UsageError,
  wholeNumber,
} from './options.ts';
import { OWN_JOBS } from './own-jobs.ts';
import { machine } from './product/report.ts';
import { targetTable } from './targets.ts';
import { comparisonTable, type JobRecord, mergeRecords } from './table.ts';

const ROOT = resolve(import.meta.dirname, '..');
const DOCUMENT = join(ROOT, 'docs/benchmarks.md');
const RESULTS = join(ROOT, 'bench/results.json');
const ROWS = 1_000_000;
const RUNS = 5;
/** The page takes runs of so many bids or more. */
const PAGE_ROWS = 100_000;
/** One-minute load above which the result says that the machine was busy. */
const QUIET_LOAD = 0.5;

const JOB_NAMES = [...JOBS, ...OWN_JOBS].map(({ name }) => name);
/** How Thalweg itself is run. */
const OWN: ReadonlySet<string> = new Set(['thalweg', 'disk', 'twins']);
const ENGINE_NAMES = ENGINES.map(({ name }) => name);

const USAGE = `npm run bench -- [--jobs a,b] [--engines a,b] [--rows N] [--runs N] [--json FILE] [--dry]
  --jobs a,b     default: all of them
  --engines a,b  of ${ENGINE_NAMES.join(', ')}; default: all of them
  --rows N       bids in the data (default ${ROWS.toLocaleString('en-US')}); 200000 is quick
  --runs N       measured runs of each engine, median taken (default ${RUNS})
  --json FILE    write [{job, engine, rowsPerSecond, peakRssBytes, runs, …}] there
  --dry          leave docs/benchmarks.md as it is; fewer than ${PAGE_ROWS.toLocaleString('en-US')} bids do so as well
jobs:
${[...JOBS, ...OWN_JOBS].map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`).join('\n')}`;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

type Options = {
  jobs: readonly string[];
  engines: readonly Engine[];
  rows: number;
  runs: number;
  json: string | null;
  dry: boolean;
};

/** Whether one of the engines has something to do: jobs of Thalweg alone are its own. */
function does(name: string, engines: readonly Engine[]): boolean {
  const job = JOBS.find((candidate) => candidate.name === name);
  if (job === undefined) return engines.some((engine) => engine.name === 'thalweg');
  return engines.some((engine) => engine.does(job));
}

function optionsOf(args: readonly string[]): Options | null {
  refuseSwallowed(['engines', 'rows', 'runs', 'dry'], 'bench', process.env);
  const declared = {
    jobs: { type: 'string' },
    engines: { type: 'string' },
    rows: { type: 'string', default: String(ROWS) },
    runs: { type: 'string', default: String(RUNS) },
    json: { type: 'string' },
    dry: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  const values = parsed(args, declared, USAGE);
  if (values.help) return null;
  const names = chosen('engine', values.engines, ENGINE_NAMES, USAGE);
  const engines = ENGINES.filter(({ name }) => names.includes(name));
  const wanted = chosen('job', values.jobs, JOB_NAMES, USAGE);
  const jobs = wanted.filter((job) => does(job, engines));
  const idle = wanted.filter((job) => !jobs.includes(job));
  if (jobs.length === 0) throw new UsageError(`${names.join(', ')}: no job of ${idle.join(', ')}`);
  if (idle.length > 0) say(`left out, for no chosen engine does them: ${idle.join(', ')}`);
  if (values.json !== undefined) mustBeWritable(values.json);
  if (!values.dry) mustBeWritable(DOCUMENT);
  return {
    jobs,
    engines,
    rows: wholeNumber('rows', values.rows, USAGE),
    runs: wholeNumber('runs', values.runs, USAGE),
    json: values.json ?? null,
    dry: values.dry,
  };
}

/** The engines that can be had here; the others are told with the reason. */
function available(engines: readonly Engine[]): Engine[] {
  const names = engines.flatMap((engine) => (engine.package === null ? [] : [engine.package]));
  const { missing, reason } = installPeers(names, say);
  if (missing.length > 0) say(`left out: ${missing.join(', ')} cannot be installed: ${reason}`);
  return engines.filter((engine) => engine.package === null || !missing.includes(engine.package));
}

async function measure(
  name: string,
  options: Options,
  engines: readonly Engine[],
  data: DataSet,
  places: Places,
): Promise<Pick<JobRecord, 'summary' | 'rows' | 'results' | 'figures'>> {
  const own = OWN_JOBS.find((job) => job.name === name);
  if (own !== undefined) {
    const found = await own.run(data, places, { runs: options.runs, log: say });
    return { summary: own.summary, ...found };
  }
  const job = JOBS.find((candidate) => candidate.name === name);
  if (job === undefined) throw new Error(`there is no job ${name}`);
  const able = engines.filter((engine) => engine.does(job));
  const results = await compare(job, able, data, places, { runs: options.runs, log: say });
  return { summary: job.summary, rows: rowsRead(job, data.rows), results, figures: [] };
}

function tableOf(records: readonly JobRecord[], allTargets: boolean): string {
  const columns = ENGINES.map(({ name, title }) => ({ engine: name, title }));
  const peers = columns.filter(({ engine }) => !OWN.has(engine));
  return `${comparisonTable(records, columns, peers)}\n\n${targetTable(records, allTargets)}`;
}

/** Whole or not at all, whoever reads and whenever we are stopped. */
function replaceFile(path: string, text: string): void {
  const draft = removeWithUs(`${path}.${process.pid}`);
  writeFileSync(draft, text);
  renameSync(draft, path);
}

function writeDocument(records: readonly JobRecord[]): void {
  const earlier = existsSync(RESULTS)
    ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as JobRecord[])
    : [];
  const merged = mergeRecords(earlier, records, JOB_NAMES);
  const text = withSection(readFileSync(DOCUMENT, 'utf8'), 'engines', tableOf(merged, true));
  if (text === undefined) throw new Error(`${DOCUMENT} has lost its markers`);
  replaceFile(RESULTS, `${JSON.stringify(merged, null, 1)}\n`);
  replaceFile(DOCUMENT, text);
}

/** What the page keeps: figures of Thalweg, of so many rows that what it costs to begin does not decide them. */
function keepOnPage(records: readonly JobRecord[], rows: number): void {
  if (rows < PAGE_ROWS) {
    say(
      `docs/benchmarks.md is left as it is: it takes runs of ${PAGE_ROWS.toLocaleString('en-US')} bids or more`,
    );
    return;
  }
  const kept = records.filter((record) =>
    record.results.some(({ engine }) => engine === 'thalweg'),
  );
  const other = records.filter((record) => !kept.includes(record));
  if (other.length > 0)
    say(
      `not kept in docs/benchmarks.md, for Thalweg was not measured: ${other.map(({ job }) => job).join(', ')}`,
    );
  if (kept.length > 0) writeDocument(kept);
}

/** What else a reader of the figures must know. */
function remarkOn(load: number, others: readonly number[]): string {
  return [
    ...(load > QUIET_LOAD
      ? [`Other work ran on the machine (load ${load.toFixed(1)} before the start).`]
      : []),
    ...(others.length > 0 ? ['Another run of the benchmark shared the core.'] : []),
    ...(canPin() ? [] : ['There is no `taskset` here: the engines were not held to one core.']),
  ].join(' ');
}

/** Whether all engines did what they can, and agreed. */
async function main(options: Options): Promise<boolean> {
  const work = join(workDir(ROOT), 'bench');
  mkdirSync(work, { recursive: true });
  const others = sweep([work, join(work, 'build')]);
  if (others.length > 0)
    say(`another run is under way (process ${others.join(', ')}): both disturb each other`);
  if (!canPin()) say('there is no taskset here: engines are not held to one core');
  const engines = available(options.engines);
  const data = await dataSet(work, options.rows);
  const places: Places = { root: ROOT, work, data: data.directory };
  const written = process.argv.slice(2).filter((argument) => argument !== '--dry');
  const command = `npm run bench${written.length === 0 ? '' : ` -- ${written.join(' ')}`}`;
  const remark = remarkOn(loadavg()[0] ?? 0, others);
  const date = new Date().toISOString().slice(0, 10);
  const records: JobRecord[] = [];
  for (const job of options.jobs) {
    const found = await measure(job, options, engines, data, places);
    records.push({ job, ...found, date, command, machine: machine(), remark });
  }
  process.stdout.write(`${tableOf(records, false)}\n`);
  const results = records.flatMap((record) => record.results);
  if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(results, null, 1)}\n`);
  if (!options.dry) keepOnPage(records, options.rows);
  const wrong = results.filter(
    ({ failure }) => failure !== null && !failure.startsWith(NOT_SUPPORTED),
  );
  for (const { job, engine, failure } of wrong) say(`${job}, ${engine}: ${failure}`);
  return wrong.length === 0;
}

try {
  const options = optionsOf(process.argv.slice(2));
  if (options === null) process.stdout.write(`${USAGE}\n`);
  else if (!(await main(options))) process.exitCode = 1;
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
