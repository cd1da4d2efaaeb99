/**
 * One operator of a stage, wired to what feeds it and what it feeds.
 *
 * A node counts rows, merges the watermarks of its ports and calls its operator. Emitting is a call
 * into the next nodes of the stage and a push into the channels of shuffle edges: no queue inside a
 * stage.
 *
 * Invariants: INV-43 a node's watermark never goes back; `WatermarkMerge` says what several ports make.
 * What a checkpoint restored is told to the next nodes once more: they may not have heard it.
 */
import type { OperatorCounters } from '../protocol/messages.ts';
import { must } from '../base/assert.ts';
import { batchBytes } from '../batch/batch-bytes.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { copyBatch } from '../batch/take.ts';
import type { Schema } from '../batch/types.ts';
import type { GraphOperator } from '../graph/graph.ts';
import type { Output, RowProblem, Watermark } from '../operators/operator.ts';
import { rowsOfPartial } from '../operators/window-combiner.ts';
import { WatermarkMerge } from './watermark-merge.ts';

/** What a node does with rows: an operator, a source's output side, or a sink. */
export interface NodeBody {
  onBatch(port: number, batch: RecordBatch, output: Output): void;
  /** As for operators. */
  readonly takeRest?: () => RecordBatch | null;
  /** As for operators. */
  readonly copiesRows?: boolean | undefined;
  onWatermark(watermark: Watermark, output: Output): void;
  onTick(nowMs: number, output: Output): void;
  /** As for operators. */
  onPartial?(partial: RecordBatch, output: Output): void;
  readonly partialStates?: Schema | undefined;
  readonly waitsForEnd?: number | undefined;
  onPortEnd?(output: Output): void;
  /** True: what a port says of time waits behind rows that have not left, and is received again then. */
  holds?(port: number, value: number | 'idle'): boolean;
}

/** Where a node's rows go beyond the nodes of its own stage. */
export interface ShuffleOutput {
  emit(batch: RecordBatch, node: Node): void;
  watermark(value: number | 'end' | 'idle'): void;
}

/** Receives what a node could not process, for counting and showing. */
export type ProblemSink = (
  node: Node,
  kind: 'error' | 'late',
  problems: readonly RowProblem[],
) => void;

/** What came while rows of a batch were left for a later turn. */
type Waiting =
  | { tag: 'batch'; port: number; batch: RecordBatch }
  | { tag: 'partial'; batch: RecordBatch }
  | { tag: 'watermark'; port: number; value: number | 'idle' };

export const zeroCounters = (): OperatorCounters => ({
  rowsIn: 0,
  rowsOut: 0,
  bytesIn: 0,
  bytesOut: 0,
  batchesIn: 0,
  batchesOut: 0,
  errors: 0,
  late: 0,
  filtered: 0,
});

export class Node implements Output {
  readonly operator: GraphOperator;
  readonly body: NodeBody;
  readonly counters = zeroCounters();
  readonly downstream: { node: Node; port: number }[] = [];
  readonly shuffles: ShuffleOutput[] = [];
  /** Merged watermark in microseconds; null: unknown. */
  watermark: number | null = null;
  idle = false;
  readonly #ports: WatermarkMerge;
  /** The watermark has been passed on by this very node. */
  #told = false;
  readonly #onProblems: ProblemSink;
  #waiting: Waiting[] = [];

  constructor(operator: GraphOperator, body: NodeBody, ports: number, onProblems: ProblemSink) {
    this.operator = operator;
    this.body = body;
    this.#ports = new WatermarkMerge(ports);
    this.#onProblems = onProblems;
  }

  /** Rows, and what came after them, wait for `resume`. */
  get unfinished(): boolean {
    return this.#waiting.length > 0;
  }

  /** Goes on with what waits, as far as one piece of work goes. */
  resume(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // What it makes others wait for comes before what waits already.
    const later = this.#waiting;
    this.#waiting = [];
    if (next.tag === 'batch') this.#work(next.port, next.batch, true);
    else if (next.tag === 'partial') this.body.onPartial?.(next.batch, this);
    else this.receiveWatermark(next.port, next.value);
    this.#waiting = [...this.#waiting, ...later];
  }

  /** Rows that wait are copied, unless they have been: those that are lent are written over meanwhile. */
  #work(port: number, batch: RecordBatch, owned: boolean): void {
    this.body.onBatch(port, batch, this);
    const rest = this.body.takeRest?.() ?? null;
    if (rest !== null)
      this.#waiting.push({ tag: 'batch', port, batch: owned ? rest : copyBatch(rest) });
  }

  receive(port: number, batch: RecordBatch): void {
    const before = this.counters.rowsOut + this.counters.errors;
    this.counters.rowsIn += batch.rows;
    this.counters.batchesIn++;
    if (this.unfinished) this.#waiting.push({ tag: 'batch', port, batch: copyBatch(batch) });
    else this.#work(port, batch, false);
    if (this.operator.spec.tag === 'filter') {
      this.counters.filtered +=
        batch.rows - (this.counters.rowsOut + this.counters.errors - before);
    }
  }

  /** What a combiner made of rows on their way here: they count as the rows they were. */
  receivePartial(partial: RecordBatch): void {
    this.counters.rowsIn += rowsOfPartial(partial);
    this.counters.batchesIn++;
    if (this.unfinished) this.#waiting.push({ tag: 'partial', batch: copyBatch(partial) });
    else this.body.onPartial?.(partial, this);
  }

  get partialStates(): Schema {
    return must(this.body.partialStates, 'the schema of partial states');
  }

  emit(batch: RecordBatch): void {
    if (batch.rows === 0) return;
    this.counters.rowsOut += batch.rows;
    this.counters.batchesOut++;
    if (this.downstream.length > 0) this.#handOn(batch);
    for (const shuffle of this.shuffles) shuffle.emit(batch, this);
  }

  /** To the nodes of its own stage. Bytes are those of the columns: what would travel if they did. */
  #handOn(batch: RecordBatch): void {
    const bytes = batchBytes(batch);
    this.counters.bytesOut += bytes;
    for (const { node, port } of this.downstream) {
      node.counters.bytesIn += bytes;
      node.receive(port, batch);
    }
  }

  /** Whether nobody who gets rows of this node refers to them once `emit` has returned. */
  get mayLend(): boolean {
    return (
      this.shuffles.length === 0 &&
      this.downstream.every(({ node }) => node.body.copiesRows === true && node.mayLend)
    );
  }

  fail(problems: readonly RowProblem[]): void {
    this.counters.errors += problems.length;
    this.#onProblems(this, 'error', problems);
  }

  late(problems: readonly RowProblem[]): void {
    this.counters.late += problems.length;
    this.#onProblems(this, 'late', problems);
  }

  /** One port has said something; passes on what that changes. */
  receiveWatermark(port: number, value: number | 'idle'): void {
    if (this.unfinished) {
      this.#waiting.push({ tag: 'watermark', port, value });
      return;
    }
    if (this.body.holds?.(port, value) === true) return;
    if (port === this.body.waitsForEnd) {
      if (value !== Infinity) return;
      this.body.onPortEnd?.(this);
    }
    this.#ports.set(port, value);
    const { watermark, idle } = this.#ports.merged;
    if (!idle && watermark === null) return;
    const wasIdle = this.idle;
    this.idle = idle;
    if (watermark !== null && (this.watermark === null || watermark > this.watermark))
      this.advance(watermark);
    else if (this.watermark !== null && (!this.#told || (wasIdle && !idle)))
      this.#passOn(this.watermark);
    if (idle && !wasIdle) this.#passOn('idle');
  }

  /** Moves the node's own watermark, tells the operator, then everything downstream. */
  advance(watermark: number): void {
    this.watermark = watermark;
    this.body.onWatermark(watermark, this);
    this.#passOn(watermark);
  }

  /** Sets the watermark a checkpoint was taken at, before the operator gets its state: nothing leaves now. */
  restoreWatermark(watermark: number): void {
    this.watermark = watermark;
    this.body.onWatermark(watermark, this);
  }

  /** Announces that this node has no rows for now and holds nobody back. */
  stepAside(): void {
    if (this.idle) return;
    this.idle = true;
    this.#passOn('idle');
  }

  /** Ends `stepAside` without moving the watermark. */
  stepBack(): void {
    if (!this.idle) return;
    this.idle = false;
    if (this.watermark !== null) this.#passOn(this.watermark);
  }

  #passOn(value: number | 'idle'): void {
    if (value !== 'idle') this.#told = true;
    for (const { node, port } of this.downstream) node.receiveWatermark(port, value);
    const wire = value === Infinity ? 'end' : value;
    for (const shuffle of this.shuffles) shuffle.watermark(wire);
  }
}
