/**
 * Staged as objects out of the way, committed by appending them to one object with a compare-and-swap.
 *
 * The items of an epoch are one unit: they are appended in their order (files of Parquet under a new footer) by one put, whose metadata say which lineage and sink
 * writes the object and which epoch it has had last. A commit of an epoch at or below it does nothing.
 * Invariants: the metadata move in the same put as the data; an object that anybody else has written is never written over;
 * a put whose answer was lost is looked for before another is sent.
 * Failure: a foreign object is SINK_REFUSED; staged parts that are gone are SINK_FAILED, and nothing of the epoch is appended.
 * Not guaranteed: a user who takes the object away while the pipeline runs takes its memory away too.
 *
 * Source: R2 conditional puts, developers.cloudflare.com/r2.
 */
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { ItemPayload, StagedObject, StageRequest } from '../../connectors/connector.ts';
import { appended } from '../../connectors/single-file/appended.ts';
import type { CommitToken, TwoPhaseSink } from '../../connectors/two-phase-sink.ts';
import { type CallsFor, type SinkCalls, withEach } from './sink-calls.ts';

/** What it needs of a bucket. */
export type AppendBucket = Pick<R2Bucket, 'head' | 'get' | 'put' | 'delete'>;

const EPOCH_KEY = 'thalweg-epoch';
const WRITER_KEY = 'thalweg-writer';
const DELETE_KEYS_MAX = 1000;

export class AppendedObjectSink implements TwoPhaseSink {
  readonly #bucket: AppendBucket;
  readonly #callsFor: CallsFor;

  constructor(bucket: AppendBucket, callsFor: CallsFor) {
    this.#bucket = bucket;
    this.#callsFor = callsFor;
  }

  async stage({ key, bytes, rows }: StageRequest): Promise<StagedObject> {
    const calls = this.#callsFor('stage', null);
    const stored = await calls.ask(() => this.#bucket.put(key, bytes));
    if (stored === null) throw calls.lost(`the put of ${key} was not done`);
    return { key, uploadId: null, etag: stored.etag, size: bytes.byteLength, rows };
  }

  async preCommit(token: CommitToken, items: readonly ItemPayload[]): Promise<void> {
    const calls = this.#callsFor('pre-commit', token);
    await withEach(items, async ({ key, size }) => {
      const present = await calls.ask(() => this.#bucket.head(key));
      if (present === null || present.size !== size)
        throw calls.lost(`the staged rows ${key} are gone`);
    });
  }

  async commit(token: CommitToken, items: readonly ItemPayload[]): Promise<void> {
    const [first] = items;
    if (first === undefined) return;
    const path = first.target;
    assert(
      items.every((item) => item.target === path),
      'one sink appends to one object',
    );
    const calls = this.#callsFor('commit', token);
    let parts: Uint8Array[] | null = null;
    for (;;) {
      const before = await this.#target(calls, token, path);
      if (before === 'done') return;
      parts ??= await this.#parts(calls, items);
      if (await this.#append(calls, token, path, before, parts, first.key)) return;
      await calls.rest(`${path} has changed, or the answer was lost`);
    }
  }

  /** The object as it is, null when there is none, or that it has had the epoch. */
  async #target(
    calls: SinkCalls,
    token: CommitToken,
    path: string,
  ): Promise<{ bytes: Uint8Array; etag: string } | null | 'done'> {
    const target = await calls.ask(async () => {
      const object = await this.#bucket.get(path);
      if (object === null) return null;
      const { etag, customMetadata } = object;
      return { bytes: new Uint8Array(await object.arrayBuffer()), etag, customMetadata };
    });
    if (target === null) return null;
    if (target.customMetadata?.[WRITER_KEY] !== writerOf(token)) {
      throw new EngineError('SINK_REFUSED', `${path} exists and was written by somebody else`, {
        detail: `It is the target of ${token.sink}, which appends only to what it has written itself.`,
        hint: 'Move the object away, or give the table another path; then start the pipeline.',
      });
    }
    return Number(target.customMetadata[EPOCH_KEY]) >= token.epoch ? 'done' : target;
  }

  async #parts(calls: SinkCalls, items: readonly ItemPayload[]): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    await withEach([...items.entries()], async ([index, { key, size }]) => {
      const bytes = await calls.ask(async () => {
        const object = await this.#bucket.get(key);
        return object === null ? null : new Uint8Array(await object.arrayBuffer());
      });
      if (bytes === null || bytes.byteLength !== size)
        throw calls.lost(`the staged rows ${key} are gone`);
      parts[index] = bytes;
    });
    return parts;
  }

  /** False when the object has changed meanwhile or nobody knows: look at it, then decide. */
  async #append(
    calls: SinkCalls,
    token: CommitToken,
    path: string,
    before: { bytes: Uint8Array; etag: string } | null,
    parts: readonly Uint8Array[],
    key: string,
  ): Promise<boolean> {
    const onlyIf: R2Conditional =
      before === null ? { etagDoesNotMatch: '*' } : { etagMatches: before.etag };
    const bytes = appended(before?.bytes ?? null, parts, key);
    const customMetadata = {
      [EPOCH_KEY]: String(token.epoch),
      [WRITER_KEY]: writerOf(token),
    };
    return await calls.once(
      async () => (await this.#bucket.put(path, bytes, { onlyIf, customMetadata })) !== null,
      false,
    );
  }

  async abort(items: readonly ItemPayload[]): Promise<void> {
    const calls = this.#callsFor('abort', null);
    const keys = items.map((item) => item.key);
    for (let at = 0; at < keys.length; at += DELETE_KEYS_MAX)
      await calls.ask(() => this.#bucket.delete(keys.slice(at, at + DELETE_KEYS_MAX)));
  }
}

const writerOf = (token: CommitToken): string => `${token.lineage}/${token.sink}`;
