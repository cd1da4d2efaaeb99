/**
 * The `example` source: built-in data that feels real, generated straight into columns.
 *
 * Place in the walk: stage 5. A table is one partition, read by one subtask. Row i is a function of the table's options,
 * the moment at which the pipeline was made, and i, never of the clock: a replay gives the same rows.
 *
 *     live       event times go on from a little before the pipeline was made, so that there is something to see at once;
 *                row i comes when it is due
 *     at once    `events` without `event_rate`: as fast as they can, with event times from 2026-01-01 on, so that
 *                every run gives the same rows
 *
 * Offset: how many rows it has given out. Failure: none; unusable options are refused where the table is planned.
 */
import { assert } from '../../base/assert.ts';
import { Int64Builder, makeBuilder } from '../../batch/column-builder.ts';
import type { RecordBatch } from '../../batch/record-batch.ts';
import { TIMESTAMP } from '../../batch/types.ts';
import type { DecodeColumn } from '../../formats/format.ts';
import type { JsonValue } from '../../lineage/types.ts';
import type { ReadResult, Source, SourceContext, SourceStep } from '../connector.ts';
import { integerOption, numberOption, requiredText } from '../options.ts';
import { Pacer } from '../pacer.ts';
import { DATASETS, type DatasetName } from './datasets.ts';
import type { Dataset, RowMaker } from './fields.ts';

/** 2026-01-01T00:00:00Z. */
const FIXED_START_MS = 1_767_225_600_000;
/** More rows than this have not happened already, whatever the rate. */
const HISTORY_ROWS_MAX = 20_000;

export class ExampleSource implements Source {
  readonly partitions: readonly number[];
  readonly #dataset: Dataset;
  readonly #columns: readonly DecodeColumn[];
  readonly #maker: RowMaker;
  readonly #pacer: Pacer | null;
  readonly #events: number;
  readonly #context: SourceContext;
  /** The rows are changes, and say which rows they take away. */
  readonly #changes: boolean;
  #given = 0;
  #ended = false;

  constructor(context: SourceContext) {
    const { options } = context.spec.connector;
    this.partitions = context.subtask === 0 ? [0] : [];
    this.#dataset = DATASETS[requiredText(options, 'dataset') as DatasetName];
    this.#columns = context.spec.physical;
    this.#changes = context.spec.format.changes !== undefined;
    this.#context = context;
    const events = integerOption(options, 'events');
    this.#events = events ?? Infinity;
    const rate = numberOption(options, 'event_rate');
    const rowsPerSecond = rate ?? this.#dataset.rowsPerSecond;
    const live = rate !== null || events === null;
    const startMs = live
      ? context.pipelineCreatedMs - historyMs(this.#dataset, rowsPerSecond)
      : FIXED_START_MS;
    this.#maker = this.#dataset.make({
      seed: integerOption(options, 'seed') ?? 0,
      rowsPerSecond,
      startMicros: startMs * 1000,
    });
    const pace = this.#dataset.pace?.(rowsPerSecond) ?? { rowsPerSecond, delaySeconds: 0 };
    this.#pacer = live ? new Pacer(pace.rowsPerSecond, startMs + pace.delaySeconds * 1000) : null;
  }

  poll(nowMs: number): SourceStep {
    if (this.partitions.length === 0 || this.#ended) return { tag: 'ended' };
    if (this.#given >= this.#events) {
      this.#ended = true;
      return { tag: 'partition-ended', partition: 0 };
    }
    const due = Math.min(this.#pacer?.due(nowMs) ?? Infinity, this.#events);
    const rows = Math.min(due - this.#given, this.#context.batchRows);
    if (rows <= 0) {
      const wakeMs = this.#pacer?.wakeMs(this.#given, this.#context.batchRows, nowMs);
      return { tag: 'wait', untilMs: wakeMs ?? nowMs };
    }
    const batch = this.#generate(this.#given, rows);
    this.#given += rows;
    return { tag: 'batch', partition: 0, batch, read: rows, problems: [], input: null };
  }

  #generate(from: number, rows: number): RecordBatch {
    const builders = this.#columns.map(({ type }) => makeBuilder(type, rows));
    const fields = this.#dataset.schema.map(({ name }) => {
      const at = this.#columns.findIndex(
        (column) => column.name === name && column.envelope === undefined,
      );
      return builders[at] ?? null;
    });
    const envelopes = builders.filter((_, at) => this.#columns[at]?.envelope !== undefined);
    const time = new Int64Builder(TIMESTAMP, rows);
    const retract = this.#changes ? new Uint8Array(rows) : null;
    const maker = this.#maker;
    for (let row = 0; row < rows; row++) {
      const at = maker.write(from + row, fields);
      time.appendNumber(at);
      for (const builder of envelopes) appendMillis(builder, at);
      if (retract !== null && maker.takesAway?.(from + row) === true) retract[row] = 1;
    }
    return {
      rows,
      columns: builders.map((builder) => builder.finish()),
      eventTime: time.finish(),
      retract: retract?.includes(1) === true ? retract : null,
    };
  }

  onRead(_partition: number, _result: ReadResult): void {
    assert(false, 'examples ask for nothing to be read');
  }

  snapshot(): Record<string, JsonValue> {
    return this.partitions.length === 0 ? {} : { 0: this.#given };
  }

  restore(offsets: Record<string, JsonValue>): void {
    const given = offsets['0'];
    if (typeof given === 'number') this.#given = given;
  }
}

const historyMs = (dataset: Dataset, rowsPerSecond: number): number =>
  Math.floor(Math.min(dataset.historySeconds, HISTORY_ROWS_MAX / rowsPerSecond) * 1000);

/** Debezium's times are whole milliseconds. */
function appendMillis(builder: ReturnType<typeof makeBuilder>, micros: number): void {
  assert(builder instanceof Int64Builder, 'the time of a change is a TIMESTAMP');
  builder.appendNumber(Math.floor(micros / 1000) * 1000);
}
