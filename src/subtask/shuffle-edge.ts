/**
 * The sending side of one shuffle edge on one subtask: rows go to the owner of their key's hash,
 * watermarks, barriers and the end go to everybody.
 *
 * Without keys every row goes to subtask 0.
 */
import { must } from '../base/assert.ts';
import { partitionBatch } from '../batch/partition.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import { type CompiledExpr, compileExpr } from '../expr/compile.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { routeRows, splitRowsFast } from '../kernels/route-rows.ts';
import type { InputChannel } from './input-channel.ts';
import type { Node, ShuffleOutput } from './node.ts';
import type { OutputChannel } from './output-channel.ts';

/** A destination: a channel of this host, or one to another host. */
export type Destination =
  | { tag: 'local'; channel: InputChannel }
  | { tag: 'remote'; channel: OutputChannel };

export class ShuffleEdge implements ShuffleOutput {
  readonly edge: GraphEdge;
  readonly destinations: readonly Destination[];
  readonly #keys: readonly CompiledExpr[];

  /** @param destinations one per subtask of the receiving operator, in order */
  constructor(edge: GraphEdge, destinations: readonly Destination[]) {
    this.edge = edge;
    this.destinations = destinations;
    this.#keys = edge.keys.map(compileExpr);
  }

  get full(): boolean {
    return this.destinations.some(({ channel }) => channel.full);
  }

  get drained(): boolean {
    return this.destinations.every(
      (destination) => destination.tag === 'local' || destination.channel.drained,
    );
  }

  emit(batch: RecordBatch, node: Node): void {
    if (this.#keys.length === 0 || this.destinations.length === 1) {
      this.#push(0, batch, node);
      return;
    }
    // A row whose key fails goes anywhere: its receiver computes the key again, counts the row and says why.
    const errors = new RowErrors(batch.rows);
    const keys = this.#keys.map((key) => key(batch, errors));
    const hashes = new Uint32Array(batch.rows);
    routeRows(keys, batch.rows, hashes);
    const parts = partitionBatch(batch, hashes, this.destinations.length, splitRowsFast);
    parts.forEach((part, index) => {
      if (part !== null) this.#push(index, part, node);
    });
  }

  watermark(value: number | 'end' | 'idle'): void {
    for (const { channel } of this.destinations) channel.push({ tag: 'watermark', value });
  }

  barrier(barrier: BarrierId): void {
    for (const { channel } of this.destinations) {
      channel.push({ tag: 'barrier', epoch: barrier.epoch, attempt: barrier.attempt });
    }
  }

  end(): void {
    for (const { channel } of this.destinations) channel.push({ tag: 'end' });
  }

  #push(index: number, batch: RecordBatch, node: Node): void {
    const destination = must(this.destinations[index], 'destination subtask');
    const frame = { tag: 'batch' as const, batch };
    if (destination.tag === 'local') destination.channel.push(frame);
    else node.counters.bytesOut += destination.channel.push(frame);
  }
}
