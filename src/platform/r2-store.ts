/**
 * Carries out the lineage protocol's store operations on R2.
 *
 * A refused condition is `put` answering null. A thrown error of a put is never read as "not applied", with
 * one exception: 429 says so. Source: developers.cloudflare.com/r2 (conditional operations, limits).
 */
import type { Lineage, StoreAnswer, StoreOp } from '../lineage/store.ts';
import { STAGE_TIMEOUT_MS, TwoPhaseSinks } from './sinks/two-phase-sinks.ts';

const isThrottled = (message: string): boolean =>
  message.includes('(10058)') || message.includes('429');

const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** Runs a workflow of `src/lineage` to its end. */
export async function driveLineage<T>(bucket: R2Bucket, workflow: Lineage<T>): Promise<T> {
  let next = workflow.next();
  while (next.done !== true) next = workflow.next(await performStoreOp(bucket, next.value));
  return next.value;
}

export async function performStoreOp(bucket: R2Bucket, op: StoreOp): Promise<StoreAnswer> {
  switch (op.op) {
    case 'put':
      return await performPut(bucket, op);
    case 'pause':
      await new Promise((resolve) => setTimeout(resolve, op.ms));
      return { tag: 'paused' };
    default:
      try {
        return await performRead(bucket, op);
      } catch (thrown) {
        return { tag: 'failed', message: messageOf(thrown) };
      }
  }
}

async function performPut(bucket: R2Bucket, op: StoreOp & { op: 'put' }): Promise<StoreAnswer> {
  const onlyIf: R2Conditional =
    op.condition.tag === 'absent' ? { etagDoesNotMatch: '*' } : { etagMatches: op.condition.etag };
  try {
    const stored = await bucket.put(op.key, op.body, { onlyIf });
    return stored === null ? { tag: 'refused' } : { tag: 'stored', etag: stored.etag };
  } catch (thrown) {
    const message = messageOf(thrown);
    return isThrottled(message) ? { tag: 'throttled' } : { tag: 'unknown', message };
  }
}

async function performRead(
  bucket: R2Bucket,
  op: Exclude<StoreOp, { op: 'put' } | { op: 'pause' }>,
): Promise<StoreAnswer> {
  switch (op.op) {
    case 'get': {
      const object = await bucket.get(op.key);
      if (object === null) return { tag: 'missing' };
      return { tag: 'found', body: new Uint8Array(await object.arrayBuffer()), etag: object.etag };
    }
    case 'list': {
      const page = await bucket.list({
        prefix: op.prefix,
        ...(op.startAfter === undefined ? {} : { startAfter: op.startAfter }),
      });
      return {
        tag: 'keys',
        keys: page.objects.map((object) => object.key),
        truncated: page.truncated,
      };
    }
    case 'delete':
      await bucket.delete(op.keys);
      return { tag: 'done' };
    case 'abort':
      await new TwoPhaseSinks(bucket, STAGE_TIMEOUT_MS).abort(op.items);
      return { tag: 'done' };
  }
}
