/**
 * A source within a stage: polls the connector, computes generated columns, gives rows their event
 * time, and announces watermarks in their exact place between rows.
 *
 * Place in the walk: stage 5. A source only moves while its stage lets it (`step`), so the offsets taken
 * at a barrier cover exactly the rows that were emitted before it.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { BarrierId } from '../checkpoint/barrier-aligner.ts';
import { filterBatch } from '../batch/take.ts';
import type { Field, Schema } from '../batch/types.ts';
import type { ReadResult, Source, SourceStep } from '../connectors/connector.ts';
import { NamedExprs } from '../expr/named-exprs.ts';
import { inParts, RowErrors } from '../expr/row-errors.ts';
import type { SourceSpec } from '../graph/graph.ts';
import type { InputRange, JsonValue } from '../lineage/types.ts';
import { problemsOf, rowJson } from '../operators/row-json.ts';
import type { PartitionMetrics } from '../protocol/messages.ts';
import {
  type PartitionStatus,
  WatermarkGenerator,
  type WatermarkState,
} from '../operators/watermark-generator.ts';
import type { LogPosition } from './checkpoint-task.ts';
import type { Node, NodeBody } from './node.ts';
import { SourceInputs } from './source-inputs.ts';
import { Pace } from './pace.ts';
import type { SubtaskPort } from './subtasks.ts';

/** A source that was not let move for so long was held back: its partitions have not been silent by themselves. */
const HELD_BACK_MS = 250;

/** Partitions of one subtask in a heartbeat. */
const PARTITIONS_SHOWN_MAX = 64;

/** Who holds the others back comes first. */
const standingOf = ({ watermark, idle, ended }: PartitionStatus): number =>
  ended || idle ? Infinity : (watermark ?? -Infinity);

export class SourceNode implements NodeBody {
  readonly operator: string;
  readonly pace: Pace;
  ended = false;
  /** When the source wants to be polled again; null: not before a read is answered. */
  wakeAtMs: number | null = 0;
  readonly #spec: SourceSpec;
  readonly #source: Source;
  readonly #port: SubtaskPort;
  readonly #physical: Schema;
  readonly #computed: NamedExprs | null;
  readonly #inputs: SourceInputs;
  #generator: WatermarkGenerator | null = null;
  #node: Node | null = null;
  #announced = false;
  #steppedMs: number | null = null;
  /** What each partition has given in this generation. */
  readonly #given = new Map<number, { rows: number; lastRowMs: number }>();

  /** @param pace says how many rows the source gives at a time */
  constructor(
    operator: string,
    spec: SourceSpec,
    source: Source,
    port: SubtaskPort,
    pace: Pace = new Pace(LIMITS.batchRowsDefault),
  ) {
    this.operator = operator;
    this.pace = pace;
    this.#spec = spec;
    this.#source = source;
    this.#port = port;
    this.#physical = spec.physical.map(({ name, type, nullable }): Field => ({
      name,
      type,
      nullable,
    }));
    this.#computed =
      spec.computed === null
        ? null
        : new NamedExprs(spec.computed, (at) => this.#nodeOf().operator.schema[at]?.name ?? '');
    this.#inputs = new SourceInputs(operator);
    this.#inputs.startAt(source.snapshot());
    source.hashWith?.((partition) => this.#inputs.hashOf(partition));
  }

  /** Called once, with the node this is the body of. */
  attach(node: Node): void {
    this.#node = node;
    this.#generator = new WatermarkGenerator(
      this.#spec.watermark,
      node.operator.schema,
      this.#source.partitions,
    );
  }

  /** Rows read so far. */
  get rowsRead(): number {
    return this.#nodeOf().counters.rowsIn;
  }

  onBatch(): void {
    assert(false, 'a source receives no rows');
  }

  onWatermark(): void {}

  onTick(): void {}

  onRead(partition: number, result: ReadResult): void {
    this.wakeAtMs = 0;
    if (result.tag === 'failed') {
      this.#port.fail(this.operator, result.report);
      return;
    }
    if (result.tag !== 'missing') this.#nodeOf().counters.bytesIn += result.bytes.byteLength;
    this.#source.onRead(partition, result);
  }

  /** Polls once; true when that made progress. */
  step(nowMs: number): boolean {
    if (this.ended) return false;
    const heldMs = nowMs - (this.#steppedMs ?? nowMs);
    if (heldMs > HELD_BACK_MS) this.#generatorOf().forgive(heldMs);
    this.#steppedMs = nowMs;
    if (!this.#announced) {
      this.#announced = true;
      if (this.#nodeOf().mayLend) this.#source.lend?.();
      this.#announce();
      if (this.#source.partitions.length === 0) this.#nodeOf().stepAside();
    }
    if (this.wakeAtMs === null || this.wakeAtMs > nowMs) return false;
    const step = this.#source.poll(nowMs);
    switch (step.tag) {
      case 'batch':
        this.#emit(step, nowMs);
        return true;
      case 'read':
        this.#port.read(this.operator, step.partition, step.request);
        return true;
      case 'wait':
        this.wakeAtMs = step.untilMs;
        return false;
      case 'partition-ended':
        this.#generatorOf().onPartitionEnded(step.partition);
        this.#announce();
        return true;
      case 'ended':
        this.ended = true;
        if (this.#nodeOf().watermark !== Infinity) this.#nodeOf().advance(Infinity);
        return true;
      case 'failed':
        this.#port.fail(this.operator, step.report);
        return false;
    }
  }

  /** Lets the clock act on idle and silent partitions, unless nobody could have heard of them. */
  tick(nowMs: number): void {
    if (this.ended || !this.#announced) return;
    if (nowMs - (this.#steppedMs ?? nowMs) > HELD_BACK_MS) return;
    this.#generatorOf().onTick(nowMs);
    this.#announce();
  }

  offsets(): { [partition: string]: JsonValue } {
    return this.#source.snapshot();
  }

  /** What was read and is in no settled checkpoint yet. */
  cutInputs(barrier: BarrierId): readonly InputRange[] {
    return this.#inputs.cut(barrier, this.offsets());
  }

  settle(barrier: BarrierId): void {
    this.#inputs.settle(barrier);
  }

  partitionState(): { [partition: string]: JsonValue } {
    return this.#generatorOf().snapshot();
  }

  /** How far each partition of an http table has been read. */
  positions(): LogPosition[] {
    if (this.#spec.connector.connector !== 'http') return [];
    return Object.entries(this.offsets()).map(([partition, offset]) => {
      assert(typeof offset === 'number', 'offsets of a log are numbers');
      return { table: this.#spec.table, partition: Number(partition), offset };
    });
  }

  restore(offsets: Record<string, JsonValue>, partitions: Record<string, JsonValue>): void {
    this.#source.restore(offsets);
    this.#inputs.startAt(this.#source.snapshot());
    this.#generatorOf().restore(partitions as WatermarkState);
  }

  #emit(step: SourceStep & { tag: 'batch' }, nowMs: number): void {
    const node = this.#nodeOf();
    node.counters.rowsIn += step.read;
    this.#inputs.add(step.partition, step.read, step.input);
    if (step.read > 0) this.#note(step.partition, step.read, nowMs);
    node.counters.batchesIn++;
    if (step.problems.length > 0)
      node.fail(step.problems.map((problem) => ({ ...problem, partition: step.partition })));
    inParts(step.batch, (part) => {
      const computed = this.#compute(part, node);
      this.#pass(step.partition, computed, node, nowMs);
    });
    this.#announce();
  }

  /** Hands rows on with their times, and watermarks between them. */
  #pass(partition: number, batch: RecordBatch, node: Node, nowMs: number): void {
    const { segments, problems } = this.#generatorOf().onBatch(partition, batch, nowMs);
    if (problems.length > 0) node.fail(problems);
    for (const segment of segments) {
      this.#advance(segment.watermarkBefore);
      node.emit(segment.batch);
    }
  }

  #note(partition: number, rows: number, nowMs: number): void {
    const given = this.#given.get(partition);
    if (given === undefined) this.#given.set(partition, { rows, lastRowMs: nowMs });
    else {
      given.rows += rows;
      given.lastRowMs = nowMs;
    }
  }

  /** What people see of each partition; of very many, those that stand furthest behind. */
  partitionMetrics(): PartitionMetrics[] {
    const all = [...this.#generatorOf().status()];
    const shown =
      all.length <= PARTITIONS_SHOWN_MAX
        ? all
        : all
            .toSorted(([, left], [, right]) => standingOf(left) - standingOf(right))
            .slice(0, PARTITIONS_SHOWN_MAX);
    return shown.map(([partition, status]) => {
      const given = this.#given.get(partition);
      return {
        partition,
        rows: given?.rows ?? 0,
        lastRowMs: given?.lastRowMs ?? null,
        lastEventTime: status.lastEventTime,
        watermark: status.ended ? 'end' : status.watermark,
        idle: status.idle,
        ended: status.ended,
        backlogRows: this.#source.backlog?.(partition) ?? null,
      };
    });
  }

  /** The output columns of a decoded batch, without the rows whose generated columns failed. */
  #compute(batch: RecordBatch, node: Node): RecordBatch {
    if (this.#computed === null) return batch;
    const errors = RowErrors.divisible(batch.rows);
    const columns = this.#computed.evaluate(batch, errors);
    const output = { ...batch, columns };
    if (!errors.failed) return output;
    node.fail(problemsOf(errors, (row) => rowJson(batch, this.#physical, row)));
    const keep = new Uint8Array(batch.rows);
    for (let row = 0; row < batch.rows; row++) keep[row] = errors.hasFailed(row) ? 0 : 1;
    return filterBatch(output, keep);
  }

  #announce(): void {
    const generator = this.#generatorOf();
    this.#advance(generator.watermark);
    if (this.#source.partitions.length === 0) return;
    if (generator.idle) this.#nodeOf().stepAside();
    else this.#nodeOf().stepBack();
  }

  #advance(watermark: number | null): void {
    const node = this.#nodeOf();
    if (watermark === null || (node.watermark !== null && watermark <= node.watermark)) return;
    node.stepBack();
    node.advance(watermark);
  }

  #nodeOf(): Node {
    return must(this.#node, 'node of the source');
  }

  #generatorOf(): WatermarkGenerator {
    return must(this.#generator, 'watermark generator of the source');
  }
}
