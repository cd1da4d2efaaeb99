/**
 * The sending end of a channel to another host.
 *
 * Batches and watermarks wait as they are. When the delivery before has been answered, everything that waits, up to about a
 * megabyte, becomes one delivery, and all rows between two barriers one frame: the frames are as small as the stream is
 * slow and as large as it is busy, without a timer. A watermark keeps its exact place among the rows of a frame
 * (`marks`), so that how rows were put together cannot change which of them are late.
 *
 * Invariants: INV-42 frames have numbers without gaps; one delivery is under way at a time. Failure: none here; what becomes of
 * a delivery that breaks is the shell's and the machine's business.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { batchBytes } from '../batch/batch-bytes.ts';
import { concatBatches } from '../batch/concat.ts';
import { encodeBatch } from '../batch/ipc.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import type { Frame, FrameMark } from '../protocol/messages.ts';
import { CONTROL_FRAME_BYTES } from './input-channel.ts';

type Waiting =
  | { tag: 'batch'; batch: RecordBatch; bytes: number; partial: boolean }
  | { tag: 'watermark'; value: FrameMark['value'] }
  | (Frame & { tag: 'barrier' | 'end' });

/** What is put into a channel. */
export type Sent =
  | Exclude<Frame, { tag: 'data' }>
  | { tag: 'batch'; batch: RecordBatch; partial?: true };

const weightOf = (waiting: Waiting): number =>
  waiting.tag === 'batch' ? waiting.bytes : CONTROL_FRAME_BYTES;

export class OutputChannel {
  readonly edge: string;
  readonly to: number;
  readonly #schema: Schema;
  readonly #partialSchema: Schema | null;
  #queue: Waiting[] = [];
  #bytes = 0;
  #sequence = 0;
  #inFlight = false;

  /** @param partialSchema of the partial states that a combiner gives; null: there is none */
  constructor(edge: string, to: number, schema: Schema, partialSchema: Schema | null = null) {
    this.edge = edge;
    this.to = to;
    this.#schema = schema;
    this.#partialSchema = partialSchema;
  }

  get full(): boolean {
    return this.#bytes >= LIMITS.channelBytesMax;
  }

  /** Nothing queued and nothing under way. */
  get drained(): boolean {
    return this.#queue.length === 0 && !this.#inFlight;
  }

  /** Queues rows or what stands between them; returns the bytes of the rows. */
  push(sent: Sent): number {
    if (sent.tag === 'batch') return this.#pushBatch(sent.batch, sent.partial === true);
    const last = this.#queue.at(-1);
    const replaces =
      sent.tag === 'watermark' &&
      last?.tag === 'watermark' &&
      typeof last.value === 'number' &&
      sent.value !== 'idle';
    // Nobody can tell a watermark from the next one when no row lies between them.
    if (replaces) last.value = sent.value;
    else this.#queueUp({ ...sent });
    return 0;
  }

  /** Rows of a batch that is too large for one message travel in several frames. */
  #pushBatch(batch: RecordBatch, partial: boolean): number {
    const bytes = batchBytes(batch);
    if (bytes <= LIMITS.frameRowBytesMax || batch.rows === 1) {
      this.#queueUp({ tag: 'batch', batch, bytes, partial });
      return bytes;
    }
    const middle = batch.rows >> 1;
    return (
      this.#pushBatch(sliceBatch(batch, 0, middle), partial) +
      this.#pushBatch(sliceBatch(batch, middle, batch.rows), partial)
    );
  }

  #queueUp(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#bytes += weightOf(waiting);
  }

  /** The next delivery to send, or null when one is under way or nothing is queued. */
  nextDelivery(): { sequence: number; frames: Frame[] } | null {
    if (this.#inFlight || this.#queue.length === 0) return null;
    let count = 0;
    let bytes = 0;
    while (count < this.#queue.length && (count === 0 || bytes < LIMITS.batchBytesMax)) {
      bytes += weightOf(this.#queue[count] as Waiting);
      count++;
    }
    const frames = this.#framesOf(this.#queue.splice(0, count));
    this.#bytes -= bytes;
    const sequence = this.#sequence;
    this.#sequence += frames.length;
    this.#inFlight = true;
    return { sequence, frames };
  }

  onAnswered(): void {
    this.#inFlight = false;
  }

  #framesOf(queue: readonly Waiting[]): Frame[] {
    const frames: Frame[] = [];
    let batches: RecordBatch[] = [];
    let marks: FrameMark[] = [];
    let rows = 0;
    let bytes = 0;
    let partial = false;
    const close = (): void => {
      const [only] = marks;
      if (rows > 0) {
        const schema = partial ? must(this.#partialSchema, 'partial schema') : this.#schema;
        const encoded = encodeBatch(schema, concatBatches(batches));
        const frame = { tag: 'data', rows, bytes: encoded, marks } as const;
        frames.push(partial ? { ...frame, partial } : frame);
      } else if (only !== undefined) {
        for (const { value } of marks) frames.push({ tag: 'watermark', value });
      }
      batches = [];
      marks = [];
      rows = 0;
      bytes = 0;
    };
    for (const waiting of queue) {
      switch (waiting.tag) {
        case 'batch':
          if (
            rows > 0 &&
            (waiting.partial !== partial || bytes + waiting.bytes > LIMITS.frameRowBytesMax)
          )
            close();
          partial = waiting.partial;
          batches.push(waiting.batch);
          rows += waiting.batch.rows;
          bytes += waiting.bytes;
          break;
        case 'watermark':
          marks.push({ row: rows, value: waiting.value });
          break;
        case 'barrier':
        case 'end':
          close();
          frames.push(waiting);
      }
    }
    close();
    return frames;
  }
}
