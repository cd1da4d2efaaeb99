/**
 * One stage on one subtask: its nodes, input channels, sources and barrier alignment.
 *
 * `step` does a bounded piece of work and never waits. A stage works only while none of its output
 * channels is full and, per input, while that input is not blocked by an alignment.
 *
 * Invariants: INV-44 at the snapshot for a barrier every row before it, and none after it, has been
 * processed by every node of the stage; the barrier leaves on every output channel right behind
 * the rows the snapshot covers.
 */
import { assert, must } from '../base/assert.ts';
import { batchBytes } from '../batch/batch-bytes.ts';
import { decodeBatch } from '../batch/ipc.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { sliceBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import { BarrierAligner, type BarrierId } from '../checkpoint/barrier-aligner.ts';
import type { Stage } from '../graph/graph.ts';
import type { Frame } from '../protocol/messages.ts';
import type { InputChannel, QueuedFrame } from './input-channel.ts';
import { CallingBody } from './calling-body.ts';
import type { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import type { ShuffleEdge } from './shuffle-edge.ts';
import type { SourceNode } from './source-node.ts';
import type { WatermarkMerge } from './watermark-merge.ts';

/** Name of the pseudo input of a stage that reads sources. */
const SOURCES = 'sources';

/** A channel, the node it leads to, and its place in the watermark of the node's port. */
export type StageInput = {
  channel: InputChannel;
  node: Node;
  schema: Schema;
  merge: WatermarkMerge;
  place: number;
};

export class StageRuntime {
  readonly stage: Stage;
  /** In dataflow order. */
  readonly nodes: readonly Node[];
  readonly sources: readonly SourceNode[];
  readonly inputs: readonly StageInput[];
  readonly outputs: readonly ShuffleEdge[];
  readonly #aligner: BarrierAligner;
  readonly #callers: readonly CallingBody[];
  /** Aligned, and to be cut once no function is under way. */
  #due = false;
  #endSent = false;
  #nextInput = 0;

  constructor(
    stage: Stage,
    nodes: readonly Node[],
    sources: readonly SourceNode[],
    inputs: readonly StageInput[],
    outputs: readonly ShuffleEdge[],
  ) {
    this.stage = stage;
    this.nodes = nodes;
    this.sources = sources;
    this.inputs = inputs;
    this.outputs = outputs;
    this.#callers = nodes.flatMap(({ body }) => (body instanceof CallingBody ? [body] : []));
    const names = inputs.map((input) => input.channel.key);
    if (sources.length > 0) names.push(SOURCES);
    this.#aligner = new BarrierAligner(names);
  }

  /** Every source and input channel has ended and nothing is queued. */
  get ended(): boolean {
    return (
      this.sources.every((source) => source.ended) &&
      this.inputs.every(({ channel }) => channel.ended)
    );
  }

  /** Ended, and everything emitted has left the host. */
  get drained(): boolean {
    return this.#endSent && this.outputs.every((edge) => edge.drained);
  }

  /** Rows wait for functions of the user. */
  get calling(): boolean {
    return this.#callers.some((caller) => caller.pending);
  }

  get outputFull(): boolean {
    return this.outputs.some((edge) => edge.full);
  }

  /** The leader began a checkpoint; true when the stage must be snapshotted now. */
  announce(barrier: BarrierId): boolean {
    const before = this.#aligner.current;
    const aligned =
      this.sources.length > 0
        ? this.#aligner.arrive(SOURCES, barrier)
        : this.#aligner.announce(barrier);
    // A later attempt aligns anew.
    if (this.#aligner.current !== before) this.#due = false;
    return aligned && this.#becomeDue();
  }

  get aligning(): BarrierId | null {
    return this.#aligner.current;
  }

  /**
   * Does at most `budget` units of work (a unit is one batch or frame).
   * @returns units done, and whether a snapshot is due right now (call `finishBarrier` before any other step)
   */
  step(nowMs: number, budget: number, sourcesOpen: boolean): { done: number; aligned: boolean } {
    if (this.#due) return { done: 0, aligned: this.#settled() };
    let done = 0;
    while (done < budget && !this.outputFull && !this.#callers.some((caller) => caller.full)) {
      const frame = this.#takeFrame();
      if (frame !== null) {
        done++;
        if (this.#process(frame.input, frame.frame)) return { done, aligned: this.#becomeDue() };
        continue;
      }
      if (!sourcesOpen || this.sources.length === 0 || this.#aligner.isBlocked(SOURCES)) break;
      let progressed = false;
      for (const source of this.sources) {
        if (source.step(nowMs)) {
          progressed = true;
          done++;
        }
      }
      if (this.sources.every((source) => source.ended) && this.#aligner.end(SOURCES))
        return { done, aligned: this.#becomeDue() };
      if (!progressed) break;
    }
    this.#sendEnd();
    return { done, aligned: false };
  }

  #becomeDue(): boolean {
    this.#due = true;
    return this.#settled();
  }

  /**
   * Whether the stage can be cut: operators hold nothing back that a function is still to be asked about, and no answer
   * is awaited. Each answer may make others hold rows back, so this is looked at anew until both are true.
   */
  #settled(): boolean {
    if (this.calling) return false;
    if (this.#callers.length > 0) {
      for (const node of this.nodes)
        if (node.body instanceof OperatorBody) node.body.operator.onBarrier(node);
      if (this.calling) return false;
    }
    this.#due = false;
    return true;
  }

  /** Tells operators the time: flushes by the clock, idle sources. */
  tick(nowMs: number): void {
    if (this.#aligner.current === null) for (const source of this.sources) source.tick(nowMs);
    for (const node of this.nodes) node.body.onTick(nowMs, node);
  }

  /** Sends the barrier on (unless everything downstream knows this stage has ended) and lets the inputs flow again; the snapshot has been taken. */
  finishBarrier(): void {
    const barrier = must(this.#aligner.current, 'barrier under alignment');
    if (!this.#endSent) for (const edge of this.outputs) edge.barrier(barrier);
    this.#aligner.release();
    this.#sendEnd();
  }

  /** When, after `nowMs`, the clock alone gives this stage work; null: never. */
  wakeAtMs(nowMs: number): number | null {
    let wake: number | null = null;
    for (const source of this.sources) {
      const at = source.wakeAtMs;
      // What was due already has been polled, or waits for something that is an event of its own.
      if (at !== null && at > nowMs && (wake === null || at < wake)) wake = at;
    }
    return wake;
  }

  /** Round robin over the channels that have a frame and are not blocked. */
  #takeFrame(): { input: StageInput; frame: QueuedFrame } | null {
    const count = this.inputs.length;
    for (let offset = 0; offset < count; offset++) {
      const index = (this.#nextInput + offset) % count;
      const input = this.inputs[index] as StageInput;
      if (input.channel.empty || this.#aligner.isBlocked(input.channel.key)) continue;
      this.#nextInput = (index + 1) % count;
      return { input, frame: input.channel.shift() };
    }
    return null;
  }

  /** Processes one frame; true when it completed an alignment. */
  #process(input: StageInput, frame: QueuedFrame): boolean {
    const { channel, node } = input;
    switch (frame.tag) {
      case 'batch':
        node.counters.bytesIn += batchBytes(frame.batch);
        if (frame.partial === true) node.receivePartial(frame.batch);
        else node.receive(channel.port, frame.batch);
        return false;
      case 'data':
        this.#receiveRows(input, frame);
        return false;
      case 'watermark':
        this.#mergeWatermark(input, frame.value === 'end' ? Infinity : frame.value);
        return false;
      case 'barrier':
        return this.#aligner.arrive(channel.key, frame);
      case 'end':
        channel.ended = true;
        this.#mergeWatermark(input, Infinity);
        return this.#aligner.end(channel.key);
    }
  }

  /** Hands the rows of a frame on in pieces, with each watermark in its place between them. */
  #receiveRows(input: StageInput, frame: Frame & { tag: 'data' }): void {
    const { channel, node } = input;
    const partial = frame.partial === true;
    const schema = partial ? node.partialStates : input.schema;
    const batch: RecordBatch = decodeBatch(schema, frame.bytes);
    node.counters.bytesIn += frame.bytes.byteLength;
    const receive = (rows: RecordBatch): void => {
      if (partial) node.receivePartial(rows);
      else node.receive(channel.port, rows);
    };
    let from = 0;
    for (const { row, value } of frame.marks) {
      if (row > from) receive(sliceBatch(batch, from, row));
      from = row;
      this.#mergeWatermark(input, value === 'end' ? Infinity : value);
    }
    if (from === 0) receive(batch);
    else if (from < batch.rows) receive(sliceBatch(batch, from, batch.rows));
  }

  /** A channel has spoken: what its port of the node makes of all its channels goes to the node. */
  #mergeWatermark({ node, channel, merge, place }: StageInput, value: number | 'idle'): void {
    merge.set(place, value);
    const { watermark, idle } = merge.merged;
    if (watermark !== null) node.receiveWatermark(channel.port, watermark);
    if (idle) node.receiveWatermark(channel.port, 'idle');
  }

  /** Once everything has ended, says so downstream. */
  #sendEnd(): void {
    if (this.#endSent || !this.ended || this.calling || this.#aligner.current !== null) return;
    assert(
      this.inputs.every(({ channel }) => channel.empty),
      'an ended channel has nothing queued',
    );
    this.#endSent = true;
    for (const edge of this.outputs) edge.end();
  }
}
