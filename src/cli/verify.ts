/**
 * `thalweg verify BUCKET [PIPELINE]`: proves from objects alone that a pipeline's history is one line, or says where not.
 *
 * BUCKET is a state directory, of which only the objects are opened, the address of a running `thalweg dev`, or a bucket on
 * R2. Nothing is written. The exit code is 0 only for "proved".
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Finding, Verdict } from '../audit/findings.ts';
import { verifyLineage, type VerifyOptions } from '../audit/verify.ts';
import { EngineError } from '../base/errors.ts';
import { LineagePaths } from '../lineage/paths.ts';
import type { Lineage, StoreAnswer, StoreOp } from '../lineage/store.ts';
import { ApiClient } from './api-client.ts';
import type { ObjectReader } from './object-reader.ts';
import { PROJECT_ROOT, resourceDir } from './project.ts';
import { isR2Address, r2AccessOf, r2Reader } from './r2-bucket.ts';
import { print } from './terminal.ts';

export const VERIFY_USAGE = `thalweg verify BUCKET [PIPELINE] [--inputs] [--json] [--endpoint URL]
  BUCKET     a state directory on which nothing runs (.thalweg/state),
             the address of a running one (http://127.0.0.1:8787),
             or a bucket on R2 (r2://thalweg-state): its account and a key that may
             read it are taken from the environment variables R2_ACCOUNT_ID,
             R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY
  PIPELINE   its id; at an address its name will do (default: every pipeline of the bucket)
  --url      the same as an address for BUCKET
  --endpoint the S3 API of r2://, where it is not https://R2_ACCOUNT_ID.r2.cloudflarestorage.com
  --inputs   hash again the objects that sources read, where they lie in the bucket
  --json     print the verdict as JSON`;

/** `pipeline` null: all of them. `endpoint` null: Cloudflare's. */
type Options = {
  bucket: string;
  pipeline: string | null;
  endpoint: string | null;
  inputs: boolean;
  json: boolean;
};

export function parseVerifyArguments(argv: readonly string[]): Options {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        inputs: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        url: { type: 'string' },
        endpoint: { type: 'string' },
      },
    });
  } catch (error) {
    throw new EngineError('INVALID_OPTION', (error as Error).message, { hint: VERIFY_USAGE });
  }
  const { url, json, inputs, endpoint = null } = parsed.values;
  const words = url === undefined ? parsed.positionals : [url, ...parsed.positionals];
  const [bucket, pipeline = null, extra] = words;
  if (bucket === undefined || extra !== undefined) {
    throw new EngineError('INVALID_OPTION', 'verify takes a bucket and perhaps a pipeline', {
      hint: VERIFY_USAGE,
    });
  }
  if (endpoint !== null && !isR2Address(bucket)) {
    throw new EngineError('INVALID_OPTION', `--endpoint goes with r2://BUCKET, not with ${bucket}`);
  }
  return { bucket, pipeline, endpoint, inputs, json };
}

/** Answers the exit code. */
export async function verify(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    print(VERIFY_USAGE);
    return 0;
  }
  const { bucket, pipeline, endpoint, inputs, json } = parseVerifyArguments(argv);
  const opened = await open(bucket, pipeline, endpoint);
  try {
    const verdicts = await verdictsOn(opened.reader, opened.pipelineId, { inputs });
    if (json) print(JSON.stringify(verdicts.length === 1 ? verdicts[0] : verdicts, null, 2));
    else for (const verdict of verdicts) print(verdictText(verdict));
    return verdicts.every(({ proved }) => proved) ? 0 : 1;
  } finally {
    await opened.close();
  }
}

type Opened = { reader: ObjectReader; pipelineId: string | null; close(): Promise<void> };

async function open(
  bucket: string,
  pipeline: string | null,
  endpoint: string | null,
): Promise<Opened> {
  if (isR2Address(bucket)) {
    const reader = r2Reader(r2AccessOf(bucket, endpoint, process.env));
    return { pipelineId: pipeline, reader, close: async () => {} };
  }
  return /^https?:\/\//.test(bucket)
    ? await openAddress(bucket, pipeline)
    : await openDirectory(resolve(bucket), pipeline);
}

async function openAddress(url: string, pipeline: string | null): Promise<Opened> {
  const base = `${url.replace(/\/+$/, '')}/`;
  const client = new ApiClient((path, init) => fetch(new URL(path.replace(/^\//, ''), base), init));
  let known: { id: string; name: string }[];
  try {
    known = await client.list();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('NOT_FOUND', `nothing answers at ${url}`, {}, error);
  }
  const found = known.find(({ id }) => id === pipeline) ?? only(known, pipeline);
  return {
    pipelineId: found?.id ?? pipeline,
    reader: {
      list: async (prefix, after) => {
        const { objects, truncated } = await client.objectPage(prefix, after);
        return { keys: objects.map(({ key }) => key), truncated };
      },
      get: (key) => client.object(key),
    },
    close: async () => {},
  };
}

/** The pipeline of that name; names need not be unique. */
function only(
  known: readonly { id: string; name: string }[],
  name: string | null,
): { id: string } | undefined {
  const named = known.filter((each) => each.name === name);
  if (named.length > 1) {
    throw new EngineError('CONFLICT', `${named.length} pipelines are called ${name}`, {
      hint: `Give an id: ${named.map(({ id }) => id).join(', ')}.`,
    });
  }
  return named[0];
}

/** R2 alone, without the Worker: nothing of the pipelines starts. */
async function openDirectory(stateDir: string, pipelineId: string | null): Promise<Opened> {
  if (!existsSync(resourceDir(stateDir))) {
    throw new EngineError('NOT_FOUND', `${stateDir} is no state directory`, { hint: VERIFY_USAGE });
  }
  const [{ Miniflare, convertV4MiniflareOptions }, { readWorkerDescription }, { lockState }] =
    await Promise.all([
      import('miniflare'),
      import('./worker-options.ts'),
      import('./state-lock.ts'),
    ]);
  const { options } = await readWorkerDescription(PROJECT_ROOT);
  const unlock = await lockState(stateDir);
  try {
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: 'export default { fetch: () => new Response() };',
        ...(options.r2Buckets === undefined ? {} : { r2Buckets: options.r2Buckets }),
        ...(options.compatibilityDate === undefined
          ? {}
          : { compatibilityDate: options.compatibilityDate }),
        resourcePersistencePath: resourceDir(stateDir),
        cf: false,
        telemetry: { enabled: false },
      }),
    );
    const bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as R2Bucket;
    const close = async (): Promise<void> => {
      await miniflare.dispose();
      unlock();
    };
    return { pipelineId, reader: bucketReader(bucket), close };
  } catch (error) {
    unlock();
    throw error;
  }
}

export function bucketReader(bucket: R2Bucket): ObjectReader {
  return {
    list: async (prefix, after) => {
      const page = await bucket.list({ prefix, ...(after === '' ? {} : { startAfter: after }) });
      return { keys: page.objects.map(({ key }) => key), truncated: page.truncated };
    },
    get: async (key) => {
      const object = await bucket.get(key);
      return object === null ? null : new Uint8Array(await object.arrayBuffer());
    },
  };
}

export type JobVerdict = Verdict & { pipeline: string; job: string };

/** One verdict for each job in the bucket, of one pipeline or, with null, of all. */
export async function verdictsOn(
  reader: ObjectReader,
  pipelineId: string | null,
  options: VerifyOptions = {},
): Promise<JobVerdict[]> {
  const verdicts: JobVerdict[] = [];
  for (const { pipeline, job } of await lineagesOf(reader, pipelineId)) {
    const outcome = await drive(verifyLineage(new LineagePaths(pipeline, job), options), reader);
    if (outcome.tag === 'unavailable')
      throw new EngineError(outcome.report.code, outcome.report.message, outcome.report);
    if (outcome.tag === 'verdict') verdicts.push({ pipeline, job, ...outcome.verdict });
  }
  if (verdicts.length > 0) return verdicts;
  if (pipelineId === null) throw new EngineError('NOT_FOUND', 'the bucket has no lineage');
  const known = new Set((await lineagesOf(reader, null)).map(({ pipeline }) => pipeline));
  throw new EngineError('NOT_FOUND', `the bucket has no lineage of pipeline ${pipelineId}`, {
    hint: `It has lineages of: ${[...known].join(', ') || 'nobody'}.`,
  });
}

/** Folders that look like a lineage: output of sinks lies beside them. */
async function lineagesOf(
  reader: ObjectReader,
  pipelineId: string | null,
): Promise<{ pipeline: string; job: string }[]> {
  const pipelines =
    pipelineId === null ? await foldersOf(reader, '') : [encodeURIComponent(pipelineId)];
  const found: { pipeline: string; job: string }[] = [];
  for (const pipeline of pipelines) {
    for (const job of await foldersOf(reader, `${pipeline}/`)) {
      for (const mark of ['current-generation.json', 'epochs/', 'generations/']) {
        const { keys } = await reader.list(`${pipeline}/${job}/${mark}`, '');
        if (keys.length === 0) continue;
        found.push({ pipeline: plain(pipeline), job: plain(job) });
        break;
      }
    }
  }
  return found;
}

/** A name as it was before it became part of a key. */
function plain(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Names right below the prefix that hold more; each costs one list. */
async function foldersOf(reader: ObjectReader, prefix: string): Promise<string[]> {
  const folders: string[] = [];
  for (let after = ''; ;) {
    const { keys } = await reader.list(prefix, after);
    const [first] = keys;
    if (first === undefined) return folders;
    const end = first.indexOf('/', prefix.length);
    if (end > 0) folders.push(first.slice(prefix.length, end));
    // `0` comes right behind the slash: on to the first key after everything in this folder.
    after = end > 0 ? `${first.slice(0, end)}0` : first;
  }
}

async function drive<T>(workflow: Lineage<T>, reader: ObjectReader): Promise<T> {
  let next = workflow.next();
  while (next.done !== true) next = workflow.next(await answerOf(next.value, reader));
  return next.value;
}

async function answerOf(op: StoreOp, reader: ObjectReader): Promise<StoreAnswer> {
  if (op.op === 'pause') {
    await new Promise((done) => setTimeout(done, op.ms));
    return { tag: 'paused' };
  }
  if (op.op !== 'get' && op.op !== 'list')
    throw new EngineError('INTERNAL', `verification wants to ${op.op}`);
  try {
    if (op.op === 'list') {
      const { keys, truncated } = await reader.list(op.prefix, op.startAfter ?? '');
      return { tag: 'keys', keys, truncated };
    }
    const body = await reader.get(op.key);
    return body === null ? { tag: 'missing' } : { tag: 'found', body, etag: '' };
  } catch (error) {
    // What asking again cannot change is said as it is.
    if (error instanceof EngineError && error.report.retry === 'never') throw error;
    return { tag: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** The verdict for people. */
export function verdictText(verdict: JobVerdict): string {
  const { pipeline, job, proved, from, to, chain, counts, findings, notes } = verdict;
  const range = from === null ? 'no epochs yet' : `epochs ${from} to ${to}`;
  const lines = [
    proved
      ? `proved: pipeline ${pipeline}, job ${job}, ${range}`
      : `NOT proved: pipeline ${pipeline}, job ${job}, ${range}: ${plural(findings.length, 'contradiction')}`,
    ...findings.flatMap(findingLines),
    `  ${plural(counts.epochs, 'epoch')}, ${plural(counts.fences, 'fence')} among them, of ${plural(counts.generations, 'generation')}; ${plural(counts.losers, 'checkpoint')} lost ${counts.losers === 1 ? 'its' : 'their'} epoch`,
    `  read       ${plural(counts.inputRows, 'row')}, ${plural(counts.inputBytes, 'byte')}`,
    `  state      ${plural(counts.stateFiles, 'file')}, ${plural(counts.stateBytes, 'byte')}`,
    `  committed  ${plural(counts.outputs, 'piece')}, ${plural(counts.outputRows, 'row')}, ${plural(counts.outputBytes, 'byte')}`,
    ...(chain === null ? [] : [`  chain      ${chain}`]),
    ...notes.map((text) => `  note       ${text}`),
  ];
  return lines.join('\n');
}

function findingLines({ code, epoch, key, message }: Finding): string[] {
  const where = epoch === null ? '' : `epoch ${epoch}  `;
  return [`  ${where}${code}: ${message}`, ...(key === null ? [] : [`    ${key}`])];
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
