/**
 * workerd with the bench Worker, started directly: one process, pinned, without Miniflare around it. Files are reached
 * through workerd's own `disk` services, so that reading them is work of the measured process.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { readWorkerDescription } from '../../src/cli/worker-options.ts';
import { workerdProgram } from '../../src/cli/workerd-program.ts';
import { spawnPinned } from '../child.ts';
import { removeWithUs } from '../leftovers.ts';

export type BenchWorkerd = {
  pid: number;
  /** Where V8's inspector of the Worker listens; null unless asked for. */
  inspectorUrl: string | null;
  ask<T>(path: string, body?: unknown): Promise<T>;
  /** `headMs`: until the head of the answer was there. */
  askInSteps<T>(path: string): Promise<{ headMs: number; value: T }>;
  stop(): Promise<void>;
};

const quote = (text: string): string => JSON.stringify(text);

async function configText(
  root: string,
  work: string,
  data: string,
  out: string,
): Promise<{ directory: string; text: string }> {
  const { options } = await readWorkerDescription(root);
  const bundle = await bundleWorker({
    root,
    entry: 'bench/thalweg/worker.ts',
    directory: join(work, 'build'),
  });
  const modules = bundle.modules.map(({ type, path }) => {
    const kind = type === 'ESModule' ? 'esModule' : 'wasm';
    return `(name = ${quote(basename(path))}, ${kind} = embed ${quote(basename(path))})`;
  });
  const text = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "bench", worker = .bench),
    (name = "data", disk = (path = ${quote(data)})),
    (name = "out", disk = (path = ${quote(out)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "bench")],
);
const bench :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  compatibilityDate = ${quote(options.compatibilityDate ?? '')},
  compatibilityFlags = [${(options.compatibilityFlags ?? []).map(quote).join(', ')}],
  bindings = [(name = "DATA", service = "data"), (name = "OUT", service = "out")],
);
`;
  return { directory: bundle.directory, text };
}

type Ports = { http: number; inspector: number | null };

/** The ports that workerd says it listens on, on the pipe it was given for that. */
async function portsOf(child: ChildProcess, inspect: boolean, said: () => string): Promise<Ports> {
  return await new Promise((resolve, reject) => {
    let text = '';
    (child.stdio[3] as Readable).on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const http = /"event":"listen","socket":"http","port":(\d+)/.exec(text);
      const inspector = /"event":"listen-inspector","port":(\d+)/.exec(text);
      if (http !== null && (inspector !== null || !inspect))
        resolve({
          http: Number(http[1]),
          inspector: inspector === null ? null : Number(inspector[1]),
        });
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`workerd ended with ${code}: ${said()}`)));
  });
}

/** @param out where kept output goes, in a folder of this process; made if absent */
export async function startWorkerd(
  root: string,
  work: string,
  data: string,
  out: string,
  inspect = false,
): Promise<BenchWorkerd> {
  await mkdir(out, { recursive: true });
  const { directory, text } = await configText(root, work, data, out);
  const name = `${basename(dirname(out))}-${basename(out)}.capnp`;
  const config = removeWithUs(join(directory, name));
  await writeFile(config, text);
  const child = spawnPinned(
    workerdProgram(),
    ['serve', '--control-fd=3', ...(inspect ? ['--inspector-addr=127.0.0.1:0'] : []), config],
    {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      cwd: directory,
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => (said = (said + bytes.toString()).slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(config, { force: true });
  };
  const ports = await portsOf(child, inspect, () => said);
  const request = async (path: string, body: unknown): Promise<Response> =>
    await fetch(`http://127.0.0.1:${ports.http}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
  const parse = async <T>(response: Response): Promise<T> => {
    const answer = await response.text();
    if (!response.ok) throw new Error(`${answer}${said}`);
    const value = JSON.parse(answer) as T & { error?: string };
    if (value.error !== undefined) throw new Error(value.error);
    return value;
  };
  return {
    pid: child.pid as number,
    inspectorUrl: ports.inspector === null ? null : `ws://127.0.0.1:${ports.inspector}/bench`,
    ask: async <T>(path: string, body: unknown = {}): Promise<T> =>
      await parse<T>(await request(path, body)),
    askInSteps: async <T>(path: string) => {
      const began = performance.now();
      const response = await request(path, {});
      const headMs = performance.now() - began;
      return { headMs, value: await parse<T>(response) };
    },
    stop,
  };
}
