/**
 * A sink within a stage, and the items it has staged and not yet seen committed.
 *
 * Staged items belong to the next checkpoint that becomes canonical: each snapshot names every item
 * that is still open, and an item is forgotten only when the leader says that exactly the snapshot
 * holding it is canonical and committed (`settled`). So an attempt that is given up loses nothing, and a
 * canonical one is never committed under two epochs.
 */
import { must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { type BarrierId, sameBarrier } from '../checkpoint/barrier-aligner.ts';
import type {
  ItemPayload,
  Sink,
  SinkOutput,
  StagedObject,
  StageRequest,
} from '../connectors/connector.ts';
import { contentHash } from '../lineage/content-hash.ts';
import type { SinkItem } from '../lineage/types.ts';
import type { Output, RowProblem } from '../operators/operator.ts';
import type { NodeBody } from './node.ts';

type OpenItem = {
  index: number;
  target: string;
  hash: string;
  bytes: number;
  staged: StagedObject | null;
};

/** Storing a file costs as much as so many rows. */
const FILE_ROWS = LIMITS.unitRowsMax / LIMITS.stagingFilesMax;

/** What the host does for a sink. */
export type SinkPort = {
  stage(sink: SinkNode, index: number, request: StageRequest): void;
  preview(sink: SinkNode, rows: Uint8Array, count: number): void;
};

export class SinkNode implements NodeBody, SinkOutput {
  readonly operator: string;
  readonly sink: Sink;
  readonly takeRest?: () => RecordBatch | null;
  readonly #port: SinkPort;
  readonly #subtask: number;
  #items: OpenItem[] = [];
  #nextIndex = 0;
  /** Files under way to where they are stored. */
  #files = 0;
  #bytes = 0;
  #snapshots: { barrier: BarrierId; items: OpenItem[]; rows: number }[] = [];
  /** Rows of this generation: received, and those of them that settled checkpoints cover. */
  #rows = 0;
  #settledRows = 0;
  /** Label of rows received now: the number the next checkpoint will have, unless epochs are skipped. */
  #epoch: number;
  #output: Output | null = null;

  constructor(operator: string, subtask: number, sink: Sink, epoch: number, port: SinkPort) {
    this.operator = operator;
    this.sink = sink;
    if (sink.takeRest !== undefined) this.takeRest = () => this.#restOf(sink);
    this.#subtask = subtask;
    this.#epoch = epoch;
    this.#port = port;
  }

  get copiesRows(): boolean | undefined {
    return this.sink.copiesRows;
  }

  onBatch(_port: number, batch: RecordBatch, output: Output): void {
    this.#output = output;
    this.#rows += batch.rows;
    this.sink.onBatch(batch, this.#epoch, this);
  }

  /** So much is under way to where it is stored that rows have to wait. */
  get full(): boolean {
    return this.#files >= LIMITS.stagingFilesMax || this.#bytes >= LIMITS.stagingBytesMax;
  }

  /** Files made, as the rows that they cost as much as. */
  effort(): number {
    return this.#nextIndex * FILE_ROWS;
  }

  onWatermark(): void {}

  onTick(): void {}

  /** Rows that are left will be received again. */
  #restOf(sink: Sink): RecordBatch | null {
    const rest = sink.takeRest?.() ?? null;
    this.#rows -= rest?.rows ?? 0;
    return rest;
  }

  stage(request: StageRequest): void {
    const index = this.#nextIndex++;
    const target = request.target ?? request.key;
    const bytes = request.bytes.byteLength;
    this.#items.push({ index, target, hash: contentHash(request.bytes), bytes, staged: null });
    this.#files++;
    this.#bytes += bytes;
    this.#port.stage(this, index, request);
  }

  preview(rows: Uint8Array, count: number): void {
    this.#port.preview(this, rows, count);
  }

  fail(problems: readonly RowProblem[]): void {
    must(this.#output, 'output of the batch under way').fail(problems);
  }

  onStaged(index: number, staged: StagedObject): void {
    const item = this.#items.find((each) => each.index === index);
    if (item === undefined || item.staged !== null) return;
    item.staged = staged;
    this.#files--;
    this.#bytes -= item.bytes;
  }

  /** Stages what is left and notes the open items as those of `barrier`. */
  snapshot(barrier: BarrierId): void {
    this.sink.onBarrier(Math.max(barrier.epoch, this.#epoch), this);
    this.#epoch = Math.max(this.#epoch, barrier.epoch + 1);
    this.#snapshots.push({ barrier, items: [...this.#items], rows: this.#rows });
  }

  /** Rows that this generation has received and no committed checkpoint covers. */
  get uncommittedRows(): number {
    return this.#rows - this.#settledRows;
  }

  /** Whether everything the snapshot of `barrier` names has been staged. */
  ready(barrier: BarrierId): boolean {
    return this.#at(barrier).every((item) => item.staged !== null);
  }

  /** The items of the snapshot of `barrier`, all staged. */
  items(barrier: BarrierId): SinkItem[] {
    return this.#at(barrier).map(({ index, target, hash, staged }) => {
      const payload: ItemPayload = { ...must(staged, 'staged object'), target, hash };
      return { sink: this.operator, subtask: this.#subtask, index, payload };
    });
  }

  /** Forgets the items that the canonical and committed checkpoint `barrier` held. */
  settle(barrier: BarrierId): void {
    const settled = this.#snapshots.find((snapshot) => sameBarrier(snapshot.barrier, barrier));
    if (settled === undefined) return;
    this.#settledRows = settled.rows;
    const gone = new Set(settled.items);
    this.#items = this.#items.filter((item) => !gone.has(item));
    this.#snapshots = this.#snapshots.filter((snapshot) => snapshot.barrier.epoch > barrier.epoch);
    for (const snapshot of this.#snapshots)
      snapshot.items = snapshot.items.filter((item) => !gone.has(item));
  }

  #at(barrier: BarrierId): OpenItem[] {
    return must(
      this.#snapshots.find((snapshot) => sameBarrier(snapshot.barrier, barrier)),
      'snapshot of the barrier',
    ).items;
  }
}
