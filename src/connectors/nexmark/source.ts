/**
 * The `nexmark` source: seeded auction events, generated straight into columns.
 *
 * Place in the walk: stage 5. Events are dealt to the fixed `partitions` in rounds of 50, so the union of rows is the
 * same for any number of partitions and subtasks. Every partition draws all events and keeps its own.
 *
 * Offset of a partition: {next, random}: the next event number and the state of the randomness before it, so that a
 * restored partition goes on at once instead of drawing everything again.
 * Failure: none of its own; unusable options are refused where the table is planned.
 */
import { assert } from '../../base/assert.ts';
import {
  Int64Builder,
  makeBuilder,
  StructBuilder,
  type ColumnBuilder,
} from '../../batch/column-builder.ts';
import type { Column } from '../../batch/column.ts';
import type { RecordBatch } from '../../batch/record-batch.ts';
import { TIMESTAMP, type Field, type Schema } from '../../batch/types.ts';
import type { JsonValue } from '../../lineage/types.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';
import { integerOption, numberOption, textOption } from '../options.ts';
import { ownedPartitions } from '../partitions.ts';
import { Pacer } from '../pacer.ts';
import { NexmarkGenerator, type NexmarkKind, type NexmarkOptions } from './generator.ts';
import type { NexmarkRandomState } from './random.ts';
import { NEXMARK_FIELDS, NEXMARK_SCHEMA } from './schema.ts';
import { writeEvent, type FieldBuilders } from './writer.ts';

const EVENTS_PER_SECOND = 10_000;
/** Events are dealt to partitions in blocks of this many: one round of persons, auctions and bids. */
const BLOCK = 50;
/** A poll skips at most this many events of other partitions or kinds, so that it stays short. */
const DRAWS_PER_POLL_MAX = 65_536;

type Partition = { number: number; generator: NexmarkGenerator; next: number; ended: boolean };

export class NexmarkSource implements Source {
  readonly partitions: readonly number[];
  readonly #parts: Partition[];
  readonly #partitionCount: number;
  readonly #events: number;
  readonly #kind: NexmarkKind | null;
  readonly #wanted: readonly Field[];
  readonly #context: SourceContext;
  readonly #pacer: Pacer | null;
  #turn = 0;

  constructor(context: SourceContext) {
    const { options } = context.spec.connector;
    this.#partitionCount = integerOption(options, 'partitions') ?? 1;
    this.partitions = ownedPartitions(this.#partitionCount, context.subtask, context.parallelism);
    const events = integerOption(options, 'events');
    this.#events = events ?? Infinity;
    const rate = numberOption(options, 'event_rate');
    // Without an end and without a rate it would only heat the machine.
    const pace = rate ?? (events === null ? EVENTS_PER_SECOND : null);
    this.#pacer = pace === null ? null : new Pacer(pace, context.pipelineCreatedMs);
    this.#kind = textOption(options, 'table') as NexmarkKind | null;
    this.#context = context;
    this.#wanted = wantedFields(context.spec.physical, this.#kind);
    const generator: NexmarkOptions = {
      seed: integerOption(options, 'seed') ?? 0,
      eventsPerSecond: rate ?? EVENTS_PER_SECOND,
      outOfOrder: integerOption(options, 'out_of_order') ?? 1,
    };
    this.#parts = this.partitions.map((number) => ({
      number,
      generator: new NexmarkGenerator(generator),
      next: 0,
      ended: false,
    }));
  }

  poll(nowMs: number): SourceStep {
    if (this.#parts.every((part) => part.ended)) return { tag: 'ended' };
    for (let tries = 0; tries < this.#parts.length; tries++) {
      const part = this.#parts[this.#turn++ % this.#parts.length] as Partition;
      if (part.ended) continue;
      if (part.next >= this.#events) {
        part.ended = true;
        return { tag: 'partition-ended', partition: part.number };
      }
      const due = Math.min(this.#pacer?.due(nowMs) ?? Infinity, this.#events);
      if (part.next >= due) continue;
      const batch = this.#generate(part, due);
      return {
        tag: 'batch',
        partition: part.number,
        batch,
        read: batch.rows,
        problems: [],
        input: null,
      };
    }
    const behind = Math.min(...this.#parts.filter((part) => !part.ended).map((part) => part.next));
    return {
      tag: 'wait',
      untilMs:
        this.#pacer === null ? nowMs : this.#pacer.wakeMs(behind, this.#context.batchRows, nowMs),
    };
  }

  #generate(part: Partition, due: number): RecordBatch {
    const columns = this.#wanted.map((field) =>
      makeBuilder(field.type, Math.min(this.#context.batchRows, due - part.next)),
    );
    const fields = this.#fieldBuilders(columns);
    const time = new Int64Builder(TIMESTAMP, this.#context.batchRows);
    const { generator } = part;
    let rows = 0;
    for (
      let draws = 0;
      draws < DRAWS_PER_POLL_MAX && rows < this.#context.batchRows && part.next < due;
      draws++
    ) {
      const event = part.next++;
      generator.draw(event);
      if (Math.floor(event / BLOCK) % this.#partitionCount !== part.number) continue;
      if (this.#kind !== null && generator.kind !== this.#kind) continue;
      writeEvent(generator, fields[generator.kind]);
      if (this.#kind === null) closeRow(columns, generator.kind, this.#wanted);
      time.appendNumber(generator.atMs * 1000);
      rows++;
    }
    return {
      rows,
      columns: columns.map((builder): Column => builder.finish()),
      eventTime: time.finish(),
      retract: null,
    };
  }

  /** Where each kind's fields are written: the columns themselves, or the children of the kind's struct. */
  #fieldBuilders(columns: readonly ColumnBuilder[]): Record<NexmarkKind, FieldBuilders> {
    const of = (kind: NexmarkKind): FieldBuilders => {
      if (this.#kind === null) {
        const at = this.#wanted.findIndex((field) => field.name === kind);
        const struct = columns[at];
        return struct instanceof StructBuilder
          ? struct.children
          : NEXMARK_FIELDS[kind].map(() => null);
      }
      return NEXMARK_FIELDS[kind].map((field) => {
        const at = this.#wanted.findIndex((wanted) => wanted.name === field.name);
        return this.#kind === kind ? (columns[at] ?? null) : null;
      });
    };
    return { person: of('person'), auction: of('auction'), bid: of('bid') };
  }

  onRead(_partition: number, _result: ReadResult): void {
    assert(false, 'nexmark asks for nothing to be read');
  }

  snapshot(): Record<string, JsonValue> {
    return Object.fromEntries(
      this.#parts.map((part): [string, JsonValue] => [
        String(part.number),
        { next: part.next, random: [...part.generator.position] },
      ]),
    );
  }

  restore(offsets: Record<string, JsonValue>): void {
    for (const part of this.#parts) {
      const offset = offsets[String(part.number)];
      if (offset === undefined) continue;
      const { next, random } = offset as { next: number; random: number[] };
      part.next = next;
      part.generator.position = random as unknown as NexmarkRandomState;
    }
  }
}

/** The declared columns, each with the type the generator writes. */
function wantedFields(physical: Schema, kind: NexmarkKind | null): Field[] {
  const schema = kind === null ? NEXMARK_SCHEMA : NEXMARK_FIELDS[kind];
  return physical.map((column) => {
    const found = schema.find((field) => field.name === column.name);
    assert(found !== undefined, `the planner checked that nexmark has a column ${column.name}`);
    return found;
  });
}

function closeRow(
  columns: readonly ColumnBuilder[],
  kind: NexmarkKind,
  wanted: readonly Field[],
): void {
  for (let index = 0; index < columns.length; index++) {
    const struct = columns[index];
    assert(struct instanceof StructBuilder, 'an event column is a struct');
    if ((wanted[index] as Field).name === kind) struct.append();
    else struct.appendNull();
  }
}
