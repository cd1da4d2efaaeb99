/** The engines as the runner sees them: started for one job, run, stopped. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawnPinned } from '../child.ts';
import { type Digest, digestOf } from '../digest.ts';
import type { Job } from '../job.ts';
import { ownFolder } from '../leftovers.ts';
import { startWorkerd } from '../thalweg/workerd.ts';
import type { FromPeer, ToPeer } from './engine.ts';
import type { PeerPackage } from './peers.ts';
import { clearKept, keptFiles, runOnce, specOf } from './thalweg.ts';

export type RunningEngine = {
  /** Milliseconds; rows of the answer as the engine tells them, NaN where it does not. */
  run(): Promise<{ ms: number; rows: number }>;
  answer(): Promise<Digest>;
  readonly pid: number;
  stop(): Promise<void>;
};

export type Places = { root: string; work: string; data: string };

export type Engine = {
  name: string;
  /** How it stands in the table. */
  title: string;
  package: PeerPackage | null;
  /** Whether the job is one for it. */
  does(job: Job): boolean;
  /** Throws NotSupported when it cannot. */
  start(job: Job, places: Places): Promise<RunningEngine>;
};

const CHILD = resolve(import.meta.dirname, 'main.ts');

async function ask(child: ChildProcess, message: ToPeer): Promise<FromPeer & { tag: 'done' }> {
  return await new Promise((done, failed) => {
    const onExit = (code: number | null): void => failed(new Error(`the process ended: ${code}`));
    child.once('exit', onExit);
    child.once('message', (answer: FromPeer) => {
      child.off('exit', onExit);
      if (answer.tag === 'done') done(answer);
      else failed(new Error(answer.message));
    });
    child.send(message);
  });
}

async function startPeer(name: string, job: Job, places: Places): Promise<RunningEngine> {
  const own = join(ownFolder(places.work), name);
  mkdirSync(own, { recursive: true });
  const child = spawnPinned(process.execPath, ['--no-warnings', CHILD, name, own], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    rmSync(own, { recursive: true, force: true });
  };
  try {
    await ask(child, { tag: 'prepare', job: job.name, directory: places.data });
  } catch (error) {
    // Its channel would keep this process from ending.
    if (child.exitCode === null) await stop();
    throw error;
  }
  const path = join(own, 'answer.ndjson');
  return {
    run: async () => await ask(child, { tag: 'run' }),
    answer: async () => {
      await ask(child, { tag: 'keep', path });
      const digest = await digestOf([path]);
      rmSync(path);
      return digest;
    },
    pid: child.pid as number,
    stop,
  };
}

async function startThalweg(
  name: string,
  job: Job,
  places: Places,
  how: { twins: boolean; inMemory: boolean },
): Promise<RunningEngine> {
  const spec = specOf(job, false);
  const keptSpec = specOf(job, true);
  const out = join(ownFolder(places.work), name);
  mkdirSync(out, { recursive: true });
  const workerd = await startWorkerd(places.root, places.work, places.data, out);
  return {
    run: async () => await runOnce(workerd, spec, { ...how, keep: false }),
    answer: async () => {
      clearKept(out);
      await runOnce(workerd, keptSpec, { ...how, keep: true });
      const digest = await digestOf(keptFiles(out));
      clearKept(out);
      return digest;
    },
    pid: workerd.pid,
    stop: async () => {
      await workerd.stop();
      rmSync(out, { recursive: true });
    },
  };
}

const peer = (
  name: string,
  title: string,
  of: PeerPackage | null,
  does: (job: Job) => boolean,
): Engine => ({
  name,
  title,
  package: of,
  does,
  start: async (job, places) => await startPeer(name, job, places),
});

const own = (
  name: string,
  title: string,
  does: (job: Job) => boolean,
  how: { twins: boolean; inMemory: boolean },
): Engine => ({
  name,
  title,
  package: null,
  does,
  start: async (job, places) => await startThalweg(name, job, places, how),
});

export const ENGINES: readonly Engine[] = [
  own('thalweg', 'Thalweg, bytes in memory', () => true, { twins: false, inMemory: true }),
  own('disk', 'Thalweg, through the disk service', () => true, { twins: false, inMemory: false }),
  own('twins', 'Thalweg, TypeScript only, bytes in memory', (job) => job.twins === true, {
    twins: true,
    inMemory: true,
  }),
  peer('duckdb', 'DuckDB', '@duckdb/node-api', (job) => job.duckdb !== undefined),
  peer('clickhouse', 'ClickHouse', 'chdb', (job) => job.clickhouse !== undefined),
  peer(
    'd2mini',
    'd2mini',
    '@electric-sql/d2mini',
    (job) => job.programs?.includes('d2mini') === true,
  ),
  peer('node', 'Node, chunks', null, (job) => job.programs?.includes('node') === true),
  peer(
    'node-lines',
    'Node, readline',
    null,
    (job) => job.programs?.includes('node-lines') === true,
  ),
];
