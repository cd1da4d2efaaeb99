/**
 * Where the time of a job goes: `npx node bench/profile.ts JOB [--rows N] [--hosts N] [--twins] [--disk]` runs it in workerd as
 * `npm run bench` does, and V8's sampling profiler tells the share of each function's own time.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, resolve } from 'node:path';
import { workDir } from '../src/cli/project.ts';
import { processorNanos } from './child.ts';
import { dataSet } from './data.ts';
import { rowsRead } from './engines/engine.ts';
import { runOnce, specOf } from './engines/thalweg.ts';
import type { Job } from './job.ts';
import { JOBS } from './jobs.ts';
import { ownFolder } from './leftovers.ts';
import { parsed, UsageError, wholeNumber } from './options.ts';
import { startWorkerd } from './thalweg/workerd.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WARM_UP_RUNS = 3;
const RUNS = 5;
const LINES = 35;
const SAMPLE_MICROS = 200;
const USAGE = `npx node bench/profile.ts [JOB] [--rows N] [--hosts N] [--twins] [--disk]
jobs: ${JOBS.map(({ name }) => name).join(', ')}`;

type CallFrame = { functionName: string; url: string; lineNumber: number; columnNumber: number };
type Profile = {
  nodes: { id: number; callFrame: CallFrame }[];
  samples?: number[];
  timeDeltas?: number[];
};

/** Calls of the inspector's protocol, answered in any order. */
async function inspector(url: string): Promise<<T>(method: string, params?: object) => Promise<T>> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: unknown) => void>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  await new Promise<void>((open, failed) => {
    socket.addEventListener('open', () => open());
    socket.addEventListener('error', () => failed(new Error(`no inspector at ${url}`)));
  });
  return async <T>(method: string, params: object = {}): Promise<T> => {
    const id = ++calls;
    return await new Promise<T>((answered) => {
      waiting.set(id, (result) => answered(result as T));
      socket.send(JSON.stringify({ id, method, params }));
    });
  };
}

/** Where in the sources a function of the bundle begins. */
function placeOf({ url, lineNumber, columnNumber }: CallFrame, map: SourceMap): string {
  if (!url.endsWith('.js')) return '';
  const entry = map.findEntry(lineNumber, columnNumber);
  if (!('originalSource' in entry)) return '';
  return `  ${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
}

function ownTimes({ nodes, samples = [], timeDeltas = [] }: Profile): Map<string, number> {
  const path = join(work, 'build/worker.js.map');
  const map = new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload);
  const names = new Map(
    nodes.map(({ id, callFrame }) => [
      id,
      `${callFrame.functionName || '(anonymous)'}${placeOf(callFrame, map)}`,
    ]),
  );
  const times = new Map<string, number>();
  samples.forEach((id, at) => {
    const what = names.get(id) ?? '';
    times.set(what, (times.get(what) ?? 0) + (timeDeltas[at] ?? 0));
  });
  return times;
}

function choice(): { job: Job; rows: number; hosts: number; twins: boolean; disk: boolean } {
  try {
    const [name = 'tumble', ...rest] = process.argv.slice(2);
    const named = name.startsWith('-') ? 'tumble' : name;
    const declared = {
      rows: { type: 'string', default: '200000' },
      hosts: { type: 'string', default: '1' },
      twins: { type: 'boolean', default: false },
      disk: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    } as const;
    const values = parsed(named === name ? rest : [name, ...rest], declared, USAGE);
    const job = JOBS.find((candidate) => candidate.name === named);
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit();
    }
    if (job === undefined) throw new UsageError(`there is no job "${named}"\n${USAGE}`);
    const rows = wholeNumber('rows', values.rows, USAGE);
    return { ...values, job, rows, hosts: wholeNumber('hosts', values.hosts, USAGE) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const { job, ...values } = choice();
const work = join(workDir(ROOT), 'bench');
mkdirSync(work, { recursive: true });
const data = await dataSet(work, values.rows);
const out = join(ownFolder(work), 'profile');
const workerd = await startWorkerd(ROOT, work, data.directory, out, true);
try {
  const spec = specOf(job, false, values.hosts);
  const options = { twins: values.twins, keep: false, inMemory: !values.disk };
  for (let at = 0; at < WARM_UP_RUNS; at++) await runOnce(workerd, spec, options);
  const call = await inspector(workerd.inspectorUrl ?? '');
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await call('Profiler.start');
  const before = processorNanos(workerd.pid);
  for (let at = 0; at < RUNS; at++) await runOnce(workerd, spec, options);
  const seconds = (processorNanos(workerd.pid) - before) / 1e9;
  const { profile } = await call<{ profile: Profile }>('Profiler.stop');
  const times = [...ownTimes(profile)].toSorted((left, right) => right[1] - left[1]);
  const rows = rowsRead(job, data.rows) * RUNS;
  const rate = Math.round(rows / seconds).toLocaleString('en-US');
  const lines = times.slice(0, LINES).map(([what, micros]) => {
    const nanos = Math.round((micros * 1000) / rows);
    return `${String(nanos).padStart(6)} ns a row  ${what}\n`;
  });
  process.stdout.write(
    `${job.name}: ${rate} rows for a second of the processor\n${lines.join('')}`,
  );
} finally {
  await workerd.stop();
  rmSync(out, { recursive: true });
}
process.exit();
