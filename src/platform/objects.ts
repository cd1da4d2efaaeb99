/**
 * State files and object reads on R2 (or the user's files under `thalweg run`). What sinks stage is in `sinks/`.
 * Names are unique per writer, so each write may be repeated.
 */
import { EngineError } from '../base/errors.ts';
import type { ReadResult } from '../connectors/connector.ts';
import type { Env } from './env.ts';
import { withRetry } from './retry.ts';

export async function putStateFile(
  bucket: R2Bucket,
  key: string,
  bytes: Uint8Array,
): Promise<void> {
  await withRetry(() => bucket.put(key, bytes, { onlyIf: { etagDoesNotMatch: '*' } }));
}

export async function getStateFile(bucket: R2Bucket, key: string): Promise<Uint8Array> {
  const bytes = await withRetry(async () => {
    const object = await bucket.get(key);
    return object === null ? null : new Uint8Array(await object.arrayBuffer());
  });
  if (bytes === null) {
    throw new EngineError('LINEAGE_BROKEN', `state file ${key} is missing`, {
      hint: 'restore the object from a backup, or restart the pipeline without state',
    });
  }
  return bytes;
}

/** Bytes of an object a source reads: from the user's files where they are bound, else from the bucket. */
export async function readObject(
  env: Env,
  path: string,
  offset: number,
  length: number,
): Promise<ReadResult> {
  if (env.LOCAL_FILES !== undefined)
    return await readLocalFile(env.LOCAL_FILES, path, offset, length);
  const head = await withRetry(() => env.BUCKET.head(path));
  if (head === null) return missingObject(path);
  if (offset >= head.size) return { tag: 'object', bytes: new Uint8Array(0), size: head.size };
  const object = await withRetry(() =>
    env.BUCKET.get(path, { range: { offset, length: Math.min(length, head.size - offset) } }),
  );
  if (object === null) return missingObject(path);
  return { tag: 'object', bytes: new Uint8Array(await object.arrayBuffer()), size: head.size };
}

const missingObject = (path: string): ReadResult => ({
  tag: 'missing',
  path,
  detail:
    'The R2 bucket was searched for an object of this key; files of a machine are read by thalweg run only.',
});

async function readLocalFile(
  files: Fetcher,
  path: string,
  offset: number,
  length: number,
): Promise<ReadResult> {
  const url = `http://files/?path=${encodeURIComponent(path)}&offset=${offset}&length=${length}`;
  const response = await withRetry(() => files.fetch(url));
  if (response.status === 404) {
    return { tag: 'missing', path, detail: await response.text() };
  }
  if (!response.ok)
    throw new EngineError('SOURCE_FAILED', `cannot read ${path}: ${await response.text()}`);
  const size = Number(response.headers.get('x-file-size'));
  return { tag: 'object', bytes: new Uint8Array(await response.arrayBuffer()), size };
}
