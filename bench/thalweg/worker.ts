/** The Worker that `npm run bench` runs in workerd: measured runs over HTTP, state kept between requests. */
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import type { GenerationSpec, OperatorMetrics } from '../../src/protocol/messages.ts';
import { useKernels } from '../../src/kernels/kernels.ts';
import { installKernels } from '../../src/platform/kernels.ts';
import { BenchHost } from './host.ts';

type BenchEnv = { DATA: Fetcher; OUT: Fetcher };

/** `keep`: what sinks stage is written to the folder of the service OUT. `twins`: no kernels, what they do in TypeScript. */
export type RunRequest = {
  spec: GenerationSpec;
  keep: boolean;
  finalCheckpoint: boolean;
  twins: boolean;
};
export type RunAnswer = {
  metrics: OperatorMetrics[];
  problem: string | null;
  stagedRows: number;
  stagedBytes: number;
};
export type CheckpointAnswer = { bytes: number; rows: number };

/** What the last run left: its hosts, still deployed, and the files of their last checkpoint. */
let hosts: BenchHost[] = [];
let spec: GenerationSpec | null = null;
let state = new Map<string, Uint8Array>();
let checkpoint: CheckpointManifest | null = null;
let epoch = 2;

async function run(env: BenchEnv, request: RunRequest): Promise<RunAnswer> {
  for (const host of hosts) host.stop();
  if (request.twins) useKernels(null);
  else installKernels();
  state = new Map();
  spec = request.spec;
  const files = { read: env.DATA, write: request.keep ? env.OUT : null };
  const each = request.spec;
  hosts = Array.from(
    { length: spec.parallelism },
    (_, at) => new BenchHost(each, at, files, state),
  );
  for (const host of hosts) host.meet(hosts);
  for (const host of hosts) await host.deploy(null);
  await Promise.all(hosts.map((host) => host.drain()));
  if (request.finalCheckpoint) await cut();
  for (const host of hosts) await host.settle();
  return {
    metrics: hosts.flatMap((host) => host.metrics),
    problem: hosts.map((host) => host.problem).find((found) => found !== null) ?? null,
    stagedRows: hosts.reduce((sum, host) => sum + host.stagedRows, 0),
    stagedBytes: hosts.reduce((sum, host) => sum + host.stagedBytes, 0),
  };
}

/** A checkpoint of the hosts of the last run, its files kept in memory. */
async function cut(): Promise<CheckpointAnswer> {
  epoch++;
  const at = epoch;
  const reports = await Promise.all(hosts.map((host) => host.checkpoint(at)));
  const files = reports.flatMap((report) => report.files);
  checkpoint = {
    version: 1,
    kind: 'data',
    epoch: at,
    generation: spec?.generation ?? 1,
    nonce: 'bench',
    attempt: 1,
    data: null,
    parent: null,
    planHash: '',
    parallelism: spec?.parallelism ?? 1,
    files,
    broadcast: reports.flatMap((report) => report.broadcast),
    inputs: null,
    needsCommit: false,
    items: [],
    finished: false,
    createdAtMs: 0,
  };
  return {
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    rows: files.reduce((sum, file) => sum + file.rows, 0),
  };
}

/** New hosts take the state of the last checkpoint up. */
async function restore(env: BenchEnv): Promise<void> {
  for (const host of hosts) host.stop();
  const of = spec;
  if (of === null) throw new Error('nothing has run');
  const files = { read: env.DATA, write: null };
  hosts = Array.from({ length: of.parallelism }, (_, at) => new BenchHost(of, at, files, state));
  for (const host of hosts) host.meet(hosts);
  for (const host of hosts) await host.deploy(checkpoint);
}

export default {
  async fetch(request: Request, env: BenchEnv): Promise<Response> {
    try {
      switch (new URL(request.url).pathname) {
        case '/run':
          return Response.json(await run(env, (await request.json()) as RunRequest));
        case '/checkpoint':
          return Response.json(await cut());
        case '/restore':
          return Response.json(await restore(env).then(() => ({})));
        default:
          return Response.json({});
      }
    } catch (error) {
      return new Response(error instanceof Error ? (error.stack ?? error.message) : String(error), {
        status: 500,
      });
    }
  },
};
