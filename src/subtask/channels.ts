/**
 * Channels between subtasks: frames of one shuffle edge from one subtask to another, in order.
 *
 * A channel inside a host hands batches on as they are; between hosts a batch travels as Arrow IPC
 * bytes. One delivery per channel is under way at a time, and it is answered when the receiver has
 * room again: that is all the flow control there is, and because every channel has its own, a full
 * one never holds another one up (no deadlock along an acyclic graph).
 *
 * Invariants: INV-42 frames of a channel have numbers 0, 1, 2, … without gaps; a gap or repetition is
 * refused and fails the generation.
 */
import { assert } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import { encodeBatch } from '../batch/ipc.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import type { Delivery, DeliveryAnswer, Frame } from '../protocol/messages.ts';

/** A queued frame: as it came over the wire, or a batch of this very host. */
export type QueuedFrame = Frame | { tag: 'batch'; batch: RecordBatch };

/** Rough weight of a frame for flow control, in bytes. */
const CONTROL_FRAME_BYTES = 64;
const LOCAL_ROW_BYTES = 64;

const weightOf = (frame: QueuedFrame): number => {
  if (frame.tag === 'data') return frame.bytes.byteLength;
  if (frame.tag === 'batch') return frame.batch.rows * LOCAL_ROW_BYTES;
  return CONTROL_FRAME_BYTES;
};

const channelKey = (edge: string, from: number): string => `${edge}/${from}`;

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
    this.key = channelKey(edge, from);
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
    if (delivery.sequence !== this.#expected) {
      return {
        tag: 'refused',
        reason: `frame ${delivery.sequence} on ${this.key}, expected ${this.#expected}`,
      };
    }
    this.#expected += delivery.frames.length;
    for (const frame of delivery.frames) this.push(frame);
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

/** The sending end, to another host. */
export class OutputChannel {
  readonly edge: string;
  readonly to: number;
  readonly #schema: Schema;
  #queue: Frame[] = [];
  #bytes = 0;
  #sequence = 0;
  #inFlight = false;

  constructor(edge: string, to: number, schema: Schema) {
    this.edge = edge;
    this.to = to;
    this.#schema = schema;
  }

  get full(): boolean {
    return this.#bytes >= LIMITS.channelBytesMax;
  }

  /** Nothing queued and nothing under way. */
  get drained(): boolean {
    return this.#queue.length === 0 && !this.#inFlight;
  }

  /** Queues a frame; returns the bytes it weighs. A batch of more than `frameBytesMax` travels in several frames. */
  push(frame: Frame | { tag: 'batch'; batch: RecordBatch }): number {
    if (frame.tag !== 'batch') return this.#queueUp(frame);
    const { batch } = frame;
    const { rows } = batch;
    const bytes = encodeBatch(this.#schema, batch);
    if (bytes.byteLength <= LIMITS.frameBytesMax || rows === 1)
      return this.#queueUp({ tag: 'data', rows, bytes });
    const middle = rows >> 1;
    return (
      this.push({ tag: 'batch', batch: sliceBatch(batch, 0, middle) }) +
      this.push({ tag: 'batch', batch: sliceBatch(batch, middle, rows) })
    );
  }

  #queueUp(frame: Frame): number {
    const weight = weightOf(frame);
    this.#queue.push(frame);
    this.#bytes += weight;
    return weight;
  }

  /** The next delivery to send, or null when one is under way or nothing is queued. */
  nextDelivery(): { sequence: number; frames: Frame[] } | null {
    if (this.#inFlight || this.#queue.length === 0) return null;
    let count = 0;
    let bytes = 0;
    while (count < this.#queue.length && (count === 0 || bytes < LIMITS.batchBytesMax)) {
      bytes += weightOf(this.#queue[count] as Frame);
      count++;
    }
    const frames = this.#queue.splice(0, count);
    this.#bytes -= bytes;
    const sequence = this.#sequence;
    this.#sequence += frames.length;
    this.#inFlight = true;
    return { sequence, frames };
  }

  onAnswered(): void {
    this.#inFlight = false;
  }
}
