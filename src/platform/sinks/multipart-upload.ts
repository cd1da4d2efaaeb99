/**
 * Staged as a multipart upload under the final name, which appears when the upload is completed: that is the commit.
 *
 * Each item is a unit of its own. An upload can be completed once; afterwards it is gone, and the object under its name,
 * which nobody else has ever been told of, says that it was completed, also when somebody has changed the object since.
 * Invariants: every attempt to stage makes an upload of its own, so that an attempt that arrives late touches nothing that
 * an item names; completing names the parts it wants, so that a part added to the upload by a zombie does not count.
 * Failure: upload and object both gone is SINK_FAILED: R2 aborts uploads that stay open for seven days, and whoever takes a
 * committed file away before its epoch is marked leaves no trace of the commit.
 */
import type { ItemPayload, StagedObject, StageRequest } from '../../connectors/connector.ts';
import type { CommitToken, TwoPhaseSink } from '../../connectors/two-phase-sink.ts';
import { type CallsFor, Gone, type SinkCalls, withEach } from './sink-calls.ts';

/** What it needs of a bucket. */
export type UploadBucket = Pick<
  R2Bucket,
  'head' | 'createMultipartUpload' | 'resumeMultipartUpload'
>;

const PART = 1;
/** A part that no commit names: writing it is the one way to learn that an upload is still open. */
const PROBE_PART = 10_000;
const PROBE = new Uint8Array([10]);
/** Looks at the object of an upload that is gone: whoever completes it at this moment may not be done. */
const LOOKS = 4;

export class MultipartUploadSink implements TwoPhaseSink {
  readonly #bucket: UploadBucket;
  readonly #callsFor: CallsFor;

  constructor(bucket: UploadBucket, callsFor: CallsFor) {
    this.#bucket = bucket;
    this.#callsFor = callsFor;
  }

  async stage({ key, bytes, rows }: StageRequest): Promise<StagedObject> {
    return await this.#callsFor('stage', null).ask(async () => {
      const upload = await this.#bucket.createMultipartUpload(key);
      const part = await upload.uploadPart(PART, bytes);
      return { key, uploadId: upload.uploadId, etag: part.etag, size: bytes.byteLength, rows };
    });
  }

  async preCommit(token: CommitToken, items: readonly ItemPayload[]): Promise<void> {
    const calls = this.#callsFor('pre-commit', token);
    await withEach(items, async (item) => {
      try {
        await calls.ask(() => this.#upload(item).uploadPart(PROBE_PART, PROBE));
      } catch (thrown) {
        if (!(thrown instanceof Gone)) throw thrown;
        if ((await calls.ask(() => this.#bucket.head(item.key))) === null)
          throw calls.lost(`the upload of ${item.key} is gone`);
      }
    });
  }

  async commit(token: CommitToken, items: readonly ItemPayload[]): Promise<void> {
    const calls = this.#callsFor('commit', token);
    await withEach(items, async (item) => await this.#complete(calls, item));
  }

  async #complete(calls: SinkCalls, item: ItemPayload): Promise<void> {
    let gone: Gone;
    try {
      await calls.ask(() => this.#upload(item).complete([{ partNumber: PART, etag: item.etag }]));
      return;
    } catch (thrown) {
      if (!(thrown instanceof Gone)) throw thrown;
      gone = thrown;
    }
    for (let look = 1; look <= LOOKS; look++) {
      if ((await calls.ask(() => this.#bucket.head(item.key))) !== null) return;
      if (look < LOOKS) await calls.rest(gone.message);
    }
    throw calls.lost(`neither the upload of ${item.key} nor the file is there (${gone.message})`);
  }

  async abort(items: readonly ItemPayload[]): Promise<void> {
    const calls = this.#callsFor('abort', null);
    await withEach(items, async (item) => {
      try {
        await calls.ask(() => this.#upload(item).abort());
      } catch (thrown) {
        if (!(thrown instanceof Gone)) throw thrown;
      }
    });
  }

  #upload({ key, uploadId }: StagedObject): R2MultipartUpload {
    return this.#bucket.resumeMultipartUpload(key, uploadId as string);
  }
}
