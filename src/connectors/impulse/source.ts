/**
 * The `impulse` source: a counter at a steady rate.
 *
 * Place in the walk: stage 5. Row n of the table has counter n and belongs to partition n modulo the fixed number of
 * partitions, so the union of rows is the same for any parallelism. Event times are counted from the pipeline's
 * creation, never from the clock: a replay gives the same rows.
 *
 * Offset of a partition: how many rows it has given out. Failure: none.
 */
import { assert } from '../../base/assert.ts';
import type { Column } from '../../batch/column.ts';
import { INT64, TIMESTAMP, type Schema } from '../../batch/types.ts';
import type { RecordBatch } from '../../batch/record-batch.ts';
import type { JsonValue } from '../../lineage/types.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';
import { integerOption, numberOption } from '../options.ts';
import { Pacer } from '../pacer.ts';
import { ownedPartitions } from '../partitions.ts';

export const IMPULSE_SCHEMA: Schema = [
  { name: 'counter', type: INT64, nullable: false },
  { name: 'subtask_index', type: INT64, nullable: false },
];

type Partition = { number: number; given: number; ended: boolean };

export class ImpulseSource implements Source {
  readonly partitions: readonly number[];
  readonly #parts: Partition[];
  readonly #partitionCount: number;
  readonly #messages: number;
  readonly #pacer: Pacer;
  readonly #startMicros: number;
  readonly #stepMicros: number;
  readonly #context: SourceContext;
  readonly #names: readonly string[];
  #turn = 0;

  constructor(context: SourceContext) {
    const { options } = context.spec.connector;
    const rate = numberOption(options, 'event_rate');
    assert(rate !== null && rate > 0, 'the planner checked event_rate');
    this.#partitionCount = integerOption(options, 'partitions') ?? 1;
    this.partitions = ownedPartitions(this.#partitionCount, context.subtask, context.parallelism);
    this.#parts = this.partitions.map((number) => ({ number, given: 0, ended: false }));
    this.#messages = integerOption(options, 'message_count') ?? Infinity;
    this.#pacer = new Pacer(rate, context.pipelineCreatedMs);
    this.#startMicros = context.pipelineCreatedMs * 1000;
    this.#stepMicros = numberOption(options, 'event_time_interval') ?? 1_000_000 / rate;
    this.#context = context;
    this.#names = context.spec.physical.map((column) => column.name);
  }

  poll(nowMs: number): SourceStep {
    if (this.#parts.every((part) => part.ended)) return { tag: 'ended' };
    const due = Math.min(this.#pacer.due(nowMs), this.#messages);
    for (let tries = 0; tries < this.#parts.length; tries++) {
      const part = this.#parts[this.#turn++ % this.#parts.length] as Partition;
      if (part.ended) continue;
      const next = this.#counterOf(part, part.given);
      if (next >= this.#messages) {
        part.ended = true;
        return { tag: 'partition-ended', partition: part.number };
      }
      if (next >= due) continue;
      const rows = Math.min(
        Math.ceil((due - next) / this.#partitionCount),
        this.#context.batchRows,
      );
      const batch = this.#generate(part, rows);
      part.given += rows;
      return {
        tag: 'batch',
        partition: part.number,
        batch,
        read: rows,
        problems: [],
        input: null,
      };
    }
    const open = this.#parts.filter((part) => !part.ended);
    const behind = Math.min(...open.map((part) => this.#counterOf(part, part.given)));
    return { tag: 'wait', untilMs: this.#pacer.wakeMs(behind, this.#context.batchRows, nowMs) };
  }

  #counterOf(part: Partition, nth: number): number {
    return nth * this.#partitionCount + part.number;
  }

  #generate(part: Partition, rows: number): RecordBatch {
    const counters = new Int32Array(rows * 2);
    const times = new Int32Array(rows * 2);
    const indices = new Int32Array(rows * 2);
    for (let row = 0; row < rows; row++) {
      const counter = this.#counterOf(part, part.given + row);
      setWhole(counters, row, counter);
      setWhole(times, row, this.#startMicros + Math.floor(counter * this.#stepMicros));
      indices[row * 2] = part.number;
    }
    const whole = (words: Int32Array): Column => ({
      tag: 'int64',
      type: INT64,
      length: rows,
      validity: null,
      words,
    });
    return {
      rows,
      columns: this.#names.map((name) => whole(name === 'counter' ? counters : indices)),
      eventTime: { tag: 'timestamp', type: TIMESTAMP, length: rows, validity: null, words: times },
      retract: null,
    };
  }

  onRead(_partition: number, _result: ReadResult): void {
    assert(false, 'impulse asks for nothing to be read');
  }

  snapshot(): Record<string, JsonValue> {
    return Object.fromEntries(this.#parts.map((part) => [String(part.number), part.given]));
  }

  restore(offsets: Record<string, JsonValue>): void {
    for (const part of this.#parts) {
      const given = offsets[String(part.number)];
      if (typeof given === 'number') part.given = given;
    }
  }
}

function setWhole(words: Int32Array, row: number, value: number): void {
  words[row * 2] = value | 0;
  words[row * 2 + 1] = Math.floor(value / 4294967296);
}
