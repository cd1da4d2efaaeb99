/**
 * Commits of two-phase sinks, each effective once under repeated, concurrent and arbitrarily late calls.
 *
 * `multipart`: an item is an upload under its final name. Completing it is the commit; an upload can be
 * completed once only, and afterwards completing fails while the object is there with the item's size.
 * `object`: the items of an epoch are appended to one object by compare-and-swap; the object's metadata
 * holds the last epoch appended, and an epoch at or below it is a no-op.
 *
 * Source: R2 multipart uploads and conditional puts, developers.cloudflare.com/r2.
 */
import { EngineError } from '../base/errors.ts';
import type { StagedObject } from '../connectors/connector.ts';
import type { ConnectorSpec } from '../graph/graph.ts';
import type { SinkItem } from '../lineage/types.ts';
import { withRetry } from './retry.ts';

/** What a commit may be repeated under: the pipeline, sink and epoch it is for. */
export type CommitToken = { pipelineId: string; sink: string; epoch: number };

const APPEND_ATTEMPTS_MAX = 20;
const EPOCH_KEY = 'thalweg-epoch';
const WRITER_KEY = 'thalweg-writer';

export async function commitItems(
  bucket: R2Bucket,
  token: CommitToken,
  connector: ConnectorSpec,
  items: readonly SinkItem[],
): Promise<void> {
  const staged = items.map((item) => item.payload as unknown as StagedObject);
  const uploads = staged.filter((item) => item.uploadId !== null);
  for (const item of uploads) await withRetry(() => completeUpload(bucket, item));
  const appended = staged.filter((item) => item.uploadId === null);
  if (appended.length > 0)
    await appendObjects(bucket, token, String(connector.options['path']), appended);
}

async function completeUpload(bucket: R2Bucket, item: StagedObject): Promise<void> {
  const upload = bucket.resumeMultipartUpload(item.key, item.uploadId as string);
  try {
    await upload.complete([{ partNumber: 1, etag: item.etag }]);
  } catch (thrown) {
    const present = await bucket.head(item.key);
    if (present !== null && present.size === item.size) return;
    throw new EngineError(
      'SINK_FAILED',
      `cannot complete ${item.key}`,
      { detail: String(thrown) },
      thrown,
    );
  }
}

/** Appends the staged objects, in their order, to the object at `path`. */
async function appendObjects(
  bucket: R2Bucket,
  token: CommitToken,
  path: string,
  items: readonly StagedObject[],
): Promise<void> {
  const writer = `${token.pipelineId}/${token.sink}`;
  for (let attempt = 1; attempt <= APPEND_ATTEMPTS_MAX; attempt++) {
    const target = await withRetry(() => bucket.get(path));
    const metadata = target?.customMetadata ?? {};
    const mine = metadata[WRITER_KEY] === writer;
    if (mine && Number(metadata[EPOCH_KEY]) >= token.epoch) {
      await target?.body.cancel();
      return;
    }
    if (target !== null && !mine) {
      await target.body.cancel();
      throw new EngineError('SINK_FAILED', `${path} exists and was written by somebody else`, {
        hint: 'delete the object or choose another path',
      });
    }
    const before = target === null ? new Uint8Array(0) : new Uint8Array(await target.arrayBuffer());
    const parts = [before];
    for (const item of items) {
      const object = await withRetry(() => bucket.get(item.key));
      if (object === null)
        throw new EngineError('SINK_FAILED', `staged output ${item.key} is missing`);
      parts.push(new Uint8Array(await object.arrayBuffer()));
    }
    const stored = await putAppended(bucket, path, concat(parts), target?.etag ?? null, {
      [EPOCH_KEY]: String(token.epoch),
      [WRITER_KEY]: writer,
    });
    if (stored) return;
  }
  throw new EngineError('SINK_FAILED', `${path} keeps changing under the commit`, {
    hint: 'let only one pipeline write to this path',
  });
}

/** False when the object changed meanwhile or the answer was lost: read again, then decide. */
async function putAppended(
  bucket: R2Bucket,
  path: string,
  bytes: Uint8Array,
  etag: string | null,
  customMetadata: Record<string, string>,
): Promise<boolean> {
  const onlyIf: R2Conditional = etag === null ? { etagDoesNotMatch: '*' } : { etagMatches: etag };
  try {
    return (await bucket.put(path, bytes, { onlyIf, customMetadata })) !== null;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return false;
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
