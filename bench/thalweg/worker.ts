/** The Worker that `npm run bench` runs in workerd: measured runs over HTTP, state kept between requests. */
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import type { GenerationSpec, OperatorMetrics } from '../../src/protocol/messages.ts';
import { useKernels } from '../../src/kernels/kernels.ts';
import { installKernels } from '../../src/platform/kernels.ts';
import { FileReader } from './file-reader.ts';
import { FilesInMemory } from './files-in-memory.ts';
import { BenchHost, type Files } from './host.ts';

type BenchEnv = { DATA: Fetcher; OUT: Fetcher };

export type RunRequest = {
  spec: GenerationSpec;
  /** What sinks stage is written to the folder of the service OUT. */
  keep: boolean;
  finalCheckpoint: boolean;
  /** A checkpoint is taken before the first read of a file from this offset on; null: none. */
  checkpointAt: number | null;
  /** No kernels: what they do in TypeScript. */
  twins: boolean;
  /** Files are read from memory of this process, where the first run leaves them, and not through the service DATA. */
  inMemory: boolean;
};
export type RunAnswer = {
  metrics: OperatorMetrics[];
  problem: string | null;
  stagedRows: number;
  stagedBytes: number;
};
/** State files, and those of them that the checkpoint before did not have. */
export type CheckpointAnswer = { bytes: number; rows: number; newBytes: number };

type Reports = Awaited<ReturnType<BenchHost['checkpoint']>>[];

const inMemory = new FilesInMemory();
/** What the last run left: its hosts, still deployed, and the files of their last checkpoint. */
let hosts: BenchHost[] = [];
let spec: GenerationSpec | null = null;
let state = new Map<string, Uint8Array>();
let checkpoint: CheckpointManifest | null = null;
let epoch = 2;
/** Of the checkpoint under way. */
let reports: Promise<Reports> | null = null;

/** New hosts in place of the old ones, deployed from the last checkpoint or from nothing. */
async function deploy(
  env: BenchEnv,
  of: GenerationSpec,
  { keep, inMemory: held }: { keep: boolean; inMemory: boolean },
): Promise<void> {
  for (const host of hosts) host.stop();
  const readers = new Map<string, FileReader>();
  const files: Files = {
    read: async (path, offset, length) => {
      if (held) return await inMemory.read(env.DATA, path, offset, length);
      const reader = readers.get(path) ?? new FileReader(env.DATA, path);
      readers.set(path, reader);
      return await reader.read(offset, length);
    },
    write: keep ? env.OUT : null,
  };
  hosts = Array.from({ length: of.parallelism }, (_, at) => new BenchHost(of, at, files, state));
  for (const host of hosts) host.meet(hosts);
  await Promise.all(hosts.map((host) => host.deploy(checkpoint)));
}

async function run(env: BenchEnv, request: RunRequest): Promise<RunAnswer> {
  if (request.twins) useKernels(null);
  else installKernels();
  spec = request.spec;
  state = new Map();
  checkpoint = null;
  await deploy(env, spec, request);
  const { checkpointAt } = request;
  const [first] = hosts;
  if (checkpointAt !== null && first !== undefined) {
    first.onRead = async (offset) => {
      if (offset < checkpointAt) return;
      first.onRead = null;
      begin();
      await reported();
    };
  }
  await Promise.all(hosts.map((host) => host.drain()));
  if (request.finalCheckpoint) {
    begin();
    await reported();
  }
  for (const host of hosts) await host.settle();
  return {
    metrics: hosts.flatMap((host) => host.metrics),
    problem: hosts.map((host) => host.problem).find((found) => found !== null) ?? null,
    stagedRows: hosts.reduce((sum, host) => sum + host.stagedRows, 0),
    stagedBytes: hosts.reduce((sum, host) => sum + host.stagedBytes, 0),
  };
}

/** What stops the flow of rows, and no more than that. */
function begin(): void {
  epoch++;
  reports = Promise.all(hosts.map((host) => host.checkpoint(epoch)));
}

/** Waits until the checkpoint is encoded and stored. Its files are kept in memory. */
async function reported(): Promise<CheckpointAnswer> {
  const told = (await reports) ?? [];
  for (const host of hosts) host.confirm(epoch);
  const files = told.flatMap((report) => report.files);
  const known = new Set(checkpoint?.files.map(({ key }) => key));
  checkpoint = {
    version: 1,
    kind: 'data',
    epoch,
    generation: spec?.generation ?? 1,
    nonce: 'bench',
    attempt: 1,
    data: null,
    parent: null,
    planHash: '',
    parallelism: spec?.parallelism ?? 1,
    files,
    broadcast: told.flatMap((report) => report.broadcast),
    inputs: null,
    needsCommit: false,
    items: [],
    finished: false,
    createdAtMs: 0,
  };
  const sum = (of: typeof files, value: (file: (typeof files)[number]) => number): number =>
    of.reduce((total, file) => total + value(file), 0);
  return {
    bytes: sum(files, ({ size }) => size),
    rows: sum(files, ({ rows }) => rows),
    newBytes: sum(
      files.filter(({ key }) => !known.has(key)),
      ({ size }) => size,
    ),
  };
}

async function answer(path: string, request: Request, env: BenchEnv): Promise<unknown> {
  switch (path) {
    case '/run':
      return await run(env, (await request.json()) as RunRequest);
    case '/restore':
      if (spec === null) throw new Error('nothing has run');
      await deploy(env, spec, { keep: false, inMemory: false });
      return {};
    default:
      return {};
  }
}

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** The head of the answer leaves when rows may flow again, its body when the checkpoint is complete. */
function checkpointInSteps(): Response {
  const { readable, writable } = new TransformStream<Uint8Array>();
  begin();
  const writer = writable.getWriter();
  void reported()
    .catch((error: unknown) => ({ error: textOf(error) }))
    .then(async (told) => {
      await writer.write(new TextEncoder().encode(JSON.stringify(told)));
      await writer.close();
    });
  return new Response(readable);
}

export default {
  async fetch(request: Request, env: BenchEnv): Promise<Response> {
    try {
      const path = new URL(request.url).pathname;
      if (path === '/checkpoint') return checkpointInSteps();
      return Response.json(await answer(path, request, env));
    } catch (error) {
      return new Response(textOf(error), { status: 500 });
    }
  },
};
