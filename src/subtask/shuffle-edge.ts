/**
 * The sending side of one shuffle edge on one subtask: rows go to the owner of their key's hash,
 * watermarks, barriers and the end go to everybody.
 *
 * Without keys every row goes to subtask 0.
 */
import { must } from '../base/assert.ts';
import { batchBytes } from '../batch/batch-bytes.ts';
import type { Column } from '../batch/column.ts';
import { partitionBatch } from '../batch/partition.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import { type CompiledExpr, compileExpr } from '../expr/compile.ts';
import { inParts, RowErrors } from '../expr/row-errors.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { routeRows, splitRowsFast } from '../kernels/route-rows.ts';
import type { WindowCombiner } from '../operators/window-combiner.ts';
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

  readonly #combiner: WindowCombiner | null;
  /** Whose rows they are, once there were any. */
  #node: Node | null = null;

  /**
   * @param destinations one per subtask of the receiving operator, in order
   * @param combiner     aggregates rows before they leave; null: they leave as they are
   */
  constructor(
    edge: GraphEdge,
    destinations: readonly Destination[],
    combiner: WindowCombiner | null = null,
  ) {
    this.edge = edge;
    this.destinations = destinations;
    this.#keys = edge.keys.map(compileExpr);
    this.#combiner = destinations.length > 1 ? combiner : null;
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
    this.#node = node;
    const rest =
      this.#combiner === null ? batch : this.#combiner.add(batch, node.watermark ?? -Infinity);
    if (rest !== null) this.#route(rest);
    if (this.#combiner?.full === true) this.#flush(this.#combiner.takeAll());
  }

  #route(batch: RecordBatch): void {
    if (this.#keys.length === 0 || this.destinations.length === 1) {
      this.#push(0, batch);
      return;
    }
    // A row whose key fails goes anywhere: its receiver computes the key again, counts the row and says why.
    inParts(batch, (part) => {
      const errors = RowErrors.divisible(part.rows);
      const keys = this.#keys.map((key) => key(part, errors));
      this.#scatter(part, keys, false);
    });
  }

  #scatter(batch: RecordBatch, keys: readonly Column[], partial: boolean): void {
    const hashes = new Uint32Array(batch.rows);
    routeRows(keys, batch.rows, hashes);
    const parts = partitionBatch(batch, hashes, this.destinations.length, splitRowsFast);
    parts.forEach((part, index) => {
      if (part !== null) this.#push(index, part, partial);
    });
  }

  /** Sends partial states to the owners of their keys. */
  #flush(partial: RecordBatch | null): void {
    if (partial === null) return;
    if (this.#keys.length === 0) this.#push(0, partial, true);
    else this.#scatter(partial, must(this.#combiner, 'combiner').keysOf(partial), true);
  }

  watermark(value: number | 'end' | 'idle'): void {
    const combiner = this.#combiner;
    // Who steps aside is not waited for: what is held has to be there by then.
    if (combiner !== null)
      this.#flush(typeof value === 'number' ? combiner.takeDue(value) : combiner.takeAll());
    for (const { channel } of this.destinations) channel.push({ tag: 'watermark', value });
  }

  barrier(barrier: BarrierId): void {
    this.#flush(this.#combiner?.takeAll() ?? null);
    for (const { channel } of this.destinations) {
      channel.push({ tag: 'barrier', epoch: barrier.epoch, attempt: barrier.attempt });
    }
  }

  end(): void {
    this.#flush(this.#combiner?.takeAll() ?? null);
    for (const { channel } of this.destinations) channel.push({ tag: 'end' });
  }

  #push(index: number, batch: RecordBatch, partial = false): void {
    const destination = must(this.destinations[index], 'destination subtask');
    const frame = { tag: 'batch' as const, batch };
    const sent = partial ? { ...frame, partial } : frame;
    const { counters } = must(this.#node, 'a sender');
    if (destination.tag === 'local') {
      destination.channel.push(sent);
      counters.bytesOut += batchBytes(batch);
    } else counters.bytesOut += destination.channel.push(sent);
  }
}
