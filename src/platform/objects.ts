/**
 * State files, staged sink output and object reads on R2 (or the user's files under `thalweg run`).
 * Names are unique per writer, so each write may be repeated.
 */
import { EngineError } from '../base/errors.ts';
import type { ReadResult, StagedObject, StageRequest } from '../connectors/connector.ts';
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
  const object = await withRetry(() => bucket.get(key));
  if (object === null) {
    throw new EngineError('LINEAGE_BROKEN', `state file ${key} is missing`, {
      hint: 'restore the object from a backup, or restart the pipeline without state',
    });
  }
  return new Uint8Array(await object.arrayBuffer());
}

/** Puts sink output aside: nothing becomes visible under the final name before the commit. */
export async function stageObject(bucket: R2Bucket, request: StageRequest): Promise<StagedObject> {
  const { key, bytes, rows } = request;
  if (request.method === 'object') {
    const stored = await withRetry(() => bucket.put(key, bytes));
    if (stored === null) throw new EngineError('STORE_FAILED', `put of ${key} was refused`);
    return { key, uploadId: null, etag: stored.etag, size: bytes.byteLength, rows };
  }
  const upload = await withRetry(() => bucket.createMultipartUpload(key));
  const part = await withRetry(() => upload.uploadPart(1, bytes));
  return { key, uploadId: upload.uploadId, etag: part.etag, size: bytes.byteLength, rows };
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
  if (head === null) return { tag: 'missing', path };
  if (offset >= head.size) return { tag: 'object', bytes: new Uint8Array(0), size: head.size };
  const object = await withRetry(() =>
    env.BUCKET.get(path, { range: { offset, length: Math.min(length, head.size - offset) } }),
  );
  if (object === null) return { tag: 'missing', path };
  return { tag: 'object', bytes: new Uint8Array(await object.arrayBuffer()), size: head.size };
}

async function readLocalFile(
  files: Fetcher,
  path: string,
  offset: number,
  length: number,
): Promise<ReadResult> {
  const url = `http://files/?path=${encodeURIComponent(path)}&offset=${offset}&length=${length}`;
  const response = await withRetry(() => files.fetch(url));
  if (response.status === 404) {
    await response.body?.cancel();
    return { tag: 'missing', path };
  }
  if (!response.ok)
    throw new EngineError('SOURCE_FAILED', `cannot read ${path}: ${await response.text()}`);
  const size = Number(response.headers.get('x-file-size'));
  return { tag: 'object', bytes: new Uint8Array(await response.arrayBuffer()), size };
}
