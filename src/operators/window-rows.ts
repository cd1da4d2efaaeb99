/**
 * The finished rows of windows as batches.
 *
 * Place in the walk: stage 6, the end of every windowed aggregate. Results of many groups, each with its window, become
 * columns in the order that the plan asks for; a row's event time is its window's end less 1 µs.
 * Failure: a result that does not fit its type costs its own row, reported with its keys.
 */
import { assert, must } from '../base/assert.ts';
import { LIMITS } from '../base/limits.ts';
import type { Column, Int64Column } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { filterBatch } from '../batch/take.ts';
import { TIMESTAMP, type Schema, type SqlType } from '../batch/types.ts';
import type { Accumulator } from '../expr/accumulator.ts';
import { RowErrors } from '../expr/row-errors.ts';
import type { OperatorSpec } from '../graph/graph.ts';
import type { GroupIndex } from '../state/group-index.ts';
import type { Output } from './operator.ts';
import { survivors } from './project.ts';
import { problemsOf, rowJson } from './row-json.ts';
import { constantTime } from './times.ts';

export type WindowAggregateSpec = OperatorSpec & { tag: 'window-aggregate' };

/** Groups whose results can be had. */
export interface WindowResults {
  /** The groups that have rows. */
  groups(): Int32Array;
  keyColumns(groups: Int32Array): Column[];
  /** One column per aggregate, one row per group. */
  results(groups: Int32Array, errors: RowErrors): Column[];
  /** Whose groups they are. */
  readonly index: GroupIndex;
  /** Folds what the groups add up to into other accumulators of the same calls: the first into group `first`, and so on. */
  addTo(sums: readonly Accumulator[], first: number, groups: Int32Array): void;
}

/** The windows of the rows of a batch. */
export type WindowTimes = { starts: Int64Column; ends: Int64Column; eventTime: Int64Column };

export const sameWindowTimes = (start: number, end: number, rows: number): WindowTimes => ({
  starts: constantTime(start, rows),
  ends: constantTime(end, rows),
  eventTime: constantTime(end - 1, rows),
});

export class WindowRows {
  readonly #outputs: WindowAggregateSpec['outputs'];
  readonly #schema: Schema;
  /** The column of the one aggregate; null: there are several, and who failed is not told. */
  readonly #onlyResult: string | null;

  constructor(outputs: WindowAggregateSpec['outputs'], schema: Schema) {
    this.#outputs = outputs;
    this.#schema = schema;
    const results = outputs.flatMap(({ tag }, at) => (tag === 'aggregate' ? [at] : []));
    this.#onlyResult = results.length === 1 ? (schema[results[0] ?? 0]?.name ?? null) : null;
  }

  /** Emits one window, a batch at a time. */
  emitWindow(
    start: number,
    end: number,
    from: WindowResults,
    groups: Int32Array,
    output: Output,
  ): void {
    for (let at = 0; at < groups.length; at += LIMITS.batchRowsDefault) {
      const part = groups.subarray(at, at + LIMITS.batchRowsDefault);
      const errors = new RowErrors(part.length);
      const results = from.results(part, errors);
      const times = sameWindowTimes(start, end, part.length);
      this.emit(from.keyColumns(part), results, times, errors, output);
    }
  }

  emit(
    keys: readonly Column[],
    results: readonly Column[],
    times: WindowTimes,
    errors: RowErrors | null,
    output: Output,
    retract: Uint8Array | null = null,
  ): void {
    const batch = this.#batchOf(keys, results, times, retract);
    if (errors === null || !errors.failed) {
      output.emit(batch);
      return;
    }
    if (this.#onlyResult !== null) errors.nameSince(0, this.#onlyResult);
    output.fail(problemsOf(errors, (row) => rowJson(batch, this.#schema, row)));
    output.emit(filterBatch(batch, survivors(batch.rows, errors)));
  }

  #batchOf(
    keys: readonly Column[],
    results: readonly Column[],
    times: WindowTimes,
    retract: Uint8Array | null,
  ): RecordBatch {
    const columns = this.#outputs.map((source, at): Column => {
      if (source.tag === 'key') return must(keys[source.index], 'a key column');
      if (source.tag === 'aggregate') return must(results[source.index], 'an aggregate column');
      return windowColumn(times, must(this.#schema[at], 'the window column').type);
    });
    return { rows: times.starts.length, columns, eventTime: times.eventTime, retract };
  }
}

function windowColumn({ starts, ends }: WindowTimes, type: SqlType): Column {
  assert(type.tag === 'struct', 'a window is a struct');
  const end = must(type.fields[1], 'its end').type;
  return {
    tag: 'struct',
    type,
    length: starts.length,
    validity: null,
    children: [
      { ...starts, type: end },
      { ...ends, type: end },
    ],
  };
}

/** The given times, one per row. */
export function timeColumn(micros: readonly number[] | Float64Array): Int64Column {
  const rows = micros.length;
  const words = new Int32Array(rows * 2);
  for (let row = 0; row < rows; row++) {
    const value = micros[row] as number;
    words[row * 2] = value | 0;
    words[row * 2 + 1] = Math.floor(value / 4294967296);
  }
  return { tag: 'timestamp', type: TIMESTAMP, length: rows, validity: null, words };
}
