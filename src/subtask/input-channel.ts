/**
 * The receiving end of a channel: frames of one shuffle edge from one subtask to another, in order.
 *
 * A channel inside a host hands batches on as they are; between hosts rows travel as Arrow IPC bytes (`output-channel.ts`).
 * A delivery is answered when the receiver has room again: these held answers are the sender's credit, and because every
 * channel has its own, a full one never holds another one up (no deadlock along an acyclic graph).
 *
 * Invariants: INV-42 frames of a channel have numbers 0, 1, 2, … without gaps; a delivery that has been taken in before
 * is answered and otherwise ignored, any other gap or repetition is refused and fails the generation.
 */
import { assert } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { batchBytes } from '../batch/batch-bytes.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Delivery, DeliveryAnswer, Frame } from '../protocol/messages.ts';

/** A queued frame: as it came over the wire, or a batch of this very host. */
export type QueuedFrame = Frame | { tag: 'batch'; batch: RecordBatch; partial?: true };

/** Rough weight of a frame without rows for flow control, in bytes. */
export const CONTROL_FRAME_BYTES = 64;

const weightOf = (frame: QueuedFrame): number => {
  if (frame.tag === 'data') return frame.bytes.byteLength;
  if (frame.tag === 'batch') return batchBytes(frame.batch);
  return CONTROL_FRAME_BYTES;
};

export class InputChannel {
  readonly key: string;
  readonly edge: string;
  readonly from: number;
  readonly port: number;
  ended = false;
  #queue: QueuedFrame[] = [];
  #head = 0;
  #bytes = 0;
  #expected = 0;
  /** Deliveries that wait for room before they are answered. */
  #held: number[] = [];

  constructor(edge: string, from: number, port: number) {
    this.key = `${edge}/${from}`;
    this.edge = edge;
    this.from = from;
    this.port = port;
  }

  get empty(): boolean {
    return this.#head === this.#queue.length;
  }

  /** Share of the queue in use, 0 to 1. */
  get fill(): number {
    return Math.min(1, this.#bytes / LIMITS.channelBytesMax);
  }

  get full(): boolean {
    return this.#bytes >= LIMITS.channelBytesMax;
  }

  push(frame: QueuedFrame): void {
    this.#queue.push(frame);
    this.#bytes += weightOf(frame);
  }

  /** Takes a delivery in; the answer to give now, or null when it is held until there is room. */
  receive(delivery: Delivery, requestId: number): DeliveryAnswer | null {
    const { sequence, frames } = delivery;
    const repeated = sequence + frames.length <= this.#expected;
    if (!repeated && sequence !== this.#expected) {
      return {
        tag: 'refused',
        reason: `frame ${sequence} on ${this.key}, expected ${this.#expected}`,
      };
    }
    if (!repeated) {
      this.#expected += frames.length;
      for (const frame of frames) this.push(frame);
    }
    if (!this.full) return { tag: 'accepted' };
    this.#held.push(requestId);
    return null;
  }

  /** The next frame; the caller has checked `empty`. */
  shift(): QueuedFrame {
    const frame = this.#queue[this.#head];
    assert(frame !== undefined, 'shift of an empty channel');
    this.#head++;
    this.#bytes -= weightOf(frame);
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head > 1024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return frame;
  }

  /** Deliveries that may be answered now that there is room. */
  releaseHeld(): number[] {
    if (this.full || this.#held.length === 0) return [];
    const held = this.#held;
    this.#held = [];
    return held;
  }
}
