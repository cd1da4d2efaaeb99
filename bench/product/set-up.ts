/**
 * What a newcomer waits for: a clone, `npm install` from an empty cache, `npm run dev` until it says its addresses, the
 * first output row. Needs git and the registry that npm is set up for.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { followOutput } from '../../examples/output-stream.ts';
import { ApiClient, type Fetch } from '../../src/cli/api-client.ts';
import type { Bench, BenchOptions, Measurement } from './measurement.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

const QUERY = `
CREATE TABLE clicks (page TEXT NOT NULL) WITH (connector = 'http', format = 'json', type = 'source');
SELECT page FROM clicks;
`;

/** The process and the address it announced. */
async function startDev(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn('npm', ['run', 'dev'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  const url = await new Promise<string>((found, failed) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const match = /API\s+(http\S+)\/api\/v1\n[^]*State\s+\S+\n/.exec(text);
      if (match !== null) found(match[1] as string);
    });
    child.once('exit', () => failed(new Error(`npm run dev ended: ${text}`)));
  });
  return { child, url };
}

async function stopDev(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  await ended;
}

/** From the request to create a pipeline until the row that was posted to it is seen. */
async function firstRow(url: string): Promise<number> {
  const fetchPath: Fetch = (path, init) => fetch(`${url}${path}`, init);
  const api = new ApiClient(fetchPath);
  const began = performance.now();
  const pipeline = await api.create({ name: 'first', query: QUERY, parallelism: 1 });
  const job = await api.job(pipeline.id);
  const watching = new AbortController();
  let seenAt = Number.NaN;
  const watch = followOutput(fetchPath, pipeline.id, job.id, watching.signal, () => {
    if (Number.isNaN(seenAt)) seenAt = performance.now();
  });
  const response = await fetchPath(`/api/v1/pipelines/${pipeline.id}/tables/clicks/rows`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: '{"page":"/"}',
  });
  if (!response.ok) throw new Error(`the row was not taken: ${await response.text()}`);
  await response.text();
  for (let waited = 0; Number.isNaN(seenAt); waited += 5) {
    if (waited > 60_000) throw new Error('the row never came out');
    await pause(5);
  }
  watching.abort();
  await watch;
  return seenAt - began;
}

async function run({ runs, log }: BenchOptions): Promise<Measurement[]> {
  const install: number[] = [];
  const firstReady: number[] = [];
  const nextReady: number[] = [];
  const row: number[] = [];
  for (let index = 0; index < runs; index++) {
    const folder = await mkdtemp(join(tmpdir(), 'thalweg-set-up-'));
    const clone = join(folder, 'thalweg');
    try {
      await execute('git', ['clone', '--quiet', ROOT, clone]);
      let began = performance.now();
      await execute(
        'npm',
        ['install', '--cache', join(folder, 'cache'), '--no-audit', '--no-fund'],
        { cwd: clone, maxBuffer: 64 << 20 },
      );
      install.push((performance.now() - began) / 1000);
      for (const times of [firstReady, nextReady]) {
        began = performance.now();
        const { child, url } = await startDev(clone);
        times.push((performance.now() - began) / 1000);
        if (times === firstReady) row.push(await firstRow(url));
        await stopDev(child);
      }
      log(
        `run ${index + 1}: install ${install.at(-1)?.toFixed(1)} s, ready ${firstReady.at(-1)?.toFixed(2)} s, again ${nextReady.at(-1)?.toFixed(2)} s, first row ${Math.round(row.at(-1) ?? 0)} ms`,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return [
    {
      name: '`npm install`, empty cache',
      unit: 's',
      values: install,
      note: 'in a fresh clone; depends on the network',
    },
    {
      name: '`npm run dev` until ready, first time',
      unit: 's',
      values: firstReady,
      note: 'builds the Worker and creates the state',
    },
    {
      name: '`npm run dev` until ready, later',
      unit: 's',
      values: nextReady,
      note: 'on the state of the first time',
    },
    {
      name: 'create a pipeline, post a row → its output row',
      unit: 'ms',
      values: row,
      note: 'the first pipeline of a fresh state',
    },
  ];
}

export const setUp: Bench = { summary: 'cold npm install, npm run dev, first output row', run };
