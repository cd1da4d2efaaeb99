/**
 * Which implementation of `TwoPhaseSink` does what is asked: chosen by how a request stages, or how items were staged.
 */
import type { ItemPayload, StagedObject, StageRequest } from '../../connectors/connector.ts';
import { type CommitToken, methodOf, type TwoPhaseSink } from '../../connectors/two-phase-sink.ts';
import type { SinkItem } from '../../lineage/types.ts';
import { AppendedObjectSink } from './appended-object.ts';
import { MultipartUploadSink } from './multipart-upload.ts';
import { type CallsFor, SinkCalls, type SinkClock } from './sink-calls.ts';

/** Staging and collecting have no deadline of their own in the settings. */
export const STAGE_TIMEOUT_MS = 60_000;

/** The two-phase sinks of a bucket, for callers with `timeoutMs` for one commit. */
export class TwoPhaseSinks {
  readonly #sinks: Record<StageRequest['method'], TwoPhaseSink>;

  constructor(bucket: R2Bucket, timeoutMs: number, clock?: SinkClock) {
    const callsFor: CallsFor = (use, token) => new SinkCalls(use, token, timeoutMs, clock);
    this.#sinks = {
      multipart: new MultipartUploadSink(bucket, callsFor),
      object: new AppendedObjectSink(bucket, callsFor),
    };
  }

  async stage(request: StageRequest): Promise<StagedObject> {
    return await this.#sinks[request.method].stage(request);
  }

  async preCommit(token: CommitToken, items: readonly SinkItem[]): Promise<void> {
    for (const { sink, own } of this.#byMethod(items)) await sink.preCommit(token, own);
  }

  async commit(token: CommitToken, items: readonly SinkItem[]): Promise<void> {
    for (const { sink, own } of this.#byMethod(items)) await sink.commit(token, own);
  }

  async abort(items: readonly SinkItem[]): Promise<void> {
    for (const { sink, own } of this.#byMethod(items)) await sink.abort(own);
  }

  #byMethod(items: readonly SinkItem[]): { sink: TwoPhaseSink; own: ItemPayload[] }[] {
    const payloads = items.map((item) => item.payload as unknown as ItemPayload);
    return (['multipart', 'object'] as const).flatMap((method) => {
      const own = payloads.filter((item) => methodOf(item) === method);
      return own.length === 0 ? [] : [{ sink: this.#sinks[method], own }];
    });
  }
}
