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
import type { Frame, FrameMark } from '../protocol/messages.ts';
import type { InputChannel, QueuedFrame } from './input-channel.ts';
import { CallingBody } from './calling-body.ts';
import type { Node } from './node.ts';
import { OperatorBody } from './operator-body.ts';
import { type Pace, WorkMeter } from './pace.ts';
import type { ShuffleEdge } from './shuffle-edge.ts';
import { SinkNode } from './sink-node.ts';
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
  /** How many of its rows are taken at a time. */
  pace: Pace;
};

/** Rows of a frame that are handed on piece by piece, and the watermarks that stand between them. */
type UnderWay = {
  input: StageInput;
  batch: RecordBatch;
  partial: boolean;
  marks: readonly FrameMark[];
  /** Rows, and marks, that have been handed on. */
  row: number;
  mark: number;
};

/** A piece of work counts at least as one; one that came to more, as so many batches. */
const unitsOf = (units: number): number => 1 + Math.floor(units * 8);

export class StageRuntime {
  readonly stage: Stage;
  /** In dataflow order. */
  readonly nodes: readonly Node[];
  readonly sources: readonly SourceNode[];
  readonly inputs: readonly StageInput[];
  readonly outputs: readonly ShuffleEdge[];
  readonly #aligner: BarrierAligner;
  readonly #callers: readonly CallingBody[];
  readonly #sinks: readonly SinkNode[];
  readonly #meter: WorkMeter;
  /** Nodes that may leave rows for later, the last one first. */
  readonly #leaving: readonly Node[];
  #underWay: UnderWay | null = null;
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
    this.#sinks = nodes.flatMap(({ body }) => (body instanceof SinkNode ? [body] : []));
    this.#meter = new WorkMeter(nodes);
    this.#leaving = nodes.filter(({ body }) => body.takeRest !== undefined).toReversed();
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

  /** Rows that were taken in wait for a turn. */
  get unfinished(): boolean {
    return this.#underWay !== null || this.#leaving.some((node) => node.unfinished);
  }

  /** Somebody downstream has more than enough: another host, or the store that a sink writes to. */
  get outputFull(): boolean {
    return this.outputs.some((edge) => edge.full) || this.#sinks.some((sink) => sink.full);
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
   * Does at most `budget` units of work, or a little more (a unit is one batch or frame, or what many rows made of few).
   * @returns units done, and whether a snapshot is due right now (call `finishBarrier` before any other step)
   */
  step(nowMs: number, budget: number, sourcesOpen: boolean): { done: number; aligned: boolean } {
    let done = 0;
    if (this.#due) {
      while (done < budget && !this.outputFull && this.#resume()) done += this.#units();
      return { done, aligned: this.#settled() };
    }
    while (done < budget && !this.outputFull && !this.#callers.some((caller) => caller.full)) {
      if (this.#resume()) {
        done += this.#units();
        continue;
      }
      if (this.#underWay !== null) {
        done += this.#handOn(this.#underWay);
        continue;
      }
      const frame = this.#takeFrame();
      if (frame !== null) {
        if (frame.frame.tag !== 'data' && frame.frame.tag !== 'batch') done++;
        if (this.#process(frame.input, frame.frame)) return { done, aligned: this.#becomeDue() };
        continue;
      }
      if (!sourcesOpen || this.sources.length === 0 || this.#aligner.isBlocked(SOURCES)) break;
      let progressed = false;
      for (const source of this.sources) {
        if (this.unfinished) break;
        const before = source.rowsRead;
        if (!source.step(nowMs)) continue;
        progressed = true;
        const units = this.#meter.take();
        source.pace.note(source.rowsRead - before, units);
        done += unitsOf(units);
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
   * Whether the stage can be cut: operators hold nothing back that a function is still to be asked about or that makes more than
   * a turn's worth, no answer is awaited and no rows wait for a turn. Each answer and turn may make others hold rows back, so this is looked at anew until both are true.
   */
  #settled(): boolean {
    if (this.calling || this.unfinished) return false;
    if (this.#callers.length > 0 || this.#leaving.length > 0) {
      for (const node of this.nodes)
        if (node.body instanceof OperatorBody) node.body.operator.onBarrier(node);
      if (this.calling || this.unfinished) return false;
    }
    this.#due = false;
    return true;
  }

  /** Tells operators the time: flushes by the clock, idle sources. */
  tick(nowMs: number): void {
    if (this.#aligner.current === null) for (const source of this.sources) source.tick(nowMs);
    for (const node of this.nodes) if (!node.unfinished) node.body.onTick(nowMs, node);
  }

  /** Sends the barrier on (unless everything downstream knows this stage has ended) and lets the inputs flow again; the snapshot has been taken. */
  finishBarrier(): void {
    const barrier = must(this.#aligner.current, 'barrier under alignment');
    assert(this.#underWay === null, 'rows before the barrier have been processed');
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
        this.#begin(input, frame.batch, frame.partial === true, []);
        return false;
      case 'data':
        this.#decode(input, frame);
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

  /** Goes on with rows that an operator left for later; false: there are none. */
  #resume(): boolean {
    const node = this.#leaving.find((each) => each.unfinished);
    node?.resume();
    return node !== undefined;
  }

  #units(): number {
    return unitsOf(this.#meter.take());
  }

  #decode(input: StageInput, frame: Frame & { tag: 'data' }): void {
    const partial = frame.partial === true;
    const { node } = input;
    node.counters.bytesIn += frame.bytes.byteLength;
    const batch = decodeBatch(partial ? node.partialStates : input.schema, frame.bytes);
    this.#begin(input, batch, partial, frame.marks);
  }

  #begin(
    input: StageInput,
    batch: RecordBatch,
    partial: boolean,
    marks: readonly FrameMark[],
  ): void {
    this.#underWay = { input, batch, partial, marks, row: 0, mark: 0 };
  }

  /** Hands rows on in pieces, with each watermark in its place between them, until a unit is full; the units of that. */
  #handOn(underWay: UnderWay): number {
    const { input, batch, partial, marks } = underWay;
    const { node, channel, pace } = input;
    let units = 0;
    while (units < 1) {
      const from = underWay.row;
      const to = Math.min(marks[underWay.mark]?.row ?? batch.rows, from + pace.rows);
      if (to > from) {
        const rows = from === 0 && to === batch.rows ? batch : sliceBatch(batch, from, to);
        if (partial) node.receivePartial(rows);
        else node.receive(channel.port, rows);
      }
      underWay.row = to;
      for (let mark = marks[underWay.mark]; mark?.row === to; mark = marks[++underWay.mark])
        this.#mergeWatermark(input, mark.value === 'end' ? Infinity : mark.value);
      const work = this.#meter.take();
      pace.note(to - from, work);
      units += work;
      if (to < batch.rows || underWay.mark < marks.length) continue;
      this.#underWay = null;
      break;
    }
    return unitsOf(units);
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
    if (
      this.#endSent ||
      !this.ended ||
      this.calling ||
      this.unfinished ||
      this.#aligner.current !== null
    )
      return;
    assert(
      this.inputs.every(({ channel }) => channel.empty),
      'an ended channel has nothing queued',
    );
    this.#endSent = true;
    for (const edge of this.outputs) edge.end();
  }
}
