/**
 * Where the time of a job goes: `node bench/profile.ts JOB [ROWS]`. The hosts of `npm run bench` run in this process, with the
 * same decoder, operators and sinks, and V8's sampling profiler tells the share of each function's own time.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, resolve } from 'node:path';
import { installKernels } from '../src/cli/kernels.ts';
import { workDir } from '../src/cli/project.ts';
import { dataSet } from './data.ts';
import { rowsRead } from './engines/engine.ts';
import { specOf } from './engines/thalweg.ts';
import { JOBS } from './jobs.ts';
import { BenchHost, type Files } from './thalweg/host.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WARM_UP_RUNS = 3;
const RUNS = 5;
const LINES = 30;
const SAMPLE_MICROS = 200;

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples?: number[];
  timeDeltas?: number[];
};

const readPart: Files['read'] = async (path, offset, length) => {
  const file = openSync(join(data.directory, path), 'r');
  const { size } = fstatSync(file);
  const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
  readSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
  return { bytes, size };
};

function ownTimes({ nodes, samples = [], timeDeltas = [] }: Profile): Map<string, number> {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.replace(/^.*\/(?=(src|bench|node_modules)\/)/, '');
      return [id, `${functionName || '(anonymous)'}  ${file}${file ? `:${lineNumber + 1}` : ''}`];
    }),
  );
  const times = new Map<string, number>();
  samples.forEach((id, at) => {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
  });
  return times;
}

const [name = 'tumble', rowsText = '200000'] = process.argv.slice(2);
const job = JOBS.find((candidate) => candidate.name === name);
if (job === undefined) throw new Error(`there is no job ${name}`);
await installKernels();
const data = await dataSet(join(workDir(ROOT), 'bench'), Number(rowsText));
const spec = specOf(job, false);

async function run(): Promise<void> {
  const host = new BenchHost(spec, 0, { read: readPart, write: null }, new Map());
  host.meet([host]);
  await host.deploy(null);
  await host.drain();
  host.stop();
}

for (let at = 0; at < WARM_UP_RUNS; at++) await run();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
await session.post('Profiler.start');
const began = process.cpuUsage();
for (let at = 0; at < RUNS; at++) await run();
const used = process.cpuUsage(began);
const { profile } = await session.post('Profiler.stop');
const times = [...ownTimes(profile as Profile)].toSorted((left, right) => right[1] - left[1]);
const total = times.reduce((sum, [, micros]) => sum + micros, 0);
const rows = rowsRead(job, data.rows) * RUNS;
const seconds = (used.user + used.system) / 1e6;
process.stdout.write(
  `${name}: ${Math.round(rows / seconds).toLocaleString('en-US')} rows for a second of processor time\n`,
);
for (const [what, micros] of times.slice(0, LINES)) {
  const nanos = Math.round((micros * 1000) / rows);
  process.stdout.write(
    `${((micros / total) * 100).toFixed(1).padStart(5)} %  ${String(nanos).padStart(5)} ns/row  ${what}\n`,
  );
}
